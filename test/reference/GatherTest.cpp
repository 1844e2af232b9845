//===- GatherTest.cpp - reading and writing elements at positions that are data -----------===//
#include "Testing.h"

namespace tokamak::reference::test {
namespace {

const Tensor grid = i64({3, 2}, {1, 2, 3, 4, 5, 6});

TEST(Gather, AxesAndNegativeIndices) {
  EXPECT_TRUE(same(apply("gather", {grid, i64({2}, {2, -3})}, "tensor<2x2xi64>", "axis = 0 : i64"),
                   i64({2, 2}, {5, 6, 1, 2})));
  EXPECT_TRUE(same(apply("gather", {grid, i64({1, 3}, {0, 1, -1})}, "tensor<3x1x3xi64>", "axis = 1 : i64"),
                   i64({3, 1, 3}, {1, 2, 2, 3, 4, 4, 5, 6, 6})));
  EXPECT_TRUE(same(apply("gather", {grid, ints(DataType::Int32, {}, {1})}, "tensor<2xi64>", "axis = 0 : i64"),
                   i64({2}, {3, 4})));
  EXPECT_TRUE(
      same(apply("gather", {grid, i64({0}, {})}, "tensor<0x2xi64>", "axis = 0 : i64"), i64({0, 2}, {})));
  EXPECT_TRUE(same(apply("gather", {i64({3, 0}, {}), i64({1}, {2})}, "tensor<1x0xi64>", "axis = 0 : i64"),
                   i64({1, 0}, {})));
}

TEST(Gather, RefusesIndicesOutOfRange) {
  for (int64_t index : {3, -4}) {
    EXPECT_EQ(evaluateOp("gather", {grid, i64({1}, {index})}, "tensor<1x2xi64>", "axis = 0 : i64").error,
              "'tk.gather' op index " + std::to_string(index) +
                  " is out of range for an axis of 3 elements; give indices that fit");
    EXPECT_NE(evaluateOp("gather_elements", {grid, i64({1, 1}, {index})}, "tensor<1x1xi64>", "axis = 0 : i64")
                  .error,
              "");
    EXPECT_NE(evaluateOp("gather_nd", {grid, i64({1, 1}, {index})}, "tensor<1x2xi64>").error, "");
    EXPECT_NE(evaluateOp("scatter_elements", {grid, i64({1, 1}, {index}), i64({1, 1}, {0})},
                         "tensor<3x2xi64>", "axis = 0 : i64, reduction = #tk.scatter_reduction<none>")
                  .error,
              "");
    EXPECT_NE(evaluateOp("scatter_nd", {grid, i64({1, 1}, {index}), i64({1, 2}, {0, 0})}, "tensor<3x2xi64>",
                         "reduction = #tk.scatter_reduction<none>")
                  .error,
              "");
  }
}

TEST(GatherElements, BothAxes) {
  EXPECT_TRUE(
      same(apply("gather_elements", {grid, i64({2, 2}, {2, 0, -1, 1})}, "tensor<2x2xi64>", "axis = 0 : i64"),
           i64({2, 2}, {5, 2, 5, 4})));
  EXPECT_TRUE(same(apply("gather_elements", {grid, ints(DataType::Int32, {3, 1}, {1, 0, -1})},
                         "tensor<3x1xi64>", "axis = 1 : i64"),
                   i64({3, 1}, {2, 3, 6})));
  EXPECT_TRUE(same(apply("gather_elements", {grid, i64({0, 2}, {})}, "tensor<0x2xi64>", "axis = 0 : i64"),
                   i64({0, 2}, {})));
}

TEST(GatherND, TuplesBlocksAndBatches) {
  EXPECT_TRUE(
      same(apply("gather_nd", {grid, i64({2, 2}, {0, 1, -1, 0})}, "tensor<2xi64>"), i64({2}, {2, 5})));
  EXPECT_TRUE(
      same(apply("gather_nd", {grid, i64({2, 1}, {2, 0})}, "tensor<2x2xi64>"), i64({2, 2}, {5, 6, 1, 2})));
  EXPECT_TRUE(same(apply("gather_nd", {grid, i64({2}, {1, 1})}, "tensor<i64>"), i64({}, {4})));
  EXPECT_TRUE(
      same(apply("gather_nd", {grid, i64({3, 1}, {1, 0, -1})}, "tensor<3xi64>", "batch_dims = 1 : i64"),
           i64({3}, {2, 3, 6})));
  EXPECT_TRUE(same(apply("gather_nd", {grid, i64({3, 2, 1}, {1, 0, 0, 0, 1, 1})}, "tensor<3x2xi64>",
                         "batch_dims = 1 : i64"),
                   i64({3, 2}, {2, 1, 3, 3, 6, 6})));
  EXPECT_TRUE(same(apply("gather_nd", {grid, i64({1, 0}, {})}, "tensor<1x3x2xi64>"),
                   i64({1, 3, 2}, {1, 2, 3, 4, 5, 6})));
  EXPECT_TRUE(same(apply("gather_nd", {grid, i64({0, 2}, {})}, "tensor<0xi64>"), i64({0}, {})));
}

Tensor scatterElements(const Tensor &x, const Tensor &indices, const Tensor &updates,
                       const std::string &reduction, int axis = 0) {
  return applySame("scatter_elements", {x, indices, updates},
                   "axis = " + std::to_string(axis) + " : i64, reduction = #tk.scatter_reduction<" +
                       reduction + ">");
}

TEST(ScatterElements, ReductionsOfDuplicates) {
  for (DataType type : numberTypes) {
    Tensor x = ints(type, {3}, {3, 4, 5}), updates = ints(type, {4}, {2, 7, 9, 1});
    Tensor indices = i64({4}, {0, 0, -1, 2}); // 2 and 7 meet 3; 9 and 1 meet 5
    EXPECT_TRUE(same(scatterElements(x, indices, updates, "none"), ints(type, {3}, {7, 4, 1})));
    EXPECT_TRUE(same(scatterElements(x, indices, updates, "add"), ints(type, {3}, {12, 4, 15})));
    EXPECT_TRUE(same(scatterElements(x, indices, updates, "mul"), ints(type, {3}, {42, 4, 45})));
    EXPECT_TRUE(same(scatterElements(x, indices, updates, "max"), ints(type, {3}, {7, 4, 9})));
    EXPECT_TRUE(same(scatterElements(x, indices, updates, "min"), ints(type, {3}, {2, 4, 1})));
  }
}

TEST(ScatterElements, AxesBoolAndNaN) {
  EXPECT_TRUE(same(scatterElements(grid, i64({2, 1}, {1, -2}), i64({2, 1}, {10, 20}), "none", 1),
                   i64({3, 2}, {1, 10, 20, 4, 5, 6})));
  EXPECT_TRUE(same(scatterElements(bools({2}, {0, 1}), i64({2}, {1, 0}), bools({2}, {0, 1}), "none"),
                   bools({2}, {1, 0})));
  EXPECT_TRUE(same(scatterElements(f32({2}, {1, nan}), i64({2}, {0, 1}), f32({2}, {nan, 1}), "max"),
                   f32({2}, {nan, nan})));
  EXPECT_TRUE(same(scatterElements(grid, i64({0, 2}, {}), i64({0, 2}, {}), "none"), grid));
  EXPECT_TRUE(same(scatterElements(ints(DataType::UInt8, {1}, {200}), i64({1}, {0}),
                                   ints(DataType::UInt8, {1}, {100}), "add"),
                   ints(DataType::UInt8, {1}, {44})));
}

TEST(ScatterND, ElementsAndBlocks) {
  auto scatter = [](const Tensor &indices, const Tensor &updates, const std::string &reduction) {
    return applySame("scatter_nd", {grid, indices, updates},
                     "reduction = #tk.scatter_reduction<" + reduction + ">");
  };
  EXPECT_TRUE(same(scatter(i64({2, 2}, {0, 1, -1, -2}), i64({2}, {10, 20}), "none"),
                   i64({3, 2}, {1, 10, 3, 4, 20, 6})));
  EXPECT_TRUE(same(scatter(i64({2, 1}, {1, 1}), i64({2, 2}, {10, 20, 30, 40}), "add"),
                   i64({3, 2}, {1, 2, 43, 64, 5, 6})));
  EXPECT_TRUE(same(scatter(i64({2, 1}, {1, 1}), i64({2, 2}, {10, 20, 30, 40}), "none"),
                   i64({3, 2}, {1, 2, 30, 40, 5, 6})));
  EXPECT_TRUE(same(scatter(i64({1, 1}, {0}), i64({1, 2}, {0, 9}), "max"), i64({3, 2}, {1, 9, 3, 4, 5, 6})));
  EXPECT_TRUE(same(scatter(i64({1, 1}, {0}), i64({1, 2}, {0, 9}), "min"), i64({3, 2}, {0, 2, 3, 4, 5, 6})));
  EXPECT_TRUE(same(scatter(i64({1, 1}, {0}), i64({1, 2}, {3, 4}), "mul"), i64({3, 2}, {3, 8, 3, 4, 5, 6})));
  EXPECT_TRUE(same(scatter(i64({0, 1}, {}), i64({0, 2}, {}), "none"), grid));
}

} // namespace
} // namespace tokamak::reference::test
