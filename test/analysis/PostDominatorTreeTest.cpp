//===- PostDominatorTreeTest.cpp - parents, depths and edges -----------------------------------------===//
// What it prints is tested by print-post-dominator-tree.mlir.
#include "analysis/PostDominatorTree.h"
#include "GraphTest.h"

using namespace tokamak;
using analysis::PostDominatorTree;

using PostDominatorTreeTest = GraphTest;

TEST_F(PostDominatorTreeTest, ParentIsWhereAllPathsMeet) {
  mlir::Block &block = parse(R"(
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %c = tk.constant dense<1.0> : tensor<4xf32>
      %0 = tk.exp %x : (tensor<4xf32>) -> tensor<4xf32>
      %1 = tk.neg %0 : (tensor<4xf32>) -> tensor<4xf32>
      %2 = tk.tanh %1 : (tensor<4xf32>) -> tensor<4xf32>
      %3 = tk.add %1, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      %4 = tk.add %2, %3 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      %5 = tk.mul %4, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      return %5 : tensor<4xf32>
    })");
  PostDominatorTree tree(block);
  ASSERT_EQ(tree.nodes().size(), 6u); // the constant is none
  EXPECT_FALSE(tree.indexOf(at(block, 0)));
  EXPECT_EQ(tree.indexOf(at(block, 1)), 0u);
  EXPECT_EQ(tree.nodes()[0].parent, 5u); // past the inner diamond
  EXPECT_EQ(tree.nodes()[1].parent, 4u);
  EXPECT_EQ(tree.nodes()[2].parent, 4u);
  EXPECT_EQ(tree.nodes()[4].parent, 5u);
  EXPECT_FALSE(tree.nodes()[5].parent);
  EXPECT_TRUE(tree.nodes()[5].pinned);
  EXPECT_EQ(tree.nodes()[5].depth, 1u);
  EXPECT_EQ(tree.nodes()[0].depth, 2u);
  EXPECT_EQ(tree.nodes()[1].depth, 3u);
}

TEST_F(PostDominatorTreeTest, AConsumerCountsOnceWithItsLargestEdge) {
  mlir::Block &block = parse(R"(
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = tk.exp %x : (tensor<4xf32>) -> tensor<4xf32>
      %1 = tk.mul %0, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      return %1 : tensor<4xf32>
    })");
  PostDominatorTree tree(block);
  ASSERT_EQ(tree.nodes()[0].consumers.size(), 1u);
  EXPECT_EQ(tree.nodes()[0].consumers[0].kind, FusionKind::Elementwise);
}

TEST_F(PostDominatorTreeTest, EmptyBlocks) {
  EXPECT_TRUE(PostDominatorTree(parse("func.func @main() { return }")).nodes().empty());
}
