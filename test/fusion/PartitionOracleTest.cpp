//===- PartitionOracleTest.cpp - partitioners beside the best partition there is ---------------------===//
// What the engine finds is compared with an exact search over all partitions of small graphs, by the cost
// model. No partition may beat the search, and the engine's is within 5 % of it but for listed graphs. Where
// recompute-producers has copied an operator into several readers, or separate-repeats has put operators side
// by side that have nothing in common but their loops, the engine may beat the search, which does not try
// that (PartitionOracle.h).
#include "PartitionOracle.h"
#include "CostTest.h"
#include "SmallGraphs.h"
#include "fusion/CostModel.h"
#include "fusion/EmissionLimits.h"
#include "mlir/Pass/PassManager.h"
#include "rewrite/Passes.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/Support/Format.h"
#include <map>

using namespace tokamak;
using namespace tokamak::fusion;

namespace {

/// Graphs on which the engine is further than this from the optimum, how far at most, and why.
constexpr double nearEnough = 1.05;
struct FarGraph {
  uint64_t seed;
  double ratio;
  const char *why;
};

class PartitionOracleTest : public CostTest {
protected:
  PartitionOracleTest() : model(machine(), 1) {}

  bool canHold(llvm::ArrayRef<mlir::Operation *> members) { return canEmit(members, nullptr); }
  /// The sum over the groups, each by itself: what one group costs does not depend on the others then.
  double costOf(llvm::ArrayRef<Members> groups) {
    double sum = 0;
    for (const Members &members : groups) {
      auto [known, isNew] = costs.try_emplace(std::vector<mlir::Operation *>(members.begin(), members.end()));
      if (isNew)
        known->second = model.group(members).seconds();
      sum += known->second;
    }
    return sum;
  }
  std::optional<OracleResult> best(mlir::Block &block) {
    costs.clear();
    return bestPartition(
        block, [&](auto members) { return canHold(members); }, [&](auto groups) { return costOf(groups); });
  }

  using CreatePass = std::unique_ptr<mlir::Pass> (*)(PassStatePtr);
  void run(llvm::ArrayRef<CreatePass> creators) {
    costs.clear(); // operators go and come
    auto state = std::make_shared<PassState>();
    state->target = machine();
    mlir::PassManager passes(&context);
    for (CreatePass create : creators)
      passes.addPass(create(state));
    ASSERT_TRUE(mlir::succeeded(passes.run(*module)));
  }
  /// As `--fusion full` does, but for the passes that put one anchor into another or write other operators,
  /// which the search does not try.
  void partitionFully() {
    run({createPartitionDominatorPass, createSeparateRepeatsPass, createMergeRowsPass, createMergeOutputsPass,
         createRecomputeProducersPass});
  }

  /// Whether the operators hang together by values that pass between them.
  static bool isConnected(const Members &members) {
    llvm::EquivalenceClasses<mlir::Operation *> parts;
    for (mlir::Operation *op : members) {
      parts.insert(op);
      for (mlir::Value operand : op->getOperands())
        if (llvm::is_contained(members, operand.getDefiningOp()))
          parts.unionSets(op, operand.getDefiningOp());
    }
    return parts.getNumClasses() <= 1;
  }

  /// The groups with their modelled microseconds.
  std::string described(llvm::ArrayRef<Members> groups) {
    std::string text;
    llvm::raw_string_ostream out(text);
    for (const Members &members : groups) {
      for (mlir::Operation *op : members)
        out << op->getName().stripDialect() << ' ';
      out << llvm::format("%.2f; ", model.group(members).seconds() * 1e6);
    }
    return text;
  }

  /// Compares the engine with the search on graphs of 200 seeds.
  void compare(std::string (*graphOf)(uint64_t), llvm::ArrayRef<FarGraph> farGraphs, double mostOnAverage) {
    double sum = 0, worst = 1;
    uint64_t worstSeed = 0;
    int copied = 0;
    constexpr int graphs = 200;
    for (uint64_t seed = 1; seed <= graphs; ++seed) {
      SCOPED_TRACE("seed " + std::to_string(seed));
      const std::string text = graphOf(seed);
      mlir::Block &block = parse(text);
      run({createEliminateDeadCodePass});
      const size_t operators = block.getOperations().size();
      auto result = best(block);
      ASSERT_TRUE(result) << text;
      const std::string optimum = described(result->groups); // of operators that may go
      partitionFully();
      const double engine = costOf(writtenPartition(block));
      const bool isPartition = block.getOperations().size() == operators;
      copied += !isPartition;
      if (isPartition && llvm::all_of(writtenPartition(block), isConnected))
        ASSERT_LE(result->cost, engine * (1 + 1e-9)) << text;
      const double ratio = engine / result->cost;
      const auto *known = llvm::find_if(farGraphs, [&](const FarGraph &graph) { return graph.seed == seed; });
      const bool isKnown = known != farGraphs.end();
      EXPECT_LE(ratio, isKnown ? known->ratio : nearEnough)
          << text << "\nengine: " << described(writtenPartition(block)) << "\noptimum: " << optimum;
      EXPECT_TRUE(!isKnown || ratio > nearEnough) << "take it off the list";
      sum += ratio;
      if (ratio > worst)
        worst = ratio, worstSeed = seed;
    }
    EXPECT_LE(sum / graphs, mostOnAverage);
    std::printf(
        "engine over optimum, modelled: mean %.3f, worst %.3f (seed %d) of %d graphs; %d with copies\n",
        sum / graphs, worst, static_cast<int>(worstSeed), graphs, copied);
  }

  CostModel model;
  std::map<std::vector<mlir::Operation *>, double> costs;
};

} // namespace

TEST_F(PartitionOracleTest, AChainIsOneGroup) {
  mlir::Block &block = parse(R"(
    func.func @main(%x: tensor<100000xf32>) -> tensor<100000xf32> {
      %0 = tk.abs %x : (tensor<100000xf32>) -> tensor<100000xf32>
      %1 = tk.neg %0 : (tensor<100000xf32>) -> tensor<100000xf32>
      %2 = tk.abs %1 : (tensor<100000xf32>) -> tensor<100000xf32>
      return %2 : tensor<100000xf32>
    })");
  auto result = best(block);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->edges, 2u);
  EXPECT_EQ(result->legal, 4u);
  ASSERT_EQ(result->groups.size(), 1u);
  EXPECT_EQ(result->groups[0].size(), 3u);
}

TEST_F(PartitionOracleTest, WhatWouldDependOnItselfIsNoPartition) {
  // Of the triangle, {0, 2} without 1 is the one that is not.
  mlir::Block &block = parse(R"(
    func.func @main(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
      %0 = tk.abs %x : (tensor<64x64xf32>) -> tensor<64x64xf32>
      %1 = tk.neg %0 : (tensor<64x64xf32>) -> tensor<64x64xf32>
      %2 = tk.add %0, %1 : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
      return %2 : tensor<64x64xf32>
    })");
  auto result = best(block);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->edges, 3u);
  EXPECT_EQ(result->legal, 4u);
}

TEST_F(PartitionOracleTest, TwoProductsAreTwoKernels) {
  mlir::Block &block = parse(R"(
    func.func @main(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
      %w = tk.constant dense<1.0> : tensor<64x64xf32>
      %0 = tk.matmul %x, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
      %1 = tk.abs %0 : (tensor<64x64xf32>) -> tensor<64x64xf32>
      %2 = tk.matmul %1, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
      return %2 : tensor<64x64xf32>
    })");
  auto result = best(block);
  ASSERT_TRUE(result);
  ASSERT_EQ(result->groups.size(), 2u);
  EXPECT_EQ(result->groups[0].size(), 2u); // the epilogue runs on the accumulators, a prologue would not
}

TEST_F(PartitionOracleTest, ManyEdgesAreRefused) {
  std::string text = "func.func @main(%v0: tensor<4xf32>) -> tensor<4xf32> {\n";
  for (size_t i = 0; i <= oracleEdges + 1; ++i)
    text += "%v" + std::to_string(i + 1) + " = tk.neg %v" + std::to_string(i) +
            " : (tensor<4xf32>) -> tensor<4xf32>\n";
  text += "return %v" + std::to_string(oracleEdges + 2) + " : tensor<4xf32>\n}";
  EXPECT_FALSE(best(parse(text)));
}

constexpr char twoPasses[] =
    "cheap operators in front of a row's two passes: the model has them computed in each pass, and prefers "
    "their values in memory; measured, the one kernel takes as long as the two, or 0.6 of it";
constexpr char copiedFirst[] = "a multiplication that an addition and the convolution behind it read: "
                               "recompute-producers copies it into "
                               "the convolution first, and then tries that with the addition no more";

constexpr char emptyLanes[] =
    "two to four columns of each row are computed beside others, so most lanes are empty: the "
    "model has what is dear cheaper apart; measured, one kernel takes 0.75 to 1.0 of all "
    "operators apart, 1.35 with two dear ones on two columns (seed 15)";

TEST_F(PartitionOracleTest, RowsAreNearTheOptimum) {
  compare(rowGraph,
          {{13, 1.08, twoPasses},
           {33, 1.31, twoPasses},
           {44, 1.13, twoPasses},
           {68, 1.28, twoPasses},
           {73, 1.16, twoPasses},
           {85, 1.08, twoPasses},
           {100, 1.16, twoPasses},
           {140, 1.31, twoPasses},
           {155, 1.09, twoPasses},
           {174, 1.14, twoPasses}},
          1.01);
}

TEST_F(PartitionOracleTest, PartsAreNearTheOptimum) {
  compare(partsGraph,
          {{14, 1.07, emptyLanes},
           {15, 1.06, emptyLanes},
           {108, 1.17, emptyLanes},
           {133, 1.23, emptyLanes},
           {181, 1.33, emptyLanes},
           {190, 1.13, emptyLanes},
           {199, 1.28, emptyLanes}},
          1.01);
}

TEST_F(PartitionOracleTest, ProductsAreNearTheOptimum) { compare(productGraph, {}, 1.005); }

TEST_F(PartitionOracleTest, ConvolutionsAreNearTheOptimum) {
  compare(convolutionGraph, {{27, 1.13, copiedFirst}}, 1.005);
}

TEST_F(PartitionOracleTest, AnchorsMergeWhereAllThreadsTakeNoLonger) {
  // The search does not try it, so what is known is what they take apart, dispatches included.
  model = CostModel(machine(), 2);
  int merged = 0;
  for (auto graphOf : {productGraph, convolutionGraph})
    for (uint64_t seed = 1; seed <= 200; ++seed) {
      SCOPED_TRACE("seed " + std::to_string(seed));
      mlir::Block &block = parse(graphOf(seed));
      partitionFully();
      const std::vector<Members> before = writtenPartition(block);
      const double apart = costOf(before);
      const std::string was = described(before);
      run({createMergeAnchorsPass});
      const std::vector<Members> after = writtenPartition(block);
      EXPECT_LE(costOf(after), apart * (1 + 1e-9)) << was << "\n" << described(after);
      merged += after.size() < before.size();
    }
  EXPECT_GT(merged, 0);
}
