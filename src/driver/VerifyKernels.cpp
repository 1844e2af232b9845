//===- VerifyKernels.cpp - each kernel of a running program against the evaluator --------------===//
#include "driver/VerifyKernels.h"
#include "driver/Diagnostics.h"
#include "driver/VerifyFiltering.h"
#include "reference/Evaluate.h"
#include <chrono>
#include <cstring>

namespace tokamak::driver {

namespace {

/// The row-major tensor of a value that lies at `data` in `layout`.
Tensor fetch(const void *data, mlir::Value value, const codegen::Layout &layout) {
  Tensor tensor(tk::tensorType(value));
  if (tensor.size() == 0)
    return tensor;
  const auto *from = static_cast<const std::byte *>(data);
  std::byte *to = tensor.mutableBytes();
  if (!layout.isBlocked()) {
    std::memcpy(to, from, tensor.byteCount());
    return tensor;
  }
  size_t size = byteSize(tensor.type());
  int64_t channels = tensor.shape()[1], spatial = 1;
  for (int64_t extent : tensor.shape().drop_front(2))
    spatial *= extent;
  int64_t image =
      layout.pitch ? layout.pitch : (channels + layout.block - 1) / layout.block * layout.block * spatial;
  for (int64_t n = 0; n < tensor.shape()[0]; ++n)
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t s = 0; s < spatial; ++s) {
        int64_t at = n * image + (c / layout.block * spatial + s) * layout.block + c % layout.block;
        std::memcpy(to, from + static_cast<size_t>(at) * size, size);
        to += size;
      }
  return tensor;
}

/// Of a constant, or a reshaped one.
Tensor constantTensor(mlir::Value value) {
  mlir::Value viewed = value;
  while (auto reshape = viewed.getDefiningOp<tk::ReshapeOp>())
    viewed = reshape.getInput();
  return tk::constantValue(viewed)->reshaped(tk::tensorType(value).getShape());
}

} // namespace

KernelCheck::KernelCheck(std::vector<codegen::ObservedStep> observed,
                         llvm::ArrayRef<codegen::ProgramStep> steps, ToleranceOf toleranceOf,
                         std::function<void(size_t, size_t)> onProgress)
    : observed(std::move(observed)), toleranceOf(std::move(toleranceOf)), onProgress(std::move(onProgress)) {
  for (const codegen::ObservedStep &step : this->observed)
    results.push_back({steps[step.step], describeLocation(step.op->getLoc()), 0, {}});
}

std::vector<std::pair<std::string, void *>> KernelCheck::symbols() {
  codegen::ObserveFn function = observe;
  return {{codegen::observeSymbol, reinterpret_cast<void *>(function)}, {codegen::observerSymbol, this}};
}

void KernelCheck::observe(void *self, int64_t number, const void *const *values) {
  static_cast<KernelCheck *>(self)->check(static_cast<size_t>(number), values);
}

std::optional<llvm::SmallVector<Tensor>>
KernelCheck::evaluate(mlir::Operation *op, llvm::ArrayRef<Tensor> operands, reference::Revise revise) {
  auto start = std::chrono::steady_clock::now();
  DiagnosticCollector diagnostics(op->getContext());
  auto values = revise ? reference::evaluateRevised(op, operands, revise) : reference::evaluate(op, operands);
  seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (mlir::succeeded(values))
    return std::make_optional(std::move(*values));
  fault = diagnostics.firstError("the evaluator failed");
  return std::nullopt;
}

void KernelCheck::check(size_t number, const void *const *values) {
  const codegen::ObservedStep &step = observed[number];
  VerifiedKernel &result = results[number];
  if (!fault.empty())
    return;
  if (onProgress)
    onProgress(number, observed.size());
  llvm::SmallVector<Tensor> operands;
  size_t next = 0;
  auto fetchNext = [&] {
    Tensor tensor = fetch(values[next], step.values[next], step.layouts[next]);
    ++next;
    return tensor;
  };
  for (mlir::Value operand : step.op->getOperands())
    operands.push_back(step.values[next] == operand ? fetchNext() : constantTensor(operand));
  auto expected = evaluate(step.op, operands);
  if (!expected)
    return;
  ++result.runs;

  // Not for each of many broken kernels.
  constexpr int64_t mostMovedKernels = 40;
  std::vector<std::optional<llvm::SmallVector<Tensor>>> movedResults;
  std::optional<std::vector<Latitude>> latitudes;
  for (auto [i, reference] : llvm::enumerate(*expected)) {
    auto perturbed = [&, i = i](int round) -> std::optional<Tensor> {
      if (round == 0 && movedResults.empty())
        ++movedKernels;
      if (round >= mostMoves || movedKernels > mostMovedKernels)
        return std::nullopt;
      if (static_cast<size_t>(round) == movedResults.size()) {
        llvm::SmallVector<Tensor> others;
        for (const Tensor &operand : operands)
          others.push_back(moved(operand, static_cast<uint64_t>(round) * operands.size() + others.size()));
        movedResults.push_back(evaluate(step.op, others));
      }
      const auto &other = movedResults[static_cast<size_t>(round)];
      return other ? std::optional((*other)[i]) : std::nullopt;
    };
    // Results follow a filtered convolution's element by element, so errors all up and all down bound them.
    auto latitude = [&, i = i]() -> std::optional<Latitude> {
      if (!latitudes)
        latitudes = arithmeticLatitude(*expected, 0,
                                       [&](auto revise) { return evaluate(step.op, operands, revise); });
      return latitudes->empty() ? std::nullopt : std::optional((*latitudes)[i]);
    };
    Tensor got = fetchNext();
    result.deviation.add(compare(got, reference, toleranceOf(reference.type()), perturbed, latitude));
  }
}

} // namespace tokamak::driver
