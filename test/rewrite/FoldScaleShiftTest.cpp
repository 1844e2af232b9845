//===- FoldScaleShiftTest.cpp - scales and shifts around linear operators, by value -------------===//
#include "PassTest.h"
#include "llvm/ADT/StringExtras.h"
#include <cstring>

using namespace tokamak;

namespace {

using Shape = std::vector<int64_t>;

std::string typeOf(const Shape &shape) {
  std::string text = "tensor<";
  for (int64_t extent : shape)
    text += std::to_string(extent) + "x";
  return text + "f32>";
}

/// %name, of values that cycle through `values`.
std::string constant(const std::string &name, const Shape &shape, const std::vector<float> &values) {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  std::string bytes;
  for (int64_t i = 0; i < count; ++i) {
    char raw[sizeof(float)];
    std::memcpy(raw, &values[static_cast<size_t>(i) % values.size()], sizeof(float));
    bytes.append(raw, sizeof(float));
  }
  return "%" + name + " = tk.constant dense<\"0x" + llvm::toHex(bytes) + "\"> : " + typeOf(shape) + "\n";
}

struct Linear {
  std::string op;
  Shape input, weight, result;
  std::string attributes;
  bool hasBias;
  size_t inputAxis, resultAxis;
  bool weightIsLeft = false;
};

std::string spatial(size_t axes, int pad, int group, bool transposed = false) {
  auto all = [&](int value) {
    std::string text = "array<i64: ";
    for (size_t i = 0; i < axes; ++i)
      text += (i ? ", " : "") + std::to_string(value);
    return text + ">";
  };
  return "{strides = " + all(1) + ", dilations = " + all(1) + ", pads_low = " + all(pad) +
         ", pads_high = " + all(pad) + ", group = " + std::to_string(group) + " : i64" +
         (transposed ? ", output_padding = " + all(0) : "") + "}";
}

const Linear operators[] = {
    {"conv", {2, 3, 4, 4}, {4, 3, 3, 3}, {2, 4, 2, 2}, spatial(2, 0, 1), true, 1, 1},
    {"conv", {2, 3, 4, 4}, {4, 3, 3, 3}, {2, 4, 2, 2}, spatial(2, 0, 1), false, 1, 1},
    {"conv", {1, 4, 5}, {6, 2, 3}, {1, 6, 3}, spatial(1, 0, 2), true, 1, 1},           // grouped
    {"conv", {1, 4, 4, 4}, {4, 1, 3, 3}, {1, 4, 2, 2}, spatial(2, 0, 4), false, 1, 1}, // depthwise
    {"conv", {1, 2, 3, 3}, {3, 2, 3, 3}, {1, 3, 3, 3}, spatial(2, 1, 1), true, 1, 1},  // padded
    {"conv", {0, 3, 4, 4}, {4, 3, 3, 3}, {0, 4, 2, 2}, spatial(2, 0, 1), true, 1, 1},  // batch 0
    {"conv_transpose", {1, 4, 3}, {4, 3, 2}, {1, 6, 4}, spatial(1, 0, 2, true), true, 1, 1},
    {"matmul", {2, 3}, {3, 4}, {2, 4}, "", false, 1, 1},
    {"matmul", {5, 2, 3}, {4, 3}, {5, 2, 4}, "{transpose_rhs = true}", false, 2, 2},
    {"matmul", {5, 3, 2}, {3, 4}, {5, 2, 4}, "{transpose_lhs = true}", false, 1, 2},
    {"matmul", {5, 3, 2}, {4, 3}, {5, 4, 2}, "", false, 1, 1, true},
    {"matmul",
     {5, 2, 3},
     {3, 4},
     {5, 4, 2},
     "{transpose_lhs = true, transpose_rhs = true}",
     false,
     2,
     1,
     true},
};

/// A shape that gives one value a channel of `axis` beside a value of `shape`.
Shape channels(const Shape &shape, size_t axis) {
  Shape result(shape.size() - axis, 1);
  result.front() = shape[axis];
  return result;
}

struct Step {
  std::string op;
  std::vector<float> values;
  bool constantFirst = false;
};

std::string stepText(const Step &step, const std::string &from, const std::string &to, const Shape &shape,
                     size_t axis) {
  const std::string name = to + "_c", type = typeOf(channels(shape, axis));
  std::string operands = "%" + from + ", %" + name, types = typeOf(shape) + ", " + type;
  if (step.constantFirst) {
    operands = "%" + name + ", %" + from;
    types = type + ", " + typeOf(shape);
  }
  return constant(name, channels(shape, axis), step.values) + "%" + to + " = tk." + step.op + " " + operands +
         " : (" + types + ") -> " + typeOf(shape) + "\n";
}

std::string graphOf(const Linear &linear, const std::vector<Step> &before, const std::vector<Step> &after) {
  std::string text = "func.func @main(%x: " + typeOf(linear.input) + ") -> " + typeOf(linear.result) + " {\n";
  std::string last = "x";
  for (const Step &step : before) {
    const std::string next = last + "b";
    text += stepText(step, last, next, linear.input, linear.inputAxis);
    last = next;
  }
  text += constant("w", linear.weight, {1, -2, 3, 0, 2, -1, 4}) +
          constant("cb", {linear.result[1]}, {3, -1, 0, 2});
  std::string operands = linear.weightIsLeft ? "%w, %" + last : "%" + last + ", %w";
  std::string types = linear.weightIsLeft ? typeOf(linear.weight) + ", " + typeOf(linear.input)
                                          : typeOf(linear.input) + ", " + typeOf(linear.weight);
  if (linear.hasBias) {
    operands += ", %cb";
    types += ", " + typeOf({linear.result[1]});
  }
  text += "%r = tk." + linear.op + " " + operands + " " + linear.attributes + " : (" + types + ") -> " +
          typeOf(linear.result) + "\n";
  last = "r";
  for (const Step &step : after) {
    const std::string next = last + "a";
    text += stepText(step, last, next, linear.result, linear.resultAxis);
    last = next;
  }
  return text + "return %" + last + " : " + typeOf(linear.result) + "\n}";
}

const std::vector<float> positive = {2, 4, 0.5F, 1, 8}, mixed = {2, -4, 0, 1, -0.5F},
                         shift = {1, 0, -3, 2, 5};

struct FoldScaleShiftTest : PassTest {
  void fold(const Linear &linear, const std::vector<Step> &before, const std::vector<Step> &after) {
    rewrite(graphOf(linear, before, after), {createFoldScaleShiftPass});
  }
  void expectSame() {
    expectEqualOnIntegers();
    expectClose(1e-5);
    expectSameOnSpecialValues(Largest::LeftOut);
  }
};

} // namespace

TEST_F(FoldScaleShiftTest, BehindTheOperator) {
  for (const Linear &linear : operators) {
    SCOPED_TRACE(linear.op + " of " + typeOf(linear.input) + " by " + typeOf(linear.weight));
    const bool isProduct = linear.op == "matmul";
    fold(linear, {}, {{"mul", positive}});
    EXPECT_EQ(count(), 1);
    expectSame();
    fold(linear, {}, {{"add", shift}});
    EXPECT_EQ(count(), isProduct ? 2 : 1);
    expectSame();
    fold(linear, {}, {{"mul", mixed}, {"add", shift}});
    EXPECT_EQ(count(), isProduct ? 2 : 1);
    expectSame();
    fold(linear, {}, {{"sub", shift, /*constantFirst=*/true}});
    EXPECT_EQ(count(), isProduct ? 2 : 1);
    expectSame();
    fold(linear, {}, {{"add", shift}, {"mul", positive}, {"mul", positive}, {"add", shift}});
    EXPECT_EQ(count(), isProduct ? 2 : 1);
    expectSame();
  }
}

TEST_F(FoldScaleShiftTest, BeforeTheOperator) {
  for (const Linear &linear : operators) {
    SCOPED_TRACE(linear.op + " of " + typeOf(linear.input) + " by " + typeOf(linear.weight));
    const bool seesAllTaps = linear.op != "conv_transpose" && linear.attributes != spatial(2, 1, 1);
    fold(linear, {{"mul", mixed}}, {});
    EXPECT_EQ(count(), 1);
    expectSame();
    fold(linear, {{"add", shift}}, {{"add", shift}});
    EXPECT_EQ(count("add"), linear.op == "matmul" || !seesAllTaps ? 1 : 0);
    expectSame();
    fold(linear, {{"mul", mixed}, {"add", shift}}, {{"add", shift}});
    EXPECT_EQ(count("mul"), seesAllTaps ? 0 : 1);
    expectSame();
  }
}

// A zero that the scale would give another sign: x * -1 of a sum +0 is -0.
TEST_F(FoldScaleShiftTest, KeepsScalesThatAreNotPositive) {
  for (const Linear &linear : operators) {
    SCOPED_TRACE(linear.op + " of " + typeOf(linear.input) + " by " + typeOf(linear.weight));
    fold(linear, {}, {{"mul", mixed}});
    EXPECT_EQ(count("mul"), 1);
    fold(linear, {}, {{"mul", mixed}, {"add", {-0.0F}}});
    EXPECT_EQ(count("mul"), 1);
    expectSame();
    fold(linear, {}, {{"mul", mixed}, {"mul", mixed}, {"add", {1, -0.0F}}});
    EXPECT_EQ(count("mul"), 2);
    expectSame();
  }
}

// Behind a shift no zero keeps its sign, however many constants come before it: a bias, a scale and a norm.
TEST_F(FoldScaleShiftTest, ScalesOfEitherSignBeforeAShift) {
  const Step scale{"mul", mixed}, factor{"mul", {-1, 2, 4, -2, 0.5F}}, term{"add", shift},
      nothing{"add", {-0.0F}};
  const std::vector<Step> chains[] = {{scale, factor, term},
                                      {term, scale, factor, term},
                                      {scale, term, factor, term},
                                      {term, factor, factor, factor, term},
                                      {scale, nothing, factor, term}};
  for (const Linear &linear : operators)
    for (const std::vector<Step> &chain : chains) {
      SCOPED_TRACE(linear.op + " of " + typeOf(linear.input) + " by " + typeOf(linear.weight) + ", chain " +
                   std::to_string(&chain - chains));
      fold(linear, {}, chain);
      EXPECT_EQ(count("mul"), 0);
      EXPECT_EQ(count(), linear.op == "matmul" ? 2 : 1);
      expectSame();
    }
}

// The shift need not fold itself: it rounds, or is no constant a channel.
TEST_F(FoldScaleShiftTest, ScalesOfEitherSignBeforeAShiftThatStays) {
  for (const Linear &linear : operators) {
    SCOPED_TRACE(linear.op + " of " + typeOf(linear.input) + " by " + typeOf(linear.weight));
    fold(linear, {}, {{"mul", mixed}, {"add", {12582912.0F}}});
    EXPECT_EQ(count("mul"), 0);
    EXPECT_EQ(count("add"), 1);
    expectEqualOnIntegers();
    expectSameOnSpecialValues(Largest::LeftOut);
  }
}

TEST_F(FoldScaleShiftTest, KeepsWhatIsNotFinite) {
  const Linear &conv = operators[0];
  fold(conv, {}, {{"mul", {3e38F}}});
  EXPECT_EQ(count("mul"), 1);
  fold(conv, {}, {{"add", {__builtin_inff()}}});
  EXPECT_EQ(count("add"), 1);
  fold(conv, {{"mul", {__builtin_nanf("")}}}, {});
  EXPECT_EQ(count("mul"), 1);
}

// (x + 3 * 2^22) - 3 * 2^22 rounds to integers.
TEST_F(FoldScaleShiftTest, KeepsShiftsThatRound) {
  for (const Linear &linear : operators) {
    fold(linear, {{"add", {12582912.0F}}, {"add", {-12582912.0F}}},
         {{"add", {12582912.0F}}, {"add", {-12582912.0F}}});
    EXPECT_EQ(count("add"), 4);
  }
}

// A channel of weights that all become subnormal would lose its precision.
TEST_F(FoldScaleShiftTest, KeepsScalesThatUnderflow) {
  for (const Linear &linear : operators) {
    fold(linear, {{"mul", {1e-36F}}}, {});
    EXPECT_EQ(count("mul"), 1);
    fold(linear, {}, {{"mul", {1e-36F}}});
    EXPECT_EQ(count("mul"), 1);
    expectSameOnSpecialValues(Largest::LeftOut);
  }
}

// Nor does a scale bring weights that are small already to where they lose it.
TEST_F(FoldScaleShiftTest, KeepsScalesThatSmallWeightsUnderflowBy) {
  for (double scale : {1e-6, 0.5}) {
    rewrite("func.func @main(%x: tensor<6x2xf32>) -> tensor<6x2xf32> {\n" +
                constant("w", {2, 2}, {1e-33F, 2e-33F, -3e-33F, 1e-34F}) +
                constant("s", {}, {static_cast<float>(scale)}) +
                "%p = tk.matmul %x, %w : (tensor<6x2xf32>, tensor<2x2xf32>) -> tensor<6x2xf32>\n"
                "%y = tk.mul %p, %s : (tensor<6x2xf32>, tensor<f32>) -> tensor<6x2xf32>\n"
                "return %y : tensor<6x2xf32>\n}",
            {createFoldScaleShiftPass});
    EXPECT_EQ(count("mul"), scale < 0.1 ? 1 : 0);
  }
}

// Weights that underflow beside larger ones keep NaN for 0 * inf apart from infinity. (Of sums that underflow
// the sign depends on where they are rounded.)
TEST_F(FoldScaleShiftTest, NoWeightBecomesZero) {
  rewrite("func.func @main(%x: tensor<6x1xf32>) -> tensor<6x2xf32> {\n" + constant("w", {1, 2}, {1, 1e-30F}) +
              constant("s", {}, {1e-18F}) +
              "%m = tk.mul %x, %s : (tensor<6x1xf32>, tensor<f32>) -> tensor<6x1xf32>\n"
              "%p = tk.matmul %m, %w : (tensor<6x1xf32>, tensor<1x2xf32>) -> tensor<6x2xf32>\n"
              "%y = tk.abs %p : (tensor<6x2xf32>) -> tensor<6x2xf32>\n"
              "return %y : tensor<6x2xf32>\n}",
          {createFoldScaleShiftPass});
  EXPECT_EQ(count("mul"), 0);
  expectSameOnSpecialValues(Largest::LeftOut);
}

// Norms on both sides of a matrix product leave one addition.
TEST_F(FoldScaleShiftTest, BatchNormsAroundAProduct) {
  auto norm = [](const std::string &from, const std::string &to, int64_t channels) {
    const std::string type = typeOf({channels}), full = typeOf({2, channels});
    return constant(to + "g", {channels}, {2, -4, 1, 8}) + constant(to + "b", {channels}, {1, 0, -3}) +
           constant(to + "m", {channels}, {-1, 2, 3, 0}) + constant(to + "v", {channels}, {1, 4, 16}) + "%" +
           to + " = tk.batch_norm %" + from + ", %" + to + "g, %" + to + "b, %" + to + "m, %" + to +
           "v {epsilon = 0.0} : (" + full + ", " + type + ", " + type + ", " + type + ", " + type + ") -> " +
           full + "\n";
  };
  rewrite("func.func @main(%x: tensor<2x3xf32>) -> tensor<2x4xf32> {\n" + norm("x", "n", 3) +
              constant("w", {3, 4}, {1, -2, 3, 0, 2, -1, 4}) +
              "%p = tk.matmul %n, %w : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>\n" +
              norm("p", "y", 4) + "return %y : tensor<2x4xf32>\n}",
          {createDecomposeBatchNormPass, createFoldScaleShiftPass});
  EXPECT_EQ(count("matmul"), 1);
  EXPECT_EQ(count("add"), 1);
  EXPECT_EQ(count(), 2);
  expectEqualOnIntegers();
  expectClose(1e-5);
}

// Channels of an image that is flattened: a value for each column of the product's input.
TEST_F(FoldScaleShiftTest, ChannelsOfAFlattenedImage) {
  struct Case {
    Shape image, rows, constant;
    bool folds;
  };
  const Case cases[] = {
      {{2, 3, 2, 2}, {2, 12}, {3, 1, 1}, true},
      {{2, 3, 2, 2}, {2, 12}, {1, 3, 1, 1}, true},
      {{2, 3, 2, 2}, {2, 12}, {}, true},
      {{2, 3, 2, 2}, {2, 12}, {3, 2, 2}, true},
      {{2, 3, 2, 2}, {2, 12}, {2}, true},
      {{2, 3, 1, 1}, {2, 3}, {3, 1, 1}, true},
      {{2, 2, 3, 4}, {2, 2, 12}, {3, 1}, true},
      {{2, 3, 4}, {6, 4}, {4}, true},
      {{2, 3, 2, 2}, {2, 12}, {2, 1, 1, 1}, false}, // of the batch
      {{2, 3, 4}, {6, 4}, {3, 1}, false},           // of the rows
      {{2, 3, 4}, {3, 8}, {4}, false},              // columns that are no axes of the image
  };
  for (const Case &test : cases) {
    SCOPED_TRACE(typeOf(test.image) + " as " + typeOf(test.rows) + " with " + typeOf(test.constant));
    const std::string image = typeOf(test.image), rows = typeOf(test.rows), beside = typeOf(test.constant);
    Shape result = test.rows;
    result.back() = 3;
    std::string extents;
    for (int64_t extent : test.rows)
      extents += (extents.empty() ? "" : ", ") + std::to_string(extent);
    rewrite("func.func @main(%x: " + image + ") -> " + typeOf(result) + " {\n" +
                constant("s", test.constant, mixed) + constant("t", test.constant, shift) +
                constant("w", {test.rows.back(), 3}, {1, -2, 3, 0, 2, -1, 4}) + constant("b", {3}, shift) +
                "%m = tk.mul %x, %s : (" + image + ", " + beside + ") -> " + image +
                "\n%a = tk.add %m, %t : (" + image + ", " + beside + ") -> " + image +
                "\n%r = tk.reshape %a {shape = array<i64: " + extents + ">} : (" + image + ") -> " + rows +
                "\n%p = tk.matmul %r, %w : (" + rows + ", " + typeOf({test.rows.back(), 3}) + ") -> " +
                typeOf(result) + "\n%y = tk.add %p, %b : (" + typeOf(result) + ", tensor<3xf32>) -> " +
                typeOf(result) + "\nreturn %y : " + typeOf(result) + "\n}",
            {createFoldScaleShiftPass});
    EXPECT_EQ(count("mul"), test.folds ? 0 : 1);
    EXPECT_EQ(count("add"), test.folds ? 1 : 2);
    expectSame();
  }
}

// A bias between a matrix product and its norm, whose factors have either sign.
TEST_F(FoldScaleShiftTest, ScaleOfABiasedProduct) {
  auto program = [](const std::string &behind) {
    return "func.func @main(%x: tensor<2x3xf32>) -> tensor<2x4xf32> {\n" +
           constant("w", {3, 4}, {1, -2, 3, 0, 2, -1, 4, 1, -3, 2, 1, 5}) +
           constant("b", {4}, {1, 2, -3, 4}) + constant("s", {4}, {2, -1, 4, -2}) +
           constant("t", {4}, {3, 1, -2, 5}) +
           "%p = tk.matmul %x, %w : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>\n"
           "%a = tk.add %p, %b : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>\n"
           "%m = tk.mul %a, %s : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>\n" +
           behind + "return %y : tensor<2x4xf32>\n}";
  };
  rewrite(program("%y = tk.add %m, %t : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>\n"),
          {createFoldScaleShiftPass});
  EXPECT_EQ(count("mul"), 0);
  EXPECT_EQ(count("add"), 1);
  expectEqualOnIntegers();
  expectClose(1e-5);
  expectSameOnSpecialValues(Largest::LeftOut);
  // Without a shift behind it, a zero would change its sign.
  rewrite(program("%y = tk.abs %m : (tensor<2x4xf32>) -> tensor<2x4xf32>\n"), {createFoldScaleShiftPass});
  EXPECT_EQ(count("mul"), 1);
}
