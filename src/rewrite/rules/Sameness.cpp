//===- Sameness.cpp - does a rule keep the function ---------------------------------------------===//
#include "rewrite/rules/Sameness.h"
#include "ir/Tk.h"
#include "mlir/IR/Diagnostics.h"
#include "reference/Evaluate.h"
#include "reference/RandomTensor.h"
#include "rewrite/rules/SpecialValues.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"
#include <algorithm>
#include <cmath>
#include <optional>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::rules;

/// Operations of one evaluation beyond which a check would take minutes: the evaluator is plain loops.
static constexpr int64_t workLimit = int64_t(1) << 28;
/// Small tensors take more fillings to meet combinations of special values (see specialTensor): as many as
/// keep a check below some `smallWork` operations.
static constexpr int64_t smallWork = 1 << 17;
static constexpr int64_t mostFillings = 169, leastFillings = 2;

std::string rules::signatureOf(const Match &match) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << match.swapped << '\n';
  // By numbers in order: x + x is another function than x + y.
  llvm::DenseMap<Value, size_t> numbers;
  auto print = [&](Value value) {
    auto [known, isNew] = numbers.try_emplace(value, numbers.size());
    stream << '%' << known->second << ' ';
    if (!isNew)
      return;
    stream << value.getType() << ' ';
    if (std::optional<Tensor> tensor = tk::constantValue(value)) {
      auto hash =
          llvm::xxh3_128bits({reinterpret_cast<const uint8_t *>(tensor->bytes()), tensor->byteCount()});
      stream << hash.high64 << '/' << hash.low64 << ' ';
    }
  };
  for (Operation *op : match.operations) {
    stream << op->getName() << '(';
    llvm::for_each(op->getOperands(), print);
    if (!llvm::isa<tk::ConstantOp>(op))
      stream << op->getAttrDictionary();
    stream << ") ";
    llvm::for_each(op->getResults(), print);
    stream << '\n';
  }
  return text;
}

namespace {

/// What the inputs from outside hold. In `Limits` floats are small, in `Special` integers are.
enum class Round { Normal, SmallIntegers, Small, Special, Limits };

llvm::StringRef textOf(Round round) {
  switch (round) {
  case Round::Normal:
    return "random numbers";
  case Round::SmallIntegers:
    return "small integers";
  case Round::Small:
    return "small numbers and zeros of both signs";
  case Round::Special:
    return "infinities, NaN, zeros and numbers close to overflow";
  case Round::Limits:
    return "integers at the ends of their range";
  }
  llvm_unreachable("all rounds are named");
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
    const unsigned number = inputs++;
    if (round == Round::Normal || round == Round::SmallIntegers || element == DataType::Bool)
      return reference::randomTensor(element, type.getShape(), seed + 1000 * number,
                                     round == Round::Normal ? reference::RandomValues::Normal
                                                            : reference::RandomValues::SmallIntegers);
    const bool atLimits = round == (isFloat(element) ? Round::Special : Round::Limits);
    return specialTensor(atLimits ? SpecialValues::Limits : SpecialValues::Small, element, type.getShape(),
                         number, seed);
  }

  Round round;
  uint64_t seed;
  unsigned inputs = 0;
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

/// Whether integers come into the match from outside.
bool readsIntegers(const Match &match) {
  llvm::SmallPtrSet<Operation *, 16> inside(match.operations.begin(), match.operations.end());
  return llvm::any_of(match.operations, [&](Operation *op) {
    return llvm::any_of(op->getOperands(), [&](Value value) {
      Operation *definition = value.getDefiningOp();
      return isInteger(*fromMlir(tk::tensorType(value).getElementType())) &&
             !(definition && (inside.contains(definition) || llvm::isa<tk::ConstantOp>(definition)));
    });
  });
}

/// Equal, zeros in their sign too, or both NaN.
bool areSame(double a, double b) {
  return a == b ? std::signbit(a) == std::signbit(b) : std::isnan(a) && std::isnan(b);
}

/// Of integers exactly 0 only where they are equal.
double distance(const Tensor &before, const Tensor &after, int64_t i) {
  if (isFloat(before.type()))
    return std::fabs(before.doubleAt(i) - after.doubleAt(i));
  auto a = static_cast<uint64_t>(before.intAt(i)), b = static_cast<uint64_t>(after.intAt(i));
  const bool isLess = isUnsigned(before.type()) ? a < b : static_cast<int64_t>(a) < static_cast<int64_t>(b);
  return static_cast<double>(isLess ? b - a : a - b);
}

std::string textAt(const Tensor &tensor, int64_t i) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (isFloat(tensor.type()))
    stream << tensor.doubleAt(i);
  else if (isUnsigned(tensor.type()))
    stream << static_cast<uint64_t>(tensor.intAt(i));
  else
    stream << tensor.intAt(i);
  return text;
}

struct Difference {
  std::string text; ///< "is 2 where it was 1 (element 3)"
  bool ofSigns;     ///< of zeros, and nothing else
};

/// The first element that differs by more than `tolerance` allows.
std::optional<Difference> difference(const Tensor &before, const Tensor &after,
                                     std::optional<double> tolerance) {
  double largest = 1;
  for (int64_t i = 0; i < before.size(); ++i)
    if (std::isfinite(before.doubleAt(i)))
      largest = std::max(largest, std::fabs(before.doubleAt(i)));
  for (int64_t i = 0; i < before.size(); ++i) {
    const double a = before.doubleAt(i), b = after.doubleAt(i), apart = distance(before, after, i);
    const bool same = isFloat(before.type()) ? areSame(a, b) : apart == 0;
    const bool near = tolerance && std::isfinite(a) && std::isfinite(b) && apart <= *tolerance * largest;
    if (!same && !near)
      return Difference{"is " + textAt(after, i) + " where it was " + textAt(before, i) + " (element " +
                            std::to_string(i) + ")",
                        apart == 0};
  }
  return std::nullopt;
}

/// What a rule can state so that such a difference is none.
llvm::StringRef hintFor(const Rule &rule, Round round, const Difference &difference) {
  if (difference.ofSigns)
    return "; Tolerance(attr<\"0.0 : f64\">) allows for the sign of zeros";
  if (round == Round::Special || round == Round::Limits)
    return "; AssumeFinite(x) leaves those out";
  return rule.tolerance.value_or(0) == 0 ? "; Tolerance(attr<\"1.0e-6 : f64\">) allows for rounding" : "";
}

/// Compares on one filling. Counts in `compared` the results that could be compared.
llvm::Error compare(const Rule &rule, const Match &match, const Replacement &replacement, Round round,
                    uint64_t filling, unsigned &compared) {
  Operation *root = match.operations[0];
  Evaluation evaluate(match, replacement, round, filling);
  for (auto [old, value] : llvm::zip_equal(root->getResults(), replacement.values)) {
    std::optional<Tensor> before = evaluate(old);
    if (!before)
      continue;
    std::optional<Tensor> after = evaluate(value);
    if (!after)
      return ruleError(rule, "makes what cannot be evaluated");
    ++compared;
    if (std::optional<Difference> found = difference(*before, *after, rule.tolerance))
      return ruleError(rule, "changes the result: on " + textOf(round) + " '" +
                                 root->getName().getStringRef() + "' " + found->text +
                                 hintFor(rule, round, *found));
  }
  return llvm::Error::success();
}

} // namespace

llvm::Error rules::checkSameness(const Rule &rule, const Match &match, const Replacement &replacement) {
  const int64_t work = workOf(match.operations) + workOf(replacement.created);
  if (work > workLimit)
    return ruleError(rule, "applies where a comparison with the evaluator takes too long (more than " +
                               llvm::Twine(workLimit) + " operations); --trust-rules skips it");

  ScopedDiagnosticHandler quiet(match.operations[0]->getContext(), [](Diagnostic &) { return success(); });
  const int64_t fillings = std::clamp(smallWork / std::max<int64_t>(work, 1), leastFillings, mostFillings);
  const int64_t few = std::max<int64_t>(fillings / 8, 1);
  llvm::SmallVector<std::pair<Round, int64_t>> rounds = {
      {Round::Normal, few}, {Round::SmallIntegers, few}, {Round::Small, fillings}};
  if (!rule.assumesFinite) {
    rounds.push_back({Round::Special, fillings});
    if (readsIntegers(match))
      rounds.push_back({Round::Limits, fillings});
  }
  unsigned compared = 0;
  for (auto [round, count] : rounds)
    for (int64_t filling = 0; filling < count; ++filling)
      if (llvm::Error error = compare(rule, match, replacement, round, filling, compared))
        return error;
  if (compared == 0)
    return ruleError(rule,
                     "applies where random inputs have no defined result, so that it cannot be compared with "
                     "the evaluator; --trust-rules skips this");
  return llvm::Error::success();
}
