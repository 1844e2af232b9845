//===- BatchNormTest.cpp - batch norms before and after, by value ------------------------------===//
// Inputs, weights and statistics are small integers and variances powers of four, so both sides are exact and
// equal.
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "reference/Evaluate.h"
#include "reference/RandomTensor.h"
#include "rewrite/Passes.h"
#include "gtest/gtest.h"

using namespace tokamak;

namespace {

using Shape = std::vector<int64_t>;

struct Convolution {
  std::string op;
  Shape input, weight, result;
  int64_t group;
  bool hasBias;
};

std::string typeOf(const Shape &shape) {
  std::string text = "tensor<";
  for (int64_t extent : shape)
    text += std::to_string(extent) + "x";
  return text + "f32>";
}

/// A constant of values that cycle through `values`.
std::string constant(const std::string &name, const Shape &shape, const std::vector<int> &values) {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  // A flat list is reshaped by the function, which keeps the text simple.
  std::string list;
  for (int64_t i = 0; i < count; ++i)
    list += (i ? ", " : "") + std::to_string(values[i % values.size()]) + ".0";
  return "%" + name + " = tk.constant dense<[" + list + "]> : " + typeOf({count}) + "\n";
}

class BatchNormTest : public testing::Test {
protected:
  BatchNormTest() {
    mlir::DialectRegistry registry;
    registry.insert<tk::TkDialect, mlir::func::FuncDialect>();
    reference::registerReferenceModels(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  mlir::OwningOpRef<mlir::ModuleOp> parse(const Convolution &conv) {
    const Shape channels = {conv.result[1]};
    const size_t spatial = conv.input.size() - 2;
    auto all = [&](const std::string &value) {
      std::string text = "array<i64: ";
      for (size_t i = 0; i < spatial; ++i)
        text += (i ? ", " : "") + value;
      return text + ">";
    };
    std::string operands = "%x, %w", types = typeOf(conv.input) + ", " + typeOf(conv.weight);
    if (conv.hasBias) {
      operands += ", %cb";
      types += ", " + typeOf(channels);
    }
    std::string attributes = "strides = " + all("1") + ", dilations = " + all("1") +
                             ", pads_low = " + all("1") + ", pads_high = " + all("1") +
                             ", group = " + std::to_string(conv.group) + " : i64";
    if (conv.op == "conv_transpose")
      attributes += ", output_padding = " + all("0");
    std::string shape = "array<i64: ";
    for (size_t i = 0; i < conv.weight.size(); ++i)
      shape += (i ? ", " : "") + std::to_string(conv.weight[i]);
    int64_t weights = 1;
    for (int64_t extent : conv.weight)
      weights *= extent;
    const std::string stats = typeOf(channels), result = typeOf(conv.result);
    const std::string text =
        "func.func @main(%x: " + typeOf(conv.input) + ") -> " + result + " {\n" +
        constant("flat", conv.weight, {1, -2, 3, 0, 2, -1, 4}) + "%w = tk.reshape %flat {shape = " + shape +
        ">} : (" + typeOf({weights}) + ") -> " + typeOf(conv.weight) + "\n" +
        constant("cb", channels, {3, -1, 0, 2}) + constant("g", channels, {2, -4, 0, 1, -1, 8}) +
        constant("b", channels, {1, 0, -3, 2, 5}) + constant("m", channels, {-1, 2, 3, 0}) +
        constant("v", channels, {1, 4, 16}) + "%0 = tk." + conv.op + " " + operands + " {" + attributes +
        "} : (" + types + ") -> " + result + "\n%1 = tk.batch_norm %0, %g, %b, %m, %v {epsilon = 0.0} : (" +
        result + ", " + stats + ", " + stats + ", " + stats + ", " + stats + ") -> " + result +
        "\nreturn %1 : " + result + "\n}";
    return mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  }

  Tensor evaluate(mlir::ModuleOp module, const Tensor &input) {
    auto func = *module.getOps<mlir::func::FuncOp>().begin();
    auto results = reference::evaluateFunction(func, {input});
    EXPECT_TRUE(mlir::succeeded(results));
    return results->front();
  }

  /// Runs the passes and expects that no norm is left and every element is the same.
  void expectEqual(const Convolution &conv,
                   std::initializer_list<std::unique_ptr<mlir::Pass> (*)(PassStatePtr)> make) {
    mlir::OwningOpRef<mlir::ModuleOp> module = parse(conv);
    ASSERT_TRUE(module);
    const Tensor input = reference::randomIntegers(DataType::Float32, conv.input, /*seed=*/7, -4, 4);
    const Tensor before = evaluate(*module, input);
    mlir::PassManager passes(&context);
    for (auto create : make)
      passes.addPass(create(nullptr));
    ASSERT_TRUE(mlir::succeeded(passes.run(*module)));
    module->walk([](tk::BatchNormOp) { FAIL() << "a batch norm is left"; });
    const Tensor after = evaluate(*module, input);
    ASSERT_EQ(before.shape(), after.shape());
    for (int64_t i = 0; i < before.size(); ++i)
      ASSERT_EQ(before.doubleAt(i), after.doubleAt(i)) << "element " << i;
  }

  mlir::MLIRContext context;
};

const Convolution convolutions[] = {
    {"conv", {2, 3, 5, 5}, {4, 3, 3, 3}, {2, 4, 5, 5}, 1, true},
    {"conv", {2, 3, 5, 5}, {4, 3, 3, 3}, {2, 4, 5, 5}, 1, false},
    {"conv", {1, 4, 5, 5}, {6, 2, 3, 3}, {1, 6, 5, 5}, 2, true},  // grouped
    {"conv", {1, 4, 5, 5}, {4, 1, 3, 3}, {1, 4, 5, 5}, 4, false}, // depthwise
    {"conv", {1, 4, 5, 5}, {8, 1, 3, 3}, {1, 8, 5, 5}, 4, true},  // depthwise with a multiplier
    {"conv", {1, 2, 7}, {3, 2, 3}, {1, 3, 7}, 1, false},          // one spatial axis
    {"conv", {1, 2, 3, 3, 3}, {3, 2, 3, 3, 3}, {1, 3, 3, 3, 3}, 1, true},
    {"conv", {0, 3, 5, 5}, {4, 3, 3, 3}, {0, 4, 5, 5}, 1, true}, // batch 0
    {"conv_transpose", {2, 3, 5, 5}, {3, 4, 3, 3}, {2, 4, 5, 5}, 1, true},
    {"conv_transpose", {1, 4, 5, 5}, {4, 3, 3, 3}, {1, 6, 5, 5}, 2, false}, // grouped: weights [C, M/group]
    {"conv_transpose", {1, 4, 5, 5}, {4, 1, 3, 3}, {1, 4, 5, 5}, 4, true},  // depthwise
};

} // namespace

TEST_F(BatchNormTest, FoldsIntoConvolutionsExactly) {
  for (const Convolution &conv : convolutions) {
    SCOPED_TRACE(conv.op + " of " + typeOf(conv.input) + " by " + typeOf(conv.weight));
    expectEqual(conv, {createFoldConstantsPass, createFoldBatchNormPass});
  }
}

TEST_F(BatchNormTest, DecomposesExactly) {
  for (const Convolution &conv : convolutions) {
    SCOPED_TRACE(conv.op + " of " + typeOf(conv.input) + " by " + typeOf(conv.weight));
    expectEqual(conv, {createDecomposeBatchNormPass});
  }
}
