//===- ConvolutionTest.cpp - emitted convolutions against the plain sum ---------------------===//
#include "ConvolutionCase.h"
#include "llvm/Support/raw_ostream.h"
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <random>

namespace tokamak::test {
namespace {

using codegen::ConvolutionPlan;
using codegen::ConvolutionShape;

struct Case {
  std::string name;
  ConvolutionShape shape;
  ConvolutionShape::Axes padsHigh{0, 0, 0};
  bool blockedInput = true, blockedResult = true;
  friend void PrintTo(const Case &c, std::ostream *stream) { *stream << c.name; }
};

/// Extents with the last two spatial axes; [n, c, h, w] -> m, kernel, stride, dilation, pads low and high.
Case conv2d(std::string name, std::array<int64_t, 4> in, int64_t out, std::array<int64_t, 2> kernel,
            std::array<int64_t, 2> stride = {1, 1}, std::array<int64_t, 4> pads = {0, 0, 0, 0},
            std::array<int64_t, 2> dilation = {1, 1}, int64_t group = 1) {
  Case c{std::move(name), {}, {0, pads[2], pads[3]}};
  c.shape.batch = in[0];
  c.shape.inChannels = in[1];
  c.shape.outChannels = out;
  c.shape.group = group;
  c.shape.input = {1, in[2], in[3]};
  c.shape.kernel = {1, kernel[0], kernel[1]};
  c.shape.strides = {1, stride[0], stride[1]};
  c.shape.dilations = {1, dilation[0], dilation[1]};
  c.shape.padsLow = {0, pads[0], pads[1]};
  return c;
}

Case rowMajor(Case c, bool input = true, bool result = true) {
  c.name += input ? (result ? "_rr" : "_rb") : "_br";
  c.blockedInput = !input;
  c.blockedResult = !result;
  return c;
}

Case transposed(Case c) {
  c.name = "transposed_" + c.name;
  c.shape.transposed = true;
  return c;
}

Case conv3d(std::string name, std::array<int64_t, 5> in, int64_t out, ConvolutionShape::Axes kernel,
            ConvolutionShape::Axes stride, ConvolutionShape::Axes padsLow, ConvolutionShape::Axes padsHigh) {
  Case c{std::move(name), {}, padsHigh};
  c.shape.spatialRank = 3;
  c.shape.batch = in[0];
  c.shape.inChannels = in[1];
  c.shape.outChannels = out;
  c.shape.input = {in[2], in[3], in[4]};
  c.shape.kernel = kernel;
  c.shape.strides = stride;
  c.shape.padsLow = padsLow;
  return c;
}

Case conv1d(std::string name, std::array<int64_t, 3> in, int64_t out, int64_t kernel, int64_t stride,
            int64_t low, int64_t high, int64_t dilation = 1) {
  Case c = conv2d(std::move(name), {in[0], in[1], 1, in[2]}, out, {1, kernel}, {1, stride}, {0, low, 0, high},
                  {1, dilation});
  c.shape.spatialRank = 1;
  return c;
}

std::vector<Case> cases() {
  std::vector<Case> list = {
      conv2d("one_by_one", {1, 32, 9, 13}, 48, {1, 1}),
      conv2d("one_by_one_ragged", {2, 24, 5, 31}, 40, {1, 1}),
      conv2d("one_by_one_strided", {1, 16, 8, 15}, 32, {1, 1}, {2, 2}),
      conv2d("one_pixel", {1, 40, 1, 1}, 70, {1, 1}),
      conv2d("one_channel_out", {1, 20, 6, 6}, 1, {3, 3}, {1, 1}, {1, 1, 1, 1}),
      conv2d("three_by_three", {1, 32, 7, 56}, 32, {3, 3}, {1, 1}, {1, 1, 1, 1}),
      conv2d("seven_by_seven_plane", {1, 48, 7, 7}, 96, {3, 3}, {1, 1}, {1, 1, 1, 1}),
      conv2d("eight_wide", {1, 16, 8, 8}, 35, {3, 3}, {1, 1}, {1, 1, 1, 1}),
      conv2d("strided", {1, 16, 15, 29}, 32, {3, 3}, {2, 2}, {1, 1, 1, 1}),
      conv2d("strided_uneven_pads", {1, 16, 14, 28}, 32, {3, 3}, {2, 2}, {0, 0, 1, 1}),
      conv2d("tall_kernel", {1, 16, 12, 9}, 16, {5, 1}, {1, 1}, {2, 0, 2, 0}),
      conv2d("wide_kernel", {1, 16, 3, 40}, 16, {1, 7}, {1, 1}, {0, 3, 0, 3}),
      conv2d("dilated", {1, 16, 20, 33}, 16, {3, 3}, {1, 1}, {12, 12, 12, 12}, {12, 12}),
      conv2d("dilated_strided", {1, 16, 20, 33}, 24, {3, 2}, {2, 3}, {4, 2, 1, 3}, {2, 4}),
      conv2d("row_narrower_than_kernel", {1, 16, 2, 2}, 16, {5, 5}, {1, 1}, {2, 2, 2, 2}),
      conv2d("only_padding_taps", {1, 16, 3, 3}, 16, {1, 1}, {1, 1}, {2, 2, 2, 2}),
      conv2d("long_column", {1, 8, 40, 1}, 16, {3, 1}, {1, 1}, {1, 0, 1, 0}),
      conv2d("long_kernel", {1, 16, 1, 90}, 16, {1, 41}, {1, 1}, {0, 20, 0, 20}),
      conv2d("two_groups", {1, 64, 6, 10}, 96, {3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}, 2),
      conv2d("batch", {3, 16, 5, 6}, 20, {3, 3}, {1, 1}, {1, 1, 1, 1}),
      conv2d("wide_bands", {1, 8, 1, 700}, 16, {1, 3}, {1, 1}, {0, 1, 0, 1}),
      conv2d("many_channels", {1, 160, 9, 20}, 200, {3, 3}, {1, 1}, {1, 1, 1, 1}),
      rowMajor(conv2d("image", {1, 3, 32, 44}, 24, {7, 7}, {2, 2}, {3, 3, 3, 3}), true, false),
      rowMajor(conv2d("image3", {2, 3, 17, 19}, 16, {3, 3}, {2, 2}, {1, 1, 1, 1})),
      rowMajor(conv2d("gray", {1, 1, 12, 30}, 33, {5, 5}, {1, 1}, {2, 2, 2, 2})),
      rowMajor(conv2d("rows", {1, 37, 9, 21}, 20, {3, 3}, {1, 1}, {1, 1, 1, 1})),
      rowMajor(conv2d("rows_one_by_one", {1, 50, 4, 17}, 7, {1, 1})),
      rowMajor(conv2d("rows_groups", {1, 6, 7, 11}, 48, {3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}, 3)),
      rowMajor(conv2d("result_rows", {1, 20, 7, 11}, 21, {3, 3}, {1, 1}, {1, 1, 1, 1}), false),
      conv2d("depthwise", {1, 48, 11, 28}, 48, {3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}, 48),
      conv2d("depthwise_ragged", {2, 40, 7, 9}, 40, {5, 5}, {2, 2}, {2, 2, 2, 2}, {1, 1}, 40),
      conv2d("depthwise_dilated", {1, 16, 19, 23}, 16, {3, 3}, {1, 1}, {4, 4, 4, 4}, {4, 4}, 16),
      conv2d("depthwise_large_kernel", {1, 16, 20, 45}, 16, {13, 13}, {1, 1}, {6, 6, 6, 6}, {1, 1}, 16),
      conv2d("depthwise_long_kernel", {1, 16, 1, 200}, 16, {1, 61}, {1, 1}, {0, 30, 0, 30}, {1, 1}, 16),
      conv2d("depthwise_one_pixel", {1, 20, 1, 1}, 20, {3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}, 20),
      rowMajor(conv2d("depthwise_result", {1, 20, 5, 6}, 20, {3, 3}, {2, 1}, {1, 1, 1, 1}, {1, 1}, 20),
               false),
      conv2d("groups_of_four", {2, 40, 7, 20}, 40, {3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}, 10),
      conv2d("groups_of_two_long_row", {1, 16, 5, 33}, 16, {1, 9}, {1, 1}, {0, 4, 0, 4}, {1, 1}, 8),
      conv2d("groups_of_two_long_kernel", {1, 32, 1, 90}, 32, {1, 41}, {1, 1}, {0, 20, 0, 20}, {1, 1}, 16),
      conv2d("depthwise_times_two", {2, 20, 7, 20}, 40, {3, 3}, {2, 2}, {1, 1, 1, 1}, {1, 1}, 20),
      conv2d("groups_of_two_to_four", {1, 24, 7, 9}, 48, {3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}, 12),
      conv2d("depthwise_times_eight", {1, 5, 7, 9}, 40, {3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}, 5),
      transposed(
          conv2d("groups_of_two_to_four", {1, 24, 7, 9}, 48, {4, 4}, {2, 2}, {1, 1, 1, 1}, {1, 1}, 12)),
      transposed(conv2d("two", {1, 32, 7, 10}, 24, {2, 2}, {2, 2})),
      transposed(conv2d("four", {1, 16, 6, 9}, 16, {4, 4}, {2, 2}, {1, 1, 1, 1})),
      transposed(conv2d("three", {2, 16, 5, 8}, 20, {3, 3}, {2, 2}, {1, 1, 0, 0})),
      transposed(conv2d("sparse", {1, 16, 4, 5}, 16, {2, 2}, {3, 3})),
      transposed(conv2d("sparse_padded", {1, 16, 4, 5}, 16, {2, 2}, {3, 3}, {0, 0, -2, -2})),
      transposed(conv2d("dilated", {1, 16, 6, 7}, 16, {3, 3}, {2, 3}, {1, 2, 1, 2}, {2, 2})),
      transposed(conv2d("stride_eight", {1, 16, 3, 4}, 16, {16, 16}, {8, 8}, {4, 4, 4, 4})),
      transposed(conv2d("unit_stride", {1, 16, 6, 7}, 16, {3, 3}, {1, 1}, {1, 1, 1, 1})),
      transposed(conv2d("depthwise", {1, 20, 6, 7}, 20, {4, 4}, {2, 2}, {1, 1, 1, 1}, {1, 1}, 20)),
      rowMajor(transposed(conv2d("rows", {1, 5, 6, 7}, 3, {3, 3}, {2, 2}, {1, 1, 1, 1}))),
      conv3d("three_d", {1, 16, 4, 6, 9}, 20, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}),
      conv3d("three_d_strided", {2, 16, 5, 6, 9}, 16, {2, 3, 3}, {2, 2, 1}, {0, 1, 1}, {1, 1, 1}),
      rowMajor(conv3d("three_d_rows", {1, 3, 5, 6, 9}, 16, {3, 3, 3}, {1, 2, 2}, {1, 1, 1}, {1, 1, 1})),
      transposed(conv3d("three_d", {1, 16, 2, 3, 4}, 16, {2, 3, 3}, {2, 2, 2}, {0, 1, 1}, {0, 0, 1})),
      conv1d("one_d", {1, 20, 50}, 33, 5, 1, 2, 2),
      rowMajor(conv1d("one_d_filters", {1, 1, 640}, 40, 256, 64, 0, 0)),
      rowMajor(conv1d("one_d_dilated", {2, 10, 30}, 16, 3, 2, 4, 4, 3)),
      transposed(conv1d("one_d", {1, 16, 20}, 16, 4, 2, 1, 1)),
      conv2d("no_batch", {0, 16, 5, 6}, 20, {3, 3}),
      rowMajor(conv2d("no_channels", {1, 0, 5, 6}, 20, {3, 3})),
  };
  return list;
}

/// Compiles the case for the target, runs it, and compares. `mayRefuse`: a refusal is fine.
void check(const Case &c, const TargetDescription &target, bool mayRefuse = false) {
  int64_t lanes = target.lanes();
  ConvolutionShape shape = withOutput(c.shape, c.padsHigh);
  shape.inputBlock = c.blockedInput ? lanes : 0;
  llvm::Expected<std::unique_ptr<ConvolutionPlan>> plan = ConvolutionPlan::create(shape, target);
  if (!plan && mayRefuse)
    return llvm::consumeError(plan.takeError());
  ASSERT_TRUE(static_cast<bool>(plan)) << llvm::toString(plan.takeError());

  // Small integers: every sum is exact, so the comparison is for equality.
  std::mt19937 random(7);
  std::uniform_int_distribution<int> digit(-4, 4);
  std::vector<float> input(static_cast<size_t>(inputSize(shape))),
      weight(static_cast<size_t>(weightSize(shape)));
  for (float &x : input)
    x = static_cast<float>(digit(random));
  for (float &w : weight)
    w = static_cast<float>(digit(random));
  std::vector<double> expected = referenceConvolution(shape, input, weight);
  int64_t inPlane = shape.input[0] * shape.input[1] * shape.input[2];
  std::vector<float> stored =
      c.blockedInput ? blocked(input, shape.batch, shape.inChannels, inPlane, lanes) : input;
  Tensor packed = (*plan)->pack(tensorOf(weight));

  ResultShape result = resultShape(shape, c.blockedResult);
  CompiledKernel kernel = compileConvolution(**plan, result, target);
  for (bool atEnd : {true, false}) {
    GuardedBuffer x(static_cast<int64_t>(stored.size()), atEnd), w(packed.size(), atEnd),
        y(result.bufferSize(lanes), atEnd);
    std::copy(stored.begin(), stored.end(), x.data());
    if (packed.size() > 0)
      std::memcpy(w.data(), packed.bytes(), packed.byteCount());
    std::fill_n(y.data(), y.size(), std::numeric_limits<float>::quiet_NaN());
    int64_t tasks = (*plan)->taskCount();
    for (int64_t begin = 0, step = tasks / 3 + 1; begin < tasks; begin += step)
      kernel.run(x.data(), w.data(), nullptr, y.data(), begin, std::min(begin + step, tasks));

    int64_t outPlane = shape.output[0] * shape.output[1] * shape.output[2], wrong = 0;
    for (int64_t n = 0; n < shape.batch; ++n)
      for (int64_t oc = 0; oc < shape.outChannels; ++oc)
        for (int64_t p = 0; p < outPlane; ++p) {
          float got = y.data()[result.offset(n, oc, p, lanes)];
          double want = expected[(n * shape.outChannels + oc) * outPlane + p];
          if (!(got == want) && ++wrong <= 5)
            ADD_FAILURE() << "image " << n << " channel " << oc << " position " << p << ": " << got
                          << ", not " << want;
        }
    ASSERT_EQ(wrong, 0);
  }
}

class ConvolutionTest : public testing::TestWithParam<std::tuple<const char *, Case>> {};

TEST_P(ConvolutionTest, EqualsThePlainSum) {
  auto [cpu, c] = GetParam();
  TargetDescription target = llvm::cantFail(TargetDescription::forCpu(cpu));
  if (!canRun(target))
    GTEST_SKIP() << "this machine does not run " << cpu;
  check(c, target);
}

INSTANTIATE_TEST_SUITE_P(Grid, ConvolutionTest,
                         testing::Combine(testing::Values("native", "x86-64-v3"), testing::ValuesIn(cases())),
                         [](const testing::TestParamInfo<std::tuple<const char *, Case>> &info) {
                           std::string cpu = std::get<0>(info.param);
                           return std::get<1>(info.param).name + (cpu == "native" ? "" : "_v3");
                         });

/// Any convolution of small extents.
Case randomCase(std::mt19937 &random) {
  auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  auto choose = [&](std::initializer_list<int64_t> values) {
    return values.begin()[pick(0, static_cast<int64_t>(values.size()) - 1)];
  };
  Case c{"random", {}};
  ConvolutionShape &s = c.shape;
  s.spatialRank = choose({1, 2, 2, 2, 3});
  s.transposed = pick(0, 3) == 0;
  s.batch = choose({1, 1, 2});
  s.group = choose({1, 1, 1, 2, 3, 8});
  int64_t in = choose({1, 2, 3, 4, 8, 16, 17, 32}), out = choose({1, 2, 3, 4, 8, 16, 17, 32, 40});
  s.inChannels = s.group * in;
  s.outChannels = s.group * (pick(0, 1) == 0 ? in : out);
  c.blockedInput = pick(0, 2) != 0;
  c.blockedResult = pick(0, 1) == 0;
  for (unsigned axis = static_cast<unsigned>(3 - s.spatialRank); axis < 3; ++axis) {
    s.strides[axis] = pick(1, 3);
    s.dilations[axis] = choose({1, 1, 1, 2, 5});
    s.kernel[axis] = choose({1, 2, 3, 3, 4, 5, 7});
    s.input[axis] = pick(1, s.spatialRank == 3 ? 8 : 30);
    int64_t reach = (s.kernel[axis] - 1) * s.dilations[axis];
    s.padsLow[axis] = pick(s.transposed ? -2 : 0, reach / (s.transposed ? 2 : 1) + (s.transposed ? 0 : 2));
    c.padsHigh[axis] = pick(s.transposed ? -2 : 0, reach / (s.transposed ? 2 : 1));
    if (!s.transposed) // at least one output
      c.padsHigh[axis] = std::max(c.padsHigh[axis], reach + 1 - s.input[axis] - s.padsLow[axis]);
  }
  return c;
}

TEST(RandomConvolutions, EqualThePlainSum) {
  const char *variable = getenv("TOKAMAK_TEST_SEED");
  unsigned first = variable ? static_cast<unsigned>(atoi(variable)) : 1;
  for (const char *cpu : {"native", "x86-64-v3"}) {
    TargetDescription target = llvm::cantFail(TargetDescription::forCpu(cpu));
    if (!canRun(target))
      continue;
    for (unsigned seed = first; seed < first + 30 && !HasFailure(); ++seed) {
      SCOPED_TRACE(std::string(cpu) + ", TOKAMAK_TEST_SEED=" + std::to_string(seed));
      std::mt19937 random(seed);
      check(randomCase(random), target, /*mayRefuse=*/true);
    }
  }
}

std::string refusal(const Case &c, int64_t block, const TargetDescription &target) {
  ConvolutionShape shape = withOutput(c.shape, c.padsHigh);
  shape.inputBlock = block;
  llvm::Expected<std::unique_ptr<ConvolutionPlan>> plan = ConvolutionPlan::create(shape, target);
  return plan ? "" : llvm::toString(plan.takeError());
}

TEST(ConvolutionPlan, RefusesWithAReason) {
  TargetDescription target = llvm::cantFail(TargetDescription::forCpu("x86-64-v3"));
  auto grouped = [](int64_t in, int64_t out, int64_t group) {
    return conv2d("", {1, in, 5, 5}, out, {3, 3}, {1, 1}, {0, 0, 0, 0}, {1, 1}, group);
  };
  EXPECT_EQ(refusal(grouped(24, 24, 4), 8, target), "groups that neither fill vectors nor divide one");
  EXPECT_EQ(refusal(grouped(24, 48, 4), 8, target), "groups that neither fill vectors nor divide one");
  EXPECT_EQ(refusal(grouped(16, 8, 8), 8, target), "groups that neither fill vectors nor divide one");
  EXPECT_EQ(refusal(grouped(24, 96, 6), 8, target),
            "input channels per group are no multiple of the channel block");
  EXPECT_EQ(refusal(grouped(24, 96, 6), 4, target), "the input's channel block is not one vector");
  EXPECT_EQ(refusal(transposed(conv2d("", {1, 8, 9, 9}, 8, {256, 256}, {128, 128})), 8, target),
            "its stride has too many phases");
  EXPECT_EQ(refusal(grouped(16, 16, 8), 0, target),
            "a row-major input, but no depthwise convolution of adjacent columns");
  EXPECT_EQ(refusal(conv2d("", {1, 24, 9, 9}, 24, {3, 3}, {1, 2}, {0, 0, 0, 0}, {1, 1}, 24), 0, target),
            "a row-major input, but no depthwise convolution of adjacent columns");
  EXPECT_EQ(refusal(grouped(24, 24, 24), 0, target), "");
  auto depthwise = [](int64_t kernel) {
    return conv2d("", {1, 24, 90, 90}, 24, {kernel, kernel}, {1, 1}, {0, 0, 0, 0}, {1, 1}, 24);
  };
  EXPECT_EQ(refusal(depthwise(15), 0, target), "");
  EXPECT_EQ(refusal(depthwise(16), 0, target), "a row-major input, but too many taps to write out");
  EXPECT_EQ(refusal(depthwise(64), 8, target), "");
}

} // namespace
} // namespace tokamak::test
