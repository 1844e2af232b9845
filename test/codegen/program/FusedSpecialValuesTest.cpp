//===- FusedSpecialValuesTest.cpp - NaN, infinities and limits of integers within groups -----------===//
// SpecialValuesTest.cpp has one operator at a time; here several share a kernel, and the algebra of `full`
// has had its way with them. Every case is equal to the evaluator, element by element, however it is fused.
#include "ProgramHarness.h"
#include "SpecialValues.h"
#include "ir/Tk.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace tokamak;
using namespace tokamak::test;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Cases are written once for all element types: T stands for `type`.
std::string withType(std::string text, const std::string &type) {
  for (size_t at = 0; (at = text.find("xT>", at)) != std::string::npos;)
    text.replace(at + 1, 1, type);
  for (size_t at = 0; (at = text.find("<T>", at)) != std::string::npos;)
    text.replace(at + 1, 1, type);
  return text;
}

void expectSame(const std::string &text, const std::vector<Tensor> &inputs, double tolerance = 0) {
  for (FusionMode fusion : {FusionMode::None, FusionMode::Dominator, FusionMode::Full})
    for (const char *cpu : {"native", "x86-64-v3"}) {
      ProgramCase test{.text = text,
                       .exact = tolerance == 0,
                       .tolerance = tolerance,
                       .cpu = cpu,
                       .fusion = fusion,
                       .inputs = inputs};
      EXPECT_EQ(differenceFromReference(test), "") << cpu << ", fusion " << static_cast<int>(fusion) << "\n"
                                                   << text;
    }
}

/// How many kernels `full` makes of a case: that it fuses is part of what is tested.
size_t kernelsOfFull(const std::string &text) {
  auto context = makeContext();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, context.get());
  auto program = TestProgram::compile(*module, FusionMode::Full, "x86-64-v4"); // never run
  EXPECT_TRUE(static_cast<bool>(program));
  return program ? (*program)->code().kernelCount : 0;
}

/// Few values, which meet in every order; sums of them are exact, whatever their order.
Tensor fewValues(const std::vector<int64_t> &shape, bool finite = false) {
  Tensor tensor(DataType::Float32, shape);
  const double choices[] = {1, -1, 0, -0.0, 2, -3, infinity, -infinity, std::nan("")};
  uint64_t state = 4321;
  for (int64_t i = 0; i < tensor.size(); ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    // Special values are rare, or every sum would be NaN.
    const uint64_t number = state >> 33;
    tensor.setDouble(i, choices[!finite && number % 16 == 0 ? 6 + number / 16 % 3 : number / 16 % 6]);
  }
  return tensor;
}

TEST(FusedSpecialValues, ClipsAndRelusOfNaN) {
  // Bounds from both sides, an activation behind an activation, a comparison of what was clipped.
  for (auto [type, dataType] :
       {std::pair{"f32", DataType::Float32}, {"f64", DataType::Float64}, {"f16", DataType::Float16}}) {
    std::string text = withType(R"(
    func.func @main(%x: tensor<1936xT>, %y: tensor<1936xT>) -> (tensor<1936xT>, tensor<1936xT>, tensor<1936xi1>) {
      %zero = tk.constant dense<0.0> : tensor<T>
      %six = tk.constant dense<6.0> : tensor<T>
      %three = tk.constant dense<3.0> : tensor<T>
      %s = tk.add %x, %y : (tensor<1936xT>, tensor<1936xT>) -> tensor<1936xT>
      %a = tk.max %s, %zero : (tensor<1936xT>, tensor<T>) -> tensor<1936xT>
      %b = tk.min %a, %six : (tensor<1936xT>, tensor<T>) -> tensor<1936xT>
      %c = tk.max %b, %zero : (tensor<1936xT>, tensor<T>) -> tensor<1936xT>
      %d = tk.min %six, %y : (tensor<T>, tensor<1936xT>) -> tensor<1936xT>
      %e = tk.min %d, %three : (tensor<1936xT>, tensor<T>) -> tensor<1936xT>
      %f = tk.max %c, %e : (tensor<1936xT>, tensor<1936xT>) -> tensor<1936xT>
      %g = tk.neg %f : (tensor<1936xT>) -> tensor<1936xT>
      %h = tk.compare %g, %c {predicate = #tk.predicate<le>} : (tensor<1936xT>, tensor<1936xT>) -> tensor<1936xi1>
      return %c, %g, %h : tensor<1936xT>, tensor<1936xT>, tensor<1936xi1>
    })",
                                type);
    auto [x, y] = specialPairs(dataType, 44);
    expectSame(text, {x, y});
    EXPECT_EQ(kernelsOfFull(text), 1U) << type;
  }
}

TEST(FusedSpecialValues, IntegerQuotientsShiftsAndOverflow) {
  // (x / 2) * 2 is not x, x * 3 / 3 overflows, -(x) is not 0 - x rounded, quotients are not joined.
  for (auto [type, dataType] : {std::pair{"i8", DataType::Int8},
                                {"i16", DataType::Int16},
                                {"i32", DataType::Int32},
                                {"i64", DataType::Int64},
                                {"ui8", DataType::UInt8},
                                {"ui32", DataType::UInt32},
                                {"ui64", DataType::UInt64}}) {
    std::string text = withType(R"(
    func.func @main(%x: tensor<1156xT>, %y: tensor<1156xT>) -> (tensor<1156xT>, tensor<1156xT>, tensor<1156xT>, tensor<1156xT>) {
      %two = tk.constant dense<2> : tensor<T>
      %three = tk.constant dense<3> : tensor<T>
      %a = tk.div %x, %two : (tensor<1156xT>, tensor<T>) -> tensor<1156xT>
      %b = tk.mul %a, %two : (tensor<1156xT>, tensor<T>) -> tensor<1156xT>
      %c = tk.mul %x, %three : (tensor<1156xT>, tensor<T>) -> tensor<1156xT>
      %d = tk.div %c, %three : (tensor<1156xT>, tensor<T>) -> tensor<1156xT>
      %e = tk.div %d, %y : (tensor<1156xT>, tensor<1156xT>) -> tensor<1156xT>
      %f = tk.div %e, %two : (tensor<1156xT>, tensor<T>) -> tensor<1156xT>
      %g = tk.div %f, %three : (tensor<1156xT>, tensor<T>) -> tensor<1156xT>
      %h = tk.mod %x, %y : (tensor<1156xT>, tensor<1156xT>) -> tensor<1156xT>
      %i = tk.shift_left %h, %two : (tensor<1156xT>, tensor<T>) -> tensor<1156xT>
      %j = tk.shift_right %i, %two : (tensor<1156xT>, tensor<T>) -> tensor<1156xT>
      %k = tk.shift_left %x, %y : (tensor<1156xT>, tensor<1156xT>) -> tensor<1156xT>
      %l = tk.shift_right %k, %y : (tensor<1156xT>, tensor<1156xT>) -> tensor<1156xT>
      %m = tk.sub %l, %b : (tensor<1156xT>, tensor<1156xT>) -> tensor<1156xT>
      %n = tk.neg %m : (tensor<1156xT>) -> tensor<1156xT>
      %o = tk.abs %n : (tensor<1156xT>) -> tensor<1156xT>
      return %b, %g, %j, %o : tensor<1156xT>, tensor<1156xT>, tensor<1156xT>, tensor<1156xT>
    })",
                                type);
    auto [x, y] = specialPairs(dataType, 34);
    expectSame(text, {x, y});
    EXPECT_LE(kernelsOfFull(text), 3U) << type;
  }
}

TEST(FusedSpecialValues, SumsAndExtremesOfIntegersThatOverflow) {
  std::string text = R"(
    func.func @main(%x: tensor<40x34xi8>) -> (tensor<40x1xi8>, tensor<40x34xi8>) {
      %n = tk.neg %x : (tensor<40x34xi8>) -> tensor<40x34xi8>
      %s = tk.reduce %n {kind = #tk.reduce_kind<sum>, axes = array<i64: 1>, keep_dims = true} : (tensor<40x34xi8>) -> tensor<40x1xi8>
      %m = tk.reduce %n {kind = #tk.reduce_kind<max>, axes = array<i64: 1>, keep_dims = true} : (tensor<40x34xi8>) -> tensor<40x1xi8>
      %d = tk.sub %n, %m : (tensor<40x34xi8>, tensor<40x1xi8>) -> tensor<40x34xi8>
      %q = tk.div %d, %s : (tensor<40x34xi8>, tensor<40x1xi8>) -> tensor<40x34xi8>
      return %s, %q : tensor<40x1xi8>, tensor<40x34xi8>
    })";
  expectSame(text, {specialValues(DataType::Int8, 40 * 34).reshaped({40, 34})});
}

/// Softmax, log-softmax and a norm in pieces, as `full` sees them, of rows of -inf, inf, NaN.
TEST(FusedSpecialValues, RowsWithoutANumber) {
  for (int64_t columns : {1, 7, 16, 40}) {
    Tensor values(DataType::Float32, {48, columns}), mild(DataType::Float32, {48, columns});
    for (int64_t i = 0; i < values.size(); ++i) {
      const int64_t row = i / columns, column = i % columns;
      const double special[] = {-infinity, infinity, std::nan(""), 3e38, -3e38, -0.0};
      const double plain = static_cast<double>(i % 9) - 4;
      const bool isMiddle = column == columns / 2;
      double value = plain;
      if (row < 6) // all of one kind
        value = special[row];
      else if (row < 12 && isMiddle) // one of them
        value = special[row - 6];
      else if (row >= 12 && row < 18 && !isMiddle) // all but one
        value = special[row - 12];
      values.setDouble(i, value);
      mild.setDouble(i, std::isfinite(value) ? plain : value); // so that the tolerance is small
    }
    std::string full = "tensor<48x" + std::to_string(columns) + "xf32>", row = "tensor<48x1xf32>";
    auto reduce = [&](const std::string &kind, const std::string &to, const std::string &from) {
      return to + " = tk.reduce " + from + " {kind = #tk.reduce_kind<" + kind +
             ">, axes = array<i64: 1>, keep_dims = true} : (" + full + ") -> " + row + "\n";
    };
    auto binary = [&](const std::string &op, const std::string &to, const std::string &a,
                      const std::string &b) {
      return to + " = tk." + op + " " + a + ", " + b + " : (" + full + ", " + row + ") -> " + full + "\n";
    };
    auto unary = [&](const std::string &op, const std::string &to, const std::string &from,
                     const std::string &type) {
      return to + " = tk." + op + " " + from + " : (" + type + ") -> " + type + "\n";
    };
    std::string text = "func.func @main(%x: " + full + ", %y: " + full + ") -> (" + full + ", " + full +
                       ", " + full + ") {\n%c = tk.constant dense<" + std::to_string(columns) +
                       ".0> : tensor<f32>\n";
    text += reduce("max", "%m", "%x") + binary("sub", "%d", "%x", "%m") + unary("exp", "%e", "%d", full) +
            reduce("sum", "%s", "%e") + binary("div", "%softmax", "%e", "%s");
    text += reduce("max", "%n", "%y") + binary("sub", "%f", "%y", "%n") + unary("exp", "%g", "%f", full) +
            reduce("sum", "%t", "%g") + unary("log", "%l", "%t", row) +
            binary("sub", "%logsoftmax", "%f", "%l");
    text += reduce("sum", "%u", "%y") + "%v = tk.div %u, %c : (" + row + ", tensor<f32>) -> " + row + "\n" +
            binary("sub", "%centred", "%y", "%v");
    text += "return %softmax, %logsoftmax, %centred : " + full + ", " + full + ", " + full + "\n}";
    expectSame(text, {values, mild}, 1e-6);
    EXPECT_LE(kernelsOfFull(text), 3U) << columns;
  }
}

TEST(FusedSpecialValues, MeansAndExtremesOfNothing) {
  // 0 / 0 for each row; the maximum of nothing, and what an activation makes of it.
  std::string text = R"(
    func.func @main(%x: tensor<3x0xf32>) -> (tensor<3x1xf32>, tensor<3x1xf32>, tensor<3x0xf32>) {
      %n = tk.constant dense<0.0> : tensor<f32>
      %a = tk.abs %x : (tensor<3x0xf32>) -> tensor<3x0xf32>
      %s = tk.reduce %a {kind = #tk.reduce_kind<sum>, axes = array<i64: 1>, keep_dims = true} : (tensor<3x0xf32>) -> tensor<3x1xf32>
      %m = tk.div %s, %n : (tensor<3x1xf32>, tensor<f32>) -> tensor<3x1xf32>
      %h = tk.reduce %a {kind = #tk.reduce_kind<max>, axes = array<i64: 1>, keep_dims = true} : (tensor<3x0xf32>) -> tensor<3x1xf32>
      %r = tk.max %h, %n : (tensor<3x1xf32>, tensor<f32>) -> tensor<3x1xf32>
      %d = tk.sub %a, %m : (tensor<3x0xf32>, tensor<3x1xf32>) -> tensor<3x0xf32>
      return %m, %r, %d : tensor<3x1xf32>, tensor<3x1xf32>, tensor<3x0xf32>
    })";
  expectSame(text, {Tensor(DataType::Float32, {3, 0})});
}

/// conv over 20 channels (a ragged block) of `channels` inputs; `before` makes %a of %x, `behind` %r of %c.
std::string convolution(const std::string &before, const std::string &behind) {
  return R"(
    func.func @main(%x: tensor<1x20x9x11xf32>) -> tensor<1x20x9x11xf32> {
      %w = tk.constant dense<1.0> : tensor<20x20x3x3xf32>
      %zero = tk.constant dense<0.0> : tensor<f32>
      %one = tk.constant dense<1.0> : tensor<f32>
      )" +
         before + R"(
      %c = tk.conv %a, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x20x9x11xf32>, tensor<20x20x3x3xf32>) -> tensor<1x20x9x11xf32>
      )" +
         behind + R"(
      return %r : tensor<1x20x9x11xf32>
    })";
}

/// Special values in few places, or all of the result is NaN.
Tensor image() {
  Tensor tensor = fewValues({1, 20, 9, 11}, /*finite=*/true);
  tensor.setDouble(5, infinity);
  tensor.setDouble(40, -infinity);
  tensor.setDouble(tensor.size() - 3, std::nan(""));
  return tensor;
}

TEST(FusedSpecialValues, EpilogueOfAConvolution) {
  std::string text = convolution("%a = tk.neg %x : (tensor<1x20x9x11xf32>) -> tensor<1x20x9x11xf32>", R"(
      %m = tk.max %c, %zero : (tensor<1x20x9x11xf32>, tensor<f32>) -> tensor<1x20x9x11xf32>
      %r = tk.sub %m, %x : (tensor<1x20x9x11xf32>, tensor<1x20x9x11xf32>) -> tensor<1x20x9x11xf32>)");
  expectSame(text, {image()});
}

TEST(FusedSpecialValues, PrologueOfAConvolution) {
  // One is added to what is read, never to the padding or to lanes beyond the last channel.
  std::string text = convolution(R"(
      %p = tk.max %x, %zero : (tensor<1x20x9x11xf32>, tensor<f32>) -> tensor<1x20x9x11xf32>
      %a = tk.add %p, %one : (tensor<1x20x9x11xf32>, tensor<f32>) -> tensor<1x20x9x11xf32>)",
                                 "%r = tk.abs %c : (tensor<1x20x9x11xf32>) -> tensor<1x20x9x11xf32>");
  expectSame(text, {image()});
  EXPECT_EQ(kernelsOfFull(text), 1U);
}

TEST(FusedSpecialValues, ZeroWeightsMeetInfinity) {
  // 0 * inf is NaN: no weight of zero may be left out, nor a factor of zero be folded.
  std::string text = R"(
    func.func @main(%x: tensor<7x20xf32>) -> tensor<7x24xf32> {
      %w = tk.constant dense<0.0> : tensor<20x24xf32>
      %zero = tk.constant dense<0.0> : tensor<f32>
      %a = tk.neg %x : (tensor<7x20xf32>) -> tensor<7x20xf32>
      %p = tk.matmul %a, %w : (tensor<7x20xf32>, tensor<20x24xf32>) -> tensor<7x24xf32>
      %q = tk.mul %p, %zero : (tensor<7x24xf32>, tensor<f32>) -> tensor<7x24xf32>
      %r = tk.max %q, %zero : (tensor<7x24xf32>, tensor<f32>) -> tensor<7x24xf32>
      return %r : tensor<7x24xf32>
    })";
  expectSame(text, {fewValues({7, 20})});
}

TEST(FusedSpecialValues, WindowsOverActivations) {
  // The border of a maximum is -inf, whatever the activation makes of it; that of a sum is zero.
  for (const char *kind : {"max", "sum"}) {
    std::string text =
        std::string(R"(
    func.func @main(%x: tensor<1x20x9x11xf32>) -> tensor<1x20x9x11xf32> {
      %one = tk.constant dense<1.0> : tensor<f32>
      %zero = tk.constant dense<0.0> : tensor<f32>
      %n = tk.neg %x : (tensor<1x20x9x11xf32>) -> tensor<1x20x9x11xf32>
      %a = tk.sub %n, %one : (tensor<1x20x9x11xf32>, tensor<f32>) -> tensor<1x20x9x11xf32>
      %p = tk.window %a {kind = #tk.reduce_kind<)") +
        kind +
        R"(>, kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>} : (tensor<1x20x9x11xf32>) -> tensor<1x20x9x11xf32>
      %r = tk.min %p, %zero : (tensor<1x20x9x11xf32>, tensor<f32>) -> tensor<1x20x9x11xf32>
      return %r : tensor<1x20x9x11xf32>
    })";
    expectSame(text, {image()});
  }
}

TEST(FusedSpecialValues, OddExtents) {
  // A prologue, an epilogue and a second output where there are no images, one pixel, eight axes.
  for (int64_t batch : {0, 1, 2}) {
    const std::string x = "tensor<" + std::to_string(batch) + "x5x1x1xf32>",
                      y = "tensor<" + std::to_string(batch) + "x3x1x1xf32>";
    expectSame("func.func @main(%x: " + x + ") -> (" + y + ", " + y + R"() {
      %w = tk.constant dense<2.0> : tensor<3x5x1x1xf32>
      %one = tk.constant dense<1.0> : tensor<f32>
      %a = tk.add %x, %one : ()" +
                   x + ", tensor<f32>) -> " + x + R"(
      %c = tk.conv %a, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : ()" +
                   x + ", tensor<3x5x1x1xf32>) -> " + y + R"(
      %r = tk.max %c, %one : ()" +
                   y + ", tensor<f32>) -> " + y + R"(
      return %c, %r : )" +
                   y + ", " + y + "\n}",
               {fewValues({batch, 5, 1, 1})});
  }
  expectSame(R"(
    func.func @main(%x: tensor<1x2x1x3x1x2x1x2xf32>) -> (tensor<2x1x2x1x3x1x2x1xf32>, tensor<1x1x1x1x1x1x1x1xf32>, tensor<f32>) {
      %a = tk.neg %x : (tensor<1x2x1x3x1x2x1x2xf32>) -> tensor<1x2x1x3x1x2x1x2xf32>
      %t = tk.transpose %a {permutation = array<i64: 7, 6, 5, 4, 3, 2, 1, 0>} : (tensor<1x2x1x3x1x2x1x2xf32>) -> tensor<2x1x2x1x3x1x2x1xf32>
      %e = tk.abs %t : (tensor<2x1x2x1x3x1x2x1xf32>) -> tensor<2x1x2x1x3x1x2x1xf32>
      %s = tk.reduce %a {kind = #tk.reduce_kind<max>, axes = array<i64: 0, 1, 2, 3, 4, 5, 6, 7>, keep_dims = true} : (tensor<1x2x1x3x1x2x1x2xf32>) -> tensor<1x1x1x1x1x1x1x1xf32>
      %o = tk.reduce %s {kind = #tk.reduce_kind<sum>, axes = array<i64: 0, 1, 2, 3, 4, 5, 6, 7>, keep_dims = false} : (tensor<1x1x1x1x1x1x1x1xf32>) -> tensor<f32>
      return %e, %s, %o : tensor<2x1x2x1x3x1x2x1xf32>, tensor<1x1x1x1x1x1x1x1xf32>, tensor<f32>
    })",
             {fewValues({1, 2, 1, 3, 1, 2, 1, 2})});
}

} // namespace
