//===- Shrink.cpp - a small graph out of a large one that fails -----------------------------------------===//
#include "Shrink.h"
#include "ir/Tk.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "reference/Evaluate.h"

namespace tokamak::test {

using namespace mlir;

namespace {

func::FuncOp mainOf(const GraphCase &graph) {
  ModuleOp module = *graph.module;
  return module.lookupSymbol<func::FuncOp>("main");
}

Block &entryOf(const GraphCase &graph) { return mainOf(graph).getBody().front(); }

/// Brings the function's type and inputs in line with its block, and drops what nothing uses.
void tidy(GraphCase &graph) {
  Block &entry = entryOf(graph);
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(entry)))
    if (isOpTriviallyDead(&op))
      op.erase();
  for (unsigned i = entry.getNumArguments(); i-- > 0;)
    if (entry.getArgument(i).use_empty()) {
      entry.eraseArgument(i);
      graph.inputs.erase(graph.inputs.begin() + i);
    }
  func::FuncOp function = mainOf(graph);
  function.setFunctionType(FunctionType::get(function.getContext(), entry.getArgumentTypes(),
                                             entry.getTerminator()->getOperandTypes()));
  function.setArgAttrsAttr(nullptr);
  function.setResAttrsAttr(nullptr);
}

GraphCase withoutResult(const GraphCase &graph, unsigned number) {
  GraphCase smaller = graph.clone();
  entryOf(smaller).getTerminator()->eraseOperand(number);
  smaller.tolerances.erase(smaller.tolerances.begin() + number);
  tidy(smaller);
  return smaller;
}

/// With the operator at `position` replaced by inputs of its values.
GraphCase withoutOperator(const GraphCase &graph, int64_t position) {
  GraphCase smaller = graph.clone();
  Block &entry = entryOf(smaller);
  Operation *op = &*std::next(entry.begin(), position);
  llvm::SmallVector<Tensor> values;
  ScopedDiagnosticHandler quiet(op->getContext(), [](Diagnostic &) { return success(); });
  (void)reference::evaluateFunction(mainOf(smaller), smaller.inputs,
                                    [&](Operation *done, llvm::ArrayRef<Tensor> results) {
                                      if (done == op)
                                        values.assign(results.begin(), results.end());
                                    });
  for (auto [result, value] : llvm::zip(op->getResults(), values)) {
    result.replaceAllUsesWith(entry.addArgument(result.getType(), op->getLoc()));
    smaller.inputs.push_back(value);
  }
  tidy(smaller);
  return smaller;
}

} // namespace

GraphCase shrink(const GraphCase &graph, llvm::function_ref<bool(const GraphCase &)> fails, int tries) {
  GraphCase best = graph.clone();
  auto accept = [&](GraphCase candidate) {
    if (tries-- <= 0 || !fails(candidate))
      return false;
    best = std::move(candidate);
    return true;
  };
  for (bool changed = true; changed && tries > 0;) {
    changed = false;
    for (auto i = static_cast<unsigned>(best.tolerances.size()); i-- > 0 && best.tolerances.size() > 1;)
      changed |= accept(withoutResult(best, i));
    auto last = static_cast<int64_t>(entryOf(best).getOperations().size()) - 1;
    for (int64_t i = last; i-- > 0;) {
      // Dropping one operator may drop those that it alone used.
      if (i + 1 >= static_cast<int64_t>(entryOf(best).getOperations().size()))
        continue;
      Operation *op = &*std::next(entryOf(best).begin(), i);
      if (!op->hasTrait<OpTrait::ConstantLike>())
        changed |= accept(withoutOperator(best, i));
    }
  }
  return best;
}

} // namespace tokamak::test
