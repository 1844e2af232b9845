//===- Library.cpp - cumulative sum, top-k, pooling with indices, determinant --------------===//
#include "reference/Elements.h"
#include "reference/Numbers.h"
#include "reference/Register.h"
#include "reference/Spatial.h"
#include <algorithm>
#include <numeric>

namespace tokamak::reference {
namespace {

Result cumSum(tk::CumSumOp op, Operands operands) {
  const Tensor &input = operands[0];
  const AxisView view = aroundAxis(input.shape(), static_cast<int64_t>(op.getAxis()));
  return inDomain(input.type(), [&](auto zero) {
    using T = decltype(zero);
    std::vector<T> values = load<T>(input);
    for (int64_t outer = 0; outer < view.outer; ++outer)
      for (int64_t inner = 0; inner < view.inner; ++inner) {
        T sum{0};
        for (int64_t k = 0; k < view.extent; ++k) {
          const int64_t position = op.getReverse() ? view.extent - 1 - k : k;
          T &value = values[(outer * view.extent + position) * view.inner + inner];
          const T next = add(sum, value);
          value = op.getExclusive() ? sum : next;
          sum = next;
        }
      }
    return Tensors{store(input.type(), input.shape(), values)};
  });
}

/// Always sorted: that is one of the orders in which an unsorted result may come.
Result topK(tk::TopKOp op, Operands operands) {
  const Tensor &input = operands[0];
  const AxisView view = aroundAxis(input.shape(), static_cast<int64_t>(op.getAxis()));
  const auto k = static_cast<int64_t>(op.getK());
  Tensor indices(tk::tensorType(op.getIndices()));
  return inDomain(input.type(), [&](auto zero) {
    using T = decltype(zero);
    const std::vector<T> values = load<T>(input);
    std::vector<T> top(static_cast<size_t>(indices.size()));
    std::vector<int64_t> order(static_cast<size_t>(view.extent));
    for (int64_t outer = 0; outer < view.outer; ++outer)
      for (int64_t inner = 0; inner < view.inner; ++inner) {
        const T *row = values.data() + outer * view.extent * view.inner + inner;
        std::iota(order.begin(), order.end(), 0);
        std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
          const T left = row[a * view.inner];
          const T right = row[b * view.inner];
          if (orderedLess(left, right) || orderedLess(right, left))
            return orderedLess(left, right) != op.getLargest();
          return a < b;
        });
        for (int64_t i = 0; i < k; ++i) {
          const int64_t at = (outer * k + i) * view.inner + inner;
          top[at] = row[order[i] * view.inner];
          indices.setInt(at, order[i]);
        }
      }
    return Tensors{store(input.type(), indices.shape(), top), indices};
  });
}

/// Where row-major `offset` of a plane lies when the plane's first axis counts fastest.
int64_t columnMajor(llvm::ArrayRef<int64_t> extents, int64_t offset) {
  int64_t position = 0;
  for (size_t axis = extents.size(); axis-- > 0;) {
    position += offset % extents[axis] * product(extents.take_front(axis));
    offset /= extents[axis];
  }
  return position;
}

/// Of equal elements the first in window order counts, NaN above all. A window that lies in padding alone has
/// the lowest value and index -1.
Result maxPoolIndices(tk::MaxPoolIndicesOp op, Operands operands) {
  const Tensor &x = operands[0];
  auto extents = x.shape().drop_front(2);
  Tensor indices(tk::tensorType(op.getIndices()));
  auto shape = indices.shape();
  const int64_t inPlane = product(extents);
  const int64_t outPlane = product(shape.drop_front(2));
  const SpatialRuns runs = spatialRuns(extents, shape.drop_front(2), op.getKernel(), op.getStrides(),
                                       op.getDilations(), op.getPadsLow());
  return inDomain(x.type(), [&](auto zero) {
    using T = decltype(zero);
    const std::vector<T> inputs = load<T>(x);
    std::vector<T> results(static_cast<size_t>(indices.size()), identity<T>(tk::ReduceKind::Max, x.type()));
    for (int64_t task = 0; task < shape[0] * shape[1]; ++task) {
      const T *plane = inputs.data() + task * inPlane;
      std::vector<int64_t> best(static_cast<size_t>(outPlane), -1);
      for (const KernelTap &tap : runs.taps)
        for (const Run &run : tap.runs)
          for (int64_t i = 0; i < run.count; ++i) {
            int64_t &current = best[run.out + i];
            const int64_t candidate = run.in + i * runs.step;
            if (current < 0 || orderedLess(plane[current], plane[candidate]))
              current = candidate;
          }
      for (int64_t i = 0; i < outPlane; ++i) {
        const int64_t at = task * outPlane + i;
        if (best[i] >= 0)
          results[at] = plane[best[i]];
        const int64_t position =
            op.getColumnMajor() && best[i] >= 0 ? columnMajor(extents, best[i]) : best[i];
        indices.setInt(at, best[i] < 0 ? -1 : task * inPlane + position);
      }
    }
    return Tensors{store(x.type(), shape, results), indices};
  });
}

/// By elimination with row pivots; the matrix of no rows has determinant 1.
double determinant(std::vector<double> a, int64_t n) {
  double result = 1;
  for (int64_t k = 0; k < n; ++k) {
    int64_t pivot = k;
    for (int64_t row = k + 1; row < n; ++row)
      if (std::fabs(a[row * n + k]) > std::fabs(a[pivot * n + k]))
        pivot = row;
    if (pivot != k) {
      std::swap_ranges(a.begin() + k * n, a.begin() + (k + 1) * n, a.begin() + pivot * n);
      result = -result;
    }
    const double diagonal = a[k * n + k];
    result *= diagonal;
    if (diagonal == 0)
      return result;
    for (int64_t row = k + 1; row < n; ++row) {
      const double factor = a[row * n + k] / diagonal;
      for (int64_t column = k; column < n; ++column)
        a[row * n + column] -= factor * a[k * n + column];
    }
  }
  return result;
}

Result det(tk::DetOp op, Operands operands) {
  const Tensor &input = operands[0];
  auto shape = tk::tensorType(op.getResult()).getShape();
  const std::vector<double> values = load<double>(input);
  const int64_t n = input.shape().back();
  std::vector<double> results(static_cast<size_t>(product(shape)));
  for (size_t i = 0; i < results.size(); ++i) {
    auto matrix = values.begin() + static_cast<int64_t>(i) * n * n;
    results[i] = determinant({matrix, matrix + n * n}, n);
  }
  return Tensors{store(input.type(), shape, results)};
}

} // namespace

void attachLibrary(mlir::MLIRContext *context) {
  attach<tk::CumSumOp, cumSum>(context);
  attach<tk::TopKOp, topK>(context);
  attach<tk::MaxPoolIndicesOp, maxPoolIndices>(context);
  attach<tk::DetOp, det>(context);
}

} // namespace tokamak::reference
