//===- Linear.cpp - matrix products, convolutions, windows ----------------------------------===//
// In double, or in wrapping 64-bit integers. Independent output planes and row blocks run in parallel.
#include "reference/Matrices.h"
#include "reference/Numbers.h"
#include "reference/Register.h"
#include "reference/Spatial.h"
#include "llvm/Support/Parallel.h"
#include <algorithm>

namespace tokamak::reference {
namespace {

/// Calls `compute` with a zero of the type that sums products: signed and unsigned integers wrap alike.
template <typename Compute>
auto inSumDomain(DataType type, Compute compute) {
  if (isFloat(type))
    return compute(double{});
  return compute(uint64_t{});
}

Result matMul(tk::MatMulOp op, Operands operands) {
  auto shape = tk::tensorType(op.getResult()).getShape();
  auto lhsShape = operands[0].shape();
  auto rhsShape = operands[1].shape();
  const int64_t m = shape.end()[-2];
  const int64_t n = shape.end()[-1];
  const int64_t depth = op.getTransposeLhs() ? lhsShape.end()[-2] : lhsShape.end()[-1];

  // Where the matrices of each product of the batch start.
  auto batch = shape.drop_back(2);
  std::vector<std::array<int64_t, 2>> starts;
  walk<2>(
      batch, {0, 0},
      {broadcastStrides(lhsShape.drop_back(2), batch), broadcastStrides(rhsShape.drop_back(2), batch)},
      [&](const std::array<int64_t, 2> &at) { starts.push_back({at[0] * m * depth, at[1] * depth * n}); });

  // A block of rows goes through the right matrix together, so that it is read from memory once a block.
  constexpr int64_t rowsPerBlock = 16;
  const int64_t blocks = (m + rowsPerBlock - 1) / rowsPerBlock;
  return inSumDomain(operands[0].type(), [&](auto zero) {
    using T = decltype(zero);
    const std::vector<T> lhs = loadMatrices<T>(operands[0], op.getTransposeLhs());
    const std::vector<T> rhs = loadMatrices<T>(operands[1], op.getTransposeRhs());
    std::vector<T> sums(static_cast<size_t>(product(shape)), T{0});
    llvm::parallelFor(0, starts.size() * static_cast<size_t>(blocks), [&](size_t task) {
      const auto b = static_cast<int64_t>(task) / blocks;
      const int64_t firstRow = static_cast<int64_t>(task) % blocks * rowsPerBlock;
      const int64_t rows = std::min(rowsPerBlock, m - firstRow);
      for (int64_t k = 0; k < depth; ++k) {
        const T *right = rhs.data() + starts[b][1] + k * n;
        for (int64_t row = firstRow; row < firstRow + rows; ++row) {
          const T left = lhs[starts[b][0] + row * depth + k];
          T *sum = sums.data() + (b * m + row) * n;
          for (int64_t j = 0; j < n; ++j)
            sum[j] += left * right[j];
        }
      }
    });
    return Tensors{store(operands[0].type(), shape, sums)};
  });
}

Result conv(tk::ConvOp op, Operands operands) {
  const Tensor &x = operands[0];
  const Tensor &w = operands[1];
  auto shape = tk::tensorType(op.getResult()).getShape();
  const int64_t outChannels = shape[1];
  const int64_t groupIn = w.shape()[1];
  const int64_t groupOut = outChannels / static_cast<int64_t>(op.getGroup());
  const int64_t inPlane = product(x.shape().drop_front(2));
  const int64_t outPlane = product(shape.drop_front(2));
  const SpatialRuns runs = spatialRuns(x.shape().drop_front(2), shape.drop_front(2), w.shape().drop_front(2),
                                       op.getStrides(), op.getDilations(), op.getPadsLow());
  return inSumDomain(x.type(), [&](auto zero) {
    using T = decltype(zero);
    const std::vector<T> inputs = load<T>(x);
    const std::vector<T> weights = load<T>(w);
    const int64_t kernelSize = product(w.shape().drop_front(2));
    const std::vector<T> bias = op.getBias() ? load<T>(operands[2]) : std::vector<T>(outChannels, T{0});
    std::vector<T> sums(static_cast<size_t>(product(shape)));
    llvm::parallelFor(0, static_cast<size_t>(shape[0] * outChannels), [&](size_t task) {
      const int64_t n = static_cast<int64_t>(task) / outChannels;
      const int64_t channel = static_cast<int64_t>(task) % outChannels;
      T *sum = sums.data() + static_cast<int64_t>(task) * outPlane;
      std::fill_n(sum, outPlane, bias[channel]);
      for (int64_t c = 0; c < groupIn; ++c) {
        const T *plane = inputs.data() + (n * x.shape()[1] + channel / groupOut * groupIn + c) * inPlane;
        const T *weight = weights.data() + (channel * groupIn + c) * kernelSize;
        for (const KernelTap &tap : runs.taps) {
          const T factor = weight[tap.index];
          for (const Run &run : tap.runs)
            for (int64_t i = 0; i < run.count; ++i)
              sum[run.out + i] += factor * plane[run.in + i * runs.step];
        }
      }
    });
    return Tensors{store(x.type(), shape, sums)};
  });
}

Result convTranspose(tk::ConvTransposeOp op, Operands operands) {
  const Tensor &x = operands[0];
  const Tensor &w = operands[1];
  auto shape = tk::tensorType(op.getResult()).getShape();
  const int64_t inChannels = x.shape()[1];
  const int64_t outChannels = shape[1];
  const int64_t groupIn = inChannels / static_cast<int64_t>(op.getGroup());
  const int64_t groupOut = w.shape()[1];
  const int64_t inPlane = product(x.shape().drop_front(2));
  const int64_t outPlane = product(shape.drop_front(2));
  // The convolution of which this is the gradient reads the result here and writes the input.
  const SpatialRuns runs = spatialRuns(shape.drop_front(2), x.shape().drop_front(2), w.shape().drop_front(2),
                                       op.getStrides(), op.getDilations(), op.getPadsLow());
  const int64_t kernelSize = product(w.shape().drop_front(2));
  const std::vector<double> inputs = load<double>(x);
  const std::vector<double> weights = load<double>(w);
  const std::vector<double> bias =
      op.getBias() ? load<double>(operands[2]) : std::vector<double>(outChannels, 0.0);
  std::vector<double> sums(static_cast<size_t>(product(shape)));
  llvm::parallelFor(0, static_cast<size_t>(shape[0] * outChannels), [&](size_t task) {
    const int64_t n = static_cast<int64_t>(task) / outChannels;
    const int64_t channel = static_cast<int64_t>(task) % outChannels;
    const int64_t group = channel / groupOut;
    double *sum = sums.data() + static_cast<int64_t>(task) * outPlane;
    std::fill_n(sum, outPlane, bias[channel]);
    for (int64_t c = group * groupIn; c < (group + 1) * groupIn; ++c) {
      const double *plane = inputs.data() + (n * inChannels + c) * inPlane;
      const double *weight = weights.data() + (c * groupOut + channel % groupOut) * kernelSize;
      for (const KernelTap &tap : runs.taps) {
        const double factor = weight[tap.index];
        for (const Run &run : tap.runs)
          for (int64_t i = 0; i < run.count; ++i)
            sum[run.in + i * runs.step] += factor * plane[run.out + i];
      }
    }
  });
  return Tensors{store(x.type(), shape, sums)};
}

Result window(tk::WindowOp op, Operands operands) {
  const Tensor &x = operands[0];
  auto shape = tk::tensorType(op.getResult()).getShape();
  const int64_t inPlane = product(x.shape().drop_front(2));
  const int64_t outPlane = product(shape.drop_front(2));
  const SpatialRuns runs = spatialRuns(x.shape().drop_front(2), shape.drop_front(2), op.getKernel(),
                                       op.getStrides(), op.getDilations(), op.getPadsLow());
  return inDomain(x.type(), [&](auto zero) {
    using T = decltype(zero);
    const std::vector<T> inputs = load<T>(x);
    std::vector<T> results(static_cast<size_t>(product(shape)), identity<T>(op.getKind(), x.type()));
    llvm::parallelFor(0, static_cast<size_t>(shape[0] * shape[1]), [&](size_t task) {
      const T *plane = inputs.data() + static_cast<int64_t>(task) * inPlane;
      T *result = results.data() + static_cast<int64_t>(task) * outPlane;
      for (const KernelTap &tap : runs.taps)
        for (const Run &run : tap.runs)
          for (int64_t i = 0; i < run.count; ++i)
            result[run.out + i] = combine(op.getKind(), result[run.out + i], plane[run.in + i * runs.step]);
    });
    return Tensors{store(x.type(), shape, results)};
  });
}

} // namespace

void attachLinear(mlir::MLIRContext *context) {
  attach<tk::MatMulOp, matMul>(context);
  attach<tk::ConvOp, conv>(context);
  attach<tk::ConvTransposeOp, convTranspose>(context);
  attach<tk::WindowOp, window>(context);
}

} // namespace tokamak::reference
