//===- MultiplyAddsTest.cpp - the multiply-adds that a convolution takes -----------------------===//
#include "ConvolutionCase.h"
#include <gtest/gtest.h>
#include <numeric>

namespace tokamak::test {
namespace {

using codegen::ConvolutionShape;

/// Sums of ones: each result is the number of its taps that lie inside.
double counted(const ConvolutionShape &shape) {
  const std::vector<float> input(static_cast<size_t>(inputSize(shape)), 1);
  const std::vector<float> weight(static_cast<size_t>(weightSize(shape)), 1);
  const std::vector<double> results = referenceConvolution(shape, input, weight);
  return std::accumulate(results.begin(), results.end(), 0.0);
}

ConvolutionShape grouped(ConvolutionShape::Axes strides, ConvolutionShape::Axes dilations, bool transposed) {
  ConvolutionShape shape;
  shape.batch = 2;
  shape.inChannels = 4;
  shape.outChannels = 6;
  shape.group = 2;
  shape.input = {3, 9, 7};
  shape.kernel = {2, 3, 5};
  shape.strides = strides;
  shape.dilations = dilations;
  shape.padsLow = {1, 2, 4};
  shape.spatialRank = 3;
  shape.transposed = transposed;
  return withOutput(shape, {0, 1, 3});
}

TEST(MultiplyAddsTest, TapsOnPaddingTakeNone) {
  for (const ConvolutionShape &shape :
       {PaddedConvolution{8, 16, 7, 7, 3}.shape(), PaddedConvolution{4, 4, 14, 9, 5, 2, 4}.shape(),
        PaddedConvolution{3, 2, 5, 6, 4, 2, 1, 0, true}.shape(), grouped({1, 1, 1}, {1, 1, 1}, false),
        grouped({2, 3, 2}, {1, 2, 3}, false), grouped({2, 3, 2}, {1, 1, 1}, true),
        grouped({1, 2, 3}, {1, 3, 2}, true)})
    EXPECT_EQ(codegen::multiplyAdds(shape), counted(shape));
  // Kernels larger than the image: some taps are never inside.
  EXPECT_EQ(codegen::multiplyAdds(PaddedConvolution{1, 1, 2, 3, 9}.shape()),
            counted(PaddedConvolution{1, 1, 2, 3, 9}.shape()));
}

TEST(MultiplyAddsTest, MinimalFilteringTakesOneAPointOfEachTile) {
  ConvolutionShape shape = PaddedConvolution{8, 24, 14, 7, 3}.shape();
  shape.batch = 3;
  shape.winograd = 2;
  EXPECT_EQ(codegen::multiplyAdds(shape), 3 * 7 * 4 * 16 * 8 * 24);
  shape.winograd = 4;
  EXPECT_EQ(codegen::multiplyAdds(shape), 3 * 4 * 2 * 36 * 8 * 24);
}

} // namespace
} // namespace tokamak::test
