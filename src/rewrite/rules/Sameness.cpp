//===- Sameness.cpp - does a rule keep the function ---------------------------------------------===//
#include "rewrite/rules/Sameness.h"
#include "ir/Tk.h"
#include "mlir/IR/Diagnostics.h"
#include "reference/Evaluate.h"
#include "reference/RandomTensor.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::rules;

/// Operations of one evaluation beyond which a check would take minutes: the evaluator is plain loops.
static constexpr int64_t workLimit = int64_t(1) << 28;
/// Elements of a constant that a signature spells out.
static constexpr int64_t shortConstant = 64;

std::string rules::signatureOf(const Match &match) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  auto constant = [&](Value value) {
    if (tk::tensorType(value).getNumElements() > shortConstant)
      return;
    if (std::optional<Tensor> tensor = tk::constantValue(value))
      stream << llvm::toHex(
          llvm::StringRef(reinterpret_cast<const char *>(tensor->bytes()), tensor->byteCount()));
  };
  for (Operation *op : match.operations) {
    stream << op->getName() << '(';
    for (Value operand : op->getOperands()) {
      stream << operand.getType() << ' ';
      constant(operand);
    }
    if (!llvm::isa<tk::ConstantOp>(op))
      stream << op->getAttrDictionary();
    stream << ")\n";
  }
  return text;
}

namespace {

enum class Round { Normal, SmallIntegers, Special };

/// Infinities, NaN, zeros, the ends of the range, in turn; between them ordinary numbers.
Tensor specialTensor(DataType type, llvm::ArrayRef<int64_t> shape, uint64_t seed) {
  Tensor tensor(type, shape);
  const double infinity = std::numeric_limits<double>::infinity();
  const double largest = type == DataType::Float64   ? std::numeric_limits<double>::max()
                         : type == DataType::Float16 ? 65504.0
                                                     : 3.3e38;
  const double smallest = type == DataType::Float64 ? 2.3e-308 : type == DataType::Float16 ? 6.2e-5 : 1.2e-38;
  const double values[] = {infinity,     1.0, -0.0,     largest,  -infinity, -2.5,
                           std::nan(""), 0.0, -largest, smallest, 3.0,       -smallest};
  for (int64_t i = 0; i < tensor.size(); ++i)
    tensor.setDouble(i, values[(static_cast<uint64_t>(i) * (2 * seed + 1) + seed) % std::size(values)]);
  return tensor;
}

class Evaluation {
public:
  Evaluation(const Match &match, const Replacement &replacement, Round round, uint64_t seed)
      : round(round), seed(seed) {
    inside.insert(match.operations.begin(), match.operations.end());
    inside.insert(replacement.created.begin(), replacement.created.end());
  }

  /// Nothing where the evaluator cannot say (an index that is out of range, for example).
  std::optional<Tensor> operator()(Value value) {
    if (auto known = known_.find(value); known != known_.end())
      return known->second;
    Operation *op = value.getDefiningOp();
    if (!op || (!inside.contains(op) && !llvm::isa<tk::ConstantOp>(op)))
      return known_[value] = input(value);
    llvm::SmallVector<Tensor> operands;
    for (Value operand : op->getOperands()) {
      std::optional<Tensor> tensor = (*this)(operand);
      if (!tensor)
        return std::nullopt;
      operands.push_back(std::move(*tensor));
    }
    FailureOr<llvm::SmallVector<Tensor>> results = reference::evaluate(op, operands);
    if (failed(results))
      return std::nullopt;
    for (auto [result, tensor] : llvm::zip_equal(op->getResults(), *results))
      known_[result] = tensor;
    return known_[value];
  }

private:
  Tensor input(Value value) {
    auto type = tk::tensorType(value);
    const DataType element = *fromMlir(type.getElementType());
    const uint64_t own = seed + 1000 * known_.size();
    if (round == Round::Special && isFloat(element))
      return specialTensor(element, type.getShape(), own);
    return reference::randomTensor(element, type.getShape(), own,
                                   round == Round::Normal ? reference::RandomValues::Normal
                                                          : reference::RandomValues::SmallIntegers);
  }

  Round round;
  uint64_t seed;
  llvm::SmallPtrSet<Operation *, 16> inside;
  llvm::DenseMap<Value, Tensor> known_;
};

int64_t workOf(llvm::ArrayRef<Operation *> operations) {
  int64_t work = 0;
  for (Operation *op : operations) {
    if (auto traffic = llvm::dyn_cast<tk::TrafficInterface>(op))
      work += std::max<int64_t>(traffic.getFlops(), 0);
    for (Value result : op->getResults())
      work += tk::tensorType(result).getNumElements();
    if (work > workLimit)
      break; // before it overflows
  }
  return work;
}

/// "is 2 where it was 1 (element 3)" for the first element that differs too much; empty if none does.
std::string difference(const Tensor &before, const Tensor &after, double tolerance) {
  double largest = 1;
  for (int64_t i = 0; i < before.size(); ++i)
    if (std::isfinite(before.doubleAt(i)))
      largest = std::max(largest, std::fabs(before.doubleAt(i)));
  for (int64_t i = 0; i < before.size(); ++i) {
    const double a = before.doubleAt(i), b = after.doubleAt(i);
    bool same = isFloat(before.type()) ? a == b || (std::isnan(a) && std::isnan(b))
                                       : before.intAt(i) == after.intAt(i);
    if (std::isfinite(a) && std::isfinite(b))
      same |= std::fabs(a - b) <= tolerance * largest;
    if (!same) {
      std::string text;
      llvm::raw_string_ostream(text) << "is " << b << " where it was " << a << " (element " << i << ")";
      return text;
    }
  }
  return "";
}

} // namespace

llvm::Error rules::checkSameness(const Rule &rule, const Match &match, const Replacement &replacement) {
  Operation *root = match.operations[0];
  const int64_t work = workOf(match.operations) + workOf(replacement.created);
  if (work > workLimit)
    return ruleError(rule, "applies where a comparison with the evaluator takes too long (more than " +
                               llvm::Twine(workLimit) + " operations); --trust-rules skips it");

  ScopedDiagnosticHandler quiet(root->getContext(), [](Diagnostic &) { return success(); });
  llvm::SmallVector<Round> rounds = {Round::Normal, Round::SmallIntegers};
  // Small tensors take several fillings to meet each special value.
  if (!rule.assumesFinite)
    rounds.append(work < 4096 ? 24 : 4, Round::Special);
  unsigned compared = 0;
  for (auto [number, round] : llvm::enumerate(rounds)) {
    Evaluation evaluate(match, replacement, round, number);
    for (auto [old, value] : llvm::zip_equal(root->getResults(), replacement.values)) {
      std::optional<Tensor> before = evaluate(old);
      if (!before)
        continue;
      std::optional<Tensor> after = evaluate(value);
      if (!after)
        return ruleError(rule, "makes what cannot be evaluated");
      ++compared;
      std::string text = difference(*before, *after, rule.tolerance);
      if (text.empty())
        continue;
      llvm::StringRef inputs = round == Round::Normal ? "random numbers"
                               : round == Round::SmallIntegers
                                   ? "small integers"
                                   : "infinities, NaN, zeros and numbers close to overflow";
      llvm::StringRef hint = round == Round::Special ? "; AssumeFinite(x) leaves those out"
                             : rule.tolerance == 0 ? "; Tolerance(attr<\"1.0e-6 : f64\">) allows for rounding"
                                                   : "";
      return ruleError(rule, "changes the result: on " + inputs + " '" + root->getName().getStringRef() +
                                 "' " + text + hint);
    }
  }
  if (compared == 0)
    return ruleError(rule,
                     "applies where random inputs have no defined result, so that it cannot be compared with "
                     "the evaluator; --trust-rules skips this");
  return llvm::Error::success();
}
