//===- BatchNormFactors.cpp - a batch norm as one factor and one term a channel ----------------===//
#include "rewrite/BatchNormFactors.h"
#include <cmath>

using namespace tokamak;

std::optional<rewrite::BatchNormFactors> rewrite::batchNormFactors(tk::BatchNormOp op) {
  mlir::Type element = op.getType().getElementType();
  if (!element.isF32() && !element.isF64())
    return std::nullopt;
  llvm::SmallVector<Tensor, 4> statistics;
  for (mlir::Value value : {op.getScale(), op.getBias(), op.getMean(), op.getVariance()}) {
    std::optional<Tensor> tensor = tk::constantValue(value);
    if (!tensor)
      return std::nullopt;
    statistics.push_back(*tensor);
  }
  const Tensor &gamma = statistics[0], &beta = statistics[1], &mean = statistics[2],
               &variance = statistics[3];
  auto isFinite = [&](double value) { // as the constant that it will be
    return element.isF32() ? std::isfinite(static_cast<float>(value)) : std::isfinite(value);
  };
  const double epsilon = op.getEpsilon().convertToDouble();
  BatchNormFactors factors;
  for (int64_t c = 0; c < gamma.size(); ++c) {
    double scale = gamma.doubleAt(c) / std::sqrt(variance.doubleAt(c) + epsilon);
    double shift = beta.doubleAt(c) - mean.doubleAt(c) * scale;
    if (!isFinite(scale) || !isFinite(shift))
      return std::nullopt;
    factors.scale.push_back(scale);
    factors.shift.push_back(shift);
  }
  return factors;
}
