//===- ExplanationGraph.h - the operators of a partition and what passes between them --------------===//
#pragma once
#include "analysis/LevelTraffic.h"
#include "analysis/Traffic.h"
#include "fusion/Decision.h"
#include "import/Import.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <optional>
#include <string>
#include <vector>

namespace tokamak::driver {

/// An operator as it was partitioned, or an input or output of the graph.
struct OperatorNode {
  enum class Role { Input, Output, Operator };
  Role role = Role::Operator;
  std::string name;             ///< the ONNX node's as decisions have it; of an input or output the value's
  std::string op;               ///< "conv", "softmax"; empty for inputs and outputs
  std::string kind;             ///< its pattern kind; empty for inputs and outputs
  std::string type;             ///< of its first result, "1x64x56x56xf32"
  std::optional<size_t> group;  ///< the GroupReport's id; nothing for views and control flow
  std::optional<size_t> inside; ///< the node of the If or Loop in whose body it lies
  std::optional<size_t> postDominator; ///< its parent in the tree; nothing for a root
  analysis::Traffic traffic;           ///< as a kernel of its own
  analysis::LevelTraffic levels;       ///< the same by memory level, in a program of such kernels
};

/// A value that passes from one node to another. What a Loop carries from one iteration to the next has none.
struct OperatorEdge {
  size_t producer = 0, consumer = 0; ///< indices of nodes; the edges have no cycle
  std::string value;                 ///< its ONNX name
  std::string type;
  int64_t bytes = 0;
  std::optional<size_t> decision; ///< index; nothing where the edge was no candidate
};

struct ExplanationGraph {
  std::vector<OperatorNode> nodes; ///< inputs, then operators in the order of the graph, then outputs
  std::vector<OperatorEdge> edges;
};

/// The graph of `main`, whose kernels are `groups` in the order of their ids. Puts the bodies of fusion
/// groups in their place: the operations in `groups` are gone afterwards where they were groups.
ExplanationGraph dissolveGroups(mlir::func::FuncOp main, llvm::ArrayRef<mlir::Operation *> groups,
                                llvm::ArrayRef<import::ModelNode> onnxNodes,
                                llvm::ArrayRef<Decision> decisions, const TargetDescription &target);

} // namespace tokamak::driver
