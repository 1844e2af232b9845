//===- HostFaults.cpp - what may go wrong in a run, and where -----------------------------------===//
#include "codegen/host/HostProgram.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "runtime/Library.h"

namespace tokamak::codegen {

using namespace mlir;

Value HostProgram::faultOf(tk::FusionOp group) {
  Value fault = slots(1, 4);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointAfterValue(fault);
  b.create<LLVM::StoreOp>(loc, constant(0, 32), fault);
  kernelFaults.push_back({group, fault});
  return fault;
}

void HostProgram::collectFault(Value code, ArrayRef<tk::OnnxNode> nodes) {
  std::string place;
  for (const tk::OnnxNode &node : nodes) {
    std::string name = ("'" + node.name + "' (" + node.opType + ")").str();
    if (place.find(name) == std::string::npos) // the parts of one node
      place += (place.empty() ? "node " : " or ") + name;
  }
  faultPlaces->push_back(place);
  Value isFault = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ne, code, constant(0, 32));
  Value placed = b.create<arith::OrIOp>(
      loc, code, constant(static_cast<int64_t>(faultPlaces->size()) << TK_FAULT_BITS, 32));
  Value before = b.create<LLVM::LoadOp>(loc, b.getI32Type(), status);
  Value isFirst = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, before, constant(0, 32));
  Value counts = b.create<arith::AndIOp>(loc, isFault, isFirst);
  b.create<LLVM::StoreOp>(loc, b.create<arith::SelectOp>(loc, counts, placed, before), status);
}

void HostProgram::collectKernelFaults() {
  static_assert(TK_INDEX_OUT_OF_RANGE == 1, "what a kernel sets is the code");
  for (auto [group, fault] : kernelFaults) {
    ArrayRef<size_t> reporting = kernels.lookup(group)->reporting;
    SmallVector<tk::OnnxNode> nodes;
    size_t place = 0;
    group.getBody().walk([&](Operation *op) {
      if (llvm::is_contained(reporting, place++))
        nodes.append(tk::onnxNodes(op->getLoc()));
    });
    collectFault(b.create<LLVM::LoadOp>(loc, b.getI32Type(), fault), nodes);
  }
  kernelFaults.clear();
}

} // namespace tokamak::codegen
