//===- BandSumsTest.cpp - reductions over space that ride on convolutions --------------------------===//
// Where one band is all of the rows, as with many channels of a depthwise convolution, there is one kernel;
// the tiles of others, and so their bands, depend on the vectors of the target. Two threads give the bits of
// one.
#include "ConvolutionChainCase.h"
#include "gtest/gtest.h"

using tokamak::DataType;
using tokamak::Tensor;
using namespace tokamak::test;

namespace {

/// The chain's value and a reduction of it.
std::string both(Chain chain, const std::string &kind, bool keepsAxes = true) {
  std::string value = chain.value(), type = chain.type();
  chain.reduce(kind, "", keepsAxes);
  return chain.function("", value + ", " + chain.value(), type + ", " + chain.valueType());
}

TEST(BandSums, BesideTheResult) {
  for (const char *kind : {"sum", "mean", "max"})
    for (bool keepsAxes : {true, false}) {
      SCOPED_TRACE(kind);
      expectSame(both(Chain({1, 160, 9, 9}).add(depthwise(160, 3, 1, "relu6")), kind, keepsAxes), 1);
      expectSame(both(Chain({1, 40, 9, 9}).add(pointwise(600, "relu6")), kind, keepsAxes), std::nullopt);
    }
}

TEST(BandSums, InsteadOfTheResult) {
  for (const char *kind : {"sum", "mean", "max"}) {
    expectSame(Chain({1, 160, 7, 7}).add(dense(320, 3, 1, "relu6")).reduce(kind).function(), std::nullopt);
    expectSame(Chain({2, 160, 7, 9}).add(depthwise(160, 5, 1, "shift")).reduce(kind).function(), 1);
  }
}

// Blocks that are not full, tiles that do not divide the columns, images.
TEST(BandSums, RaggedExtents) {
  for (int64_t channels : {20, 136})
    for (int64_t width : {1, 13, 17})
      for (int64_t stride : {1, 2})
        expectSame(both(Chain({3, 24, 7, width})
                            .add(pointwise(channels))
                            .add(depthwise(channels, 3, stride, "shift")),
                        "mean"),
                   std::nullopt);
}

// So few channels that bands of rows are what there is to share: a reduction over the bands is left.
TEST(BandSums, SeveralBands) {
  for (int64_t rows : {17, 61})
    for (const char *kind : {"sum", "mean", "max"}) {
      SCOPED_TRACE(rows);
      expectSame(both(Chain({1, 16, rows, 19}).add(pointwise(16)).add(depthwise(16, 3, 1, "shift")), kind),
                 2);
      expectSame(both(Chain({2, 8, rows, 19}).add(pointwise(24, "shift")), kind, false), 2);
    }
}

TEST(BandSums, BehindAChain) {
  expectSame(
      both(Chain({1, 16, 20, 18}).add(pointwise(96, "relu6")).add(depthwise(96, 5, 2, "relu6")), "mean"),
      std::nullopt);
  expectSame(both(Chain({2, 24, 11, 13})
                      .add(pointwise(144, "relu6"))
                      .add(depthwise(144, 3, 1, "relu6"))
                      .add(pointwise(280)),
                  "max"),
             std::nullopt);
}

TEST(BandSums, OtherConvolutions) {
  // Several results a channel, a stride of the transposed kind, an image of three channels, a prologue.
  expectSame(both(Chain({1, 96, 8, 9}).add(depthwise(192, 3)), "sum"), std::nullopt);
  expectSame(both(Chain({1, 64, 5, 6}).transposed(160, 3, 2, 1), "sum"), std::nullopt);
  expectSame(both(Chain({1, 160, 5, 6}).transposed(160, 3, 2, 1, true), "max"), std::nullopt);
  expectSame(both(Chain({1, 3, 15, 15}).add(dense(200, 3, 2, "relu6")), "mean"), std::nullopt);
  expectSame(both(Chain({1, 64, 9, 9}).activate("shift").add(pointwise(200)), "mean"), std::nullopt);
}

TEST(BandSums, OfAValueThatIsNotStored) {
  Chain chain = Chain({1, 144, 9, 11}).add(depthwise(144, 3));
  std::string value = chain.value(), type = chain.type();
  chain.activate("relu6").reduce("mean");
  expectSame(chain.function("", value + ", " + chain.value(), type + ", " + chain.valueType()), std::nullopt);
}

TEST(BandSums, TwoOfOneValue) {
  Chain chain = Chain({1, 144, 9, 11}).add(depthwise(144, 3, 1, "shift"));
  std::string value = chain.value(), type = chain.type();
  chain.reduce("mean");
  std::string mean = chain.value(), reduced = chain.valueType();
  std::string max = "%top = tk.reduce " + value +
                    " {axes = array<i64: 2, 3>, keep_dims = true, kind = #tk.reduce_kind<max>} : (" + type +
                    ") -> " + reduced + "\n";
  expectSame(chain.function(max, value + ", " + mean + ", %top", type + ", " + reduced + ", " + reduced), 1);
}

/// The value times a gate that two convolutions and a function make of its mean.
TEST(BandSums, SqueezeAndExcite) {
  for (int64_t channels : {72, 160}) {
    Chain chain =
        Chain({1, 24, 14, 14}).add(pointwise(channels, "relu6")).add(depthwise(channels, 3, 1, "relu6"));
    std::string value = chain.value(), type = chain.type();
    chain.reduce("mean").add(pointwise(24, "relu6")).add(pointwise(channels, "relu6"));
    std::string gated = "%gated = tk.mul " + value + ", " + chain.value() + " : (" + type + ", " +
                        chain.valueType() + ") -> " + type + "\n";
    expectSame(chain.function(gated, "%gated", type), std::nullopt, false);
  }
}

TEST(BandSums, NotANumberAndInfinity) {
  const float nan = std::numeric_limits<float>::quiet_NaN(),
              infinity = std::numeric_limits<float>::infinity();
  for (float special : {nan, infinity, -infinity})
    for (const char *kind : {"sum", "max"}) {
      Tensor input(DataType::Float32, {1, 136, 9, 9});
      auto *values = reinterpret_cast<float *>(input.mutableBytes());
      for (int64_t i = 0; i < input.size(); ++i)
        values[i] = static_cast<float>(i % 5 - 2);
      values[136 * 81 - 1] = special; // the last pixel of the last channel, in a ragged block
      values[3 * 81 + 40] = special;
      expectSame(both(Chain({1, 136, 9, 9}).add(depthwise(136, 3)), kind), 1, true, {input});
    }
}

/// Everything below zero: lanes and taps that are not there would show as zero.
TEST(BandSums, MaximaBelowZero) {
  Tensor input(DataType::Float32, {1, 140, 6, 7});
  auto *values = reinterpret_cast<float *>(input.mutableBytes());
  std::fill(values, values + input.size(), 1.0F);
  const std::string type = "tensor<1x140x6x7xf32>", reduced = "tensor<1x140x1x1xf32>";
  expectSame("func.func @main(%x: " + type + ") -> (" + type + ", " + reduced + R"() {
    %w = tk.constant dense<-2.0> : tensor<140x1x1x1xf32>
    %c = tk.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 140 : i64} : ()" +
                 type + ", tensor<140x1x1x1xf32>) -> " + type + R"(
    %m = tk.reduce %c {axes = array<i64: 2, 3>, keep_dims = true, kind = #tk.reduce_kind<max>} : ()" +
                 type + ") -> " + reduced + "\n return %c, %m : " + type + ", " + reduced + "\n}",
             1, true, {input});
}

} // namespace
