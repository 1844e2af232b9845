//===- ElementwiseTest.cpp - elementwise operators of several operands --------------------===//
#include "Testing.h"

namespace tokamak::reference::test {
namespace {

TEST(Binary, EveryNumberType) {
  for (DataType type : numberTypes) {
    Tensor a = ints(type, {3}, {7, 6, 5}), b = ints(type, {3}, {2, 3, 5});
    EXPECT_TRUE(same(applySame("add", {a, b}), ints(type, {3}, {9, 9, 10})));
    EXPECT_TRUE(same(applySame("sub", {a, b}), ints(type, {3}, {5, 3, 0})));
    EXPECT_TRUE(same(applySame("mul", {a, b}), ints(type, {3}, {14, 18, 25})));
    EXPECT_TRUE(same(applySame("div", {a, b}),
                     isFloat(type) ? make(type, {3}, {3.5, 2, 1}) : ints(type, {3}, {3, 2, 1})));
    EXPECT_TRUE(same(applySame("mod", {a, b}), ints(type, {3}, {1, 0, 0})));
    EXPECT_TRUE(same(applySame("max", {a, b}), a));
    EXPECT_TRUE(same(applySame("min", {a, b}), b));
    EXPECT_TRUE(same(applySame("pow", {b, ints(type, {3}, {3, 0, 1})}), ints(type, {3}, {8, 1, 5})));
  }
}

TEST(Binary, Broadcast) {
  Tensor row = f32({3}, {1, 2, 3}), column = f32({2, 1}, {10, 20});
  EXPECT_TRUE(same(apply("add", {column, row}, "tensor<2x3xf32>"), f32({2, 3}, {11, 12, 13, 21, 22, 23})));
  EXPECT_TRUE(same(apply("sub", {f32({}, {1}), row}, "tensor<3xf32>"), f32({3}, {0, -1, -2})));
  EXPECT_TRUE(same(apply("mul", {f32({}, {2}), f32({}, {4})}, "tensor<f32>"), f32({}, {8})));
  EXPECT_TRUE(same(apply("add", {Tensor(DataType::Float32, {0, 1}), row}, "tensor<0x3xf32>"),
                   Tensor(DataType::Float32, {0, 3})));
  EXPECT_TRUE(same(apply("add", {f32({1}, {1}), Tensor(DataType::Float32, {0})}, "tensor<0xf32>"),
                   Tensor(DataType::Float32, {0})));
}

TEST(Binary, IntegersWrap) {
  Tensor high = ints(DataType::Int8, {}, {127}), two = ints(DataType::Int8, {}, {2});
  EXPECT_TRUE(same(applySame("add", {high, two}), ints(DataType::Int8, {}, {-127})));
  EXPECT_TRUE(same(applySame("mul", {high, two}), ints(DataType::Int8, {}, {-2})));
  EXPECT_TRUE(same(applySame("sub", {ints(DataType::UInt8, {}, {1}), ints(DataType::UInt8, {}, {2})}),
                   ints(DataType::UInt8, {}, {255})));
  const int64_t max = std::numeric_limits<int64_t>::max();
  EXPECT_TRUE(same(applySame("add", {i64({}, {max}), i64({}, {1})}), i64({}, {-max - 1})));
  EXPECT_TRUE(same(applySame("mul", {i64({}, {max}), i64({}, {max})}), i64({}, {1})));
}

TEST(Binary, IntegerDivision) {
  Tensor a = ints(DataType::Int32, {5}, {7, -7, 7, -7, 0}), b = ints(DataType::Int32, {5}, {2, 2, -2, -2, 3});
  EXPECT_TRUE(same(applySame("div", {a, b}), ints(DataType::Int32, {5}, {3, -3, -3, 3, 0})));
  for (DataType type : integerTypes)
    for (const char *op : {"div", "mod"})
      EXPECT_TRUE(
          same(applySame(op, {ints(type, {2}, {5, 0}), ints(type, {2}, {0, 0})}), ints(type, {2}, {0, 0})));
  for (DataType type : {DataType::Int8, DataType::Int16, DataType::Int32, DataType::Int64}) {
    const int64_t lowest = -(int64_t{1} << (8 * byteSize(type) - 2)) * 2;
    EXPECT_TRUE(
        same(applySame("div", {ints(type, {}, {lowest}), ints(type, {}, {-1})}), ints(type, {}, {lowest})));
    for (const char *truncated : {"truncated = true", "truncated = false"})
      EXPECT_TRUE(same(applySame("mod", {ints(type, {}, {lowest}), ints(type, {}, {-1})}, truncated),
                       ints(type, {}, {0})));
  }
  // Unsigned, above the signed range.
  EXPECT_TRUE(same(applySame("div", {ints(DataType::UInt64, {}, {-1}), ints(DataType::UInt64, {}, {2})}),
                   ints(DataType::UInt64, {}, {std::numeric_limits<int64_t>::max()})));
}

TEST(Binary, FloatDivision) {
  EXPECT_TRUE(same(applySame("div", {f32({4}, {1, -1, 0, inf}), f32({4}, {0, 0, 0, inf})}),
                   f32({4}, {inf, -inf, nan, nan})));
}

TEST(Binary, Mod) {
  for (DataType type : {DataType::Int8, DataType::Int64, DataType::Float32, DataType::Float64}) {
    Tensor a = ints(type, {4}, {7, -7, 7, -7}), b = ints(type, {4}, {3, 3, -3, -3});
    EXPECT_TRUE(same(applySame("mod", {a, b}), ints(type, {4}, {1, 2, -2, -1})));
    EXPECT_TRUE(same(applySame("mod", {a, b}, "truncated = true"), ints(type, {4}, {1, -1, 1, -1})));
  }
  EXPECT_TRUE(same(applySame("mod", {f32({4}, {5.5, -5.5, 1, 1}), f32({4}, {2, 2, 0, -inf})}),
                   f32({4}, {1.5, 0.5, nan, -inf})));
  EXPECT_TRUE(same(applySame("mod", {f32({3}, {-4, inf, 1}), f32({3}, {2, 2, inf})}, "truncated = true"),
                   f32({3}, {-0.0, nan, 1})));
}

TEST(Binary, MaxAndMinKeepNaN) {
  for (DataType type : floatTypes) {
    Tensor a = make(type, {5}, {nan, 1, inf, 0.0, -0.0}), b = make(type, {5}, {1, nan, -inf, -0.0, 0.0});
    EXPECT_TRUE(same(applySame("max", {a, b}), make(type, {5}, {nan, nan, inf, 0.0, 0.0})));
    EXPECT_TRUE(same(applySame("min", {a, b}), make(type, {5}, {nan, nan, -inf, -0.0, -0.0})));
  }
  Tensor high = ints(DataType::UInt64, {}, {-1}), one = ints(DataType::UInt64, {}, {1});
  EXPECT_TRUE(same(applySame("max", {high, one}), high));
  EXPECT_TRUE(same(applySame("min", {ints(DataType::Int64, {}, {-1}), i64({}, {1})}), i64({}, {-1})));
}

TEST(Binary, Pow) {
  EXPECT_TRUE(same(applySame("pow", {f32({5}, {2, 0, -8, nan, 4}), f32({5}, {-1, 0, 1.0 / 3, 0, 0.5})}),
                   f32({5}, {0.5, 1, nan, 1, 2})));
  Tensor base = ints(DataType::Int32, {4}, {2, 2, -3, 0}),
         exponent = ints(DataType::Int32, {4}, {31, -1, 3, -1});
  // 2^31 wraps, 0.5 truncates, 1 / 0 has no integer.
  EXPECT_TRUE(
      same(applySame("pow", {base, exponent}), ints(DataType::Int32, {4}, {-2147483647 - 1, 0, -27, 0})));
  // Beyond what a double holds, and beyond 64 bits.
  EXPECT_TRUE(
      same(applySame("pow", {i64({6}, {3, -3, 3037000499, 3, -1, -1}), i64({6}, {39, 39, 2, 41, -3, -4})}),
           i64({6}, {4052555153018976267, -4052555153018976267, 9223372030926249001, -420491770248316829, -1,
                     1})));
}

TEST(Binary, HalfRoundsAndOverflows) {
  Tensor a = make(DataType::Float16, {3}, {65504, 2048, 1}),
         b = make(DataType::Float16, {3}, {65504, 1, 0x1p-11});
  EXPECT_TRUE(same(applySame("add", {a, b}), make(DataType::Float16, {3}, {inf, 2048, 1})));
  Tensor c = make(DataType::BFloat16, {2}, {256, 3e38}), d = make(DataType::BFloat16, {2}, {1, 3e38});
  EXPECT_TRUE(same(applySame("add", {c, d}), make(DataType::BFloat16, {2}, {256, inf})));
}

TEST(Binary, Logic) {
  Tensor a = bools({4}, {0, 0, 1, 1}), b = bools({4}, {0, 1, 0, 1});
  EXPECT_TRUE(same(applySame("and", {a, b}), bools({4}, {0, 0, 0, 1})));
  EXPECT_TRUE(same(applySame("or", {a, b}), bools({4}, {0, 1, 1, 1})));
  EXPECT_TRUE(same(applySame("xor", {a, b}), bools({4}, {0, 1, 1, 0})));
}

TEST(Binary, Bits) {
  for (DataType type : integerTypes) {
    Tensor a = ints(type, {2}, {12, -1}), b = ints(type, {2}, {10, 5});
    EXPECT_TRUE(same(applySame("bit_and", {a, b}), ints(type, {2}, {8, 5})));
    EXPECT_TRUE(same(applySame("bit_or", {a, b}), ints(type, {2}, {14, -1})));
    EXPECT_TRUE(same(applySame("bit_xor", {a, b}), ints(type, {2}, {6, -6})));
  }
}

TEST(Binary, Shifts) {
  for (DataType type : integerTypes) {
    const auto width = static_cast<int64_t>(8 * byteSize(type));
    Tensor x = ints(type, {4}, {-1, 3, 3, 3}), amount = ints(type, {4}, {1, 2, width, -1});
    EXPECT_TRUE(same(applySame("shift_left", {x, amount}), ints(type, {4}, {-2, 12, 0, 0})));
    // Logical: the sign bit moves as any other.
    const int64_t halved = static_cast<int64_t>(~uint64_t{0} >> (64 - width) >> 1);
    EXPECT_TRUE(same(applySame("shift_right", {x, amount}), ints(type, {4}, {halved, 0, 0, 0})));
  }
}

Tensor compare(const std::string &predicate, const Tensor &a, const Tensor &b) {
  return apply("compare", {a, b}, typeOf(DataType::Bool, std::vector<int64_t>(a.shape())),
               "predicate = #tk.predicate<" + predicate + ">");
}

TEST(Compare, Floats) {
  for (DataType type : floatTypes) {
    Tensor a = make(type, {5}, {1, 2, nan, nan, -0.0}), b = make(type, {5}, {2, 2, 1, nan, 0.0});
    EXPECT_TRUE(same(compare("eq", a, b), bools({5}, {0, 1, 0, 0, 1})));
    EXPECT_TRUE(same(compare("lt", a, b), bools({5}, {1, 0, 0, 0, 0})));
    EXPECT_TRUE(same(compare("le", a, b), bools({5}, {1, 1, 0, 0, 1})));
    EXPECT_TRUE(same(compare("gt", b, a), bools({5}, {1, 0, 0, 0, 0})));
    EXPECT_TRUE(same(compare("ge", b, a), bools({5}, {1, 1, 0, 0, 1})));
  }
}

TEST(Compare, IntegersExactlyAndBool) {
  // Equal when rounded to double.
  const int64_t big = int64_t{1} << 60;
  EXPECT_TRUE(same(compare("eq", i64({}, {big}), i64({}, {big + 1})), bools({}, {0})));
  EXPECT_TRUE(same(compare("lt", i64({}, {big}), i64({}, {big + 1})), bools({}, {1})));
  EXPECT_TRUE(
      same(compare("gt", ints(DataType::UInt64, {}, {-1}), ints(DataType::UInt64, {}, {1})), bools({}, {1})));
  EXPECT_TRUE(
      same(compare("gt", ints(DataType::Int8, {}, {-1}), ints(DataType::Int8, {}, {1})), bools({}, {0})));
  EXPECT_TRUE(same(compare("lt", bools({2}, {0, 1}), bools({2}, {1, 1})), bools({2}, {1, 0})));
}

TEST(Select, BroadcastsAll) {
  Tensor condition = bools({2, 1}, {1, 0});
  EXPECT_TRUE(same(apply("select", {condition, f32({3}, {1, 2, 3}), f32({}, {nan})}, "tensor<2x3xf32>"),
                   f32({2, 3}, {1, 2, 3, nan, nan, nan})));
  for (DataType type : {DataType::Bool, DataType::UInt8, DataType::Float16, DataType::Int64})
    EXPECT_TRUE(same(apply("select", {condition, ints(type, {2, 1}, {1, 1}), ints(type, {2, 1}, {0, 0})},
                           typeOf(type, {2, 1})),
                     ints(type, {2, 1}, {1, 0})));
  EXPECT_TRUE(
      same(apply("select", {bools({}, {1}), Tensor(DataType::Float32, {0}), f32({1}, {1})}, "tensor<0xf32>"),
           Tensor(DataType::Float32, {0})));
}

TEST(BatchNorm, NormalisesAxis1) {
  Tensor scale = f32({2}, {2, 1}), bias = f32({2}, {1, -1}), mean = f32({2}, {1, 0}),
         variance = f32({2}, {3, 15});
  Tensor x = f32({1, 2, 2}, {1, 3, 4, -4});
  EXPECT_TRUE(same(applySame("batch_norm", {x, scale, bias, mean, variance}, "epsilon = 1.0 : f64"),
                   f32({1, 2, 2}, {1, 3, 0, -2})));
  Tensor one = f32({1}, {2}), zero = f32({1}, {0});
  EXPECT_TRUE(same(
      applySame("batch_norm", {f32({3}, {1, 2, 3}), one, zero, zero, f32({1}, {4})}, "epsilon = 0.0 : f64"),
      f32({3}, {1, 2, 3})));
  EXPECT_TRUE(
      same(applySame("batch_norm", {Tensor(DataType::Float32, {0, 2, 3}), scale, bias, mean, variance},
                     "epsilon = 0.0 : f64"),
           Tensor(DataType::Float32, {0, 2, 3})));
}

} // namespace
} // namespace tokamak::reference::test
