//===- CostedRewriteTest.cpp - merged and enlarged anchors, by value --------------------------------===//
// Inputs and weights are small integers, so that every order of summation is exact: both sides are equal.
#include "rewrite/CostedRewrite.h"
#include "WeightedGraph.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "reference/Evaluate.h"
#include "reference/RandomTensor.h"
#include "gtest/gtest.h"
#include <cmath>
#include <limits>

using namespace tokamak;
using namespace tokamak::test;

namespace {

class CostedRewriteTest : public testing::Test {
protected:
  CostedRewriteTest() {
    mlir::DialectRegistry registry;
    registry.insert<tk::TkDialect, mlir::func::FuncDialect>();
    reference::registerReferenceModels(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  static std::vector<Tensor> evaluate(mlir::ModuleOp module, llvm::ArrayRef<Tensor> inputs) {
    auto results = reference::evaluateFunction(*module.getOps<mlir::func::FuncOp>().begin(), inputs);
    EXPECT_TRUE(mlir::succeeded(results));
    return {results->begin(), results->end()};
  }

  static void apply(mlir::ModuleOp module, llvm::ArrayRef<const char *> names) {
    PassState state;
    mlir::Block &block = module.getBody()->front().getRegion(0).front();
    for (const char *name : names)
      EXPECT_TRUE(rewrite::applyEverywhere(*rewrite::findCostedRewrite(name), block, state,
                                           [](const rewrite::Site &) { return true; }))
          << name << " did not apply";
  }

  static void expectSame(const Tensor &before, const Tensor &after) {
    ASSERT_EQ(before.shape(), after.shape());
    for (int64_t i = 0; i < before.size(); ++i) {
      const double a = before.doubleAt(i), b = after.doubleAt(i);
      if (std::isnan(a))
        ASSERT_TRUE(std::isnan(b)) << "element " << i;
      else
        ASSERT_EQ(a, b) << "element " << i;
      ASSERT_TRUE(std::isnan(a) || std::signbit(a) == std::signbit(b)) << "element " << i;
    }
  }

  /// Applies the rewrites in turn and expects equal results.
  void expectEqual(const WeightedGraph &graph, llvm::ArrayRef<const char *> names,
                   std::vector<Tensor> inputs = {}) {
    mlir::OwningOpRef<mlir::ModuleOp> module = graph.build(context, /*weightSeed=*/3);
    ASSERT_TRUE(module);
    if (inputs.empty())
      inputs = graph.integerInputs(/*seed=*/7);
    const std::vector<Tensor> before = evaluate(*module, inputs);
    apply(*module, names);
    const std::vector<Tensor> after = evaluate(*module, inputs);
    ASSERT_EQ(before.size(), after.size());
    for (size_t i = 0; i < before.size(); ++i)
      expectSame(before[i], after[i]);
  }

  mlir::MLIRContext context;
};

constexpr double infinity = std::numeric_limits<double>::infinity(),
                 notANumber = std::numeric_limits<double>::quiet_NaN();

Tensor withSpecialValues(const std::vector<int64_t> &shape) {
  Tensor tensor = reference::randomIntegers(DataType::Float32, shape, /*seed=*/5, -4, 4);
  tensor.setDouble(3, infinity);
  tensor.setDouble(tensor.size() / 2, -infinity);
  tensor.setDouble(tensor.size() - 2, notANumber);
  tensor.setDouble(1, -0.0);
  return tensor;
}

} // namespace

TEST_F(CostedRewriteTest, SiblingConvolutions) {
  // Three, of which one has no bias; the order of channels changes inside.
  expectEqual(threeConvolutions(/*batch=*/2), {"merge-siblings"});
  expectEqual(threeConvolutions(1), {"merge-siblings"}, {withSpecialValues({1, 5, 7, 6})});
}

TEST_F(CostedRewriteTest, SiblingProductsWithEpilogues) {
  expectEqual(projections(), {"merge-siblings"});
  expectEqual(projections(), {"merge-siblings"}, {withSpecialValues({2, 5, 8})});
}

TEST_F(CostedRewriteTest, SummedConvolutions) {
  expectEqual(summedConvolutions(), {"merge-sums"});
  expectEqual(summedProducts(), {"merge-sums"});
}

TEST_F(CostedRewriteTest, EnlargedKernel) { expectEqual(lectureExample(5, 4), {"enlarge-kernels"}); }

TEST_F(CostedRewriteTest, LectureExampleBecomesTwoConvolutions) {
  WeightedGraph graph = lectureExample(6, 4);
  expectEqual(graph, {"enlarge-kernels", "merge-siblings", "residual-to-convolution", "merge-sums"});
}

TEST_F(CostedRewriteTest, EnlargingIsGuardedAgainstNonFiniteValues) {
  // What the guard is for: a zero tap beside an infinity is NaN.
  mlir::OwningOpRef<mlir::ModuleOp> module = lectureExample(3, 4).build(context, 3);
  const rewrite::CostedRewrite &enlarge = rewrite::enlargeKernels();
  mlir::Block &block = module->getBody()->front().getRegion(0).front();
  std::vector<rewrite::Site> sites = enlarge.findSites(block);
  ASSERT_EQ(sites.size(), 1u);
  EXPECT_FALSE(enlarge.keepsNonFinite(sites[0]));
  // Integers are finite.
  mlir::OwningOpRef<mlir::ModuleOp> bounded = lectureExample(3, 4, /*fromIntegers=*/true).build(context, 3);
  sites = enlarge.findSites(bounded->getBody()->front().getRegion(0).front());
  ASSERT_EQ(sites.size(), 1u);
  EXPECT_TRUE(enlarge.keepsNonFinite(sites[0]));
}

TEST_F(CostedRewriteTest, ResidualsAreGuardedAgainstNonFiniteValues) {
  // The identity's zero taps meet all of the other half and the neighbours.
  const rewrite::CostedRewrite &residual = rewrite::residualToConvolution();
  for (bool fromIntegers : {false, true}) {
    const std::string whole = "tensor<1x8x6x6xf32>", half = "tensor<1x4x6x6xf32>";
    const std::string part = ", 0, 0>, sizes = array<i64: 1, 4, 6, 6>, steps = array<i64: 1, 1, 1, 1>} : (" +
                             whole + ") -> " + half + "\n";
    auto module = mlir::parseSourceString<mlir::ModuleOp>(
        "func.func @main(%x: tensor<1x8x6x6x" + std::string(fromIntegers ? "i32" : "f32") + ">) -> " + half +
            " {\n%w = tk.constant dense<2.0> : tensor<4x4x3x3xf32>\n%s = " +
            (fromIntegers ? "tk.cast %x {to = f32} : (tensor<1x8x6x6xi32>) -> "
                          : "tk.abs %x : (" + whole + ") -> ") +
            whole + "\n%a = tk.slice %s {starts = array<i64: 0, 0" + part +
            "%b = tk.slice %s {starts = array<i64: 0, 4" + part +
            "%c = tk.conv %b, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = "
            "array<i64: "
            "1, 1>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (" +
            half + ", tensor<4x4x3x3xf32>) -> " + half + "\n%r = tk.add %a, %c : (" + half + ", " + half +
            ") -> " + half + "\nreturn %r : " + half + "\n}",
        &context);
    ASSERT_TRUE(module);
    std::vector<rewrite::Site> sites = residual.findSites(module->getBody()->front().getRegion(0).front());
    ASSERT_EQ(sites.size(), 1u);
    EXPECT_EQ(residual.keepsNonFinite(sites[0]), fromIntegers);
  }
}
