//===- GroupGraphTest.cpp - groups that merge, against plain reachability
//--------------------------------===//
#include "fusion/GroupGraph.h"
#include "ir/Tk.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"
#include <map>
#include <random>
#include <set>

using namespace tokamak;
using namespace tokamak::fusion;

namespace {

struct Graph {
  Graph(uint64_t seed, int operators) {
    context.loadDialect<tk::TkDialect, mlir::func::FuncDialect>();
    std::mt19937_64 random(seed);
    std::string type = "tensor<2xf32>", text = "func.func @main(%v0: " + type + ") -> " + type + " {\n";
    for (int i = 1; i <= operators; ++i) {
      auto operand = [&] {
        int reach = random() % 4 == 0 ? i : std::min(i, 3);
        return "%v" + std::to_string(i - 1 - static_cast<int>(random() % static_cast<uint64_t>(reach)));
      };
      text += "%v" + std::to_string(i) + " = tk.add " + operand() + ", " + operand() + " : (" + type + ", " +
              type + ") -> " + type + "\n";
    }
    text += "return %v" + std::to_string(operators) + " : " + type + "\n}";
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    block = &(*module->getOps<mlir::func::FuncOp>().begin()).getBody().front();
  }
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::Block *block = nullptr;
};

/// Edges between nodes, read off the operations.
std::map<unsigned, std::set<unsigned>> edgesOf(GroupGraph &groups, mlir::Block &block) {
  std::map<unsigned, std::set<unsigned>> edges;
  for (mlir::Operation &op : block.without_terminator())
    for (mlir::Operation *user : op.getUsers())
      if (auto to = groups.nodeOf(user); to && *to != *groups.nodeOf(&op))
        edges[*groups.nodeOf(&op)].insert(*to);
  return edges;
}

bool reaches(std::map<unsigned, std::set<unsigned>> &edges, unsigned from, unsigned to, bool skipDirect) {
  std::set<unsigned> seen;
  std::vector<unsigned> pending{from};
  while (!pending.empty()) {
    unsigned node = pending.back();
    pending.pop_back();
    for (unsigned next : edges[node]) {
      if (next == to && !(node == from && skipDirect))
        return true;
      if (next != to && seen.insert(next).second)
        pending.push_back(next);
    }
  }
  return false;
}

TEST(GroupGraph, MergesAndPathsAgreeWithReachability) {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    // Of the large ones, a few steps back from a node do not reach all that lies behind it.
    const unsigned operators = seed % 3 ? 40 : 300;
    Graph graph(seed, operators);
    int64_t next = 0;
    GroupGraph groups(*graph.block, next);
    std::mt19937_64 random(seed);
    for (int attempt = 0; attempt < 60; ++attempt) {
      auto nodes = groups.nodes();
      unsigned from = nodes[random() % nodes.size()];
      auto consumers = groups.consumersOf(from);
      if (consumers.empty())
        continue;
      unsigned to = consumers[random() % consumers.size()];
      auto edges = edgesOf(groups, *graph.block);
      bool isAround = reaches(edges, from, to, true);
      ASSERT_EQ(groups.pathAround(from, to) == GroupGraph::Path::Around, isAround);
      if (isAround)
        continue;
      groups.merge(from, to);
      // The order is topological, and every operation is a member of its node.
      std::map<unsigned, size_t> place;
      auto after = groups.nodes();
      for (size_t i = 0; i < after.size(); ++i)
        place[after[i]] = i;
      for (auto &[producer, readers] : edgesOf(groups, *graph.block))
        for (unsigned reader : readers)
          ASSERT_LT(place.at(producer), place.at(reader));
      size_t members = 0;
      for (unsigned node : after)
        members += groups.membersOf(node).size();
      ASSERT_EQ(members, operators);
    }
  }
}

} // namespace
