//===- ConvolutionChainTest.cpp - convolutions that compute each other's inputs
//------------------------------===//
// Every chain is described layer by layer, with weights that tell channels and taps apart. Calls are modelled
// as dear, so that one kernel pays; each case says how many there must be.
#include "ConvolutionChainCase.h"
#include "gtest/gtest.h"

using tokamak::FusionMode;
using namespace tokamak::test;

namespace {

TEST(ConvolutionChain, ExpandDepthwiseProject) {
  expectSame(Chain({1, 24, 28, 28})
                 .add(pointwise(144, "relu6"))
                 .add(depthwise(144, 3, 1, "relu6"))
                 .add(pointwise(24))
                 .addInput()
                 .function());
}

TEST(ConvolutionChain, RaggedChannelsStridesAndBatches) {
  for (int64_t stride : {1, 2})
    for (int64_t kernel : {3, 5})
      for (int64_t width : {13, 16})
        expectSame(Chain({2, 20, 17, width})
                       .add(pointwise(72, "relu6"))
                       .add(depthwise(72, kernel, stride, "relu6"))
                       .add(pointwise(28))
                       .function());
}

TEST(ConvolutionChain, ShorterChains) {
  expectSame(Chain({1, 32, 20, 18}).add(depthwise(32, 3, 1, "relu6")).add(pointwise(48)).function());
  expectSame(Chain({1, 32, 20, 18}).add(pointwise(96, "relu6")).add(depthwise(96, 3)).function());
  expectSame(Chain({1, 64, 20, 18}).add(pointwise(40, "relu6")).add(dense(24, 3)).function());
  expectSame(Chain({1, 64, 20, 18}).add(dense(40, 3, 1, "relu6")).add(pointwise(100)).function());
  expectSame(Chain({1, 24, 20, 18}).add(dense(40, 3, 2, "relu6")).add(dense(33, 3)).function());
}

// A block of results reads half a block, the convolution before computes several at a time.
TEST(ConvolutionChain, SeveralResultsAChannel) {
  for (int64_t channels : {16, 40, 64})
    expectSame(
        Chain({1, 24, 20, 18}).add(pointwise(channels, "relu6")).add(depthwise(2 * channels, 3)).function(),
        std::nullopt);
}

TEST(ConvolutionChain, PaddingIsNotSentThroughBiasAndActivation) {
  // The value between is not zero at zero: a border computed from padding would show.
  for (int64_t stride : {1, 2})
    for (int64_t dilation : {1, 2}) {
      Layer layer{40, 3, stride, dilation, {dilation, dilation, dilation, dilation}, true};
      expectSame(Chain({1, 24, 15, 14}).add(pointwise(40, "shift")).add(layer).function());
      layer.depthwise = false;
      expectSame(Chain({1, 24, 15, 14}).add(pointwise(40, "shift")).add(layer).function());
    }
}

TEST(ConvolutionChain, UnevenPads) {
  for (std::array<int64_t, 4> pads : {std::array<int64_t, 4>{0, 0, 1, 1}, {2, 0, 0, 3}, {0, 2, 3, 0}})
    for (int64_t stride : {1, 2})
      expectSame(Chain({1, 24, 12, 11})
                     .add(pointwise(48, "shift"))
                     .add({48, 3, stride, 1, pads, true, "relu6"})
                     .add(pointwise(24))
                     .function());
}

TEST(ConvolutionChain, OneRowOneColumnOnePixel) {
  for (auto [rows, columns] : {std::pair<int64_t, int64_t>{1, 40}, {40, 1}, {1, 1}, {2, 3}})
    expectSame(Chain({1, 24, rows, columns})
                   .add(pointwise(48, "shift"))
                   .add(depthwise(48, 5))
                   .add(pointwise(24))
                   .addInput()
                   .function());
}

TEST(ConvolutionChain, OnlyPadding) {
  // Rows of results that read padding alone.
  expectSame(Chain({1, 24, 4, 5}).add(pointwise(32, "shift")).add({16, 1, 1, 1, {3, 3, 3, 3}}).function());
  expectSame(
      Chain({1, 24, 3, 5}).add(pointwise(32, "shift")).add({32, 3, 1, 4, {4, 4, 4, 4}, true}).function());
}

TEST(ConvolutionChain, BottleneckAndPrologue) {
  expectSame(Chain({1, 64, 14, 14})
                 .activate("shift")
                 .add(pointwise(32, "relu6"))
                 .add(dense(32, 3, 1, "relu6"))
                 .add(pointwise(64))
                 .addInput()
                 .function());
}

TEST(ConvolutionChain, FourConvolutions) {
  expectSame(Chain({1, 16, 14, 14})
                 .add(depthwise(16, 3, 1, "relu6"))
                 .add(pointwise(32, "relu6"))
                 .add(depthwise(32, 3, 1, "relu6"))
                 .add(pointwise(20))
                 .function());
}

TEST(ConvolutionChain, ImageOfThreeChannels) {
  expectSame(Chain({1, 3, 33, 35})
                 .add(dense(32, 3, 2, "relu6"))
                 .add(depthwise(32, 3, 1, "relu6"))
                 .add(pointwise(16))
                 .function());
}

TEST(ConvolutionChain, TransposedConvolutions) {
  for (auto [kernel, stride, pad] :
       {std::array<int64_t, 3>{2, 2, 0}, {3, 2, 1}, {4, 2, 1}, {2, 3, 0}, {3, 1, 1}}) {
    SCOPED_TRACE(std::to_string(kernel) + " by " + std::to_string(stride));
    // As the last one, as the first one, and twice.
    expectSame(
        Chain({1, 24, 9, 11}).add(pointwise(40, "shift")).transposed(24, kernel, stride, pad).function());
    expectSame(Chain({2, 24, 9, 11})
                   .transposed(40, kernel, stride, pad)
                   .activate("shift")
                   .add(dense(24, 3))
                   .function());
    expectSame(Chain({1, 24, 6, 7})
                   .add(dense(24, 3, 1, "relu6"))
                   .transposed(24, kernel, stride, pad)
                   .activate("shift")
                   .transposed(16, kernel, stride, pad)
                   .function());
    expectSame(Chain({1, 24, 9, 11})
                   .add(pointwise(40, "shift"))
                   .transposed(40, kernel, stride, pad, true)
                   .activate("relu6")
                   .add(pointwise(24))
                   .function());
  }
}

TEST(ConvolutionChain, Pools) {
  // The value before a pool of padding is below zero in places: padding is no zero there.
  for (const char *kind : {"max", "sum"})
    for (auto [kernel, stride, low, high] :
         {std::array<int64_t, 4>{3, 2, 1, 1}, {2, 2, 0, 0}, {3, 1, 1, 1}, {2, 2, 0, 1}, {13, 1, 6, 6}}) {
      SCOPED_TRACE(std::string(kind) + " of " + std::to_string(kernel) + " by " + std::to_string(stride));
      expectSame(Chain({2, 3, 33, 31}).add(dense(24, 7, 2)).pool(kind, kernel, stride, low, high).function());
      expectSame(Chain({1, 24, 15, 14})
                     .add(pointwise(40, "shift"))
                     .pool(kind, kernel, stride, low, high)
                     .activate("relu6")
                     .add(pointwise(24))
                     .function());
    }
  expectSame(Chain({1, 24, 40, 40}).pool("max", 3, 1, 1, 1).add(dense(24, 3)).function());
}

TEST(ConvolutionChain, ActivationsThatAreNotExact) {
  expectSame(Chain({1, 24, 14, 15})
                 .add(pointwise(96, "gate"))
                 .add(depthwise(96, 5, 1, "gate"))
                 .add(pointwise(40))
                 .function(),
             1, false);
}

TEST(ConvolutionChain, ManyBands) {
  // Rows so long that few fit the cache at a time.
  expectSame(Chain({1, 24, 9, 400})
                 .add(pointwise(144, "shift"))
                 .add(depthwise(144, 3, 1, "relu6"))
                 .add(pointwise(24))
                 .addInput()
                 .function());
}

TEST(ConvolutionChain, InteriorValueIsAnOutput) {
  Chain chain = Chain({1, 24, 14, 14}).add(pointwise(48, "relu6"));
  std::string interior = chain.value(), type = chain.type();
  chain.add(depthwise(48, 3)).add(pointwise(24));
  // The depthwise and the last share a kernel; the first stays visible.
  expectSame(chain.function("", interior + ", " + chain.value(), type + ", " + chain.type()), 2);
}

TEST(ConvolutionChain, InteriorValueHasAnotherReader) {
  Chain chain = Chain({1, 24, 14, 14}).add(pointwise(24, "relu6"));
  std::string interior = chain.value(), type = chain.type();
  chain.add(depthwise(24, 3));
  // A residual around the depthwise convolution reads what would no longer exist.
  std::string more =
      "%r = tk.add " + chain.value() + ", " + interior + " : (" + type + ", " + type + ") -> " + type + "\n";
  expectSame(chain.function(more, "%r", type), 2);
}

TEST(ConvolutionChain, NotANumberAndInfinity) {
  Chain chain = Chain({1, 24, 9, 9}).add(pointwise(40, "relu6")).add(depthwise(40, 3)).add(pointwise(24));
  for (const char *cpu : {"native", "x86-64-v3"})
    for (float special : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
      ProgramCase test;
      test.text = chain.function();
      test.cpu = cpu;
      test.fusion = FusionMode::Full;
      test.dearCalls = true;
      test.exact = true;
      test.kernels = 1;
      tokamak::Tensor input(tokamak::DataType::Float32, {1, 24, 9, 9});
      auto *values = reinterpret_cast<float *>(input.mutableBytes());
      for (int64_t i = 0; i < input.size(); ++i)
        values[i] = static_cast<float>(i % 5 - 2);
      values[24 * 81 - 1] = special; // the last pixel of the last channel, in a ragged block
      values[3 * 81 + 40] = special;
      test.inputs = {input};
      EXPECT_EQ(differenceFromReference(test), "") << cpu << " " << special;
    }
}

} // namespace
