//===- WinogradTest.cpp - convolutions by minimal filtering against the plain sum
//-------------------------===//
#include "ConvolutionCase.h"
#include "codegen/anchors/WinogradConvolution.h"
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <random>

namespace tokamak::test {
namespace {

using codegen::ConvolutionShape;

struct Case {
  int64_t batch, in, out, height, width;
  ConvolutionShape::Axes padsLow{0, 1, 1}, padsHigh{0, 1, 1};
};

/// The largest |difference| over the largest |result|.
double errorOf(const Case &c, int64_t outputs, const TargetDescription &target, bool integers) {
  const int64_t lanes = target.lanes();
  ConvolutionShape shape;
  shape.batch = c.batch;
  shape.inChannels = c.in;
  shape.outChannels = c.out;
  shape.input = {1, c.height, c.width};
  shape.kernel = {1, 3, 3};
  shape.padsLow = c.padsLow;
  shape.inputBlock = lanes;
  shape = withOutput(shape, c.padsHigh);
  auto plan = llvm::cantFail(codegen::createWinogradConvolution(shape, outputs, target));

  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  std::vector<float> input(static_cast<size_t>(inputSize(shape))),
      weight(static_cast<size_t>(weightSize(shape)));
  for (std::vector<float> *values : {&input, &weight})
    for (float &x : *values)
      x = integers ? static_cast<float>(static_cast<int>(random() % 9) - 4) : normal(random);
  std::vector<double> expected = referenceConvolution(shape, input, weight);
  std::vector<float> stored = blocked(input, shape.batch, shape.inChannels, c.height * c.width, lanes);
  Tensor packed = plan->pack(tensorOf(weight));
  ResultShape result = resultShape(shape, true);
  CompiledKernel kernel = compileConvolution(*plan, result, target);
  std::vector<float> scratch(static_cast<size_t>(plan->scratchBytes() / 4), std::nanf(""));
  std::vector<float> y(static_cast<size_t>(result.bufferSize(lanes)), std::nanf(""));
  for (int64_t task = plan->taskCount(); task-- > 0;) {
    std::fill(scratch.begin(), scratch.end(), std::nanf(""));
    kernel.run(stored.data(), reinterpret_cast<const float *>(packed.bytes()), scratch.data(), y.data(), task,
               task + 1);
  }
  double worst = 0, largest = 0;
  const int64_t plane = shape.output[1] * shape.output[2];
  for (int64_t n = 0; n < c.batch; ++n)
    for (int64_t channel = 0; channel < c.out; ++channel)
      for (int64_t p = 0; p < plane; ++p) {
        const double want = expected[static_cast<size_t>((n * c.out + channel) * plane + p)];
        const double got = y[static_cast<size_t>(result.offset(n, channel, p, lanes))];
        const double error = std::abs(got - want);
        worst = std::isnan(error) ? HUGE_VAL : std::max(worst, error);
        largest = std::max(largest, std::abs(want));
      }
  return worst / std::max(largest, 1.0);
}

const Case cases[] = {
    {1, 64, 64, 28, 28},
    {1, 16, 32, 7, 7},
    {2, 24, 40, 9, 13},
    {1, 40, 17, 5, 6, {0, 0, 0}, {0, 0, 0}},
    {1, 16, 16, 3, 3},
    {3, 5, 1, 1, 1},
    {1, 17, 130, 14, 14, {0, 2, 0}, {0, 1, 2}},
    {0, 16, 16, 5, 5},
    {1, 256, 256, 14, 14},
};

class WinogradTest : public testing::TestWithParam<const char *> {};

TEST_P(WinogradTest, TwoOutputsAreExactOnIntegers) {
  auto target = llvm::cantFail(TargetDescription::forCpu(GetParam()));
  for (const Case &c : cases)
    EXPECT_EQ(errorOf(c, 2, target, true), 0)
        << c.in << " to " << c.out << " channels, " << c.height << "x" << c.width;
}

TEST_P(WinogradTest, FourOutputsAreClose) {
  auto target = llvm::cantFail(TargetDescription::forCpu(GetParam()));
  for (const Case &c : cases)
    EXPECT_LT(errorOf(c, 4, target, false), 1e-5)
        << c.in << " to " << c.out << " channels, " << c.height << "x" << c.width;
}

INSTANTIATE_TEST_SUITE_P(Targets, WinogradTest, testing::Values("native", "x86-64-v3"));

} // namespace
} // namespace tokamak::test
