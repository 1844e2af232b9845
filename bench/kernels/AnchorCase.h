//===- AnchorCase.h - one anchor kernel of the suite ------------------------------------------===//
#pragma once
#include "analysis/TargetDescription.h"
#include "codegen/anchors/ConvolutionShape.h"
#include "codegen/anchors/MatMulShape.h"
#include <functional>
#include <memory>
#include <string>

namespace tokamak::bench {

/// A kernel compiled, with operands of random values.
struct AnchorCase {
  std::function<void()> run; ///< all tasks, on the calling thread
  double flops = 0;          ///< that it does: taps on padding are none, minimal filtering counts its own
  double bytes = 0;          ///< operands and results, each once
  int64_t spills = 0;        ///< in innermost loops with multiply-adds
};

/// With max(x, 0) behind it. Of a channel-blocked input (`shape.inputBlock` lanes) or a row-major one.
std::unique_ptr<AnchorCase> convolutionCase(const codegen::ConvolutionShape &shape,
                                            const TargetDescription &target);
std::unique_ptr<AnchorCase> matmulCase(const codegen::MatMulShape &shape, const TargetDescription &target);

} // namespace tokamak::bench
