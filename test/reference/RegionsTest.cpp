//===- RegionsTest.cpp - composite, fusion, if, loop, whole functions ------------------------===//
#include "Testing.h"

namespace tokamak::reference::test {
namespace {

TEST(Body, CompositeAndFusion) {
  Outcome outcome = evaluateText(R"(
    func.func @f(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<f32>) {
      %r:2 = tk.fusion "k"(%x) {
      ^bb0(%a: tensor<2xf32>):
        %relu = tk.composite "Relu"(%a) {
        ^bb0(%b: tensor<2xf32>):
          %zero = tk.constant dense<0.0> : tensor<f32>
          %m = tk.max %b, %zero : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
          tk.yield %m : tensor<2xf32>
        } : (tensor<2xf32>) -> tensor<2xf32>
        %sum = tk.reduce %relu {axes = array<i64: 0>, keep_dims = false, kind = #tk.reduce_kind<sum>} : (tensor<2xf32>) -> tensor<f32>
        tk.yield %relu, %sum : tensor<2xf32>, tensor<f32>
      } : (tensor<2xf32>) -> (tensor<2xf32>, tensor<f32>)
      return %r#0, %r#1 : tensor<2xf32>, tensor<f32>
    })",
                                 {f32({2}, {-1, 3})});
  ASSERT_EQ(outcome.results.size(), 2U) << outcome.error;
  EXPECT_TRUE(same(outcome.results[0], f32({2}, {0, 3})));
  EXPECT_TRUE(same(outcome.results[1], f32({}, {3})));
}

TEST(If, TakesOneBranchAndSeesOuterValues) {
  const std::string source = R"(
    func.func @f(%c: tensor<1xi1>, %x: tensor<2xf32>) -> tensor<2xf32> {
      %y = tk.neg %x : (tensor<2xf32>) -> tensor<2xf32>
      %r = tk.if %c {
        tk.yield %y : tensor<2xf32>
      } else {
        %inner = tk.if %c {
          tk.yield %x : tensor<2xf32>
        } else {
          %z = tk.add %x, %y : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
          tk.yield %z : tensor<2xf32>
        } : (tensor<1xi1>) -> tensor<2xf32>
        tk.yield %inner : tensor<2xf32>
      } : (tensor<1xi1>) -> tensor<2xf32>
      return %r : tensor<2xf32>
    })";
  Tensor x = f32({2}, {1, 2});
  EXPECT_TRUE(same(evaluateText(source, {bools({1}, {1}), x}).results.at(0), f32({2}, {-1, -2})));
  EXPECT_TRUE(same(evaluateText(source, {bools({1}, {0}), x}).results.at(0), f32({2}, {0, 0})));
}

TEST(If, ABranchNotTakenMayFail) {
  const std::string source = R"(
    func.func @f(%c: tensor<i1>, %i: tensor<i64>, %x: tensor<2xf32>) -> tensor<f32> {
      %r = tk.if %c {
        %g = tk.gather %x, %i {axis = 0 : i64} : (tensor<2xf32>, tensor<i64>) -> tensor<f32>
        tk.yield %g : tensor<f32>
      } else {
        %zero = tk.constant dense<0.0> : tensor<f32>
        tk.yield %zero : tensor<f32>
      } : (tensor<i1>) -> tensor<f32>
      return %r : tensor<f32>
    })";
  Tensor x = f32({2}, {1, 2});
  EXPECT_TRUE(same(evaluateText(source, {bools({}, {0}), i64({}, {9}), x}).results.at(0), f32({}, {0})));
  EXPECT_EQ(evaluateText(source, {bools({}, {1}), i64({}, {9}), x}).error,
            "'tk.gather' op index 9 is out of range for an axis of 2 elements; give indices that fit");
}

/// Sums its iteration numbers into %s while the sum is below %bound; the scan output is the sum so far.
std::string loop(const std::string &head, const std::string &trips) {
  return R"(
    func.func @f(%n: tensor<i64>, %c: tensor<i1>, %bound: tensor<i64>) -> (tensor<i64>, tensor<)" +
         trips + R"(xi64>) {
      %zero = tk.constant dense<0> : tensor<i64>
      %r:2 = tk.loop )" +
         head + R"( carry(%zero) trips )" + trips + R"( {
      ^bb0(%i: tensor<i64>, %go: tensor<i1>, %s: tensor<i64>):
        %t = tk.add %s, %i : (tensor<i64>, tensor<i64>) -> tensor<i64>
        %more = tk.compare %t, %bound {predicate = #tk.predicate<lt>} : (tensor<i64>, tensor<i64>) -> tensor<i1>
        tk.yield %more, %t, %t : tensor<i1>, tensor<i64>, tensor<i64>
      } : (tensor<i64>) -> (tensor<i64>, tensor<)" +
         trips + R"(xi64>)
      return %r#0, %r#1 : tensor<i64>, tensor<)" +
         trips + R"(xi64>
    })";
}
const std::string both = "limit(%n : tensor<i64>) while(%c : tensor<i1>)";

Outcome runLoop(const std::string &head, const std::string &trips, int64_t n, int64_t c, int64_t bound) {
  return evaluateText(loop(head, trips), {i64({}, {n}), bools({}, {c}), i64({}, {bound})});
}

TEST(Loop, CarriesAndStacks) {
  Outcome limited = runLoop(both, "4", 4, 1, 100);
  ASSERT_EQ(limited.results.size(), 2U) << limited.error;
  EXPECT_TRUE(same(limited.results[0], i64({}, {6})));
  EXPECT_TRUE(same(limited.results[1], i64({4}, {0, 1, 3, 6})));
  // The condition ends it first; without a limit, or without a first condition.
  for (const char *head : {"limit(%n : tensor<i64>) while(%c : tensor<i1>)", "while(%c : tensor<i1>)",
                           "limit(%n : tensor<i64>)", ""}) {
    Outcome early = runLoop(head, "3", 100, 1, 3);
    ASSERT_EQ(early.results.size(), 2U) << early.error;
    EXPECT_TRUE(same(early.results[0], i64({}, {3})));
    EXPECT_TRUE(same(early.results[1], i64({3}, {0, 1, 3})));
  }
}

TEST(Loop, MayNotRunAtAll) {
  for (auto [n, c] : {std::pair<int64_t, int64_t>{0, 1}, {-5, 1}, {10, 0}}) {
    Outcome none = runLoop(both, "0", n, c, 100);
    ASSERT_EQ(none.results.size(), 2U) << none.error;
    EXPECT_TRUE(same(none.results[0], i64({}, {0})));
    EXPECT_TRUE(same(none.results[1], i64({0}, {})));
  }
}

TEST(Loop, IterationsMustMatchTheScanOutputs) {
  EXPECT_EQ(runLoop(both, "3", 4, 1, 100).error,
            "'tk.loop' op runs more than the 3 iterations of its scan outputs");
  EXPECT_EQ(runLoop(both, "5", 4, 1, 100).error,
            "'tk.loop' op runs 4 iterations, not the 5 of its scan outputs");
  // Endless, but for its scan outputs.
  EXPECT_NE(runLoop("", "2", 0, 1, std::numeric_limits<int64_t>::max()).error, "");
}

TEST(Loop, NestedLoopsAndScansOfTensors) {
  // Row i of the scan is x * 2^i; the inner loop doubles a value that it captures from two levels up.
  Outcome outcome = evaluateText(R"(
    func.func @f(%x: tensor<2xf32>) -> tensor<3x2xf32> {
      %three = tk.constant dense<3> : tensor<i64>
      %r = tk.loop limit(%three : tensor<i64>) carry() trips 3 {
      ^bb0(%i: tensor<i64>, %go: tensor<i1>):
        %y = tk.loop limit(%i : tensor<i64>) carry(%x) trips 0 {
        ^bb1(%j: tensor<i64>, %inner: tensor<i1>, %s: tensor<2xf32>):
          %two = tk.div %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
          %double = tk.add %two, %two : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
          %t = tk.mul %s, %double : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
          tk.yield %go, %t : tensor<i1>, tensor<2xf32>
        } : (tensor<2xf32>) -> tensor<2xf32>
        tk.yield %go, %y : tensor<i1>, tensor<2xf32>
      } : () -> tensor<3x2xf32>
      return %r : tensor<3x2xf32>
    })",
                                 {f32({2}, {1, 3})});
  ASSERT_EQ(outcome.results.size(), 1U) << outcome.error;
  EXPECT_TRUE(same(outcome.results[0], f32({3, 2}, {1, 3, 2, 6, 4, 12})));
}

TEST(Function, ArgumentsAreChecked) {
  const std::string source = "func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }";
  EXPECT_TRUE(same(evaluateText(source, {f32({2}, {1, nan})}).results.at(0), f32({2}, {1, nan})));
  EXPECT_EQ(evaluateText(source, {}).error, "the function takes 1 arguments, not 0");
  EXPECT_EQ(evaluateText(source, {f32({1}, {1})}).error,
            "argument 0 has type 'tensor<2xf32>', not 'tensor<1xf32>'");
  EXPECT_EQ(evaluateText(source, {make(DataType::Float64, {2}, {1, 2})}).error,
            "argument 0 has type 'tensor<2xf32>', not 'tensor<2xf64>'");
}

TEST(Function, EveryOperatorRounds) {
  // 1 + 2^-11 is lost in half precision before the subtraction can show it.
  Outcome outcome = evaluateText(R"(
    func.func @f(%a: tensor<f16>, %b: tensor<f16>) -> tensor<f16> {
      %s = tk.add %a, %b : (tensor<f16>, tensor<f16>) -> tensor<f16>
      %d = tk.sub %s, %a : (tensor<f16>, tensor<f16>) -> tensor<f16>
      return %d : tensor<f16>
    })",
                                 {make(DataType::Float16, {}, {1}), make(DataType::Float16, {}, {0x1p-11})});
  EXPECT_TRUE(same(outcome.results.at(0), make(DataType::Float16, {}, {0})));
}

} // namespace
} // namespace tokamak::reference::test
