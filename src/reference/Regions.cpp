//===- Regions.cpp - composite, fusion, if, loop ------------------------------------------===//
#include "reference/Block.h"
#include <cstring>
#include <limits>

namespace tokamak::reference {
namespace {

template <typename Op>
Result body(Op op, Operands operands) {
  mlir::Block &block = op.getBody().front();
  Values values;
  for (auto [argument, tensor] : llvm::zip_equal(block.getArguments(), operands))
    values[argument] = tensor;
  return evaluateBlock(block, values);
}

/// The captured values, which follow the operands.
Values captured(mlir::Operation *op, Operands operands) {
  Values values;
  for (auto [value, tensor] : llvm::zip_equal(capturedValues(op), operands.drop_front(op->getNumOperands())))
    values[value] = tensor;
  return values;
}

Result ifElse(tk::IfOp op, Operands operands) {
  Values values = captured(op, operands);
  mlir::Region &region = operands[0].intAt(0) ? op.getThenRegion() : op.getElseRegion();
  return evaluateBlock(region.front(), values);
}

Result loop(tk::LoopOp op, Operands operands) {
  Operands next = operands;
  int64_t limit = std::numeric_limits<int64_t>::max();
  if (op.getTripLimit()) {
    limit = next.front().intAt(0);
    next = next.drop_front();
  }
  Tensor condition = Tensor::scalarInt(DataType::Bool, 1);
  if (op.getCondition()) {
    condition = next.front().reshaped({});
    next = next.drop_front();
  }
  const size_t carriedCount = op.getCarried().size();
  Tensors carried(next.take_front(carriedCount));
  Tensors scans;
  for (mlir::Value output : op.getOutputs().drop_front(carriedCount))
    scans.emplace_back(tk::tensorType(output));
  const auto scanTrips = static_cast<int64_t>(op.getScanTrips());

  Values values = captured(op, operands);
  mlir::Block &block = op.getBody().front();
  int64_t trip = 0;
  for (; trip < limit && condition.intAt(0); ++trip) {
    // Checked before the body runs, so that an endless loop with scan outputs ends as well.
    if (!scans.empty() && trip >= scanTrips)
      return op.emitOpError("runs more than the ") << scanTrips << " iterations of its scan outputs";
    values[block.getArgument(0)] = Tensor::scalarInt(DataType::Int64, trip);
    values[block.getArgument(1)] = condition;
    for (size_t i = 0; i < carriedCount; ++i)
      values[block.getArgument(2 + i)] = carried[i];
    Result yielded = evaluateBlock(block, values);
    if (mlir::failed(yielded))
      return mlir::failure();
    condition = yielded->front().reshaped({});
    for (size_t i = 0; i < carriedCount; ++i)
      carried[i] = (*yielded)[1 + i];
    for (size_t i = 0; i < scans.size(); ++i) {
      const Tensor &slice = (*yielded)[1 + carriedCount + i];
      if (slice.byteCount() != 0)
        std::memcpy(scans[i].mutableBytes() + static_cast<size_t>(trip) * slice.byteCount(), slice.bytes(),
                    slice.byteCount());
    }
  }
  if (!scans.empty() && trip != scanTrips)
    return op.emitOpError("runs ") << trip << " iterations, not the " << scanTrips << " of its scan outputs";
  carried.append(scans.begin(), scans.end());
  return carried;
}

} // namespace

void attachRegions(mlir::MLIRContext *context) {
  attach<tk::CompositeOp, body<tk::CompositeOp>>(context);
  attach<tk::FusionOp, body<tk::FusionOp>>(context);
  attach<tk::IfOp, ifElse>(context);
  attach<tk::LoopOp, loop>(context);
}

} // namespace tokamak::reference
