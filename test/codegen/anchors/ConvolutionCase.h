//===- ConvolutionCase.h - one convolution compiled and run ---------------------------------===//
#pragma once
#include "KernelHarness.h"
#include "codegen/anchors/Convolution.h"

namespace tokamak::test {

/// Fills in the output extents from the others: `padsHigh` for the end (for a transposed convolution: cropped
/// there, less `outputPadding`).
codegen::ConvolutionShape withOutput(codegen::ConvolutionShape shape,
                                     codegen::ConvolutionShape::Axes padsHigh);

/// A two-dimensional convolution of `kernel` x `kernel`, padded so that the input's extents remain (over the
/// stride); `lanes` channels a block of the input, 0 for a row-major one.
struct PaddedConvolution {
  int64_t inChannels, outChannels, height, width, kernel;
  int64_t stride = 1, group = 1;
  int64_t lanes = 0;
  bool transposed = false;

  codegen::ConvolutionShape shape() const;
};

/// The convolution as a plain sum over all kernel elements, in double precision. Row-major [N, C, spatial].
std::vector<double> referenceConvolution(const codegen::ConvolutionShape &shape,
                                         const std::vector<float> &input, const std::vector<float> &weight);

/// Row-major values into the layout that the plan reads, NaN in padding lanes.
std::vector<float> blocked(const std::vector<float> &values, int64_t images, int64_t channels, int64_t plane,
                           int64_t block);

int64_t inputSize(const codegen::ConvolutionShape &shape);
int64_t weightSize(const codegen::ConvolutionShape &shape);
ResultShape resultShape(const codegen::ConvolutionShape &shape, bool isBlocked);
/// Row-major with lanes over columns, of two spatial axes: what a plan without lanes of channels stores.
ResultShape rowsResultShape(const codegen::ConvolutionShape &shape);
Tensor tensorOf(const std::vector<float> &values);

CompiledKernel compileConvolution(const codegen::ConvolutionPlan &plan, const ResultShape &result,
                                  const TargetDescription &target, bool wantAssembly = false);

} // namespace tokamak::test
