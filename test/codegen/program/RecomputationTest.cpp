//===- RecomputationTest.cpp - a cheap value, computed in each kernel that reads it
//-----------------------===//
// Each case says how many copies of its operators `full` makes, and is equal to the evaluator to the last
// bit.
#include "ProgramHarness.h"
#include "SpecialValues.h"
#include "ir/Tk.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace tokamak;
using namespace tokamak::test;

namespace {

/// How many operators of this name there are in the kernels that `full` makes.
int64_t copiesOf(const std::string &name, const std::string &text) {
  auto context = makeContext();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, context.get());
  PipelineOptions options;
  options.fusion = FusionMode::Full;
  options.exact = true;
  options.target = TargetDescription::reference();
  EXPECT_TRUE(mlir::succeeded(runPipeline(*module, options)));
  int64_t count = 0;
  module->walk([&](mlir::Operation *op) { count += op->getName().getStringRef() == name ? 1 : 0; });
  return count;
}

void expectSame(const std::string &text, const std::vector<Tensor> &inputs = {}) {
  for (FusionMode fusion : {FusionMode::None, FusionMode::Dominator, FusionMode::Full})
    for (const char *cpu : {"native", "x86-64-v3"}) {
      ProgramCase test{.text = text, .exact = true, .cpu = cpu, .fusion = fusion, .inputs = inputs};
      EXPECT_EQ(differenceFromReference(test), "") << cpu << ", fusion " << static_cast<int>(fusion) << "\n"
                                                   << text;
    }
}

/// The lecture's A into B and A into C: `op` of rows x columns, `kind` of its rows and of its columns.
std::string lecture(const std::string &op, const std::string &kind, const std::string &type, int64_t rows,
                    int64_t columns) {
  const std::string r = std::to_string(rows), c = std::to_string(columns);
  const std::string full = "tensor<" + r + "x" + c + "x" + type + ">", row = "tensor<" + r + "x" + type + ">",
                    column = "tensor<" + c + "x" + type + ">";
  auto reduce = [&](const std::string &to, const std::string &axis, const std::string &result) {
    return to + " = tk.reduce %a {kind = #tk.reduce_kind<" + kind + ">, axes = array<i64: " + axis +
           ">, keep_dims = false} : (" + full + ") -> " + result + "\n";
  };
  return "func.func @main(%x: " + full + ") -> (" + row + ", " + column + ") {\n%a = tk." + op + " %x : (" +
         full + ") -> " + full + "\n" + reduce("%b", "1", row) + reduce("%c", "0", column) +
         "return %b, %c : " + row + ", " + column + "\n}";
}

TEST(Recomputation, OfSpecialValuesOfAllTypes) {
  // Extremes are the same in any order. Kernels that read whole vectors, and those with a rest.
  for (auto [type, dataType] : {std::pair{"f32", DataType::Float32},
                                {"f64", DataType::Float64},
                                {"f16", DataType::Float16},
                                {"i32", DataType::Int32},
                                {"i8", DataType::Int8}})
    for (auto [rows, columns] : {std::pair<int64_t, int64_t>{64, 64}, {67, 45}})
      for (const char *kind : {"max", "min"})
        for (const char *op : {"neg", "abs"})
          expectSame(lecture(op, kind, type, rows, columns),
                     {specialValues(dataType, rows * columns).reshaped({rows, columns})});
  EXPECT_EQ(copiesOf("tk.neg", lecture("neg", "max", "f32", 64, 64)), 2);
}

TEST(Recomputation, OfSums) {
  for (const char *type : {"f32", "i32", "i64"})
    expectSame(lecture("abs", "sum", type, 64, 64));
  EXPECT_EQ(copiesOf("tk.abs", lecture("abs", "sum", "f32", 64, 64)), 2);
}

TEST(Recomputation, ValueIsAnOutputToo) {
  const std::string text = R"(
    func.func @main(%x: tensor<1024x1024xi8>) -> (tensor<1024x1024xf32>, tensor<1024xf32>, tensor<1024xf32>) {
      %a = tk.cast %x {to = f32} : (tensor<1024x1024xi8>) -> tensor<1024x1024xf32>
      %b = tk.reduce %a {kind = #tk.reduce_kind<sum>, axes = array<i64: 1>, keep_dims = false} : (tensor<1024x1024xf32>) -> tensor<1024xf32>
      %c = tk.reduce %a {kind = #tk.reduce_kind<max>, axes = array<i64: 0>, keep_dims = false} : (tensor<1024x1024xf32>) -> tensor<1024xf32>
      return %a, %b, %c : tensor<1024x1024xf32>, tensor<1024xf32>, tensor<1024xf32>
    })";
  expectSame(text, {specialValues(DataType::Int8, 1024 * 1024).reshaped({1024, 1024})});
  EXPECT_EQ(copiesOf("tk.cast", text), 2);
}

TEST(Recomputation, OfWhatTwoConvolutionsRead) {
  // One is added to what they read, never to their padding.
  const std::string text = R"(
    func.func @main(%x: tensor<1x16x112x112xf32>) -> (tensor<1x16x114x114xf32>, tensor<1x16x57x57xf32>) {
      %one = tk.constant dense<1.0> : tensor<f32>
      %v = tk.constant dense<2.0> : tensor<16x16x1x1xf32>
      %w = tk.constant dense<-1.0> : tensor<16x16x1x1xf32>
      %a = tk.add %x, %one : (tensor<1x16x112x112xf32>, tensor<f32>) -> tensor<1x16x112x112xf32>
      %c = tk.conv %a, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x16x112x112xf32>, tensor<16x16x1x1xf32>) -> tensor<1x16x114x114xf32>
      %d = tk.conv %a, %w {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x16x112x112xf32>, tensor<16x16x1x1xf32>) -> tensor<1x16x57x57xf32>
      return %c, %d : tensor<1x16x114x114xf32>, tensor<1x16x57x57xf32>
    })";
  expectSame(text);
  EXPECT_EQ(copiesOf("tk.add", text), 2);
}

TEST(Recomputation, NothingAndOneElement) {
  for (auto [rows, columns] : {std::pair<int64_t, int64_t>{0, 64}, {64, 0}, {0, 0}, {1, 1}, {1, 64}})
    for (const char *kind : {"sum", "max"})
      expectSame(lecture("neg", kind, "f32", rows, columns));
  expectSame(R"(
    func.func @main(%x: tensor<f32>, %y: tensor<64x64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
      %a = tk.neg %x : (tensor<f32>) -> tensor<f32>
      %m = tk.mul %a, %y : (tensor<f32>, tensor<64x64xf32>) -> tensor<64x64xf32>
      %b = tk.reduce %m {kind = #tk.reduce_kind<sum>, axes = array<i64: 1>, keep_dims = false} : (tensor<64x64xf32>) -> tensor<64xf32>
      %c = tk.reduce %m {kind = #tk.reduce_kind<max>, axes = array<i64: 0>, keep_dims = false} : (tensor<64x64xf32>) -> tensor<64xf32>
      return %b, %c : tensor<64xf32>, tensor<64xf32>
    })");
}

} // namespace
