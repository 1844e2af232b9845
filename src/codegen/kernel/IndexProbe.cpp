//===- IndexProbe.cpp - which elements an operator reads, as index maps -------------------------===//
#include "codegen/kernel/IndexProbe.h"
#include "codegen/expression/ElementType.h"
#include "codegen/kernel/ScratchFunction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tokamak::codegen {

using namespace mlir;

IndexProbe::IndexProbe(Value value, llvm::function_ref<bool(Value)> stopAt) {
  Location loc = value.getLoc();
  ScratchFunction scratch(value.getContext(), loc);
  OpBuilder &b = scratch.builder;
  ElementBuilder e(b, loc, indices, 1);
  Value unknown = e.indexConstant(0);
  for (int64_t extent : tk::tensorType(value).getShape())
    axes.push_back(extent < 2 ? Index(0) : indices.uniform(unknown, 0, extent - 1));

  // Everything reachable that must not be entered answers with a placeholder and a record.
  SmallVector<Value> pending(value.getDefiningOp() ? value.getDefiningOp()->getOperands() : ValueRange());
  llvm::DenseSet<Value> seen;
  while (!pending.empty()) {
    Value tensor = pending.pop_back_val();
    if (!seen.insert(tensor).second)
      continue;
    Operation *op = tensor.getDefiningOp();
    if (op && !stopAt(tensor)) {
      pending.append(op->operand_begin(), op->operand_end());
      continue;
    }
    if (op && isa<tk::ConstantOp>(op))
      continue;
    DataType type = elementOf(tensor);
    e.bindSource(tensor, [this, tensor, type, &e](ArrayRef<Index> index) {
      recorded.push_back({tensor, SmallVector<Index>(index)});
      return e.constant(type, 0);
    });
  }
  if (value.getDefiningOp() && tk::tensorType(value).getNumElements() > 0)
    e.element(value, axes);
}

} // namespace tokamak::codegen
