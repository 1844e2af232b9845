//===- WindowTest.cpp - pooling and convolution of later opsets, odd windows ---------------===//
#include "RunNode.h"
#include <cmath>

using namespace tokamak;
using namespace tokamak::test;
using testing::HasSubstr;

using Lists = std::vector<std::pair<std::string, std::vector<int64_t>>>;
using Numbers = std::vector<std::pair<std::string, int64_t>>;

static Attributes with(const Lists &lists, const Numbers &numbers = {}, const std::string &autoPad = "") {
  return [=](onnx::NodeProto &n) {
    for (const auto &[name, values] : lists)
      addAttr(n, name, values);
    for (const auto &[name, value] : numbers)
      addAttr(n, name, value);
    if (!autoPad.empty())
      addAttr(n, "auto_pad", autoPad);
  };
}

static Tensor row(llvm::ArrayRef<double> values) {
  return floats({1, 1, static_cast<int64_t>(values.size())}, values);
}

TEST(AveragePool, DilationsAndCounts) {
  Tensor x = row({1, 2, 3, 4, 5});
  expectTensor(run1({"AveragePool", 19, {x}, with({{"kernel_shape", {2}}, {"dilations", {2}}})}), {1, 1, 3},
               {2, 3, 4});
  // With dilation and padding only the taps inside count.
  expectTensor(
      run1({"AveragePool", 19, {x}, with({{"kernel_shape", {2}}, {"dilations", {3}}, {"pads", {2, 2}}})}),
      {1, 1, 6}, {2, 3, 2.5, 3.5, 3, 4});
  // The window that ceil_mode adds counts declared padding, never what lies behind it.
  Lists lists{{"kernel_shape", {3}}, {"strides", {2}}, {"pads", {1, 0}}};
  expectTensor(run1({"AveragePool",
                     19,
                     {row({1, 2, 3, 4})},
                     with(lists, {{"ceil_mode", 1}, {"count_include_pad", 1}})}),
               {1, 1, 2}, {1, 3});
  expectTensor(run1({"AveragePool", 19, {x}, with(lists, {{"ceil_mode", 1}, {"count_include_pad", 1}})}),
               {1, 1, 3}, {1, 3, 4.5});
}

TEST(MaxPool, CeilModeSkipsWindowsInThePadding) {
  // Extent 2, stride 3, pads 1 and 1: a second window would start in the padding behind the input.
  expectTensor(run1({"MaxPool",
                     12,
                     {row({-5, -6})},
                     with({{"kernel_shape", {1}}, {"strides", {3}}, {"pads", {1, 1}}}, {{"ceil_mode", 1}})}),
               {1, 1, 1}, {-inf});
  expectTensor(run1({"MaxPool",
                     12,
                     {row({1, 2, 3, 4})},
                     with({{"kernel_shape", {3}}, {"strides", {2}}}, {{"ceil_mode", 1}})}),
               {1, 1, 2}, {3, 4});
}

TEST(MaxPool, BytesAndIndices) {
  Tensor x = typed(DataType::Int8, {1, 1, 3}, {-7, -9, -8});
  expectTensor(run1({"MaxPool", 12, {x}, with({{"kernel_shape", {2}}, {"pads", {1, 0}}})}), {1, 1, 3},
               {-7, -7, -8});
  std::vector<Tensor> both = run({"MaxPool", 12, {row({1, 5, 2})}, with({{"kernel_shape", {2}}}), 2});
  expectTensor(both[1], {1, 1, 2}, {1, 1});
}

TEST(LpPool, CeilAndDilations) {
  Lists lists{{"kernel_shape", {2}}, {"dilations", {2}}};
  expectTensor(run1({"LpPool", 18, {row({3, 0, 4, -12})}, with(lists)}), {1, 1, 2}, {5, 12});
  expectTensor(run1({"LpPool",
                     18,
                     {row({3, 0, 4})},
                     with({{"kernel_shape", {2}}, {"strides", {2}}}, {{"ceil_mode", 1}, {"p", 1}})}),
               {1, 1, 2}, {3, 4});
  expectTensor(run1({"LpPool", 18, {row({1, 2})}, with({{"kernel_shape", {2}}}, {{"p", 3}})}), {1, 1, 1},
               {std::cbrt(9.0)});
}

TEST(Pools, Faults) {
  Tensor x = row({1, 2, 3});
  EXPECT_THAT(refusal({"MaxPool", 12, {x}, with({{"kernel_shape", {5}}})}),
              HasSubstr("does not fit extent 3"));
  EXPECT_THAT(refusal({"MaxPool", 12, {x}}), HasSubstr("kernel_shape"));
  EXPECT_THAT(refusal({"MaxPool", 12, {x}, with({{"kernel_shape", {2, 2}}})}), HasSubstr("2 entries, not 1"));
  EXPECT_THAT(refusal({"MaxPool", 12, {x}, with({{"kernel_shape", {2}}, {"strides", {0}}})}),
              HasSubstr("must not hold 0"));
  EXPECT_THAT(refusal({"MaxPool", 12, {x}, with({{"kernel_shape", {2}}, {"pads", {-1, 0}}})}),
              HasSubstr("must not hold -1"));
  EXPECT_THAT(refusal({"MaxPool", 12, {x}, with({{"kernel_shape", {2}}}, {}, "SAME")}),
              HasSubstr("auto_pad 'SAME'"));
  EXPECT_THAT(refusal({"MaxPool", 12, {counting({2, 2})}, with({{"kernel_shape", {2}}})}),
              HasSubstr("no spatial axis"));
}

TEST(Conv, AutoPadAndFaults) {
  Tensor ones = floats({1, 1, 3}, {1, 1, 1});
  expectTensor(run1({"Conv", 11, {row({1, 2, 3, 4}), ones}, with({{"strides", {3}}}, {}, "SAME_LOWER")}),
               {1, 1, 2}, {3, 7});
  expectTensor(run1({"Conv", 11, {row({1, 2, 3, 4}), ones}, with({}, {}, "VALID")}), {1, 1, 2}, {6, 9});
  EXPECT_EQ(run1({"Conv", 11, {Tensor(DataType::Float32, {0, 1, 4}), ones}}).shape(),
            (llvm::ArrayRef<int64_t>{0, 1, 2}));
  EXPECT_NE(refusal({"Conv", 11, {floats({1, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}), ones}}), "");
  EXPECT_THAT(refusal({"Conv", 11, {row({1, 2, 3, 4}), ones}, with({{"kernel_shape", {2}}})}),
              HasSubstr("kernel_shape [2]"));
  EXPECT_NE(refusal({"Conv", 11, {row({1, 2, 3, 4}), ones}, with({}, {{"group", 0}})}), "");
}

TEST(ConvTranspose, OutputShapeBeyondTheNaturalOne) {
  Tensor ones = floats({1, 1, 2}, {1, 1});
  expectTensor(run1({"ConvTranspose", 11, {row({1, 2}), ones}, with({{"output_shape", {4}}})}), {1, 1, 4},
               {1, 3, 2, 0});
  expectTensor(run1({"ConvTranspose", 11, {row({1, 2}), ones}, with({{"output_shape", {2}}})}), {1, 1, 2},
               {3, 2});
  expectTensor(
      run1({"ConvTranspose", 11, {row({1, 2}), ones}, with({{"output_shape", {2}}}, {}, "SAME_UPPER")}),
      {1, 1, 2}, {1, 3});
  EXPECT_NE(refusal({"ConvTranspose", 11, {row({1, 2}), floats({2, 1, 2}, {1, 1, 1, 1})}}), "");
}

TEST(Col2Im, OverlappingColumnsAdd) {
  // Two blocks of 2 x 1 in an image of 3 x 1: the middle row is in both.
  Node node{"Col2Im", 18, {floats({1, 2, 2}, {1, 2, 10, 20}), ints({3, 1}), ints({2, 1})}};
  expectTensor(run1(node), {1, 1, 3, 1}, {1, 12, 20});
  node.inputs[1] = ints({4, 1});
  EXPECT_THAT(refusal(node), HasSubstr("the image has 3 blocks"));
}
