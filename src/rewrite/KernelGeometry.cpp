//===- KernelGeometry.cpp - centred kernels ------------------------------------------------------===//
#include "rewrite/KernelGeometry.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace tokamak;

llvm::ArrayRef<int64_t> rewrite::kernelOf(Value weight) {
  return tk::tensorType(weight).getShape().drop_front(2);
}

bool rewrite::isCentred(tk::ConvOp conv) {
  for (auto [kernel, stride, dilation, low, high] :
       llvm::zip_equal(kernelOf(conv.getWeight()), conv.getStrides(), conv.getDilations(), conv.getPadsLow(),
                       conv.getPadsHigh()))
    if (kernel % 2 == 0 || stride != 1 || low != kernel / 2 * dilation || high != low)
      return false;
  return true;
}

Value rewrite::embedKernel(OpBuilder &builder, Location loc, Value weight, llvm::ArrayRef<int64_t> kernel) {
  for (size_t i = 0; i < kernel.size(); ++i) {
    const int64_t around = (kernel[i] - kernelOf(weight)[i]) / 2;
    if (around == 0)
      continue;
    llvm::SmallVector<int64_t> shape(tk::tensorType(weight).getShape());
    shape[i + 2] = around;
    // Not a pad, which fold-constants leaves alone where the result is much larger.
    Value zeros = splat(builder, loc, tk::tensorType(weight).clone(shape), 0);
    weight = concatenate(builder, loc, {zeros, weight, zeros}, static_cast<int64_t>(i) + 2);
  }
  return weight;
}
