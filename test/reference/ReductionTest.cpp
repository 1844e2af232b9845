//===- ReductionTest.cpp - reductions over axes ---------------------------------------------===//
#include "Testing.h"

namespace tokamak::reference::test {
namespace {

Tensor reduce(const Tensor &x, const std::string &kind, const std::string &axes, const Shape &shape,
              bool keepDims = false) {
  return apply("reduce", {x}, typeOf(x.type(), shape),
               "axes = array<i64" + (axes.empty() ? "" : ": " + axes) + ">, kind = #tk.reduce_kind<" + kind +
                   ">, keep_dims = " + (keepDims ? "true" : "false"));
}

TEST(Reduce, KindsAndTypes) {
  for (DataType type : numberTypes) {
    Tensor x = ints(type, {2, 3}, {1, 5, 3, 2, 4, 6});
    EXPECT_TRUE(same(reduce(x, "sum", "1", {2}), ints(type, {2}, {9, 12})));
    EXPECT_TRUE(same(reduce(x, "product", "1", {2}), ints(type, {2}, {15, 48})));
    EXPECT_TRUE(same(reduce(x, "max", "0", {3}), ints(type, {3}, {2, 5, 6})));
    EXPECT_TRUE(same(reduce(x, "min", "0", {1, 3}, true), ints(type, {1, 3}, {1, 4, 3})));
    EXPECT_TRUE(same(reduce(x, "sum", "0, 1", {}), ints(type, {}, {21})));
    EXPECT_TRUE(same(reduce(x, "sum", "", {2, 3}), x));
  }
  Tensor cube = i64({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  EXPECT_TRUE(same(reduce(cube, "sum", "0, 2", {2}), i64({2}, {14, 22})));
  EXPECT_TRUE(same(reduce(cube, "sum", "1", {2, 1, 2}, true), i64({2, 1, 2}, {4, 6, 12, 14})));
  EXPECT_TRUE(same(reduce(f32({}, {3}), "max", "", {}), f32({}, {3})));
}

TEST(Reduce, OverNoElements) {
  for (DataType type : numberTypes) {
    Tensor x(type, {0, 2});
    EXPECT_TRUE(same(reduce(x, "sum", "0", {2}), ints(type, {2}, {0, 0})));
    EXPECT_TRUE(same(reduce(x, "product", "0", {2}), ints(type, {2}, {1, 1})));
    EXPECT_TRUE(same(reduce(x, "sum", "1", {0}), Tensor(type, {0})));
  }
  Tensor none(DataType::Float16, {0});
  EXPECT_TRUE(same(reduce(none, "max", "0", {}), make(DataType::Float16, {}, {-inf})));
  EXPECT_TRUE(same(reduce(none, "min", "0", {}), make(DataType::Float16, {}, {inf})));
  EXPECT_TRUE(same(reduce(Tensor(DataType::Int8, {0}), "max", "0", {}), ints(DataType::Int8, {}, {-128})));
  EXPECT_TRUE(same(reduce(Tensor(DataType::Int8, {0}), "min", "0", {}), ints(DataType::Int8, {}, {127})));
  EXPECT_TRUE(same(reduce(Tensor(DataType::UInt16, {0}), "max", "0", {}), ints(DataType::UInt16, {}, {0})));
  EXPECT_TRUE(
      same(reduce(Tensor(DataType::UInt16, {0}), "min", "0", {}), ints(DataType::UInt16, {}, {65535})));
  EXPECT_TRUE(same(reduce(Tensor(DataType::Int64, {0}), "max", "0", {}),
                   i64({}, {std::numeric_limits<int64_t>::min()})));
}

TEST(Reduce, NaNAndInfinities) {
  Tensor x = f32({3, 2}, {1, nan, 2, inf, nan, -inf});
  EXPECT_TRUE(same(reduce(x, "max", "1", {3}), f32({3}, {nan, inf, nan})));
  EXPECT_TRUE(same(reduce(x, "min", "1", {3}), f32({3}, {nan, 2, nan})));
  EXPECT_TRUE(same(reduce(f32({2}, {inf, -inf}), "sum", "0", {}), f32({}, {nan})));
  EXPECT_TRUE(same(reduce(f32({2}, {-inf, -inf}), "max", "0", {}), f32({}, {-inf})));
}

TEST(Reduce, RoundsOnceAndWraps) {
  // In half precision each addition of 1 to 2048 would be lost.
  Tensor x = make(DataType::Float16, {5}, {2048, 1, 1, 1, 1});
  EXPECT_TRUE(same(reduce(x, "sum", "0", {}), make(DataType::Float16, {}, {2052})));
  EXPECT_TRUE(
      same(reduce(ints(DataType::Int8, {2}, {100, 100}), "sum", "0", {}), ints(DataType::Int8, {}, {-56})));
  EXPECT_TRUE(same(reduce(ints(DataType::UInt8, {2}, {16, 17}), "product", "0", {}),
                   ints(DataType::UInt8, {}, {16})));
  EXPECT_TRUE(
      same(reduce(ints(DataType::UInt64, {2}, {-1, 1}), "max", "0", {}), ints(DataType::UInt64, {}, {-1})));
}

Tensor argReduce(const Tensor &x, const std::string &kind, int axis, const Shape &shape, bool last = false,
                 bool keepDims = false) {
  return apply("arg_reduce", {x}, typeOf(DataType::Int64, shape),
               "kind = #tk.reduce_kind<" + kind + ">, axis = " + std::to_string(axis) +
                   " : i64, keep_dims = " + (keepDims ? "true" : "false") +
                   ", select_last = " + (last ? "true" : "false"));
}

TEST(ArgReduce, TiesAndAxes) {
  for (DataType type : numberTypes) {
    Tensor x = ints(type, {2, 4}, {3, 1, 3, 1, 0, 2, 2, 0});
    EXPECT_TRUE(same(argReduce(x, "max", 1, {2}), i64({2}, {0, 1})));
    EXPECT_TRUE(same(argReduce(x, "max", 1, {2}, true), i64({2}, {2, 2})));
    EXPECT_TRUE(same(argReduce(x, "min", 1, {2}), i64({2}, {1, 0})));
    EXPECT_TRUE(same(argReduce(x, "min", 1, {2}, true), i64({2}, {3, 3})));
    EXPECT_TRUE(same(argReduce(x, "max", 0, {1, 4}, false, true), i64({1, 4}, {0, 1, 0, 0})));
  }
  EXPECT_TRUE(same(argReduce(ints(DataType::UInt64, {2}, {1, -1}), "max", 0, {}), i64({}, {1})));
  EXPECT_TRUE(same(argReduce(f32({0, 3}, {}), "max", 1, {0}), i64({0}, {})));
  EXPECT_TRUE(same(argReduce(f32({2}, {-inf, -inf}), "max", 0, {}), i64({}, {0})));
}

TEST(ArgReduce, NaNIsTheExtreme) {
  Tensor x = f32({4}, {1, nan, inf, nan});
  EXPECT_TRUE(same(argReduce(x, "max", 0, {}), i64({}, {1})));
  EXPECT_TRUE(same(argReduce(x, "min", 0, {}), i64({}, {1})));
  EXPECT_TRUE(same(argReduce(x, "max", 0, {}, true), i64({}, {3})));
}

} // namespace
} // namespace tokamak::reference::test
