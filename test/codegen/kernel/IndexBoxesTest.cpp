//===- IndexBoxesTest.cpp - loops over results in pieces, each with an expression of its own ---------===//
#include "codegen/kernel/IndexBoxes.h"
#include "analysis/GraphTest.h"
#include "codegen/expression/Register.h"
#include "codegen/kernel/ScratchFunction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace tokamak;
using namespace tokamak::codegen;

namespace {

using Cuts = std::vector<std::set<int64_t>>;

class IndexBoxesTest : public GraphTest {
protected:
  IndexBoxesTest() {
    mlir::DialectRegistry registry;
    registerExpressionModels(registry);
    registry.insert<mlir::arith::ArithDialect, mlir::LLVM::LLVMDialect, mlir::scf::SCFDialect,
                    mlir::vector::VectorDialect>();
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  /// Of loops over what the function returns.
  Cuts cutsOf(const std::string &text) {
    mlir::Block &block = parse(text);
    mlir::Value result = block.getTerminator()->getOperand(0);
    auto cuts = findCuts(&context, result.getLoc(), tk::tensorType(result).getShape(),
                         [&](ElementBuilder &e, llvm::ArrayRef<Index> index) {
                           for (mlir::Value argument : block.getArguments())
                             bindMemory(e, argument, e.indexConstant(0));
                           e.element(result, index);
                         });
    return Cuts(cuts.begin(), cuts.end());
  }
};

std::vector<IndexBox> cutWherePaysBy(llvm::ArrayRef<int64_t> extents, const Cuts &cuts,
                                     double cyclesOfVector) {
  return cutWherePays(extents, cuts, [&](const IndexBox &box) {
    const bool isWhole = llvm::ArrayRef<int64_t>(box.extents) == extents;
    return static_cast<double>(box.elements()) / 16 * (isWhole ? cyclesOfVector : 1);
  });
}

} // namespace

TEST_F(IndexBoxesTest, AConcatenationIsCutWhereItsPartsMeet) {
  EXPECT_EQ(cutsOf(R"(
    func.func @main(%a: tensor<3x4xf32>, %b: tensor<2x4xf32>, %c: tensor<5x4xf32>) -> tensor<10x4xf32> {
      %0 = tk.abs %b : (tensor<2x4xf32>) -> tensor<2x4xf32>
      %1 = tk.concat %a, %0, %c {axis = 0 : i64} : (tensor<3x4xf32>, tensor<2x4xf32>, tensor<5x4xf32>) -> tensor<10x4xf32>
      %2 = tk.neg %1 : (tensor<10x4xf32>) -> tensor<10x4xf32>
      return %2 : tensor<10x4xf32>
    })"),
            (Cuts{{3, 5}, {}}));
}

TEST_F(IndexBoxesTest, APaddedTensorIsCutAtItsBorder) {
  EXPECT_EQ(cutsOf(R"(
    func.func @main(%x: tensor<8x4xf32>, %v: tensor<f32>) -> tensor<11x5xf32> {
      %0 = tk.pad %x, %v {low = array<i64: 2, 0>, high = array<i64: 1, 1>} : (tensor<8x4xf32>, tensor<f32>) -> tensor<11x5xf32>
      return %0 : tensor<11x5xf32>
    })"),
            (Cuts{{2, 10}, {4}}));
}

TEST_F(IndexBoxesTest, ThroughTransposesSlicesAndReshapes) {
  // The parts meet at column 4; from column 1 on and transposed, that is row 3.
  EXPECT_EQ(cutsOf(R"(
    func.func @main(%a: tensor<6x4xf32>, %b: tensor<6x4xf32>) -> tensor<7x6xf32> {
      %0 = tk.concat %a, %b {axis = 1 : i64} : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x8xf32>
      %1 = tk.slice %0 {starts = array<i64: 0, 1>, steps = array<i64: 1, 1>, sizes = array<i64: 6, 7>} : (tensor<6x8xf32>) -> tensor<6x7xf32>
      %2 = tk.transpose %1 {permutation = array<i64: 1, 0>} : (tensor<6x7xf32>) -> tensor<7x6xf32>
      return %2 : tensor<7x6xf32>
    })"),
            (Cuts{{3}, {}}));
  // Position 24 of 48.
  EXPECT_EQ(cutsOf(R"(
    func.func @main(%a: tensor<6x4xf32>, %b: tensor<6x4xf32>) -> tensor<48xf32> {
      %0 = tk.concat %a, %b {axis = 0 : i64} : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<12x4xf32>
      %1 = tk.reshape %0 {shape = array<i64: 48>} : (tensor<12x4xf32>) -> tensor<48xf32>
      return %1 : tensor<48xf32>
    })"),
            (Cuts{{24}}));
}

TEST_F(IndexBoxesTest, WhatLiesAcrossABoundaryIsABoxOfItsOwn) {
  // The parts meet at position 20, within row 2 of 8.
  EXPECT_EQ(cutsOf(R"(
    func.func @main(%a: tensor<20xf32>, %b: tensor<12xf32>) -> tensor<4x8xf32> {
      %0 = tk.concat %a, %b {axis = 0 : i64} : (tensor<20xf32>, tensor<12xf32>) -> tensor<32xf32>
      %1 = tk.reshape %0 {shape = array<i64: 4, 8>} : (tensor<32xf32>) -> tensor<4x8xf32>
      return %1 : tensor<4x8xf32>
    })"),
            (Cuts{{2, 3}, {}}));
}

TEST_F(IndexBoxesTest, ReversedPartsAreAskedFor) {
  EXPECT_EQ(cutsOf(R"(
    func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<8xf32> {
      %0 = tk.concat %a, %b {axis = 0 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
      %1 = tk.slice %0 {starts = array<i64: 7>, steps = array<i64: -1>, sizes = array<i64: 8>} : (tensor<8xf32>) -> tensor<8xf32>
      return %1 : tensor<8xf32>
    })"),
            (Cuts{{}}));
}

TEST_F(IndexBoxesTest, NothingOfAnEmptyTensor) {
  EXPECT_EQ(cutsOf(R"(
    func.func @main(%a: tensor<0x4xf32>, %b: tensor<0x4xf32>) -> tensor<0x8xf32> {
      %0 = tk.concat %a, %b {axis = 1 : i64} : (tensor<0x4xf32>, tensor<0x4xf32>) -> tensor<0x8xf32>
      return %0 : tensor<0x8xf32>
    })"),
            (Cuts{{}, {}}));
}

TEST_F(IndexBoxesTest, BoxesCoverTheTensorOnce) {
  auto boxes = cutWherePaysBy({4, 1000}, {{1}, {300, 900}}, /*cyclesOfVector=*/10);
  ASSERT_EQ(boxes.size(), 2u); // what has been cut along the first axis asks nothing any more
  std::vector<int> covered(4000);
  for (const IndexBox &box : boxes)
    for (int64_t i = 0; i < box.extents[0]; ++i)
      for (int64_t j = 0; j < box.extents[1]; ++j)
        ++covered[static_cast<size_t>((box.begin[0] + i) * 1000 + box.begin[1] + j)];
  EXPECT_EQ(covered, std::vector<int>(4000, 1));
}

TEST_F(IndexBoxesTest, NoCutThatDoesNotPay) {
  EXPECT_EQ(cutWherePaysBy({1000}, {{500}}, /*cyclesOfVector=*/3).size(), 2u);
  EXPECT_EQ(cutWherePaysBy({1000}, {{500}}, /*cyclesOfVector=*/1.2).size(), 1u); // the loops cost as much
  EXPECT_EQ(cutWherePaysBy({16}, {{8}}, /*cyclesOfVector=*/3).size(), 1u);       // one vector
}

TEST_F(IndexBoxesTest, AxesOfOneElementMakeNoDifference) {
  EXPECT_EQ(collapses({}), (llvm::SmallVector<size_t>{0}));
  EXPECT_EQ(collapses({7}), (llvm::SmallVector<size_t>{1}));
  EXPECT_EQ(collapses({1, 5, 1, 7}), (llvm::SmallVector<size_t>{1, 3}));
}
