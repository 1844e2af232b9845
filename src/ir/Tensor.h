//===- Tensor.h - a tensor value in the compiler's memory -----------------------------===//
#pragma once
#include "ir/DataType.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstddef>
#include <memory>
#include <vector>

namespace tokamak {

/// A dense row-major tensor. Copies share the bytes (immutable once shared: call `mutableBytes` only on a
/// tensor that you have just made). What the importer reads, the evaluator computes, and passes fold.
class Tensor {
public:
  Tensor() = default;
  /// Zero-filled.
  Tensor(DataType type, llvm::ArrayRef<int64_t> shape);
  /// Of an MLIR ranked tensor type with static shape.
  explicit Tensor(mlir::RankedTensorType type);

  static Tensor scalar(DataType type, double value);
  static Tensor scalarInt(DataType type, int64_t value);
  static Tensor fromInts(llvm::ArrayRef<int64_t> values); ///< int64, shape [n]

  DataType type() const { return dataType; }
  llvm::ArrayRef<int64_t> shape() const { return dims; }
  int64_t rank() const { return static_cast<int64_t>(dims.size()); }
  int64_t size() const { return count; } ///< number of elements
  size_t byteCount() const { return static_cast<size_t>(count) * byteSize(dataType); }

  const std::byte *bytes() const { return data ? data->data() : nullptr; }
  std::byte *mutableBytes() { return data ? data->data() : nullptr; }

  /// Element `i` in row-major order, converted. Integers convert exactly by `intAt`/`setInt` (uint64 keeps
  /// its bits); `setDouble` rounds to nearest even in the element type and, for integers, truncates toward
  /// zero.
  double doubleAt(int64_t i) const;
  int64_t intAt(int64_t i) const;
  void setDouble(int64_t i, double value);
  void setInt(int64_t i, int64_t value); ///< wraps to the width of the element type

  /// All elements as int64 (for shapes, axes, ...).
  llvm::SmallVector<int64_t> ints() const;

  /// The same bytes under another shape of as many elements.
  Tensor reshaped(llvm::ArrayRef<int64_t> shape) const;
  /// True if all elements are bitwise equal (and there is at least one).
  bool isSplat() const;

  mlir::RankedTensorType mlirType(mlir::MLIRContext *context) const;
  /// As an attribute for `tk.constant`; large tensors become resources, which are not hashed or copied.
  mlir::ElementsAttr toAttr(mlir::MLIRContext *context) const;
  /// From any attribute that `toAttr` or the parser makes.
  static Tensor fromAttr(mlir::ElementsAttr attr);

private:
  DataType dataType = DataType::Float32;
  llvm::SmallVector<int64_t, 4> dims;
  int64_t count = 0;
  std::shared_ptr<std::vector<std::byte>> data;
};

/// Half-precision conversions, round to nearest even, as hardware does.
float halfToFloat(uint16_t bits);
uint16_t floatToHalf(double value);
float bfloatToFloat(uint16_t bits);
uint16_t floatToBfloat(double value);

} // namespace tokamak
