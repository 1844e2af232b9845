//===- AlikeTest.cpp - producers that differ in nothing that decides are alike ------------------------===//
#include "fusion/Alike.h"
#include "CostTest.h"

using namespace tokamak;
using namespace tokamak::fusion;

namespace {

class AlikeTest : public CostTest {
protected:
  /// Of the slices and what is computed of each, joined at the end.
  void SetUp() override {
    block = &parse(R"(
      func.func @main(%x: tensor<12x8xf32>, %y: tensor<4x8xf32>) -> tensor<16x8xf32> {
        %0 = tk.slice %x {starts = array<i64: 0, 0>, sizes = array<i64: 4, 8>, steps = array<i64: 1, 1>} : (tensor<12x8xf32>) -> tensor<4x8xf32>
        %1 = tk.abs %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
        %2 = tk.slice %x {starts = array<i64: 4, 0>, sizes = array<i64: 4, 8>, steps = array<i64: 1, 1>} : (tensor<12x8xf32>) -> tensor<4x8xf32>
        %3 = tk.abs %2 : (tensor<4x8xf32>) -> tensor<4x8xf32>
        %4 = tk.slice %x {starts = array<i64: 8, 0>, sizes = array<i64: 4, 8>, steps = array<i64: 1, 1>} : (tensor<12x8xf32>) -> tensor<4x8xf32>
        %5 = tk.neg %4 : (tensor<4x8xf32>) -> tensor<4x8xf32>
        %6 = tk.abs %y : (tensor<4x8xf32>) -> tensor<4x8xf32>
        %7 = tk.concat %1, %3, %5, %6 {axis = 0 : i64} : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<16x8xf32>
        return %7 : tensor<16x8xf32>
      })");
  }
  size_t likenessOf(std::initializer_list<int> producers) {
    llvm::SmallVector<mlir::Operation *> members;
    for (int i : producers)
      members.push_back(at(*block, i));
    return ProducersOfReader({at(*block, 7)}).likenessOf(members);
  }
  mlir::Block *block = nullptr;
};

} // namespace

TEST_F(AlikeTest, WhereASliceBeginsDecidesNothing) { EXPECT_EQ(likenessOf({0, 1}), likenessOf({2, 3})); }

TEST_F(AlikeTest, WhatIsComputedDecides) { EXPECT_NE(likenessOf({0, 1}), likenessOf({4, 5})); }

TEST_F(AlikeTest, WhatIsReadDecides) { EXPECT_NE(likenessOf({1}), likenessOf({6})); }

TEST_F(AlikeTest, WhoElseReadsAProducerDecides) {
  const size_t alone = likenessOf({3});
  EXPECT_EQ(likenessOf({1}), alone);
  mlir::OpBuilder builder(&block->back());
  builder.clone(*at(*block, 3))->setOperand(0, at(*block, 1)->getResult(0));
  EXPECT_NE(likenessOf({1}), alone);
}

TEST_F(AlikeTest, WhatTheReaderReadsBesidesDecides) {
  const size_t before = likenessOf({1});
  EXPECT_EQ(before, likenessOf({3}));
  mlir::Operation *reader = at(*block, 7);
  reader->insertOperands(4, at(*block, 0)->getResult(0)); // what %1 is computed from
  EXPECT_NE(likenessOf({1}), likenessOf({3}));
}
