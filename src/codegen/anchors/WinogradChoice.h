//===- WinogradChoice.h - where minimal filtering pays ---------------------------------------===//
#pragma once
#include "analysis/TargetDescription.h"
#include "codegen/anchors/ConvolutionShape.h"

namespace tokamak::codegen {

/// Where the weights of a convolution come from when it runs.
enum class WeightSource { Cache, Memory };

/// Seconds on one core that the convolution is modelled to take by F(`outputs`, 3), or by plain sums (0),
/// beside what it reads and writes of activations, which is the same in both.
double modelledSeconds(const ConvolutionShape &shape, int64_t outputs, WeightSource weights,
                       const TargetDescription &target);

/// 2 or 4 where that is modelled to save a tenth at least, else 0.
int64_t chooseWinograd(const ConvolutionShape &shape, WeightSource weights, const TargetDescription &target);

} // namespace tokamak::codegen
