//===- PassRunnerTest.cpp - switches, fuel, logs -------------------------------------------------===//
#include "rewrite/PassRunner.h"
#include "ir/Tk.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "reference/Evaluate.h"
#include "gtest/gtest.h"

using namespace tokamak;
using Removed = std::vector<std::pair<std::string, std::string>>;

namespace {

class PassRunnerTest : public testing::Test {
protected:
  PassRunnerTest() {
    mlir::DialectRegistry registry;
    registry.insert<tk::TkDialect, mlir::func::FuncDialect>();
    reference::registerReferenceModels(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  /// Parses and runs; false where the pipeline fails, with the diagnostic in `error`.
  bool run(const std::string &text, const PipelineOptions &options) {
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    EXPECT_TRUE(module);
    mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
      error = diagnostic.str();
      return mlir::success();
    });
    return mlir::succeeded(runPipeline(*module, options));
  }
  int64_t groups() {
    int64_t count = 0;
    module->walk([&](tk::FusionOp) { ++count; });
    return count;
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::string error;
};

const char *const network = R"(
func.func @main(%x: tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32> {
  %w = tk.constant dense<[[[[3.0]]]]> : tensor<1x1x1x1xf32>
  %one = tk.constant dense<1.0> : tensor<1xf32>
  %s = tk.add %one, %one : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32> loc("sum:Add")
  %0 = tk.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x1x4x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x4x4xf32> loc("conv:Conv")
  %1 = tk.batch_norm %0, %s, %one, %one, %one {epsilon = 0.0} : (tensor<1x1x4x4xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x4x4xf32> loc("bn:BatchNormalization")
  %2 = tk.exp %1 : (tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32> loc("a:Exp")
  %3 = tk.exp %1 : (tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32> loc("b:Exp")
  %4 = tk.tanh %1 : (tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32> loc("unused:Tanh")
  %5 = tk.neg %2 : (tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32> loc("minus:Neg")
  %6 = tk.neg %5 : (tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32> loc("plus:Neg")
  %7 = tk.reshape %6 {shape = array<i64: 16>} : (tensor<1x1x4x4xf32>) -> tensor<16xf32> loc("flat:Reshape")
  %8 = tk.reshape %7 {shape = array<i64: 1, 1, 4, 4>} : (tensor<16xf32>) -> tensor<1x1x4x4xf32> loc("square:Reshape")
  %9 = tk.add %3, %8 : (tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32> loc("add:Add")
  return %9 : tensor<1x1x4x4xf32>
})";

} // namespace

TEST_F(PassRunnerTest, SaysWhatBecameOfEveryNode) {
  Removed removed;
  DecisionLog log;
  PipelineOptions options;
  options.fusion = FusionMode::Dominator;
  options.removed = &removed;
  options.decisions = &log;
  ASSERT_TRUE(run(network, options)) << error;
  std::sort(removed.begin(), removed.end());
  EXPECT_EQ(removed, (Removed{{"b", "merged into a"},
                              {"bn", "merged into conv"},
                              {"flat", "identity"},
                              {"minus", "identity"},
                              {"plus", "identity"},
                              {"square", "identity"},
                              {"sum", "folded"},
                              {"unused", "dead"}}));
  EXPECT_EQ(groups(), 1);
  ASSERT_EQ(log.decisions.size(), 2u);
  EXPECT_EQ(log.decisions[0].producer, "conv");
  EXPECT_EQ(log.decisions[0].consumer, "a");
  EXPECT_TRUE(log.decisions[0].fused);
  EXPECT_EQ(log.decisions[0].edgeBytes, 64);
}

TEST_F(PassRunnerTest, FuelStopsAfterThatManySteps) {
  int64_t all = 0;
  PipelineOptions options;
  options.fuelUsed = &all;
  ASSERT_TRUE(run(network, options)) << error;
  ASSERT_GT(all, 5);
  std::string last;
  options.lastApplied = &last;
  for (int64_t fuel = 0; fuel <= all; ++fuel) {
    int64_t used = -1;
    options.fuel = fuel;
    options.fuelUsed = &used;
    ASSERT_TRUE(run(network, options)) << error;
    EXPECT_EQ(used, fuel);
    EXPECT_EQ(last.empty(), fuel == 0);
  }
  EXPECT_EQ(last, "partition-dominator at a (Exp)");
}

TEST_F(PassRunnerTest, PassesCanBeDisabledByName) {
  PipelineOptions options;
  options.disabledPasses = {"partition-dominator", "merge-outputs", "recompute-producers"};
  ASSERT_TRUE(run(network, options)) << error;
  EXPECT_EQ(groups(), 3);
  options.disabledPasses = {"fold-batch-norms"};
  EXPECT_FALSE(run(network, options));
  EXPECT_EQ(error, "there is no pass 'fold-batch-norms' to disable; --list-passes names them all");
  options.disabledPasses = {"outline-groups"};
  EXPECT_FALSE(run(network, options));
  EXPECT_EQ(error, "pass 'outline-groups' cannot be disabled: without it there are no kernels");
}

TEST_F(PassRunnerTest, ListsEachPassOnceWithASentence) {
  std::vector<PassListing> passes = listPasses();
  EXPECT_EQ(passes.front().name, "fold-constants");
  std::vector<std::string> names;
  for (const PassListing &pass : passes) {
    EXPECT_TRUE(llvm::StringRef(pass.summary).ends_with(".")) << pass.name;
    names.push_back(pass.name);
  }
  std::sort(names.begin(), names.end());
  EXPECT_TRUE(std::adjacent_find(names.begin(), names.end()) == names.end());
  EXPECT_EQ(names.size(), 31u);
}
