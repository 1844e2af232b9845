//===- Specializer.cpp - values that the structure of the graph depends on -------------------===//
#include "import/Specializer.h"
#include "import/ErrorLine.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Transforms/RegionUtils.h"
#include "reference/Evaluate.h"

namespace tokamak::import {

using mlir::Operation;

/// What the evaluator may spend on one value: it is far slower than compiled code.
static constexpr int64_t maxFlops = int64_t(1) << 30;

/// Everything that `op` reads: its operands and what its regions take from outside.
static llvm::SetVector<Value> readValues(Operation *op) {
  llvm::SetVector<Value> values(op->operand_begin(), op->operand_end());
  if (op->getNumRegions() > 0)
    mlir::getUsedValuesDefinedAbove(op->getRegions(), values);
  return values;
}

Tensor Specializer::evaluate(Value value, llvm::StringRef what) {
  // The operations that must run, in order. An explicit stack: graphs are deep.
  llvm::SmallVector<Operation *> order;
  llvm::DenseSet<Operation *> visited, finished;
  std::set<std::string> unknown, inputs;
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
    if (auto traffic = llvm::dyn_cast<tk::TrafficInterface>(op))
      flops += std::min(traffic.getFlops(), maxFlops);
    if (flops > maxFlops && unknown.empty())
      throw ImportFault{what.str() +
                        " must be known while compiling, but takes too much arithmetic to compute then; "
                        "bind a smaller part of the model"};
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
