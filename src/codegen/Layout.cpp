//===- Layout.cpp - how a value between kernels lies in memory ----------------------------===//
#include "codegen/Layout.h"
#include <cassert>

namespace tokamak::codegen {

llvm::SmallVector<int64_t> Layout::physicalShape(llvm::ArrayRef<int64_t> shape) const {
  llvm::SmallVector<int64_t> physical(shape);
  if (!isBlocked())
    return physical;
  assert(shape.size() >= 2 && "a blocked value has a channel axis");
  physical[1] = (shape[1] + block - 1) / block;
  physical.push_back(block);
  return physical;
}

int64_t Layout::physicalSize(llvm::ArrayRef<int64_t> shape) const {
  int64_t size = 1;
  for (int64_t extent : physicalShape(shape))
    size *= extent;
  return size;
}

} // namespace tokamak::codegen
