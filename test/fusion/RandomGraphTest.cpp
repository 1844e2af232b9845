//===- RandomGraphTest.cpp - partitions of random graphs compute the same function ----------------------===//
// Operators and values are such that both sides are exact: integers in float32, far below 2^24.
#include "ir/Tk.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "reference/Evaluate.h"
#include "reference/RandomTensor.h"
#include "rewrite/PassRunner.h"
#include "gtest/gtest.h"
#include <random>

using namespace tokamak;

namespace {

/// A function of random operators over 4x4 tensors, as text. Values are clamped now and then, so they stay
/// small.
class Generator {
public:
  explicit Generator(uint64_t seed) : random(seed) {}

  std::string function() {
    names = {"%x", "%y"};
    text = "func.func @main(%x: " + type + ", %y: " + type + ") -> (" + type + ", " + type +
           ") {\n"
           "%zero = tk.constant dense<0.0> : tensor<f32>\n%cap = tk.constant dense<3.0> : tensor<f32>\n"
           "%table = tk.constant dense<[[1.0, -2.0, 0.0, 1.0]]> : tensor<1x4xf32>\n";
    const int operators = pick(5, 40);
    for (int i = 0; i < operators; ++i)
      addOperator();
    // The last value and a random one are outputs.
    text += "return " + names.back() + ", " + value() + " : " + type + ", " + type + "\n}";
    return text;
  }

private:
  int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); }
  /// Recent values are likelier, which makes chains, but old ones make long ways around.
  std::string value() {
    const int count = static_cast<int>(names.size());
    return names[pick(0, 3) == 0 ? pick(0, count - 1) : pick(std::max(0, count - 3), count - 1)];
  }
  std::string add(const std::string &operation) {
    const std::string name = "%v" + std::to_string(names.size()) + "_" + std::to_string(++steps);
    text += name + " = " + operation + "\n";
    return name;
  }
  std::string unary(const std::string &op, const std::string &x, const std::string &attributes = "") {
    return add("tk." + op + " " + x + attributes + " : (" + type + ") -> " + type);
  }
  std::string binary(const std::string &op, const std::string &a, const std::string &b,
                     const std::string &bType) {
    return add("tk." + op + " " + a + ", " + b + " : (" + type + ", " + bType + ") -> " + type);
  }
  std::string clamped(const std::string &x) {
    std::string low = binary("min", x, "%cap", "tensor<f32>");
    return binary("max", low, "%zero", "tensor<f32>");
  }

  void addOperator() {
    std::string result;
    switch (pick(0, 10)) {
    case 0:
      result = unary("neg", value());
      break;
    case 1:
      result = unary("abs", value());
      break;
    case 2:
      result = clamped(binary("add", value(), value(), type));
      break;
    case 3:
      result = binary("max", value(), value(), type);
      break;
    case 4:
      result = binary("mul", clamped(value()), "%table", "tensor<1x4xf32>");
      break;
    case 5:
      result = unary("transpose", value(), " {permutation = array<i64: 1, 0>}");
      break;
    case 6: {
      std::string flat =
          add("tk.reshape " + value() + " {shape = array<i64: 2, 8>} : (" + type + ") -> tensor<2x8xf32>");
      std::string moved = add("tk.neg " + flat + " : (tensor<2x8xf32>) -> tensor<2x8xf32>");
      result = add("tk.reshape " + moved + " {shape = array<i64: 4, 4>} : (tensor<2x8xf32>) -> " + type);
      break;
    }
    case 7: {
      std::string sum =
          add("tk.reduce " + value() + " {axes = array<i64: 1>, keep_dims = true, kind = #tk.reduce_kind<" +
              (pick(0, 1) ? "sum" : "max") + ">} : (" + type + ") -> tensor<4x1xf32>");
      result = clamped(binary("sub", value(), sum, "tensor<4x1xf32>"));
      break;
    }
    case 8: {
      std::string both = add("tk.concat " + value() + ", " + value() + " {axis = 0 : i64} : (" + type + ", " +
                             type + ") -> tensor<8x4xf32>");
      result = add("tk.slice " + both +
                   " {starts = array<i64: 2, 0>, sizes = array<i64: 4, 4>, steps = array<i64: 1, 1>} "
                   ": (tensor<8x4xf32>) -> " +
                   type);
      break;
    }
    case 9:
      result = clamped(binary("matmul", clamped(value()), clamped(value()), type));
      break;
    default:
      result = unary("cumsum", clamped(value()), " {axis = 0 : i64, exclusive = false, reverse = false}");
      result = clamped(result);
    }
    names.push_back(result);
  }

  const std::string type = "tensor<4x4xf32>";
  std::mt19937_64 random;
  std::vector<std::string> names;
  std::string text;
  int steps = 0;
};

class RandomGraphTest : public testing::Test {
protected:
  RandomGraphTest() {
    mlir::DialectRegistry registry;
    registry.insert<tk::TkDialect, mlir::func::FuncDialect>();
    reference::registerReferenceModels(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  std::vector<Tensor> evaluate(mlir::ModuleOp module) {
    auto func = *module.getOps<mlir::func::FuncOp>().begin();
    const int64_t shape[] = {4, 4};
    auto results =
        reference::evaluateFunction(func, {reference::randomIntegers(DataType::Float32, shape, 1, -3, 3),
                                           reference::randomIntegers(DataType::Float32, shape, 2, -3, 3)});
    EXPECT_TRUE(mlir::succeeded(results));
    return {results->begin(), results->end()};
  }

  mlir::MLIRContext context;
};

} // namespace

TEST_F(RandomGraphTest, AnyPartitionComputesTheSame) {
  for (uint64_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const std::string text = Generator(seed).function();
    auto reference = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    ASSERT_TRUE(reference) << text;
    const std::vector<Tensor> expected = evaluate(*reference);
    for (FusionMode mode : {FusionMode::None, FusionMode::Dominator}) {
      for (int64_t fuel : {int64_t(-1), int64_t(seed % 13)}) {
        mlir::OwningOpRef<mlir::ModuleOp> module = reference->clone();
        PipelineOptions options;
        options.fusion = mode;
        options.fuel = fuel;
        ASSERT_TRUE(mlir::succeeded(runPipeline(*module, options))) << text;
        // What no kernel computes: constants, views, library calls.
        auto func = *module->getOps<mlir::func::FuncOp>().begin();
        for (mlir::Operation &op : func.getBody().front().without_terminator())
          EXPECT_TRUE((llvm::isa<tk::FusionOp, tk::ConstantOp, tk::ReshapeOp, tk::CumSumOp>(op))) << text;
        const std::vector<Tensor> actual = evaluate(*module);
        for (size_t i = 0; i < expected.size(); ++i)
          for (int64_t e = 0; e < expected[i].size(); ++e)
            ASSERT_EQ(actual[i].doubleAt(e), expected[i].doubleAt(e)) << text;
      }
    }
  }
}
