//===- CompiledRewriteTest.cpp - merged and enlarged anchors through the compiled path --------------===//
// Rewritten graphs, compiled, beside the evaluator on the graphs that they were made of: equal on small
// integers, and within rounding on real values.
#include "ProgramHarness.h"
#include "WeightedGraph.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "reference/Evaluate.h"
#include "rewrite/CostedRewrite.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace tokamak;
using namespace tokamak::test;

namespace {

struct Case {
  const char *name;
  WeightedGraph graph;
  std::vector<const char *> rewrites;
};

std::vector<Case> allCases() {
  return {{"OneImage", threeConvolutions(1), {"merge-siblings"}},
          {"ThreeImages", threeConvolutions(3), {"merge-siblings"}},
          {"Projections", projections(), {"merge-siblings"}},
          {"SummedConvolutions", summedConvolutions(), {"merge-sums"}},
          {"SummedProducts", summedProducts(), {"merge-sums"}},
          {"Lecture",
           lectureExample(7, 32),
           {"enlarge-kernels", "merge-siblings", "residual-to-convolution", "merge-sums"}},
          // Slices of channels that fill no block.
          {"RaggedLecture", lectureExample(5, 20), {"enlarge-kernels", "merge-siblings"}}};
}

double largest(const Tensor &tensor) {
  double value = 1;
  for (int64_t i = 0; i < tensor.size(); ++i)
    value = std::max(value, std::abs(tensor.doubleAt(i)));
  return value;
}

class CompiledRewriteTest : public testing::TestWithParam<Case> {
protected:
  std::vector<Tensor> evaluate(mlir::ModuleOp module, llvm::ArrayRef<Tensor> inputs) {
    auto results = reference::evaluateFunction(*module.getOps<mlir::func::FuncOp>().begin(), inputs);
    EXPECT_TRUE(mlir::succeeded(results));
    return {results->begin(), results->end()};
  }

  void check(const char *cpu) {
    auto context = makeContext();
    auto original = GetParam().graph.build(*context, /*weightSeed=*/11);
    ASSERT_TRUE(original);
    mlir::OwningOpRef<mlir::ModuleOp> rewritten = original->clone();
    PassState state;
    mlir::Block &block = rewritten->getBody()->front().getRegion(0).front();
    for (const char *name : GetParam().rewrites)
      ASSERT_TRUE(rewrite::applyEverywhere(*rewrite::findCostedRewrite(name), block, state,
                                           [](const rewrite::Site &) { return true; }));
    auto program = TestProgram::compile(*rewritten, FusionMode::Full, cpu);
    ASSERT_TRUE(bool(program)) << llvm::toString(program.takeError());
    for (bool exact : {true, false}) {
      std::vector<Tensor> inputs = exact ? GetParam().graph.integerInputs(5) : GetParam().graph.realInputs(5);
      auto got = (*program)->run(inputs, nullptr, GuardedMemory::Guard::Behind);
      ASSERT_TRUE(bool(got)) << llvm::toString(got.takeError());
      std::vector<Tensor> expected = evaluate(*original, inputs);
      ASSERT_EQ(got->size(), expected.size());
      for (size_t i = 0; i < expected.size(); ++i)
        EXPECT_EQ(firstDifference((*got)[i], expected[i], exact ? 0 : 1e-5 * largest(expected[i])), "")
            << "result " << i;
    }
  }
};

} // namespace

TEST_P(CompiledRewriteTest, SameAsEvaluator) { check("native"); }
TEST_P(CompiledRewriteTest, SameAsEvaluatorOnAvx2) { check("x86-64-v3"); }

INSTANTIATE_TEST_SUITE_P(All, CompiledRewriteTest, testing::ValuesIn(allCases()),
                         [](const auto &info) { return std::string(info.param.name); });
