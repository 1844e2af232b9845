//===- KernelMemory.cpp - where a kernel's arguments and results lie --------------------------------===//
#include "codegen/kernel/KernelContext.h"

namespace tokamak::codegen {

using namespace mlir;

static Buffer bufferOf(RankedTensorType type, const Layout &layout) {
  return Buffer{{}, *fromMlir(type.getElementType()), SmallVector<int64_t>(type.getShape()), layout};
}

void KernelMemory::addArgument(Value argument, const Layout &layout, bool isConstant) {
  arguments.push_back(bufferOf(tk::tensorType(argument), layout));
  arguments.back().isConstant = isConstant;
  constantArgument.push_back(isConstant);
}

void KernelMemory::addOutput(Value result, Type stored, const Layout &layout) {
  auto type = tk::tensorType(result), outside = cast<RankedTensorType>(stored);
  if (type == outside) {
    outputs.push_back(bufferOf(type, layout));
    return;
  }
  Buffer buffer = bufferOf(type, Layout());
  if (layout.isBlocked())
    buffer.position = [whole = bufferOf(outside, layout), shape = buffer.shape](IndexSpace &space,
                                                                                ArrayRef<Index> index) {
      return positionIn(whole, space, delinearize(space, linearize(space, index, shape), whole.shape));
    };
  outputs.push_back(std::move(buffer));
}

Layout blockedWherePossible(Value tensor, int64_t lanes) {
  auto type = tk::tensorType(tensor);
  bool canBe = type.getRank() >= 3 && type.getElementType().isF32() && type.getDimSize(1) * 2 >= lanes;
  return canBe ? Layout{lanes} : Layout();
}

} // namespace tokamak::codegen
