//===- RewriteSearchTest.cpp - the search on graphs that are larger than its bounds -----------------===//
#include "ir/Tk.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "reference/Evaluate.h"
#include "rewrite/Passes.h"
#include <fmt/format.h>
#include <gtest/gtest.h>

using namespace tokamak;

namespace {

class RewriteSearch : public testing::Test {
protected:
  RewriteSearch() {
    mlir::DialectRegistry registry;
    registry.insert<tk::TkDialect, mlir::func::FuncDialect>();
    reference::registerReferenceModels(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }
  void search(const std::string &text) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    ASSERT_TRUE(module);
    mlir::PassManager passes(&context);
    passes.addPass(createRewriteSearchPass());
    EXPECT_TRUE(mlir::succeeded(passes.run(*module)));
    EXPECT_TRUE(mlir::succeeded(mlir::verify(*module)));
  }
  mlir::MLIRContext context;
};

// More readers of one value than a neighbourhood has room for: the site is in it all the same.
TEST_F(RewriteSearch, ManyConvolutionsOfOneValueAddedUp) {
  const std::string image = "tensor<1x4x6x6xf32>";
  std::string body;
  for (int i = 0; i <= 80; ++i) {
    body +=
        fmt::format("  %w{0} = tk.constant dense<{0}.0> : tensor<4x4x1x1xf32>\n"
                    "  %c{0} = tk.conv %x, %w{0} {{strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, "
                    "pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64}} : "
                    "({1}, tensor<4x4x1x1xf32>) -> {1}\n",
                    i, image);
    if (i > 0)
      body += fmt::format("  %s{0} = tk.add %{1}, %c{0} : ({2}, {2}) -> {2}\n", i,
                          i == 1 ? "c0" : fmt::format("s{}", i - 1), image);
  }
  search(fmt::format("func.func @main(%x: {0}) -> {0} {{\n{1}  return %s80 : {0}\n}}\n", image, body));
}

/// A product with weights that are computed of constants in `steps` steps, each of which reads the one before
/// twice.
std::string squaredWeights(int steps) {
  const std::string weight = "tensor<8x8xf32>";
  std::string body =
      "  %c = tk.constant dense<1.0> : tensor<8x1xf32>\n"
      "  %w0 = tk.broadcast %c {shape = array<i64: 8, 8>} : (tensor<8x1xf32>) -> tensor<8x8xf32>\n";
  for (int i = 1; i <= steps; ++i)
    body += fmt::format("  %w{0} = tk.mul %w{1}, %w{1} : ({2}, {2}) -> {2}\n", i, i - 1, weight);
  body += fmt::format("  %y = tk.matmul %x, %w{0} : ({1}, {1}) -> {1}\n"
                      "  %z = tk.matmul %x, %w{0} : ({1}, {1}) -> {1}\n"
                      "  %s = tk.add %y, %z : ({1}, {1}) -> {1}\n",
                      steps, weight);
  return fmt::format("func.func @main(%x: {0}) -> {0} {{\n{1}  return %s : {0}\n}}\n", weight, body);
}

// Not 2^40 steps.
TEST_F(RewriteSearch, ConstantsThatAreReadTwice) { search(squaredWeights(40)); }

TEST_F(RewriteSearch, ConstantsAtTheEndOfLongChains) { search(squaredWeights(20000)); }

} // namespace
