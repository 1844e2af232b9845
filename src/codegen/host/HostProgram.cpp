//===- HostProgram.cpp - the schedule as code
//-----------------------------------------------------------------===//
#include "codegen/host/HostProgram.h"
#include "analysis/WaveMembers.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tokamak::codegen {

using namespace mlir;

namespace {

int64_t byteCount(Value tensor) {
  auto type = tk::tensorType(tensor);
  return type.getNumElements() * static_cast<int64_t>(byteSize(*fromMlir(type.getElementType())));
}

} // namespace

Type HostProgram::pointer() { return LLVM::LLVMPointerType::get(b.getContext()); }

Value HostProgram::constant(int64_t value, unsigned bits) {
  return b.create<arith::ConstantOp>(loc, b.getIntegerAttr(b.getIntegerType(bits), value));
}

Value HostProgram::offset(Value base, int64_t bytes) {
  if (bytes == 0)
    return base;
  return b.create<LLVM::GEPOp>(loc, pointer(), b.getI8Type(), base, ArrayRef<LLVM::GEPArg>{constant(bytes)});
}

Value HostProgram::slots(int64_t count, int64_t bytes) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(entry);
  Type element = b.getIntegerType(static_cast<unsigned>(bytes) * 8);
  return b.create<LLVM::AllocaOp>(loc, pointer(), element, constant(std::max<int64_t>(count, 1)), 8);
}

void HostProgram::declare(StringRef name, Type result, ArrayRef<Type> arguments) {
  if (target.lookupSymbol(name))
    return;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(target.getBody());
  b.create<LLVM::LLVMFuncOp>(loc, name, LLVM::LLVMFunctionType::get(result, arguments));
}

Value HostProgram::globalAddress(ElementsAttr values, Type elementType, int64_t count) {
  std::string name = "tk_constants_" + std::to_string(globals++);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(target.getBody());
    Type array = LLVM::LLVMArrayType::get(elementType, static_cast<uint64_t>(count));
    b.create<LLVM::GlobalOp>(loc, array, /*isConstant=*/true, LLVM::Linkage::Internal, name, values, 8);
  }
  return b.create<LLVM::AddressOfOp>(loc, pointer(), name);
}

Value HostProgram::globalInts(ArrayRef<int64_t> values) {
  if (values.empty())
    return b.create<LLVM::ZeroOp>(loc, pointer());
  return globalAddress(b.getI64TensorAttr(values), b.getI64Type(), static_cast<int64_t>(values.size()));
}

Value HostProgram::globalDoubles(ArrayRef<double> values) {
  if (values.empty())
    return b.create<LLVM::ZeroOp>(loc, pointer());
  auto type = RankedTensorType::get({static_cast<int64_t>(values.size())}, b.getF64Type());
  return globalAddress(DenseElementsAttr::get(type, values), b.getF64Type(),
                       static_cast<int64_t>(values.size()));
}

Value HostProgram::addressIn(const Place &place, int64_t extra) {
  switch (place.kind) {
  case Place::Kind::Input:
  case Place::Kind::Output: {
    Value table = place.kind == Place::Kind::Input ? inputs : outputs;
    Value slot = b.create<LLVM::GEPOp>(loc, pointer(), pointer(), table,
                                       ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(place.number)});
    return offset(b.create<LLVM::LoadOp>(loc, pointer(), slot), place.bytes + extra);
  }
  case Place::Kind::Weights:
    return offset(weightBase, place.number + place.bytes + extra);
  case Place::Kind::Arena:
    return offset(arena, place.number + place.bytes + extra);
  }
  llvm_unreachable("a kind of place");
}

Value HostProgram::addressOf(Value tensor) {
  Value viewed = viewedValue(tensor);
  if (auto value = viewed.getDefiningOp<tk::ConstantOp>())
    return addressIn({Place::Kind::Weights, weights.add(Tensor::fromAttr(value.getValue()))});
  return addressIn(plan.placeOf(viewed));
}

void HostProgram::copy(Value to, Value from, Value tensor) {
  if (byteCount(tensor) > 0)
    b.create<LLVM::MemcpyOp>(loc, to, from, constant(byteCount(tensor)), /*isVolatile=*/false);
}

void HostProgram::emit(ModuleOp module, const std::string &symbol, std::vector<std::string> &faultPlaces,
                       std::vector<ObservedStep> *observed) {
  this->faultPlaces = &faultPlaces;
  this->observed = observed;
  target = module;
  b.setInsertionPointToEnd(module.getBody());
  auto function = b.create<func::FuncOp>(
      loc, symbol,
      b.getFunctionType({pointer(), pointer(), pointer(), pointer(), pointer()}, {b.getI32Type()}));
  entry = function.addEntryBlock();
  b.setInsertionPointToStart(entry);
  context = entry->getArgument(0), arena = entry->getArgument(1), weightBase = entry->getArgument(2);
  inputs = entry->getArgument(3), outputs = entry->getArgument(4);
  // TkContext { pool, scratch, scratch_stride }
  Value scratchField = b.create<LLVM::GEPOp>(loc, pointer(), pointer(), context, ArrayRef<LLVM::GEPArg>{1});
  scratch = b.create<LLVM::LoadOp>(loc, pointer(), scratchField);
  status = slots(1, 4);
  b.create<LLVM::StoreOp>(loc, constant(0, 32), status);

  Block &body = program.getBody().front();
  emitBlock(body);
  // Results that were not computed in place: inputs, constants, values returned twice.
  for (auto [i, result] : llvm::enumerate(body.getTerminator()->getOperands())) {
    Value viewed = viewedValue(result);
    bool inPlace = false;
    if (!viewed.getDefiningOp<tk::ConstantOp>()) {
      Place place = plan.placeOf(viewed);
      inPlace =
          place.kind == Place::Kind::Output && place.number == static_cast<int64_t>(i) && place.bytes == 0;
    }
    if (!inPlace)
      copy(addressIn({Place::Kind::Output, static_cast<int64_t>(i)}), addressOf(result), result);
  }
  b.create<func::ReturnOp>(loc, ValueRange{b.create<LLVM::LoadOp>(loc, b.getI32Type(), status)});
}

void HostProgram::emitBlock(Block &block) {
  const Operation *done = nullptr; // the last one of the wave in hand
  for (Operation &op : block.without_terminator()) {
    if (done) {
      done = &op == done ? nullptr : done;
      continue;
    }
    if (isa<tk::ConstantOp, tk::ReshapeOp>(op))
      continue;
    if (views.isView(&op))
      continue;
    // Branches and loops show the steps inside them.
    if (auto branch = dyn_cast<tk::IfOp>(op)) {
      emitIf(branch);
      continue;
    }
    if (auto loop = dyn_cast<tk::LoopOp>(op)) {
      emitLoop(loop);
      continue;
    }
    SmallVector<Operation *> wave = analysis::waveFrom(&op);
    if (wave.size() > 1) {
      emitWave(wave);
      done = wave.back();
    } else if (auto group = dyn_cast<tk::FusionOp>(op)) {
      emitGroup(group);
    } else {
      emitLibraryCall(&op);
    }
    if (observed)
      llvm::for_each(wave, [&](Operation *member) { observe(member); });
  }
}

void HostProgram::observe(Operation *op) {
  // Operands still have their bytes: their lives and those of the results overlap at this step.
  ObservedStep step;
  step.op = op;
  for (Value operand : op->getOperands())
    if (!viewedValue(operand).getDefiningOp<tk::ConstantOp>())
      step.values.push_back(operand);
  step.values.append(op->result_begin(), op->result_end());
  SmallVector<Value> addresses;
  for (Value value : step.values)
    addresses.push_back(addressOf(value));
  if (!target.lookupSymbol(observerSymbol)) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(target.getBody());
    b.create<LLVM::GlobalOp>(loc, b.getI8Type(), /*isConstant=*/false, LLVM::Linkage::External,
                             observerSymbol, Attribute());
  }
  declare(observeSymbol, LLVM::LLVMVoidType::get(b.getContext()), {pointer(), b.getI64Type(), pointer()});
  Value observer = b.create<LLVM::AddressOfOp>(loc, pointer(), observerSymbol);
  auto number = static_cast<int64_t>(observed->size());
  b.create<LLVM::CallOp>(loc, TypeRange{}, observeSymbol,
                         ValueRange{observer, constant(number), wordTable(addresses)});
  observed->push_back(std::move(step));
}

Value HostProgram::wordTable(ArrayRef<Value> words) {
  Value table = slots(static_cast<int64_t>(words.size()), 8);
  for (auto [i, word] : llvm::enumerate(words)) {
    Value slot = b.create<LLVM::GEPOp>(loc, pointer(), pointer(), table,
                                       ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(i)});
    b.create<LLVM::StoreOp>(loc, word, slot);
  }
  return table;
}

Value HostProgram::buffersOf(tk::FusionOp group) {
  const EmittedKernel &kernel = *kernels.lookup(group);
  SmallVector<Value> buffers;
  for (auto [i, input] : llvm::enumerate(group.getInputs())) {
    auto value = viewedValue(input).getDefiningOp<tk::ConstantOp>();
    if (!kernel.packing[i]) {
      buffers.push_back(addressOf(input));
      continue;
    }
    assert(value && "only constants are packed");
    Tensor plain = Tensor::fromAttr(value.getValue()).reshaped(tk::tensorType(input).getShape());
    buffers.push_back(addressIn({Place::Kind::Weights, weights.add(kernel.packing[i](plain))}));
  }
  for (const Tensor &tensor : kernel.constants)
    buffers.push_back(addressIn({Place::Kind::Weights, weights.add(tensor)}));
  for (Value result : group.getResults())
    buffers.push_back(addressOf(result));
  if (kernel.reportsIndices)
    buffers.push_back(faultOf(group));
  return wordTable(buffers);
}

void HostProgram::declareKernel(const EmittedKernel &kernel) {
  declare(kernel.symbol, LLVM::LLVMVoidType::get(b.getContext()),
          {pointer(), b.getI64Type(), b.getI64Type(), pointer()});
}

void HostProgram::emitGroup(tk::FusionOp group) {
  const EmittedKernel &kernel = *kernels.lookup(group);
  if (kernel.tasks == 0)
    return;
  Value table = buffersOf(group);
  declareKernel(kernel);
  if (kernel.parallel) {
    declare("tk_parallel_for", LLVM::LLVMVoidType::get(b.getContext()),
            {pointer(), pointer(), pointer(), b.getI64Type()});
    Value address = b.create<LLVM::AddressOfOp>(loc, pointer(), kernel.symbol);
    b.create<LLVM::CallOp>(loc, TypeRange{}, "tk_parallel_for",
                           ValueRange{context, address, table, constant(kernel.tasks)});
  } else {
    b.create<LLVM::CallOp>(loc, TypeRange{}, kernel.symbol,
                           ValueRange{table, constant(0), constant(kernel.tasks), scratch});
  }
  collectKernelFaults();
}

void HostProgram::emitWave(ArrayRef<Operation *> groups) {
  SmallVector<Value> words; // TkWaveKernel { kernel, buffers, tasks, pieces } each
  for (Operation *group : groups) {
    const EmittedKernel &kernel = *kernels.lookup(group);
    if (kernel.tasks == 0)
      continue;
    declareKernel(kernel);
    words.append({b.create<LLVM::AddressOfOp>(loc, pointer(), kernel.symbol),
                  buffersOf(cast<tk::FusionOp>(group)), constant(kernel.tasks),
                  constant(kernel.parallel ? kernel.tasks : 1)});
  }
  declare("tk_parallel_wave", LLVM::LLVMVoidType::get(b.getContext()),
          {pointer(), pointer(), b.getI64Type()});
  const auto count = static_cast<int64_t>(words.size() / 4);
  b.create<LLVM::CallOp>(loc, TypeRange{}, "tk_parallel_wave",
                         ValueRange{context, wordTable(words), constant(count)});
  collectKernelFaults();
}

/// An array of TkBuffer { data, dtype, rank, dims }.
Value HostProgram::descriptors(ValueRange tensors) {
  constexpr int64_t words = 3; // 24 bytes a descriptor
  Value table = slots(words * static_cast<int64_t>(tensors.size()), 8);
  for (auto [i, tensor] : llvm::enumerate(tensors)) {
    auto type = tk::tensorType(tensor);
    Value base = offset(table, static_cast<int64_t>(i) * words * 8);
    b.create<LLVM::StoreOp>(loc, addressOf(tensor), base);
    b.create<LLVM::StoreOp>(loc, constant(static_cast<int64_t>(*fromMlir(type.getElementType())), 32),
                            offset(base, 8));
    b.create<LLVM::StoreOp>(loc, constant(type.getRank(), 32), offset(base, 12));
    b.create<LLVM::StoreOp>(loc, globalInts(type.getShape()), offset(base, 16));
  }
  return table;
}

void HostProgram::emitLibraryCall(Operation *op) {
  auto call = cast<tk::LibraryCallInterface>(op);
  SmallVector<int64_t> ints;
  SmallVector<double> floats;
  call.getLibraryParameters(ints, floats);
  std::string symbol = call.getLibrarySymbol().str();
  declare(symbol, b.getI32Type(), {pointer(), pointer(), pointer(), pointer(), pointer()});
  Value ins = descriptors(op->getOperands()), outs = descriptors(op->getResults());
  Value code = b.create<LLVM::CallOp>(loc, TypeRange{b.getI32Type()}, symbol,
                                      ValueRange{context, ins, outs, globalInts(ints), globalDoubles(floats)})
                   .getResult();
  collectFault(code, tk::onnxNodes(op->getLoc()));
}

void HostProgram::emitIf(tk::IfOp op) {
  Value flag = b.create<LLVM::LoadOp>(loc, b.getI8Type(), addressOf(op.getCondition()));
  Value isTrue = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ne, flag, constant(0, 8));
  auto branch = b.create<scf::IfOp>(loc, isTrue, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  auto emitBranch = [&](Block *into, Region &region) {
    b.setInsertionPointToStart(into);
    emitBlock(region.front());
    for (auto [result, value] : llvm::zip(op.getResults(), region.front().getTerminator()->getOperands()))
      copy(addressOf(result), addressOf(value), result);
  };
  emitBranch(branch.thenBlock(), op.getThenRegion());
  emitBranch(branch.elseBlock(), op.getElseRegion());
}

void HostProgram::emitLoop(tk::LoopOp op) {
  Block &body = op.getBody().front();
  Operation *yield = body.getTerminator();
  size_t carried = op.getCarried().size();
  Type i64 = b.getI64Type();
  for (size_t i = 0; i < carried; ++i)
    copy(addressOf(op.getResult(static_cast<unsigned>(i))), addressOf(op.getCarried()[i]),
         op.getCarried()[i]);
  Value counter = slots(1, 8);
  b.create<LLVM::StoreOp>(loc, constant(0), counter);
  Value conditionSlot = addressOf(body.getArgument(1));
  if (op.getCondition())
    copy(conditionSlot, addressOf(op.getCondition()), op.getCondition());
  else
    b.create<LLVM::StoreOp>(loc, constant(1, 8), conditionSlot);

  auto loop = b.create<scf::WhileOp>(loc, TypeRange{}, ValueRange{});
  OpBuilder::InsertionGuard guard(b);
  b.createBlock(&loop.getBefore());
  Value iteration = b.create<LLVM::LoadOp>(loc, i64, counter);
  Value flag = b.create<LLVM::LoadOp>(loc, b.getI8Type(), conditionSlot);
  Value goesOn = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ne, flag, constant(0, 8));
  auto limit = [&](Value most) {
    Value below = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, iteration, most);
    goesOn = b.create<arith::AndIOp>(loc, goesOn, below);
  };
  if (Value most = op.getTripLimit()) {
    bool isWide = tk::tensorType(most).getElementType().isInteger(64);
    Value value = b.create<LLVM::LoadOp>(loc, isWide ? Type(i64) : b.getI32Type(), addressOf(most));
    limit(isWide ? value : b.create<arith::ExtSIOp>(loc, i64, value));
  }
  if (op->getNumResults() > carried) // scan outputs have room for so many rows
    limit(constant(op.getScanTrips()));
  b.create<scf::ConditionOp>(loc, goesOn, ValueRange{});

  b.createBlock(&loop.getAfter());
  iteration = b.create<LLVM::LoadOp>(loc, i64, counter);
  b.create<LLVM::StoreOp>(loc, iteration, addressOf(body.getArgument(0)));
  emitBlock(body);
  for (size_t i = carried; i < op->getNumResults(); ++i) {
    Value row = yield->getOperand(static_cast<unsigned>(1 + i));
    Value bytes = b.create<arith::MulIOp>(loc, iteration, constant(byteCount(row)));
    Value to = b.create<LLVM::GEPOp>(loc, pointer(), b.getI8Type(),
                                     addressOf(op.getResult(static_cast<unsigned>(i))),
                                     ArrayRef<LLVM::GEPArg>{bytes});
    copy(to, addressOf(row), row);
  }
  // A carried value that becomes another's next value is set aside before it is overwritten.
  for (size_t i = 0; i < carried; ++i)
    if (auto aside = plan.stagingOf(op, i))
      copy(offset(arena, *aside), addressOf(yield->getOperand(static_cast<unsigned>(1 + i))),
           op.getCarried()[i]);
  // The condition as well may be what a carried value was.
  copy(conditionSlot, addressOf(yield->getOperand(0)), yield->getOperand(0));
  for (size_t i = 0; i < carried; ++i) {
    Value next = yield->getOperand(static_cast<unsigned>(1 + i));
    if (viewedValue(next) == body.getArgument(static_cast<unsigned>(2 + i)))
      continue;
    auto aside = plan.stagingOf(op, i);
    copy(addressOf(op.getResult(static_cast<unsigned>(i))), aside ? offset(arena, *aside) : addressOf(next),
         next);
  }
  Value next = b.create<arith::AddIOp>(loc, iteration, constant(1));
  b.create<LLVM::StoreOp>(loc, next, counter);
  b.create<scf::YieldOp>(loc);
}

} // namespace tokamak::codegen
