//===- LoopBuilder.h - scalar, vector and loop operations of the anchor kernels -----------===//
// A thin layer over OpBuilder: what an anchor emitter writes is address arithmetic on `index` values, float32
// loads through !llvm.ptr, fused multiply-adds and loops that carry accumulators. Only LoopBuilder.cpp
// includes the dialects.
#pragma once
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace tokamak::codegen {

class LoopBuilder {
public:
  using Values = llvm::SmallVector<mlir::Value>;

  LoopBuilder(mlir::OpBuilder &builder, mlir::Location loc, int64_t lanes);
  mlir::OpBuilder &opBuilder() { return builder; }
  mlir::Location location() const { return loc; }
  int64_t lanes() const { return laneCount; }

  // Arithmetic on values of type index; constants fold as they are built.
  mlir::Value index(int64_t value);
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value add(mlir::Value a, int64_t b) { return b == 0 ? a : add(a, index(b)); }
  mlir::Value sub(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, int64_t b) { return b == 1 ? a : mul(a, index(b)); }
  /// Quotient and remainder of a value >= 0 by a positive constant.
  mlir::Value div(mlir::Value a, int64_t b);
  mlir::Value rem(mlir::Value a, int64_t b);
  /// Signed.
  mlir::Value min(mlir::Value a, mlir::Value b);
  mlir::Value max(mlir::Value a, mlir::Value b);

  /// Pointer to the element `elements` float32 values further on. The offset may be negative and the result
  /// may lie outside the buffer as long as it is not dereferenced.
  mlir::Value at(mlir::Value pointer, mlir::Value elements);
  mlir::Value at(mlir::Value pointer, int64_t elements);

  /// A vector of `lanes` elements at any alignment.
  mlir::Value load(mlir::Value pointer, int64_t offset = 0);
  /// The first `valid` elements (a static number); the other lanes are zero and are not read.
  mlir::Value loadFirst(mlir::Value pointer, int64_t offset, int64_t valid);
  /// The elements [low, high) (static numbers) of a vector; the other lanes are zero and are not read.
  mlir::Value loadLanes(mlir::Value pointer, int64_t offset, int64_t low, int64_t high);
  void store(mlir::Value vector, mlir::Value pointer, int64_t offset = 0);
  /// Asks for the cache line there to be brought into the second cache level; any address will do.
  void prefetch(mlir::Value pointer, int64_t offset = 0);
  /// One element in every lane.
  mlir::Value broadcast(mlir::Value pointer, int64_t offset = 0);
  mlir::Value zero() { return splat(0); }
  mlir::Value splat(float value);
  mlir::Value fma(mlir::Value a, mlir::Value b, mlir::Value c);
  mlir::Value addFloat(mlir::Value a, mlir::Value b);
  mlir::Value maxFloat(mlir::Value a, mlir::Value b); ///< propagates NaN
  mlir::Value shuffle(mlir::Value a, mlir::Value b, llvm::ArrayRef<int64_t> lanes);

  /// for (i = low; i < high; i += step) carried = body(i, carried); returns the last `carried`.
  Values loop(mlir::Value low, mlir::Value high, int64_t step, mlir::ValueRange initial,
              llvm::function_ref<Values(mlir::Value, mlir::ValueRange)> body);
  void loop(mlir::Value low, mlir::Value high, int64_t step, llvm::function_ref<void(mlir::Value)> body);
  /// Runs one of two bodies by whether two index values are equal.
  void ifEqual(mlir::Value a, mlir::Value b, llvm::function_ref<void()> then,
               llvm::function_ref<void()> otherwise);

private:
  mlir::OpBuilder &builder;
  mlir::Location loc;
  int64_t laneCount;
  mlir::VectorType vectorType;
};

} // namespace tokamak::codegen
