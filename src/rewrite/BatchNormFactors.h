//===- BatchNormFactors.h - a batch norm as one factor and one term a channel ------------------===//
#pragma once
#include "ir/Tk.h"
#include <optional>
#include <vector>

namespace tokamak::rewrite {

/// y = scale[c] * x + shift[c], in double precision.
struct BatchNormFactors {
  std::vector<double> scale; ///< gamma / sqrt(variance + epsilon)
  std::vector<double> shift; ///< beta - mean * scale
};

/// The factors of a batch norm whose statistics are constants. Nothing where one is not, where element types
/// are mixed or narrower than float32 (whose intermediate values round and overflow on their own), or where a
/// factor is not finite (a variance below -epsilon).
std::optional<BatchNormFactors> batchNormFactors(tk::BatchNormOp op);

} // namespace tokamak::rewrite
