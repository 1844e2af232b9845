//===- SeparateRepeatsTest.cpp - what a kernel would compute again and again, in one of its own
//-----------===//
// `full` takes dear producers out of groups that spread their elements; the baseline keeps them there. Both
// are equal to the evaluator, and each case says how many kernels they come to.
#include "ProgramHarness.h"
#include "SpecialValues.h"
#include "ir/Tk.h"
#include "gtest/gtest.h"
#include <cmath>
#include <limits>

using namespace tokamak;
using namespace tokamak::test;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Kernels {
  size_t baseline, full;
};

/// A tolerance of zero: equal to the last bit.
void expectSame(const std::string &text, Kernels kernels, const std::vector<Tensor> &inputs = {},
                double tolerance = 0) {
  for (FusionMode fusion : {FusionMode::None, FusionMode::Dominator, FusionMode::Full})
    for (const char *cpu : {"native", "x86-64-v3"}) {
      ProgramCase test{.text = text,
                       .exact = inputs.empty() && tolerance == 0,
                       .tolerance = tolerance,
                       .cpu = cpu,
                       .fusion = fusion,
                       .inputs = inputs};
      if (fusion != FusionMode::None)
        test.kernels = fusion == FusionMode::Full ? kernels.full : kernels.baseline;
      EXPECT_EQ(differenceFromReference(test), "") << cpu << ", fusion " << static_cast<int>(fusion) << "\n"
                                                   << text;
    }
}

/// T stands for the element type.
std::string withType(std::string text, const std::string &type) {
  for (size_t at = 0; (at = text.find("T>", at)) != std::string::npos;)
    text.replace(at, 1, type);
  return text;
}

Tensor row(const std::vector<double> &values, const std::vector<int64_t> &shape) {
  Tensor tensor(DataType::Float32, shape);
  for (int64_t i = 0; i < tensor.size(); ++i)
    tensor.setDouble(i, values[i % values.size()]);
  return tensor;
}

/// Numbers of a few sizes.
Tensor plain(const std::vector<int64_t> &shape) {
  return row({1, -2, 0.5, 0, -0.0, 3, -0.25, 0.75, -1, 2, 1.5}, shape);
}

TEST(SeparateRepeats, SpecialValuesOfAllTypes) {
  // Roots and quotients are rounded correctly everywhere, so both forms have to have the same bits.
  for (auto [type, dataType] :
       {std::pair{"f32", DataType::Float32}, {"f64", DataType::Float64}, {"f16", DataType::Float16}}) {
    const std::string text = withType(R"(
    func.func @main(%x: tensor<512xT>, %y: tensor<512xT>, %z: tensor<1024x512xT>) -> tensor<1024x512xT> {
      %r = tk.sqrt %x : (tensor<512xT>) -> tensor<512xT>
      %q = tk.div %r, %y : (tensor<512xT>, tensor<512xT>) -> tensor<512xT>
      %m = tk.mul %q, %z : (tensor<512xT>, tensor<1024x512xT>) -> tensor<1024x512xT>
      %n = tk.neg %m : (tensor<1024x512xT>) -> tensor<1024x512xT>
      return %n : tensor<1024x512xT>
    })",
                                      type);
    const Tensor x = specialValues(dataType, 512), z = specialValues(dataType, 1024 * 512);
    Tensor y(dataType, {512});
    for (int64_t i = 0; i < y.size(); ++i)
      y.setDouble(i, x.doubleAt((i * 7 + 3) % 512));
    expectSame(text, {1, 2}, {x, y, z.reshaped({1024, 512})});
  }
}

TEST(SeparateRepeats, IntegerQuotients) {
  for (auto [type, dataType] : {std::pair{"i32", DataType::Int32}, {"i64", DataType::Int64}}) {
    const std::string text = withType(R"(
    func.func @main(%x: tensor<512xT>, %y: tensor<512xT>, %z: tensor<1024x512xT>) -> tensor<1024x512xT> {
      %q = tk.div %x, %y : (tensor<512xT>, tensor<512xT>) -> tensor<512xT>
      %m = tk.mul %q, %z : (tensor<512xT>, tensor<1024x512xT>) -> tensor<1024x512xT>
      return %m : tensor<1024x512xT>
    })",
                                      type);
    auto [x, y] = specialPairs(dataType, 23);
    auto first = [&, dataType = dataType](const Tensor &from) {
      Tensor tensor(dataType, {512});
      for (int64_t i = 0; i < tensor.size(); ++i)
        tensor.setInt(i, from.intAt(i));
      return tensor;
    };
    expectSame(text, {1, 2}, {first(x), first(y), specialValues(dataType, 1024 * 512).reshaped({1024, 512})});
  }
}

TEST(SeparateRepeats, SumsOfWeightedRows) {
  // NaN and infinities in weights and rows; exp(-inf) is 0, and 0 times infinity is NaN.
  const std::string text = R"(
    func.func @main(%x: tensor<1x64xf32>, %y: tensor<1024x64xf32>) -> tensor<1024xf32> {
      %e = tk.exp %x : (tensor<1x64xf32>) -> tensor<1x64xf32>
      %m = tk.mul %e, %y : (tensor<1x64xf32>, tensor<1024x64xf32>) -> tensor<1024x64xf32>
      %s = tk.reduce %m {kind = #tk.reduce_kind<sum>, axes = array<i64: 1>, keep_dims = false} : (tensor<1024x64xf32>) -> tensor<1024xf32>
      return %s : tensor<1024xf32>
    })";
  Tensor weights = plain({1, 64}), rows = plain({1024, 64});
  weights.setDouble(9, -infinity);
  int64_t at = 0;
  for (double special : {infinity, -infinity, std::nan(""), 3e38})
    for (int64_t column : {0, 9, 63})
      rows.setDouble(64 * (at += 50) + column, special);
  expectSame(text, {1, 2}, {weights, rows}, 1e-5);
  weights.setDouble(20, infinity);
  expectSame(text, {1, 2}, {weights, rows}, 1e-5);
  weights.setDouble(21, std::nan(""));
  expectSame(text, {1, 2}, {weights, rows}, 1e-5);
}

TEST(SeparateRepeats, CompositeThatIsSpreadAndPadded) {
  // The border is that of the pad, not what the composite or the sign makes of it.
  const std::string text = R"(
    func.func @main(%x: tensor<2x1xf32>) -> tensor<4x41xf32> {
      %border = tk.constant dense<0.25> : tensor<f32>
      %zero = tk.constant dense<-0.5> : tensor<f32>
      %s = tk.composite "Sigmoid"(%x) {
      ^bb0(%a: tensor<2x1xf32>):
        %one = tk.constant dense<1.0> : tensor<f32>
        %n = tk.neg %a : (tensor<2x1xf32>) -> tensor<2x1xf32>
        %e = tk.exp %n : (tensor<2x1xf32>) -> tensor<2x1xf32>
        %d = tk.add %e, %one : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
        %q = tk.div %one, %d : (tensor<f32>, tensor<2x1xf32>) -> tensor<2x1xf32>
        tk.yield %q : tensor<2x1xf32>
      } : (tensor<2x1xf32>) -> tensor<2x1xf32>
      %b = tk.broadcast %s {shape = array<i64: 2, 40>} : (tensor<2x1xf32>) -> tensor<2x40xf32>
      %n = tk.neg %b : (tensor<2x40xf32>) -> tensor<2x40xf32>
      %p = tk.pad %n, %border {low = array<i64: 1, 1>, high = array<i64: 1, 0>} : (tensor<2x40xf32>, tensor<f32>) -> tensor<4x41xf32>
      %m = tk.max %p, %zero : (tensor<4x41xf32>, tensor<f32>) -> tensor<4x41xf32>
      return %m : tensor<4x41xf32>
    })";
  for (double special : {infinity, -infinity, std::nan(""), 90.0, -0.0})
    expectSame(text, {1, 2}, {row({special, -2}, {2, 1})}, 1e-6);
}

TEST(SeparateRepeats, ValueIsAnOutput) {
  expectSame(R"(
    func.func @main(%x: tensor<512xf32>, %y: tensor<1024x512xf32>) -> (tensor<512xf32>, tensor<1024x512xf32>) {
      %n = tk.neg %x : (tensor<512xf32>) -> tensor<512xf32>
      %e = tk.exp %n : (tensor<512xf32>) -> tensor<512xf32>
      %m = tk.mul %e, %y : (tensor<512xf32>, tensor<1024x512xf32>) -> tensor<1024x512xf32>
      return %e, %m : tensor<512xf32>, tensor<1024x512xf32>
    })",
             {2, 2}, {row({0, 1, -2, infinity, -infinity, std::nan("")}, {512}), plain({1024, 512})}, 1e-5);
}

TEST(SeparateRepeats, ValueThatSeveralRead) {
  // Twice by one operator; by two, one of which is computed from it; by two that spread it along other axes.
  expectSame(R"(
    func.func @main(%x: tensor<512xf32>, %y: tensor<1024x512xf32>) -> tensor<1024x512xf32> {
      %e = tk.sqrt %x : (tensor<512xf32>) -> tensor<512xf32>
      %q = tk.mul %e, %e : (tensor<512xf32>, tensor<512xf32>) -> tensor<512xf32>
      %d = tk.div %q, %e : (tensor<512xf32>, tensor<512xf32>) -> tensor<512xf32>
      %m = tk.mul %d, %y : (tensor<512xf32>, tensor<1024x512xf32>) -> tensor<1024x512xf32>
      %a = tk.add %m, %m : (tensor<1024x512xf32>, tensor<1024x512xf32>) -> tensor<1024x512xf32>
      return %a : tensor<1024x512xf32>
    })",
             {1, 2}, {row({0, 1, 4, -2, infinity, std::nan(""), 2}, {512}), plain({1024, 512})});
  expectSame(R"(
    func.func @main(%x: tensor<512xf32>, %y: tensor<1024x512xf32>) -> tensor<1024x512xf32> {
      %e = tk.exp %x : (tensor<512xf32>) -> tensor<512xf32>
      %t = tk.tanh %e : (tensor<512xf32>) -> tensor<512xf32>
      %m = tk.mul %t, %y : (tensor<512xf32>, tensor<1024x512xf32>) -> tensor<1024x512xf32>
      %a = tk.add %m, %e : (tensor<1024x512xf32>, tensor<512xf32>) -> tensor<1024x512xf32>
      return %a : tensor<1024x512xf32>
    })",
             {1, 2}, {row({0, 1, 4, -2, infinity, -infinity, std::nan("")}, {512}), plain({1024, 512})},
             1e-5);
  expectSame(R"(
    func.func @main(%x: tensor<512xf32>, %y: tensor<512x512xf32>) -> tensor<512x512xf32> {
      %e = tk.sqrt %x : (tensor<512xf32>) -> tensor<512xf32>
      %c = tk.reshape %e {shape = array<i64: 512, 1>} : (tensor<512xf32>) -> tensor<512x1xf32>
      %m = tk.mul %e, %y : (tensor<512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
      %a = tk.sub %m, %c : (tensor<512x512xf32>, tensor<512x1xf32>) -> tensor<512x512xf32>
      return %a : tensor<512x512xf32>
    })",
             {1, 2}, {row({0, 1, 4, -2, infinity, std::nan(""), 2}, {512}), plain({512, 512})});
}

TEST(SeparateRepeats, ValuesThatShareAProducer) {
  expectSame(R"(
    func.func @main(%x: tensor<1x512xf32>, %z: tensor<1x512xf32>, %y: tensor<1024x512xf32>) -> tensor<1024x512xf32> {
      %r = tk.sqrt %x : (tensor<1x512xf32>) -> tensor<1x512xf32>
      %d = tk.div %r, %z : (tensor<1x512xf32>, tensor<1x512xf32>) -> tensor<1x512xf32>
      %m = tk.mul %d, %y : (tensor<1x512xf32>, tensor<1024x512xf32>) -> tensor<1024x512xf32>
      %s = tk.sub %r, %z : (tensor<1x512xf32>, tensor<1x512xf32>) -> tensor<1x512xf32>
      %q = tk.div %z, %s : (tensor<1x512xf32>, tensor<1x512xf32>) -> tensor<1x512xf32>
      %a = tk.add %m, %q : (tensor<1024x512xf32>, tensor<1x512xf32>) -> tensor<1024x512xf32>
      return %a : tensor<1024x512xf32>
    })",
             {1, 2},
             {row({0, 1, 4, -2, infinity, std::nan(""), 2, -0.0}, {1, 512}),
              row({1, 0, -0.0, 3, -infinity}, {1, 512}), plain({1024, 512})});
}

TEST(SeparateRepeats, NoneGainsAlone) {
  // So many that the loops of one kernel suit what is repeated: without all of them, it takes no less time.
  std::string text =
      "func.func @main(%x: tensor<1x256xf32>, %y0: tensor<64x256xf32>) -> tensor<64x256xf32> {\n"
      "%e = tk.exp %x : (tensor<1x256xf32>) -> tensor<1x256xf32>\n";
  const int values = 50;
  for (int i = 0; i < values; ++i) {
    const std::string n = std::to_string(i), next = std::to_string(i + 1);
    text += "%c" + n + " = tk.constant dense<" + std::to_string(0.25 * i) + "> : tensor<f32>\n%a" + n +
            " = tk.add %e, %c" + n + " : (tensor<1x256xf32>, tensor<f32>) -> tensor<1x256xf32>\n%t" + n +
            " = tk.tanh %a" + n + " : (tensor<1x256xf32>) -> tensor<1x256xf32>\n%y" + next + " = tk.add %y" +
            n + ", %t" + n + " : (tensor<64x256xf32>, tensor<1x256xf32>) -> tensor<64x256xf32>\n";
  }
  text += "return %y" + std::to_string(values) + " : tensor<64x256xf32>\n}";
  expectSame(text, {1, 8},
             {row({0, 1, -2, infinity, -infinity, std::nan(""), 0.5}, {1, 256}), plain({64, 256})}, 1e-5);
}

TEST(SeparateRepeats, NothingAndRankZero) {
  auto weighted = [](const std::string &x, const std::string &y) {
    return "func.func @main(%x: tensor<" + x + "f32>, %y: tensor<" + y + "f32>) -> tensor<" + y +
           "f32> {\n%e = tk.sqrt %x : (tensor<" + x + "f32>) -> tensor<" + x +
           "f32>\n%m = tk.mul %e, %y : (tensor<" + x + "f32>, tensor<" + y + "f32>) -> tensor<" + y +
           "f32>\nreturn %m : tensor<" + y + "f32>\n}";
  };
  expectSame(weighted("512x", "0x512x"), {1, 1});
  expectSame(weighted("0x", "1024x0x"), {1, 1});
  expectSame(weighted("1x0x64x", "512x0x64x"), {1, 1});
  expectSame(weighted("", "1024x512x"), {1, 1});
  expectSame(weighted("", ""), {1, 1});
  expectSame(weighted("1x", "1x"), {1, 1});
  expectSame(R"(
    func.func @main(%x: tensor<0x512xf32>, %y: tensor<1024x512xf32>) -> tensor<1024x512xf32> {
      %one = tk.constant dense<1.0> : tensor<f32>
      %e = tk.sqrt %x : (tensor<0x512xf32>) -> tensor<0x512xf32>
      %p = tk.pad %e, %one {low = array<i64: 1024, 0>, high = array<i64: 0, 0>} : (tensor<0x512xf32>, tensor<f32>) -> tensor<1024x512xf32>
      %m = tk.mul %p, %y : (tensor<1024x512xf32>, tensor<1024x512xf32>) -> tensor<1024x512xf32>
      return %m : tensor<1024x512xf32>
    })",
             {1, 1});
}

} // namespace
