//===- ConstantOperands.cpp - operators with a constant beside a value -----------------------===//
#include "rewrite/ConstantOperands.h"
#include "reference/Elements.h"
#include "reference/Numbers.h"
#include <algorithm>

using namespace mlir;
using namespace tokamak;

Value rewrite::makeConstant(OpBuilder &builder, Location loc, const Tensor &tensor) {
  return builder.create<tk::ConstantOp>(loc, tensor.mlirType(builder.getContext()),
                                        tensor.toAttr(builder.getContext()));
}

std::optional<Tensor> rewrite::compactConstant(Value value) {
  auto constant = value.getDefiningOp<tk::ConstantOp>();
  if (!constant)
    return std::nullopt;
  // Without writing out all elements of what may be as large as an activation.
  auto dense = llvm::dyn_cast<DenseElementsAttr>(constant.getValueAttr());
  if (dense && dense.isSplat())
    return Tensor::fromAttr(dense.resizeSplat(dense.getType().clone(ArrayRef<int64_t>())));
  return Tensor::fromAttr(constant.getValueAttr());
}

std::optional<rewrite::ConstantOperand> rewrite::constantOperand(Operation *binary) {
  if (!binary || binary->getNumOperands() != 2 || binary->getNumResults() != 1)
    return std::nullopt;
  for (unsigned side : {1u, 0u}) {
    Value x = binary->getOperand(1 - side);
    if (x.getType() != binary->getResult(0).getType() || x.getDefiningOp<tk::ConstantOp>())
      continue;
    if (std::optional<Tensor> constant = compactConstant(binary->getOperand(side)))
      return ConstantOperand{x, *constant, side == 0};
  }
  return std::nullopt;
}

/// A combined constant may always have this many elements; beyond, no more than the larger of its operands.
static constexpr int64_t smallElements = 4096;

/// f(a, b) on elements of equal type, broadcast.
template <typename F>
static std::optional<Tensor> combine(const Tensor &a, const Tensor &b, F f) {
  FailureOr<llvm::SmallVector<int64_t>> shape = tk::broadcastShapes(a.shape(), b.shape());
  if (failed(shape) || a.type() != b.type() ||
      reference::product(*shape) > std::max({smallElements, a.size(), b.size()}))
    return std::nullopt;
  return reference::inDomain(a.type(), [&](auto zero) {
    using T = decltype(zero);
    const std::vector<T> left = reference::load<T>(a), right = reference::load<T>(b);
    std::vector<T> values;
    reference::walk<2>(
        *shape, {0, 0},
        {reference::broadcastStrides(a.shape(), *shape), reference::broadcastStrides(b.shape(), *shape)},
        [&](const std::array<int64_t, 2> &at) { values.push_back(f(left[at[0]], right[at[1]])); });
    return reference::store(a.type(), *shape, values);
  });
}

Tensor rewrite::negated(const Tensor &a) {
  return reference::inDomain(a.type(), [&](auto zero) {
    using T = decltype(zero);
    std::vector<T> values = reference::load<T>(a);
    for (T &value : values) {
      if constexpr (std::is_floating_point_v<T>)
        value = -value; // of a zero, too
      else
        value = reference::subtract(T{0}, value);
    }
    return reference::store(a.type(), a.shape(), values);
  });
}

std::optional<Tensor> rewrite::sum(const Tensor &a, const Tensor &b) {
  return combine(a, b, [](auto x, auto y) { return reference::add(x, y); });
}
std::optional<Tensor> rewrite::product(const Tensor &a, const Tensor &b) {
  return combine(a, b, [](auto x, auto y) { return reference::multiply(x, y); });
}
std::optional<Tensor> rewrite::largerOf(const Tensor &a, const Tensor &b) {
  return combine(a, b, [](auto x, auto y) { return reference::maximum(x, y); });
}
std::optional<Tensor> rewrite::smallerOf(const Tensor &a, const Tensor &b) {
  return combine(a, b, [](auto x, auto y) { return reference::minimum(x, y); });
}

bool rewrite::allElements(const Tensor &tensor, llvm::function_ref<bool(double)> holds) {
  for (int64_t i = 0; i < tensor.size(); ++i)
    if (!holds(tensor.doubleAt(i)))
      return false;
  return true;
}

bool rewrite::isWideFloat(Value value) {
  Type element = tk::tensorType(value).getElementType();
  return element.isF32() || element.isF64();
}

bool rewrite::isIntegerTensor(Value value) {
  std::optional<DataType> type = fromMlir(tk::tensorType(value).getElementType());
  return type && isInteger(*type);
}
