//===- TkTraits.h - what an operator's ODS entry says of its kind, result type and cost -----------===//
// Traits that `TkOps.td` names, so that an operator is described in its entry alone. Included by `Tk.h`.
#pragma once
#include "ir/FusionKind.h"
#include "mlir/IR/OpDefinition.h"

namespace tokamak::tk {

namespace detail {
using OptionalLocation = std::optional<mlir::Location>;
using ResultTypes = llvm::SmallVectorImpl<mlir::Type>;

/// A per-channel operand leaves an operator elementwise as long as another operand has the result's shape.
FusionKind elementwiseKind(mlir::Operation *op);

mlir::LogicalResult inferLikeInput(OptionalLocation loc, mlir::ValueRange operands, ResultTypes &results);
mlir::LogicalResult inferTest(OptionalLocation loc, mlir::ValueRange operands, ResultTypes &results);
mlir::LogicalResult inferBroadcast(OptionalLocation loc, mlir::ValueRange operands, ResultTypes &results);
} // namespace detail

/// The kind is the same whatever the shapes.
template <FusionKind kind>
struct HasKind {
  template <typename OpTy>
  struct Impl : mlir::OpTrait::TraitBase<OpTy, Impl> {
    FusionKind getFusionKind() { return kind; }
  };
};

template <typename OpTy>
struct HasElementwiseKind : mlir::OpTrait::TraitBase<OpTy, HasElementwiseKind> {
  FusionKind getFusionKind() { return detail::elementwiseKind(this->getOperation()); }
};

/// One element takes several times what an addition takes: a kernel computes it once rather than in each loop
/// that reads it.
template <typename OpTy>
struct IsExpensive : mlir::OpTrait::TraitBase<OpTy, IsExpensive> {};

/// Result types by `infer`. Attributes are checked first, because inference runs before the verifier when
/// operations are created from a user's file.
template <auto infer>
struct InfersBy {
  template <typename OpTy>
  struct Impl : mlir::OpTrait::TraitBase<OpTy, Impl> {
    static mlir::LogicalResult inferReturnTypes(mlir::MLIRContext *context, detail::OptionalLocation loc,
                                                mlir::ValueRange operands, mlir::DictionaryAttr attributes,
                                                mlir::OpaqueProperties properties, mlir::RegionRange regions,
                                                detail::ResultTypes &results) {
      typename OpTy::Adaptor adaptor(operands, attributes, properties, regions);
      if (mlir::failed(adaptor.verify(loc.value_or(mlir::UnknownLoc::get(context)))))
        return mlir::failure();
      return infer(loc, operands, results);
    }
  };
};

} // namespace tokamak::tk
