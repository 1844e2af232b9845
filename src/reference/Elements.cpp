//===- Elements.cpp - walks over tensor elements -----------------------------------------===//
#include "reference/Elements.h"
#include "llvm/Support/ErrorHandling.h"

namespace tokamak::reference {

int64_t product(llvm::ArrayRef<int64_t> extents) {
  int64_t n = 1;
  for (int64_t extent : extents)
    n *= extent;
  return n;
}

Strides rowMajorStrides(llvm::ArrayRef<int64_t> shape) {
  Strides strides(shape.size());
  int64_t stride = 1;
  for (size_t axis = shape.size(); axis-- > 0;) {
    strides[axis] = stride;
    stride *= shape[axis];
  }
  return strides;
}

Strides broadcastStrides(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> resultShape) {
  Strides own = rowMajorStrides(shape);
  Strides strides(resultShape.size(), 0);
  const size_t added = resultShape.size() - shape.size();
  for (size_t axis = 0; axis < shape.size(); ++axis)
    if (shape[axis] != 1)
      strides[added + axis] = own[axis];
  return strides;
}

AxisView aroundAxis(llvm::ArrayRef<int64_t> shape, int64_t axis) {
  const auto at = static_cast<size_t>(axis);
  return {product(shape.take_front(at)), shape[at], product(shape.drop_front(at + 1))};
}

namespace {
template <size_t Size>
void copySized(llvm::ArrayRef<int64_t> extents, Tensor &to, const StridedView &toView, const Tensor &from,
               const StridedView &fromView) {
  std::byte *target = to.mutableBytes();
  const std::byte *source = from.bytes();
  walk<2>(extents, {toView.offset, fromView.offset}, {toView.strides, fromView.strides},
          [&](const std::array<int64_t, 2> &at) {
            std::memcpy(target + at[0] * static_cast<int64_t>(Size),
                        source + at[1] * static_cast<int64_t>(Size), Size);
          });
}
} // namespace

void copyElements(llvm::ArrayRef<int64_t> extents, Tensor &to, const StridedView &toView, const Tensor &from,
                  const StridedView &fromView) {
  switch (byteSize(to.type())) {
  case 1:
    return copySized<1>(extents, to, toView, from, fromView);
  case 2:
    return copySized<2>(extents, to, toView, from, fromView);
  case 4:
    return copySized<4>(extents, to, toView, from, fromView);
  case 8:
    return copySized<8>(extents, to, toView, from, fromView);
  default:
    llvm_unreachable("elements have 1, 2, 4 or 8 bytes");
  }
}

} // namespace tokamak::reference
