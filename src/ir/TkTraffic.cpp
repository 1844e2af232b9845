//===- TkTraffic.cpp - arithmetic of the operators that do not cost one operation an element -===//
#include "ir/Tk.h"
#include "llvm/Support/MathExtras.h"
#include <limits>

namespace tokamak::tk {
namespace {

/// Saturates: only a ratio is ever wanted of such numbers.
int64_t product(llvm::ArrayRef<int64_t> factors) {
  uint64_t n = 1;
  for (int64_t f : factors)
    n = llvm::SaturatingMultiply(n, static_cast<uint64_t>(f));
  return static_cast<int64_t>(std::min(n, static_cast<uint64_t>(std::numeric_limits<int64_t>::max())));
}

int64_t saturatingAdd(int64_t a, int64_t b) {
  int64_t sum;
  return llvm::AddOverflow(a, b, sum) ? std::numeric_limits<int64_t>::max() : sum;
}

int64_t elements(mlir::Value v) { return tensorType(v).getNumElements(); }

int64_t bodyFlops(mlir::Region &body) {
  int64_t sum = 0;
  for (mlir::Operation &op : body.front())
    if (auto traffic = llvm::dyn_cast<TrafficInterface>(op))
      sum = saturatingAdd(sum, traffic.getFlops());
  return sum;
}

} // namespace

int64_t ReduceOp::getFlops() { return getAxes().empty() ? 0 : elements(getInput()); }

int64_t ArgReduceOp::getFlops() { return elements(getInput()); }

int64_t MatMulOp::getFlops() {
  llvm::ArrayRef<int64_t> lhs = tensorType(getLhs()).getShape();
  const int64_t inner = lhs[lhs.size() - (getTransposeLhs() ? 2 : 1)];
  return product({2, elements(getResult()), inner});
}

int64_t ConvOp::getFlops() {
  // One multiply-add for each weight of the output's channel; padding counts, as is customary.
  llvm::ArrayRef<int64_t> weight = tensorType(getWeight()).getShape();
  const int64_t taps = product(weight.drop_front());
  return saturatingAdd(product({2, elements(getResult()), taps}), getBias() ? elements(getResult()) : 0);
}

int64_t ConvTransposeOp::getFlops() {
  // Each input element meets every weight of its channel.
  llvm::ArrayRef<int64_t> weight = tensorType(getWeight()).getShape();
  const int64_t taps = product(weight.drop_front());
  return saturatingAdd(product({2, elements(getInput()), taps}), getBias() ? elements(getResult()) : 0);
}

int64_t WindowOp::getFlops() { return product({elements(getResult()), product(getKernel())}); }

int64_t CompositeOp::getFlops() { return bodyFlops(getBody()); }
int64_t FusionOp::getFlops() { return bodyFlops(getBody()); }

} // namespace tokamak::tk
