//===- ShapeTest.cpp - Reshape, Split, Pad, Slice and their kin ----------------------------===//
#include "RunNode.h"

using namespace tokamak;
using namespace tokamak::test;
using testing::HasSubstr;

using Shape = llvm::ArrayRef<int64_t>;

static Attributes attribute(const std::string &name, int64_t value) {
  return [=](onnx::NodeProto &n) { addAttr(n, name, value); };
}
static Attributes attribute(const std::string &name, const std::string &value) {
  return [=](onnx::NodeProto &n) { addAttr(n, name, value); };
}

static Node reshape(const Tensor &x, const std::vector<int64_t> &target, int64_t allowZero = 0) {
  return {"Reshape", 14, {x, ints(target)}, attribute("allowzero", allowZero)};
}

TEST(Reshape, CopiesAndInfers) {
  EXPECT_EQ(run1(reshape(counting({2, 3, 4}), {0, -1})).shape(), (Shape{2, 12}));
  EXPECT_EQ(run1(reshape(counting({2, 3, 4}), {-1})).shape(), (Shape{24}));
  EXPECT_EQ(run1(reshape(counting({1, 1}), {})).shape(), (Shape{}));
  // A copied extent of 0 says nothing about the -1.
  EXPECT_EQ(run1(reshape(counting({0, 3, 4}), {0, -1})).shape(), (Shape{0, 12}));
  EXPECT_EQ(run1(reshape(counting({0, 3}), {3, 0}, 1)).shape(), (Shape{3, 0}));
}

TEST(Reshape, Faults) {
  EXPECT_THAT(refusal(reshape(counting({2, 3}), {4, 2})), HasSubstr("does not fill the target [4,2]"));
  EXPECT_THAT(refusal(reshape(counting({2, 3}), {-1, -1})), HasSubstr("more than one -1"));
  EXPECT_THAT(refusal(reshape(counting({2, 3}), {-2, 3})), HasSubstr("negative extent"));
  EXPECT_THAT(refusal(reshape(counting({6}), {6, 1, 0})), HasSubstr("copies axis 2"));
  EXPECT_THAT(refusal(reshape(counting({0, 3}), {0, -1}, 1)), HasSubstr("does not fill"));
  EXPECT_THAT(refusal(reshape(counting({2}), {int64_t(1) << 62, 4, -1})), HasSubstr("too large"));
}

TEST(Split, NumOutputsLeavesASmallerRest) {
  std::vector<Tensor> parts = run({"Split", 18, {counting({7})}, attribute("num_outputs", 3), 3});
  expectTensor(parts[0], {3}, {0, 1, 2});
  expectTensor(parts[2], {1}, {6});
  EXPECT_THAT(refusal({"Split", 18, {counting({7})}, attribute("num_outputs", 2), 3}),
              HasSubstr("num_outputs is 2"));
  EXPECT_THAT(refusal({"Split", 13, {counting({7})}, noAttributes, 3}), HasSubstr("equal parts"));
  EXPECT_THAT(refusal({"Split", 13, {counting({7}), ints({3, 3})}, noAttributes, 2}),
              HasSubstr("do not add up"));
  EXPECT_THAT(refusal({"Split", 13, {counting({7}), ints({8, -1})}, noAttributes, 2}),
              HasSubstr("do not add up"));
}

TEST(Shape, StartAndEndClamp) {
  auto between = [](int64_t start, int64_t end) {
    return [=](onnx::NodeProto &n) {
      addAttr(n, "start", start);
      addAttr(n, "end", end);
    };
  };
  Tensor x = counting({2, 3, 4});
  expectTensor(run1({"Shape", 15, {x}, between(-2, 10)}), {2}, {3, 4});
  expectTensor(run1({"Shape", 15, {x}, between(2, 1)}), {0}, {});
  expectTensor(run1({"Shape", 15, {scalar(1)}}), {0}, {});
}

static Node pad(const std::string &mode, const Tensor &x, const std::vector<int64_t> &pads,
                std::optional<Tensor> value = std::nullopt, std::optional<Tensor> axes = std::nullopt) {
  return {"Pad", 19, {x, ints(pads), value, axes}, attribute("mode", mode)};
}

TEST(Pad, Modes) {
  Tensor x = counting({4});
  expectTensor(run1(pad("wrap", x, {2, 5})), {11}, {2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0});
  expectTensor(run1(pad("reflect", x, {5, 2})), {11}, {1, 2, 3, 2, 1, 0, 1, 2, 3, 2, 1});
  expectTensor(run1(pad("edge", x, {-1, 2})), {5}, {1, 2, 3, 3, 3});
  expectTensor(run1(pad("constant", x, {-2, -1})), {1}, {2});
  expectTensor(run1(pad("reflect", counting({1}), {2, 1})), {4}, {0, 0, 0, 0});
}

TEST(Pad, AxesAndFill) {
  expectTensor(run1(pad("constant", counting({2, 2}), {1, 0}, scalar(9), ints({-1}))), {2, 3},
               {9, 0, 1, 9, 2, 3});
  Tensor flags = typed(DataType::Bool, {1}, {1});
  expectTensor(run1(pad("constant", flags, {1, 1}, typed(DataType::Bool, {1}, {1}))), {3}, {1, 1, 1});
  expectTensor(run1(pad("constant", flags, {1, 1})), {3}, {0, 1, 0});
  expectTensor(run1(pad("constant", Tensor(DataType::Float32, {0}), {1, 1}, scalar(3))), {2}, {3, 3});
}

TEST(Pad, Faults) {
  EXPECT_THAT(refusal(pad("edge", Tensor(DataType::Float32, {0}), {1, 1})),
              HasSubstr("no elements to pad with"));
  EXPECT_THAT(refusal(pad("constant", counting({4}), {-3, -2})), HasSubstr("remove more than extent 4"));
  EXPECT_THAT(refusal(pad("constant", counting({4}), {1})), HasSubstr("1 pads do not fit 1 axes"));
  EXPECT_THAT(refusal(pad("mirror", counting({4}), {1, 1})),
              HasSubstr("mode 'mirror' is unknown; use constant, reflect, edge or wrap"));
  EXPECT_THAT(refusal(pad("edge", counting({4}), {int64_t(1) << 39, 1})), HasSubstr("too large"));
  EXPECT_THAT(refusal(pad("constant", counting({4}), {1, 1}, counting({2}))),
              HasSubstr("must have one element"));
}

static Node slice(const Tensor &x, int64_t start, int64_t end, int64_t step) {
  return {"Slice", 13, {x, ints({start}), ints({end}), ints({0}), ints({step})}};
}

TEST(Slice, ClampsEveryInteger) {
  constexpr int64_t low = std::numeric_limits<int64_t>::min(), high = std::numeric_limits<int64_t>::max();
  Tensor x = counting({5});
  expectTensor(run1(slice(x, low, high, 1)), {5}, {0, 1, 2, 3, 4});
  expectTensor(run1(slice(x, high, low, -1)), {5}, {4, 3, 2, 1, 0});
  expectTensor(run1(slice(x, 1, high, high)), {1}, {1});
  expectTensor(run1(slice(x, -1, low, low)), {1}, {4});
  expectTensor(run1(slice(x, 3, 1, 1)), {0}, {});
  expectTensor(run1(slice(x, 4, 0, -3)), {2}, {4, 1});
  expectTensor(run1(slice(Tensor(DataType::Float32, {0}), 0, 3, -1)), {0}, {});
  EXPECT_THAT(refusal(slice(x, 0, 5, 0)), HasSubstr("step is 0"));
}

TEST(CenterCropPad, CropsAndPadsTogether) {
  Tensor x = counting({3, 2});
  expectTensor(run1({"CenterCropPad", 18, {x, ints({2, 5})}}), {2, 5}, {0, 0, 1, 0, 0, 0, 2, 3, 0, 0});
}

TEST(Tile, ZeroAndUnitExtents) {
  expectTensor(run1({"Tile", 13, {counting({1, 2}), ints({2, 2})}}), {2, 4}, {0, 1, 0, 1, 0, 1, 0, 1});
  EXPECT_EQ(run1({"Tile", 13, {counting({3}), ints({0})}}).shape(), (Shape{0}));
  expectTensor(run1({"Tile", 13, {scalar(4), ints({})}}), {}, {4});
  EXPECT_THAT(refusal({"Tile", 13, {counting({3}), ints({1, 1})}}), HasSubstr("do not fit"));
}

TEST(SqueezeUnsqueeze, AxesAndFaults) {
  EXPECT_EQ(run1({"Squeeze", 13, {counting({1, 3, 1})}}).shape(), (Shape{3}));
  EXPECT_EQ(run1({"Squeeze", 13, {counting({1, 3, 1}), ints({-1})}}).shape(), (Shape{1, 3}));
  EXPECT_EQ(run1({"Unsqueeze", 13, {counting({3}), ints({-1, 0})}}).shape(), (Shape{1, 3, 1}));
  EXPECT_THAT(refusal({"Squeeze", 13, {counting({1, 3}), ints({1})}}), HasSubstr("does not have extent 1"));
  EXPECT_THAT(refusal({"Unsqueeze", 13, {counting({3}), ints({0, 0})}}), HasSubstr("name one axis twice"));
  EXPECT_THAT(refusal({"Unsqueeze", 13, {counting({3}), ints({5})}}), HasSubstr("does not fit"));
}

TEST(Range, TypesAndFaults) {
  auto range = [](double start, double limit, double delta, DataType type) {
    return Node{"Range", 11, {scalar(start, type), scalar(limit, type), scalar(delta, type)}};
  };
  expectTensor(run1(range(5, -2, -3, DataType::Int32)), {3}, {5, 2, -1});
  expectTensor(run1(range(0, 1, 0.25, DataType::Float32)), {4}, {0, 0.25, 0.5, 0.75});
  expectTensor(run1(range(3, 3, 1, DataType::Int64)), {0}, {});
  expectTensor(run1(range(3, 1, 1, DataType::Int64)), {0}, {});
  EXPECT_THAT(refusal(range(0, 1, 0, DataType::Int64)), HasSubstr("step is 0"));
  EXPECT_THAT(refusal(range(0, 1, 0, DataType::Float32)), HasSubstr("unbounded"));
  EXPECT_THAT(refusal(range(0, NaN, 1, DataType::Float32)), HasSubstr("unbounded"));
}

TEST(ConstantOfShape, ValueAndFaults) {
  expectTensor(run1({"ConstantOfShape", 9, {ints({2})}}), {2}, {0, 0});
  EXPECT_EQ(run1({"ConstantOfShape", 9, {ints({})}}).shape(), (Shape{}));
  EXPECT_THAT(refusal({"ConstantOfShape", 9, {ints({-1})}}), HasSubstr("negative extent"));
}

TEST(Trilu, RunTimeDiagonalAndBool) {
  expectTensor(run1({"Trilu", 14, {typed(DataType::Bool, {2, 2}, {1, 1, 1, 1}), scalar(1, DataType::Int64)}}),
               {2, 2}, {0, 1, 0, 0});
  EXPECT_THAT(refusal({"Trilu", 14, {counting({3})}}), HasSubstr("rank 2 or more"));
}

TEST(Expand, ZeroExtentsAndFaults) {
  EXPECT_EQ(run1({"Expand", 13, {counting({1, 3}), ints({0, 1})}}).shape(), (Shape{0, 3}));
  EXPECT_EQ(run1({"Expand", 13, {scalar(2), ints({2, 2})}}).shape(), (Shape{2, 2}));
  EXPECT_THAT(refusal({"Expand", 13, {counting({2}), ints({3})}}), HasSubstr("do not broadcast"));
}
