//===- TrafficTest.cpp - bytes moved and arithmetic done ----------------------------------------------===//
#include "analysis/Traffic.h"
#include "GraphTest.h"

using namespace tokamak;
using analysis::Traffic;
using analysis::trafficOf;

using TrafficTest = GraphTest;

TEST_F(TrafficTest, ActivationsAndWeightsAreApart) {
  mlir::Block &block = parse(R"(
    func.func @main(%x: tensor<2x8xf32>) -> tensor<2x4xf32> {
      %w = tk.constant dense<1.0> : tensor<8x4xf32>
      %0 = tk.matmul %x, %w : (tensor<2x8xf32>, tensor<8x4xf32>) -> tensor<2x4xf32>
      %1 = tk.mul %0, %0 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
      %2 = tk.reshape %1 {shape = array<i64: 4, 2>} : (tensor<2x4xf32>) -> tensor<4x2xf32>
      %3 = tk.reshape %2 {shape = array<i64: 2, 4>} : (tensor<4x2xf32>) -> tensor<2x4xf32>
      return %3 : tensor<2x4xf32>
    })");
  Traffic product = trafficOf(at(block, 1));
  EXPECT_EQ(product.bytesRead, 2 * 8 * 4);
  EXPECT_EQ(product.weightBytes, 8 * 4 * 4);
  EXPECT_EQ(product.bytesWritten, 2 * 4 * 4);
  EXPECT_EQ(product.flops, 2 * 2 * 8 * 4);
  EXPECT_EQ(trafficOf(at(block, 2)).bytesRead, 32); // one operand, listed twice
  EXPECT_EQ(trafficOf(at(block, 3)).kernels, 0);    // a view
  Traffic sum = trafficOf(block);
  EXPECT_EQ(sum.kernels, 2);
  EXPECT_EQ(sum.bytesWritten, 64);
}

TEST_F(TrafficTest, AGroupMovesItsOperandsAndResultsOnly) {
  mlir::Block &block = parse(R"(
    func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
      %w = tk.constant dense<1.0> : tensor<8xf32>
      %0 = tk.fusion(%x, %w) {
      ^bb0(%a: tensor<8xf32>, %b: tensor<8xf32>):
        %c = tk.constant dense<2.0> : tensor<f32>
        %1 = tk.exp %a : (tensor<8xf32>) -> tensor<8xf32>
        %2 = tk.mul %1, %c : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
        %3 = tk.add %2, %b : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
        tk.yield %3 : tensor<8xf32>
      } : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
      return %0 : tensor<8xf32>
    })");
  Traffic group = trafficOf(at(block, 1));
  EXPECT_EQ(group.kernels, 1);
  EXPECT_EQ(group.bytesRead, 32);
  EXPECT_EQ(group.weightBytes, 32);
  EXPECT_EQ(group.bytesWritten, 32);
  EXPECT_EQ(group.flops, 24);
}

TEST_F(TrafficTest, PickingReadsOnlyWhatItPicks) {
  mlir::Block &block = parse(R"(
    func.func @main(%x: tensor<1000x4xf32>, %i: tensor<3xi64>) -> (tensor<3x4xf32>, tensor<2x4xf32>) {
      %0 = tk.gather %x, %i {axis = 0 : i64} : (tensor<1000x4xf32>, tensor<3xi64>) -> tensor<3x4xf32>
      %1 = tk.slice %x {starts = array<i64: 5, 0>, sizes = array<i64: 2, 4>, steps = array<i64: 1, 1>} : (tensor<1000x4xf32>) -> tensor<2x4xf32>
      return %0, %1 : tensor<3x4xf32>, tensor<2x4xf32>
    })");
  EXPECT_EQ(trafficOf(at(block, 0)).bytesRead, 3 * 4 * 4 + 3 * 8);
  EXPECT_EQ(trafficOf(at(block, 1)).bytesRead, 2 * 4 * 4);
}

TEST_F(TrafficTest, ControlFlow) {
  mlir::Block &block = parse(R"(
    func.func @main(%x: tensor<4xf32>, %c: tensor<i1>) -> (tensor<4xf32>, tensor<4xf32>) {
      %0 = tk.if %c {
        %1 = tk.exp %x : (tensor<4xf32>) -> tensor<4xf32>
        %2 = tk.neg %1 : (tensor<4xf32>) -> tensor<4xf32>
        tk.yield %2 : tensor<4xf32>
      } else {
        tk.yield %x : tensor<4xf32>
      } : (tensor<i1>) -> tensor<4xf32>
      %n = tk.constant dense<5> : tensor<i64>
      %3 = tk.loop limit(%n : tensor<i64>) carry(%0) trips 0 {
      ^bb0(%i: tensor<i64>, %go: tensor<i1>, %v: tensor<4xf32>):
        %4 = tk.exp %v : (tensor<4xf32>) -> tensor<4xf32>
        tk.yield %go, %4 : tensor<i1>, tensor<4xf32>
      } : (tensor<4xf32>) -> tensor<4xf32>
      return %0, %3 : tensor<4xf32>, tensor<4xf32>
    })");
  EXPECT_EQ(trafficOf(at(block, 0)).kernels, 2);
  EXPECT_EQ(trafficOf(at(block, 2)).kernels, 5);
  EXPECT_EQ(trafficOf(at(block, 2)).bytesWritten, 5 * 16);
}
