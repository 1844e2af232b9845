//===- Specializer.cpp - values that the structure of the graph depends on -------------------===//
#include "import/Specializer.h"
#include "import/ErrorLine.h"
#include "import/NodeContext.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Transforms/RegionUtils.h"
#include "reference/Evaluate.h"
#include "llvm/Support/MathExtras.h"
#include <limits>

namespace tokamak::import {

using mlir::Operation;

/// Everything that `op` reads: its operands and what its regions take from outside.
static llvm::SetVector<Value> readValues(Operation *op) {
  llvm::SetVector<Value> values(op->operand_begin(), op->operand_end());
  if (op->getNumRegions() > 0)
    mlir::getUsedValuesDefinedAbove(op->getRegions(), values);
  return values;
}

static int64_t saturatingAdd(int64_t a, int64_t b) {
  return a > std::numeric_limits<int64_t>::max() - b ? a : a + b;
}

/// What the evaluator takes for one operation whatever its size: tables, tensors, interfaces. Without it a
/// long loop over scalars, which take next to no arithmetic, would run for minutes.
static constexpr int64_t flopsPerOperation = 1024;

/// The cost of evaluating `op`; of a loop without a constant limit as much as can be.
static int64_t flopsOf(Operation *op) {
  int64_t flops = flopsPerOperation, trips = 1;
  if (auto traffic = llvm::dyn_cast<tk::TrafficInterface>(op); traffic && op->getNumRegions() == 0)
    flops = saturatingAdd(flops, std::max<int64_t>(traffic.getFlops(), 0));
  // A broadcast has no arithmetic but fills memory: all results together stay below a gigabyte.
  constexpr int64_t flopsPerByte = 2;
  for (Value result : op->getResults()) // of at most 4 TiB
    flops = saturatingAdd(flops, flopsPerByte * tk::tensorType(result).getNumElements() *
                                     static_cast<int64_t>(byteSize(typeOf(result))));
  if (auto loop = llvm::dyn_cast<tk::LoopOp>(op)) {
    std::optional<Tensor> limit = loop.getTripLimit() ? tk::constantValue(loop.getTripLimit()) : std::nullopt;
    trips = limit ? std::max<int64_t>(limit->intAt(0), 0) : std::numeric_limits<int64_t>::max();
  }
  for (mlir::Region &region : op->getRegions())
    for (Operation &inner : region.getOps())
      flops = saturatingAdd(flops, flopsOf(&inner));
  int64_t total = 0;
  return llvm::MulOverflow(flops, trips, total) ? std::numeric_limits<int64_t>::max() : total;
}

Tensor Specializer::evaluate(Value value, llvm::StringRef what) {
  // The operations that must run, in order. An explicit stack: graphs are deep.
  llvm::SmallVector<Operation *> order;
  llvm::DenseSet<Operation *> visited, finished;
  std::set<std::string> unknown;
  int64_t flops = 0;
  llvm::SmallVector<Value> stack{value};
  while (!stack.empty()) {
    Value current = stack.back();
    Operation *op = current.getDefiningOp();
    if (known.contains(current) || (op && finished.contains(op))) {
      stack.pop_back();
      continue;
    }
    if (!op) {
      stack.pop_back();
      auto name = names.find(current);
      if (name == names.end())
        throw ImportFault{what.str() +
                          " depends on a value that changes while a loop runs, so the result has no fixed "
                          "shape; rewrite the loop"};
      auto hint = options.hints.find(name->second);
      if (hint == options.hints.end()) {
        unknown.insert(name->second);
        continue;
      }
      known[current] = hint->second;
      dependsOn[current] = {name->second};
      continue;
    }
    if (visited.insert(op).second) {
      for (Value operand : readValues(op))
        stack.push_back(operand);
      continue;
    }
    stack.pop_back();
    finished.insert(op);
    order.push_back(op);
    flops += std::min(flopsOf(op), flopsLeft + 1);
    if (flops > flopsLeft && unknown.empty())
      throw ImportFault{what.str() +
                        " must be known while compiling, but takes too much arithmetic to compute then; bind "
                        "a smaller part of the model"};
  }
  if (!unknown.empty()) {
    std::string list, option;
    for (const std::string &name : unknown) {
      list += (list.empty() ? "'" : ", '") + oneLine(name, 60) + "'";
      option += " --bind " + oneLine(name, 60) + "=FILE.npy";
    }
    throw ImportFault{what.str() + " must be known while compiling, but depends on the value of " +
                      (unknown.size() == 1 ? "input " : "inputs ") + list + "; bind it with" + option};
  }

  flopsLeft -= flops;
  mlir::ScopedDiagnosticHandler quiet(value.getContext(), [](mlir::Diagnostic &) { return mlir::success(); });
  auto lookup = [&](Value outer) -> std::optional<Tensor> {
    auto it = known.find(outer);
    return it == known.end() ? std::nullopt : std::optional<Tensor>(it->second);
  };
  for (Operation *op : order) {
    llvm::SmallVector<Tensor> operands;
    for (Value operand : op->getOperands())
      operands.push_back(known.lookup(operand));
    std::set<std::string> behind;
    for (Value read : readValues(op)) {
      const std::set<std::string> &one = dependsOn[read];
      behind.insert(one.begin(), one.end());
    }
    mlir::FailureOr<llvm::SmallVector<Tensor>> results = reference::evaluate(op, operands, lookup);
    if (mlir::failed(results) || results->size() != op->getNumResults())
      throw ImportFault{what.str() +
                        " must be known while compiling, but cannot be computed from the given values; "
                        "check the values bound"};
    for (auto [result, tensor] : llvm::zip(op->getResults(), *results)) {
      known[result] = tensor;
      dependsOn[result] = behind;
    }
  }
  const std::set<std::string> &behind = dependsOn[value];
  used.insert(behind.begin(), behind.end());
  return known.lookup(value);
}

} // namespace tokamak::import
