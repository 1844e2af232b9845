//===- SumError.cpp - how far a long sum may be off ----------------------------------------------------===//
#include "driver/SumError.h"
#include "driver/PartialSums.h"
#include "ir/Tk.h"
#include "reference/Evaluate.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;

namespace tokamak::driver {

namespace {

/// How many terms a result element is the sum of, on average; 0 for operators that add up nothing, and for
/// those of which the partial sums are known.
double termsOf(Operation *op) {
  const auto elements = static_cast<double>(tk::tensorType(op->getResult(0)).getNumElements());
  auto additions = [&] {
    return static_cast<double>(llvm::cast<tk::TrafficInterface>(op).getFlops()) / std::max(elements, 1.0);
  };
  return llvm::TypeSwitch<Operation *, double>(op)
      .Case<tk::ConvOp, tk::ConvTransposeOp>([&](Operation *) { return additions() / 2; })
      .Case([&](tk::WindowOp window) { return window.getKind() == tk::ReduceKind::Sum ? additions() : 0.0; })
      .Default([](Operation *) { return 0.0; });
}

Tensor magnitudes(const Tensor &tensor) {
  Tensor result(tensor.type(), tensor.shape());
  for (int64_t i = 0; i < tensor.size(); ++i)
    result.setDouble(i, std::abs(tensor.doubleAt(i)));
  return result;
}

} // namespace

std::vector<double> sumError(Operation *op, llvm::ArrayRef<Tensor> operands, const Tensor &result) {
  if (!isFloat(result.type()))
    return {};
  // Halves are added up in single precision.
  const double halfUnit = result.type() == DataType::Float64 ? 0x1p-53 : 0x1p-24;
  if (std::vector<double> errors = partialSums(op, operands); !errors.empty()) {
    for (double &error : errors)
      error = std::isfinite(error) ? halfUnit * error : 0;
    return errors;
  }
  const double terms = termsOf(op);
  if (terms == 0)
    return {};
  auto sums = reference::evaluate(op, llvm::map_to_vector(operands, magnitudes));
  if (failed(sums))
    return {};
  std::vector<double> errors(static_cast<size_t>(result.size()));
  for (int64_t i = 0; i < result.size(); ++i) {
    const double sum = std::abs(result.doubleAt(i));
    if (std::isfinite(sum) && sum >= (*sums)[0].doubleAt(i) / 2)
      errors[static_cast<size_t>(i)] = terms / 2 * halfUnit * sum;
  }
  return errors;
}

} // namespace tokamak::driver
