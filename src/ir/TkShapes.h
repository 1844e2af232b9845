//===- TkShapes.h - what the shape inference files share --------------------------------===//
// Internal to src/ir. Messages are read by users of models: they say the shapes and what does not fit, and no
// operator name (the importer and the verifier put it in front).
#pragma once
#include "ir/Tk.h"
#include <string>

namespace tokamak::tk::shapes {

using Extents = llvm::SmallVector<int64_t>;
using Loc = std::optional<mlir::Location>;
using Types = llvm::SmallVectorImpl<mlir::Type>;

/// "[2,3]"
std::string show(llvm::ArrayRef<int64_t> shape);
/// "float32[2,3]"
std::string show(mlir::Value tensor);
/// "float32"
std::string show(mlir::Type elementType);

inline llvm::ArrayRef<int64_t> shapeOf(mlir::Value v) { return tensorType(v).getShape(); }
inline int64_t rankOf(mlir::Value v) { return tensorType(v).getRank(); }
inline mlir::Type elementOf(mlir::Value v) { return tensorType(v).getElementType(); }

/// Emits the reason at `loc`, if there is one, and fails.
template <typename... Parts>
mlir::LogicalResult refuse(Loc loc, Parts &&...parts) {
  return mlir::emitOptionalError(loc, std::forward<Parts>(parts)...);
}

/// Adds a result, unless its elements cannot be counted (2^40 is the limit).
mlir::LogicalResult give(Loc loc, llvm::ArrayRef<int64_t> shape, mlir::Type elementType, Types &results);

/// `axis` in [0, rank).
mlir::LogicalResult checkAxis(Loc loc, int64_t axis, int64_t rank);
/// One value an axis.
mlir::LogicalResult checkLength(Loc loc, llvm::StringRef what, llvm::ArrayRef<int64_t> values, int64_t rank);
/// Every value in [low, 2^bits).
mlir::LogicalResult checkRange(Loc loc, llvm::StringRef what, llvm::ArrayRef<int64_t> values, int64_t low,
                               int bits = 31);
/// Every value may be an extent, or a place along one, of a tensor that `give` allows.
inline mlir::LogicalResult checkExtents(Loc loc, llvm::StringRef what, llvm::ArrayRef<int64_t> values) {
  return checkRange(loc, what, values, 0, 41);
}
mlir::LogicalResult checkSameElement(Loc loc, mlir::ValueRange operands);

/// The result shape of several operands that broadcast together.
mlir::FailureOr<Extents> broadcastAll(Loc loc, mlir::ValueRange operands);

/// Sliding windows (convolution, pooling): the number of positions along each spatial axis.
mlir::FailureOr<Extents> windowPositions(Loc loc, llvm::ArrayRef<int64_t> input,
                                         llvm::ArrayRef<int64_t> kernel, llvm::ArrayRef<int64_t> strides,
                                         llvm::ArrayRef<int64_t> dilations, llvm::ArrayRef<int64_t> padsLow,
                                         llvm::ArrayRef<int64_t> padsHigh);

} // namespace tokamak::tk::shapes

/// Starts the definition of an operator's result types; in it, `x` is the adaptor. Attributes are checked
/// first, because inference runs before the verifier when operations are created from a user's file.
#define TK_INFER(OP)                                                                                         \
  static mlir::LogicalResult infer##OP(Loc loc, OP::Adaptor x, Types &results);                              \
  mlir::LogicalResult OP::inferReturnTypes(mlir::MLIRContext *context, Loc loc, Adaptor x, Types &results) { \
    if (mlir::failed(x.verify(loc.value_or(mlir::UnknownLoc::get(context)))))                                \
      return mlir::failure();                                                                                \
    return infer##OP(loc, x, results);                                                                       \
  }                                                                                                          \
  static mlir::LogicalResult infer##OP(Loc loc, OP::Adaptor x, Types &results)
