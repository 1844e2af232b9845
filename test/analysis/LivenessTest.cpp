//===- LivenessTest.cpp - from where to where memory is needed ---------------------------------------===//
#include "analysis/Liveness.h"
#include "GraphTest.h"

using namespace tokamak;
using analysis::BlockLiveness;
using analysis::LiveInterval;

using LivenessTest = GraphTest;

TEST_F(LivenessTest, AResidualOverlapsWhatIsComputedFromIt) {
  mlir::Block &block = parse(R"(
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = tk.exp %x : (tensor<4xf32>) -> tensor<4xf32>
      %1 = tk.neg %0 : (tensor<4xf32>) -> tensor<4xf32>
      %2 = tk.add %1, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      %3 = tk.tanh %2 : (tensor<4xf32>) -> tensor<4xf32>
      return %3 : tensor<4xf32>
    })");
  BlockLiveness liveness(block);
  ASSERT_EQ(liveness.intervals().size(), 5u);
  const LiveInterval *argument = liveness.find(block.getArgument(0));
  EXPECT_EQ(argument->first, -1);
  EXPECT_EQ(argument->last, 0);
  const LiveInterval *residual = liveness.find(at(block, 0)->getResult(0));
  const LiveInterval *sum = liveness.find(at(block, 2)->getResult(0));
  EXPECT_EQ(residual->first, 0);
  EXPECT_EQ(residual->last, 2);
  EXPECT_EQ(sum->first, 2); // at the position where the residual is read last: they must not share memory
  EXPECT_FALSE(sum->leavesBlock);
  const LiveInterval *result = liveness.find(at(block, 3)->getResult(0));
  EXPECT_EQ(result->last, 4);
  EXPECT_TRUE(result->leavesBlock);
}

TEST_F(LivenessTest, ViewsExtendWhatTheyShow) {
  mlir::Block &block = parse(R"(
    func.func @main(%x: tensor<4xf32>) -> (tensor<2x2xf32>, tensor<4xf32>) {
      %0 = tk.exp %x : (tensor<4xf32>) -> tensor<4xf32>
      %1 = tk.reshape %0 {shape = array<i64: 4, 1>} : (tensor<4xf32>) -> tensor<4x1xf32>
      %2 = tk.reshape %1 {shape = array<i64: 2, 2>} : (tensor<4x1xf32>) -> tensor<2x2xf32>
      %3 = tk.neg %x : (tensor<4xf32>) -> tensor<4xf32>
      return %2, %3 : tensor<2x2xf32>, tensor<4xf32>
    })");
  BlockLiveness liveness(block);
  EXPECT_EQ(liveness.intervals().size(), 3u);
  const LiveInterval *shown = liveness.find(at(block, 2)->getResult(0));
  EXPECT_EQ(shown, liveness.find(at(block, 0)->getResult(0)));
  EXPECT_EQ(shown->last, 4);
  EXPECT_TRUE(shown->leavesBlock);
}

TEST_F(LivenessTest, UseInARegionCountsAtItsOperation) {
  mlir::Block &block = parse(R"(
    func.func @main(%x: tensor<4xf32>, %c: tensor<i1>) -> tensor<4xf32> {
      %w = tk.constant dense<1.0> : tensor<4xf32>
      %0 = tk.exp %x : (tensor<4xf32>) -> tensor<4xf32>
      %1 = tk.neg %x : (tensor<4xf32>) -> tensor<4xf32>
      %2 = tk.if %c {
        %3 = tk.add %0, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
        tk.yield %3 : tensor<4xf32>
      } else {
        tk.yield %x : tensor<4xf32>
      } : (tensor<i1>) -> tensor<4xf32>
      %4 = tk.add %2, %2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      return %4 : tensor<4xf32>
    })");
  BlockLiveness liveness(block);
  EXPECT_EQ(liveness.find(at(block, 1)->getResult(0))->last, 3);
  EXPECT_FALSE(liveness.find(at(block, 1)->getResult(0))->leavesBlock);
  const LiveInterval *unused = liveness.find(at(block, 2)->getResult(0));
  EXPECT_EQ(unused->last, unused->first);
  EXPECT_EQ(liveness.find(at(block, 0)->getResult(0)), nullptr); // a constant
  // In the branch only its own value needs memory; the outer ones belong to the outer block.
  mlir::Block &branch = at(block, 3)->getRegion(0).front();
  BlockLiveness inner(branch);
  EXPECT_EQ(inner.intervals().size(), 1u);
  EXPECT_TRUE(inner.intervals()[0].leavesBlock);
  EXPECT_EQ(inner.find(at(block, 1)->getResult(0)), nullptr);
}
