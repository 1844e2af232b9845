//===- UnaryTest.cpp - elementwise operators of one operand -------------------------------===//
#include "Testing.h"
#include <cmath>
#include <numbers>

namespace tokamak::reference::test {
namespace {

TEST(Unary, NegationAbsAndSignOfFloats) {
  for (DataType type : floatTypes) {
    Tensor x = make(type, {6}, {1.5, -2, 0.0, -0.0, -inf, nan});
    EXPECT_TRUE(same(applySame("neg", {x}), make(type, {6}, {-1.5, 2, -0.0, 0.0, inf, nan})));
    EXPECT_TRUE(same(applySame("abs", {x}), make(type, {6}, {1.5, 2, 0, 0, inf, nan})));
    EXPECT_TRUE(same(applySame("sign", {x}), make(type, {6}, {1, -1, 0, 0, -1, nan})));
  }
}

TEST(Unary, IntegersWrap) {
  Tensor x = ints(DataType::Int8, {4}, {5, -7, 0, -128});
  EXPECT_TRUE(same(applySame("neg", {x}), ints(DataType::Int8, {4}, {-5, 7, 0, -128})));
  EXPECT_TRUE(same(applySame("abs", {x}), ints(DataType::Int8, {4}, {5, 7, 0, -128})));
  EXPECT_TRUE(same(applySame("sign", {x}), ints(DataType::Int8, {4}, {1, -1, 0, -1})));
  EXPECT_TRUE(same(applySame("bit_not", {x}), ints(DataType::Int8, {4}, {-6, 6, -1, 127})));
  const int64_t lowest = std::numeric_limits<int64_t>::min();
  EXPECT_TRUE(same(applySame("abs", {i64({}, {lowest})}), i64({}, {lowest})));
  EXPECT_TRUE(same(applySame("neg", {i64({}, {lowest})}), i64({}, {lowest})));
}

TEST(Unary, UnsignedIntegers) {
  for (DataType type : {DataType::UInt8, DataType::UInt16, DataType::UInt32, DataType::UInt64}) {
    Tensor x = ints(type, {3}, {0, 1, -1}); // -1: the highest
    EXPECT_TRUE(same(applySame("neg", {x}), ints(type, {3}, {0, -1, 1})));
    EXPECT_TRUE(same(applySame("abs", {x}), x));
    EXPECT_TRUE(same(applySame("sign", {x}), ints(type, {3}, {0, 1, 1})));
    EXPECT_TRUE(same(applySame("bit_not", {x}), ints(type, {3}, {-1, -2, 0})));
  }
}

TEST(Unary, Not) { EXPECT_TRUE(same(applySame("not", {bools({2}, {0, 1})}), bools({2}, {1, 0}))); }

TEST(Unary, EmptyAndScalarTensors) {
  for (DataType type : numberTypes) {
    EXPECT_TRUE(same(applySame("neg", {Tensor(type, {2, 0})}), Tensor(type, {2, 0})));
    EXPECT_TRUE(same(applySame("abs", {ints(type, {}, {3})}), ints(type, {}, {3})));
  }
}

TEST(Unary, Functions) {
  struct Case {
    const char *op;
    double x, y;
  };
  const Case cases[] = {
      {"exp", 1, std::numbers::e},
      {"exp", 0, 1},
      {"exp", -inf, 0},
      {"exp", 1000, inf},
      {"log", std::numbers::e, 1},
      {"log", 0, -inf},
      {"log", -1, nan},
      {"log", inf, inf},
      {"sqrt", 9, 3},
      {"sqrt", -1, nan},
      {"sqrt", -0.0, -0.0},
      {"sin", 0.5, 0.479425538604203},
      {"sin", inf, nan},
      {"cos", 0.5, 0.8775825618903728},
      {"tan", 0.5, 0.5463024898437905},
      {"asin", 1, std::numbers::pi / 2},
      {"asin", 1.5, nan},
      {"acos", -1, std::numbers::pi},
      {"atan", inf, std::numbers::pi / 2},
      {"sinh", 1, 1.1752011936438014},
      {"cosh", 1, 1.5430806348152437},
      {"tanh", 1, 0.7615941559557649},
      {"tanh", inf, 1},
      {"asinh", 1, 0.881373587019543},
      {"acosh", 2, 1.3169578969248166},
      {"acosh", 0.5, nan},
      {"atanh", 0.5, 0.5493061443340549},
      {"atanh", 1, inf},
      {"erf", 0.5, 0.5204998778130465},
      {"erf", -inf, -1},
      {"floor", -1.5, -2},
      {"floor", 2, 2},
      {"ceil", -1.5, -1},
      {"ceil", 1.25, 2},
      {"round", 0.5, 0},
      {"round", 1.5, 2},
      {"round", 2.5, 2},
      {"round", -2.5, -2},
      {"round", -0.5, -0.0},
  };
  for (const Case &c : cases) {
    SCOPED_TRACE(std::string(c.op) + "(" + std::to_string(c.x) + ")");
    for (DataType type : {DataType::Float32, DataType::Float64})
      EXPECT_TRUE(same(applySame(c.op, {make(type, {}, {c.x})}), make(type, {}, {c.y}),
                       type == DataType::Float32 ? 3e-7 : 1e-15));
    EXPECT_TRUE(same(applySame(c.op, {f32({}, {nan})}), f32({}, {nan})));
  }
}

TEST(Unary, ResultsRoundToTheType) {
  // exp(1) lies between neighbours of each type; the nearest is right.
  EXPECT_EQ(applySame("exp", {make(DataType::Float16, {}, {1})}).doubleAt(0), 2.71875);
  EXPECT_EQ(applySame("exp", {make(DataType::BFloat16, {}, {1})}).doubleAt(0), 2.71875);
  EXPECT_EQ(applySame("exp", {f32({}, {1})}).doubleAt(0),
            static_cast<double>(static_cast<float>(std::numbers::e)));
  EXPECT_EQ(applySame("exp", {make(DataType::Float16, {}, {12})}).doubleAt(0), inf);
}

TEST(Unary, FloatTests) {
  for (DataType type : floatTypes) {
    Tensor x = make(type, {4}, {nan, inf, -inf, 1});
    EXPECT_TRUE(same(apply("is_nan", {x}, "tensor<4xi1>"), bools({4}, {1, 0, 0, 0})));
    EXPECT_TRUE(same(apply("is_inf", {x}, "tensor<4xi1>"), bools({4}, {0, 1, 1, 0})));
    EXPECT_TRUE(same(apply("is_inf", {x}, "tensor<4xi1>", "negative = false"), bools({4}, {0, 1, 0, 0})));
    EXPECT_TRUE(same(apply("is_inf", {x}, "tensor<4xi1>", "positive = false"), bools({4}, {0, 0, 1, 0})));
    EXPECT_TRUE(same(apply("is_inf", {x}, "tensor<4xi1>", "positive = false, negative = false"),
                     bools({4}, {0, 0, 0, 0})));
  }
}

Tensor cast(const Tensor &x, DataType to, bool saturate = false) {
  const std::vector<int64_t> shape(x.shape());
  return apply("cast", {x}, typeOf(to, shape),
               "to = " + elementTypeOf(to) + (saturate ? ", saturate = true" : ""));
}

TEST(Cast, FloatToInteger) {
  Tensor x = f32({8}, {1.9, -1.9, 300, -129, nan, inf, 3e9, 1e20});
  const int64_t lowest = std::numeric_limits<int64_t>::min();
  EXPECT_TRUE(
      same(cast(x, DataType::Int64), i64({8}, {1, -1, 300, -129, lowest, lowest, 3000000000, lowest})));
  EXPECT_TRUE(same(cast(x, DataType::Int8), ints(DataType::Int8, {8}, {1, -1, 44, 127, 0, 0, 0, 0})));
  EXPECT_TRUE(same(cast(x, DataType::UInt8), ints(DataType::UInt8, {8}, {1, 255, 44, 127, 0, 0, 0, 0})));
  EXPECT_TRUE(
      same(cast(x, DataType::UInt32), ints(DataType::UInt32, {8}, {1, -1, 300, -129, 0, 0, 3000000000, 0})));
  // In range of uint64 but not of int64.
  EXPECT_TRUE(same(cast(f32({}, {0x1p63}), DataType::UInt64), ints(DataType::UInt64, {}, {lowest})));
}

TEST(Cast, SaturatingFloatToInteger) {
  Tensor x = f32({7}, {1.9, -1.9, 300, -300, nan, inf, -inf});
  EXPECT_TRUE(
      same(cast(x, DataType::Int8, true), ints(DataType::Int8, {7}, {1, -1, 127, -128, 0, 127, -128})));
  EXPECT_TRUE(same(cast(x, DataType::UInt8, true), ints(DataType::UInt8, {7}, {1, 0, 255, 0, 0, 255, 0})));
  Tensor large = f32({3}, {0x1p63, -0x1p70, 0x1p64});
  EXPECT_TRUE(same(cast(large, DataType::Int64, true),
                   i64({3}, {std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min(),
                             std::numeric_limits<int64_t>::max()})));
  EXPECT_TRUE(same(cast(large, DataType::UInt64, true),
                   ints(DataType::UInt64, {3}, {std::numeric_limits<int64_t>::min(), 0, -1})));
}

TEST(Cast, IntegersWrapAndRound) {
  Tensor x = i64({4}, {255, -1, 65536 + 3, 0});
  EXPECT_TRUE(same(cast(x, DataType::Int8), ints(DataType::Int8, {4}, {-1, -1, 3, 0})));
  EXPECT_TRUE(same(cast(x, DataType::UInt16), ints(DataType::UInt16, {4}, {255, 65535, 3, 0})));
  EXPECT_TRUE(same(cast(x, DataType::Bool), bools({4}, {1, 1, 1, 0})));
  // Above the middle between two float32 neighbours by less than a double resolves.
  const int64_t above = (int64_t{1} << 62) + (int64_t{1} << 38) + 1;
  EXPECT_EQ(cast(i64({}, {above}), DataType::Float32).doubleAt(0), 0x1p62 + 0x1p39);
  EXPECT_EQ(cast(i64({}, {-above}), DataType::Float32).doubleAt(0), -0x1p62 - 0x1p39);
  EXPECT_EQ(cast(ints(DataType::UInt64, {}, {-1}), DataType::Float32).doubleAt(0), 0x1p64);
  EXPECT_EQ(cast(ints(DataType::UInt64, {}, {-1}), DataType::Float64).doubleAt(0), 0x1p64);
  const int64_t unsignedAbove = std::numeric_limits<int64_t>::min() + (int64_t{1} << 39) + 1;
  EXPECT_EQ(cast(ints(DataType::UInt64, {}, {unsignedAbove}), DataType::Float32).doubleAt(0),
            0x1p63 + 0x1p40);
  EXPECT_EQ(cast(i64({}, {65520}), DataType::Float16).doubleAt(0), inf);
  EXPECT_EQ(cast(i64({}, {65519}), DataType::Float16).doubleAt(0), 65504);
  EXPECT_EQ(cast(i64({}, {257}), DataType::BFloat16).doubleAt(0), 256);
}

TEST(Cast, BoolAndFloats) {
  EXPECT_TRUE(same(cast(f32({4}, {0, -0.0, nan, 0.25}), DataType::Bool), bools({4}, {0, 0, 1, 1})));
  for (DataType type : numberTypes)
    EXPECT_TRUE(same(cast(bools({2}, {0, 1}), type), ints(type, {2}, {0, 1})));
  // Once from double to half: by way of float32 it would round up.
  const double x = 1 + 0x1p-11 + 0x1p-30;
  EXPECT_EQ(cast(make(DataType::Float64, {}, {x}), DataType::Float16).doubleAt(0), 1 + 0x1p-10);
  EXPECT_EQ(cast(make(DataType::Float64, {}, {1 + 0x1p-11}), DataType::Float16).doubleAt(0), 1);
  EXPECT_EQ(cast(f32({}, {1e-8}), DataType::Float16).doubleAt(0), 0);
  EXPECT_EQ(cast(f32({}, {0x1p-24}), DataType::Float16).doubleAt(0), 0x1p-24);
  EXPECT_TRUE(same(cast(f32({3}, {1e6, -inf, nan}), DataType::Float16),
                   make(DataType::Float16, {3}, {inf, -inf, nan})));
}

} // namespace
} // namespace tokamak::reference::test
