//===- Convolution.h - convolutions as register-tiled kernels ---------------------------===//
#pragma once
#include "codegen/Layout.h"
#include "codegen/anchors/Anchor.h"
#include "codegen/anchors/ConvolutionShape.h"
#include "codegen/anchors/InputRegion.h"
#include "ir/Tensor.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <optional>

namespace mlir {
class Operation;
} // namespace mlir

namespace tokamak::codegen {

/// How one convolution (or transposed convolution) is computed: tile sizes, weight packing, task count. Lanes
/// run over output channels, or over columns; the weights are packed when compiling. Float32 only.
class ConvolutionPlan {
public:
  virtual ~ConvolutionPlan() = default;
  /// A plan, or the reason why this convolution has none (the caller then emits the plain element
  /// expression). `input` is the layout its input lies in; nothing: it is to be computed when it is needed.
  /// `op` is tk.conv or tk.conv_transpose.
  static llvm::Expected<std::unique_ptr<ConvolutionPlan>>
  create(mlir::Operation *op, const std::optional<Layout> &input, const TargetDescription &target);
  /// The extents and attributes of `op`, a tk.window as well, or why it can have no plan.
  static llvm::Expected<ConvolutionShape> describe(mlir::Operation *op, const std::optional<Layout> &input,
                                                   const TargetDescription &target);
  static llvm::Expected<std::unique_ptr<ConvolutionPlan>> create(const ConvolutionShape &shape,
                                                                 const TargetDescription &target);
  /// The weights (float32, in ONNX order) in the order that the kernel streams them.
  virtual Tensor pack(const Tensor &weight) const = 0;
  /// False: over columns; the vector axis is then the last one.
  virtual bool lanesAreChannels() const { return true; }
  virtual int64_t taskCount() const = 0;
  /// Bytes of scratch that a task needs (0: none).
  virtual int64_t scratchBytes() const { return 0; }
  /// How often an element of a computed input is computed, on average.
  virtual double inputRepeats() const { return 1; }
  /// Emits tasks [begin, end) (type index). Pointers are !llvm.ptr. Each output vector goes to `epilogue`
  /// once, without the bias: axes before channels as the vector axis are [n], behind it the spatial axes.
  /// Lanes beyond `validLanes` hold anything. `compute` computes a part of the input where that is not in
  /// memory; `input` is null then.
  virtual void emit(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value input, mlir::Value packedWeight,
                    mlir::Value scratch, mlir::Value begin, mlir::Value end, const EpilogueFn &epilogue,
                    const ConvolutionInputFn &compute = nullptr) const = 0;

  // Of a convolution that computes bands of rows (ConvolutionShape::bandRows).
  /// Channel blocks of results that are best asked for together; regions begin at multiples of them.
  virtual int64_t blocksAtOnce() const = 0;
  /// Rows of a computed input that are asked for at a time, at most.
  virtual int64_t inputRowsAtOnce() const { return 0; }
  /// As `emit`, but computes the rows of `region`, all columns and its channel blocks.
  virtual void emitRegion(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value input,
                          mlir::Value packedWeight, mlir::Value scratch, const ConvolutionRegion &region,
                          const EpilogueFn &epilogue, const ConvolutionInputFn &compute) const = 0;
};

} // namespace tokamak::codegen
