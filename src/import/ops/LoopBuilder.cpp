//===- LoopBuilder.cpp - building tk.loop -------------------------------------------------===//
#include "import/ops/LoopBuilder.h"
#include "import/ErrorLine.h"

namespace tokamak::import {

static mlir::RankedTensorType scalarType(Body &b, DataType type) {
  return mlir::RankedTensorType::get({}, toMlir(type, b.builder.getContext()));
}

mlir::OpBuilder openBlock(mlir::MLIRContext *context, mlir::Region &region) {
  // The region has no parent yet that would know the context.
  mlir::OpBuilder builder(context);
  builder.setInsertionPointToEnd(&region.emplaceBlock());
  return builder;
}

LoopBody::LoopBody(Body &outer, ValueRange initial)
    : region(std::make_unique<mlir::Region>()), builder(openBlock(outer.builder.getContext(), *region)),
      body(builder, outer.loc, outer.budget) {
  mlir::Block &block = region->front();
  iteration = block.addArgument(scalarType(outer, DataType::Int64), outer.loc);
  condition = block.addArgument(scalarType(outer, DataType::Bool), outer.loc);
  for (Value value : initial)
    carried.push_back(block.addArgument(value.getType(), outer.loc));
}

Values closeLoop(Body &outer, LoopBody &&loop, Value limit, Value condition, ValueRange initial,
                 const Iteration &next, int64_t trips) {
  requireTensors(next.carried, "carried values");
  requireTensors(next.scans, "slices of outputs");
  for (auto [i, before, after] : llvm::enumerate(initial, next.carried))
    if (before.getType() != after.getType())
      throw ImportFault{"carried value " + std::to_string(i) + " starts as " + name(typeOf(before)).str() +
                        shapeText(shapeOf(before)) + " and becomes " + name(typeOf(after)).str() +
                        shapeText(shapeOf(after))};
  Values yielded{next.condition ? loop.body.reshape(next.condition, {})
                                : loop.body.scalar(DataType::Bool, 1)};
  llvm::append_range(yielded, next.carried);
  llvm::append_range(yielded, next.scans);
  loop.builder.create<tk::YieldOp>(outer.loc, ValueRange(yielded));

  mlir::OperationState state(outer.loc, tk::LoopOp::getOperationName());
  llvm::SmallVector<int32_t> segments{limit ? 1 : 0, condition ? 1 : 0, static_cast<int32_t>(initial.size())};
  if (limit)
    state.addOperands(outer.reshape(limit, {}));
  if (condition)
    state.addOperands(outer.reshape(condition, {}));
  state.addOperands(initial);
  state.addAttribute(tk::LoopOp::getOperandSegmentSizeAttr(), outer.builder.getDenseI32ArrayAttr(segments));
  state.addAttribute("scan_trips", outer.builder.getI64IntegerAttr(trips));
  state.addTypes(llvm::to_vector(initial.getTypes()));
  for (Value scan : next.scans) {
    llvm::SmallVector<int64_t> shape{trips};
    llvm::append_range(shape, shapeOf(scan));
    auto type = mlir::RankedTensorType::get(shape, tk::tensorType(scan).getElementType());
    llvm::cantFail(
        checkTensorSize(type, [](const llvm::Twine &why) -> llvm::Error { throw ImportFault{why.str()}; }));
    state.addTypes(type);
  }
  state.addRegion(std::move(loop.region));
  return Values(outer.builder.create(state)->getResults());
}

SliceTypes typesOf(ValueRange slices) {
  requireTensors(slices, "slices of outputs");
  SliceTypes types;
  for (Value slice : slices)
    types.push_back({typeOf(slice), llvm::SmallVector<int64_t>(shapeOf(slice))});
  return types;
}

Values emptyScans(Body &outer, const SliceTypes &slices) {
  Values results;
  for (const SliceType &slice : slices) {
    llvm::SmallVector<int64_t> shape{0};
    llvm::append_range(shape, slice.shape);
    auto type = mlir::RankedTensorType::get(shape, toMlir(slice.type, outer.builder.getContext()));
    llvm::cantFail(
        checkTensorSize(type, [](const llvm::Twine &why) -> llvm::Error { throw ImportFault{why.str()}; }));
    results.push_back(outer.constant(Tensor(slice.type, shape)));
  }
  return results;
}

} // namespace tokamak::import
