//===- PartialSums.cpp - what is rounded while terms are added up --------------------------------------===//
#include "driver/PartialSums.h"
#include "ir/Tk.h"
#include "reference/Matrices.h"
#include "reference/Scatter.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/Parallel.h"
#include <cmath>

using namespace mlir;

namespace tokamak::driver {

namespace {

using Magnitudes = std::vector<double>;

/// Running sums, and what the magnitudes of all partial ones add up to.
struct RunningSums {
  explicit RunningSums(size_t count) : sums(count), magnitudes(count) {}
  void add(size_t at, double term) { magnitudes[at] += std::abs(sums[at] += term); }
  std::vector<double> sums;
  Magnitudes magnitudes;
};

constexpr int64_t lanes = 16;

/// Of each element the larger of what one sum and what one a lane make of it.
Magnitudes largerOf(llvm::function_ref<Magnitudes(int64_t groups)> inGroups) {
  Magnitudes all = inGroups(1);
  for (auto [one, other] : llvm::zip_equal(all, inGroups(lanes)))
    one = std::max(one, other);
  return all;
}

Magnitudes ofReduction(tk::ReduceOp op, llvm::ArrayRef<Tensor> operands) {
  if (op.getKind() != tk::ReduceKind::Sum)
    return {};
  const Tensor &input = operands[0];
  const auto results = static_cast<size_t>(tk::tensorType(op.getResult()).getNumElements());
  llvm::SmallVector<int64_t> kept(input.shape());
  for (int64_t axis : op.getAxes())
    kept[static_cast<size_t>(axis)] = 1;
  const reference::Strides strides = reference::broadcastStrides(kept, input.shape());
  const std::vector<double> terms = reference::load<double>(input);
  auto inGroups = [&](int64_t groups) {
    RunningSums parts(results * static_cast<size_t>(groups)), whole(results);
    std::vector<int64_t> met(results);
    size_t term = 0;
    reference::walk<1>(input.shape(), {0}, {strides}, [&](const std::array<int64_t, 1> &at) {
      const auto result = static_cast<size_t>(at[0]);
      parts.add(result * groups + met[result]++ % groups, terms[term++]);
    });
    if (groups == 1)
      return parts.magnitudes;
    for (size_t part = 0; part < parts.sums.size(); ++part) {
      const size_t result = part / static_cast<size_t>(groups);
      whole.add(result, parts.sums[part]);
      whole.magnitudes[result] += parts.magnitudes[part];
    }
    return whole.magnitudes;
  };
  // The sums of many short rows would take more memory than the rows.
  return terms.size() < 2 * lanes * results ? inGroups(1) : largerOf(inGroups);
}

Magnitudes ofProduct(tk::MatMulOp op, llvm::ArrayRef<Tensor> operands) {
  auto shape = tk::tensorType(op.getResult()).getShape();
  auto lhsShape = operands[0].shape(), rhsShape = operands[1].shape();
  const int64_t m = shape.end()[-2], n = shape.end()[-1],
                depth = op.getTransposeLhs() ? lhsShape.end()[-2] : lhsShape.end()[-1];
  const std::vector<double> lhs = reference::loadMatrices<double>(operands[0], op.getTransposeLhs()),
                            rhs = reference::loadMatrices<double>(operands[1], op.getTransposeRhs());
  auto batch = shape.drop_back(2);
  std::vector<std::array<int64_t, 2>> starts;
  reference::walk<2>(
      batch, {0, 0},
      {reference::broadcastStrides(lhsShape.drop_back(2), batch),
       reference::broadcastStrides(rhsShape.drop_back(2), batch)},
      [&](const std::array<int64_t, 2> &at) { starts.push_back({at[0] * m * depth, at[1] * depth * n}); });
  return largerOf([&](int64_t groups) {
    Magnitudes magnitudes(static_cast<size_t>(reference::product(shape)));
    llvm::parallelFor(0, starts.size() * static_cast<size_t>(m), [&](size_t row) {
      const auto [left, right] = starts[row / static_cast<size_t>(m)];
      const double *factors = lhs.data() + left + static_cast<int64_t>(row) % m * depth;
      double *of = magnitudes.data() + static_cast<int64_t>(row) * n;
      std::vector<double> part(static_cast<size_t>(n)), whole(part.size());
      for (int64_t group = 0; group < std::min(groups, depth); ++group) {
        std::fill(part.begin(), part.end(), 0);
        for (int64_t k = group; k < depth; k += groups)
          for (int64_t j = 0; j < n; ++j)
            of[j] += std::abs(part[j] += factors[k] * rhs[right + k * n + j]);
        if (groups > 1)
          for (int64_t j = 0; j < n; ++j)
            of[j] += std::abs(whole[j] += part[j]);
      }
    });
    return magnitudes;
  });
}

/// One running sum, of which all partial ones are results.
Magnitudes ofRunningSum(tk::CumSumOp op, llvm::ArrayRef<Tensor> operands) {
  const reference::AxisView view =
      reference::aroundAxis(operands[0].shape(), static_cast<int64_t>(op.getAxis()));
  const std::vector<double> terms = reference::load<double>(operands[0]);
  Magnitudes magnitudes(terms.size());
  for (int64_t row = 0; row < view.outer * view.inner; ++row) {
    RunningSums running(1);
    for (int64_t k = 0; k < view.extent; ++k) {
      const int64_t position = op.getReverse() ? view.extent - 1 - k : k;
      const auto at =
          static_cast<size_t>((row / view.inner * view.extent + position) * view.inner + row % view.inner);
      const double before = running.magnitudes[0];
      running.add(0, terms[at]);
      magnitudes[at] = op.getExclusive() ? before : running.magnitudes[0];
    }
  }
  return magnitudes;
}

/// Updates apply in order; of an element that none goes to, nothing is rounded.
template <typename Scatter>
Magnitudes ofUpdates(Scatter op, llvm::ArrayRef<Tensor> operands) {
  auto targets = reference::scatterTargets(op, operands[0].shape(), operands[1]);
  if (op.getReduction() != tk::ScatterReduction::Add || failed(targets))
    return {};
  const std::vector<double> updates = reference::load<double>(operands[2]);
  RunningSums running(static_cast<size_t>(operands[0].size()));
  running.sums = reference::load<double>(operands[0]);
  size_t update = 0;
  for (int64_t offset : targets->offsets)
    for (int64_t k = 0; k < targets->block; ++k)
      running.add(static_cast<size_t>(offset + k), updates[update++]);
  return running.magnitudes;
}

} // namespace

std::vector<double> partialSums(Operation *op, llvm::ArrayRef<Tensor> operands) {
  return llvm::TypeSwitch<Operation *, Magnitudes>(op)
      .Case([&](tk::ReduceOp sum) { return ofReduction(sum, operands); })
      .Case([&](tk::MatMulOp product) { return ofProduct(product, operands); })
      .Case([&](tk::CumSumOp sum) { return ofRunningSum(sum, operands); })
      .Case<tk::ScatterElementsOp, tk::ScatterNDOp>(
          [&](auto scatter) { return ofUpdates(scatter, operands); })
      .Default([](Operation *) { return Magnitudes(); });
}

} // namespace tokamak::driver
