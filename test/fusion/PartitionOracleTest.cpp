//===- PartitionOracleTest.cpp - partitioners beside the best partition there is ---------------------===//
// What the engine finds is compared with an exact search over all partitions of small graphs, by the cost
// model. No partition may beat the search, and the engine's is within 5 % of it but for listed graphs.
#include "PartitionOracle.h"
#include "CostTest.h"
#include "fusion/CostModel.h"
#include "fusion/EmissionLimits.h"
#include "mlir/Pass/PassManager.h"
#include "rewrite/Passes.h"
#include "llvm/Support/Format.h"
#include <map>
#include <random>

using namespace tokamak;
using namespace tokamak::fusion;

namespace {

/// Random graphs of 14 edges at most: chains and diamonds of elementwise work around reductions, a
/// convolution in some.
class SmallGraph {
public:
  explicit SmallGraph(uint64_t seed) : random(seed) {}

  std::string function() {
    const int rows = 1 << pick(4, 12);
    type = "tensor<" + std::to_string(rows) + "x256xf32>";
    column = "tensor<" + std::to_string(rows) + "x1xf32>";
    std::string text = "func.func @main(%v0: " + type + ") -> " + type + " {\n";
    if (pick(0, 1))
      text += "%w = tk.constant dense<0.5> : tensor<256x256xf32>\n"
              "%m = tk.matmul %v0, %w : (" +
              type + ", tensor<256x256xf32>) -> " + type + "\n",
          values.push_back("%m");
    else
      values.push_back("%v0");
    const int operators = pick(3, 5);
    for (int i = 0; i < operators; ++i)
      text += operation(i);
    return text + "return " + values.back() + " : " + type + "\n}";
  }

private:
  int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); }
  std::string recent() {
    const int last = static_cast<int>(values.size()) - 1;
    return values[pick(std::max(0, last - 2), last)];
  }
  std::string operation(int number) {
    const std::string name = "%o" + std::to_string(number), x = recent(), y = values.back();
    values.push_back(name);
    switch (pick(0, 4)) {
    case 0:
      return name + " = tk.exp " + y + " : (" + type + ") -> " + type + "\n";
    case 1:
      return name + " = tk.abs " + y + " : (" + type + ") -> " + type + "\n";
    case 2: {
      const std::string sum = name + "s";
      return sum + " = tk.reduce " + y +
             " {axes = array<i64: 1>, keep_dims = true, kind = #tk.reduce_kind<sum>} : (" + type + ") -> " +
             column + "\n" + name + " = tk.sub " + y + ", " + sum + " : (" + type + ", " + column + ") -> " +
             type + "\n";
    }
    default:
      return name + " = tk.add " + x + ", " + y + " : (" + type + ", " + type + ") -> " + type + "\n";
    }
  }

  std::mt19937_64 random;
  std::string type, column;
  std::vector<std::string> values;
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

  /// As `--fusion full` does, but for the passes that compute values twice or put one anchor into another,
  /// which the search does not try.
  void partitionFully() {
    auto state = std::make_shared<PassState>();
    state->target = machine();
    mlir::PassManager passes(&context);
    passes.addPass(createPartitionDominatorPass(state));
    passes.addPass(createMergeRowsPass(state));
    passes.addPass(createMergeOutputsPass(state));
    ASSERT_TRUE(mlir::succeeded(passes.run(*module)));
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

/// Graphs on which the engine is further than this from the optimum, how far at most, and why.
constexpr double nearEnough = 1.05;
struct FarGraph {
  uint64_t seed;
  double ratio;
  const char *why;
};
constexpr char twoPasses[] =
    "cheap operators in front of a row's two passes: the model has them computed in each pass, and prefers "
    "their values in memory; measured, the one kernel takes as long as the two, or 0.6 of it";
constexpr FarGraph farGraphs[] = {
    {13, 1.08, twoPasses},
    {33, 1.31, twoPasses},
    {44, 1.13, twoPasses},
    {68, 1.28, twoPasses},
    {73, 1.16, twoPasses},
    {85, 1.08, twoPasses},
    {100, 1.16, twoPasses},
    {140, 1.31, twoPasses},
    {155, 1.09, twoPasses},
    {174, 1.14, twoPasses},
    {142, 1.08, "one exponential stays apart, which recompute-producers takes in"},
};

TEST_F(PartitionOracleTest, TheEngineIsNearTheOptimum) {
  double worst = 1, sum = 0;
  int graphs = 0;
  std::string worstGraph;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const std::string text = SmallGraph(seed).function();
    mlir::Block &block = parse(text);
    auto result = best(block);
    ASSERT_TRUE(result) << text;
    partitionFully();
    const double engine = costOf(writtenPartition(block));
    ASSERT_LE(result->cost, engine * (1 + 1e-9)) << text;
    const double ratio = engine / result->cost;
    const auto *known = llvm::find_if(farGraphs, [&](const FarGraph &graph) { return graph.seed == seed; });
    const bool isKnown = known != std::end(farGraphs);
    EXPECT_LE(ratio, isKnown ? known->ratio : nearEnough)
        << text << "\nengine: " << described(writtenPartition(block))
        << "\noptimum: " << described(result->groups);
    EXPECT_TRUE(!isKnown || ratio > nearEnough) << "take it off the list";
    sum += ratio;
    ++graphs;
    if (ratio > worst)
      worst = ratio, worstGraph = text;
  }
  std::printf("engine over optimum, modelled: mean %.3f, worst %.3f of %d graphs\n%s\n", sum / graphs, worst,
              graphs, worstGraph.c_str());
}
