//===- Reduction.cpp - reductions over axes -------------------------------------------------===//
#include "reference/Elements.h"
#include "reference/Numbers.h"
#include "reference/Register.h"

namespace tokamak::reference {
namespace {

Result reduce(tk::ReduceOp op, Operands operands) {
  const Tensor &input = operands[0];
  auto resultShape = tk::tensorType(op.getResult()).getShape();
  // The result seen with the reduced axes kept: an input element's place in it does not depend on them.
  llvm::SmallVector<int64_t> kept(input.shape());
  for (int64_t axis : op.getAxes())
    kept[static_cast<size_t>(axis)] = 1;
  const Strides strides = broadcastStrides(kept, input.shape());
  return inDomain(input.type(), [&](auto zero) {
    using T = decltype(zero);
    const std::vector<T> values = load<T>(input);
    std::vector<T> sums(static_cast<size_t>(product(resultShape)), identity<T>(op.getKind(), input.type()));
    size_t i = 0;
    walk<1>(input.shape(), {0}, {strides}, [&](const std::array<int64_t, 1> &at) {
      sums[at[0]] = combine(op.getKind(), sums[at[0]], values[i++]);
    });
    return Tensors{store(input.type(), resultShape, sums)};
  });
}

/// NaN is the largest and the smallest of its row, as the maximum and minimum of the row are NaN.
template <typename T>
bool moreExtreme(tk::ReduceKind kind, T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    if (std::isnan(a) || std::isnan(b))
      return std::isnan(a) && !std::isnan(b);
  return kind == tk::ReduceKind::Max ? a > b : a < b;
}

Result argReduce(tk::ArgReduceOp op, Operands operands) {
  const Tensor &input = operands[0];
  Tensor result(tk::tensorType(op.getResult()));
  const AxisView view = aroundAxis(input.shape(), static_cast<int64_t>(op.getAxis()));
  if (view.extent == 0 && result.size() != 0)
    return op.emitOpError("of an axis without elements has no value");
  return inDomain(input.type(), [&](auto zero) {
    using T = decltype(zero);
    const std::vector<T> values = load<T>(input);
    for (int64_t outer = 0; outer < view.outer; ++outer)
      for (int64_t inner = 0; inner < view.inner; ++inner) {
        const T *row = values.data() + outer * view.extent * view.inner + inner;
        int64_t best = 0;
        for (int64_t k = 1; k < view.extent; ++k) {
          const T candidate = row[k * view.inner];
          const T current = row[best * view.inner];
          const bool better = op.getSelectLast() ? !moreExtreme(op.getKind(), current, candidate)
                                                 : moreExtreme(op.getKind(), candidate, current);
          if (better)
            best = k;
        }
        result.setInt(outer * view.inner + inner, best);
      }
    return Tensors{result};
  });
}

} // namespace

void attachReduction(mlir::MLIRContext *context) {
  attach<tk::ReduceOp, reduce>(context);
  attach<tk::ArgReduceOp, argReduce>(context);
}

} // namespace tokamak::reference
