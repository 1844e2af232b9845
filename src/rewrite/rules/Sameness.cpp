//===- Sameness.cpp - does a rule keep the function ---------------------------------------------===//
#include "rewrite/rules/Sameness.h"
#include "ir/Tk.h"
#include "mlir/IR/Diagnostics.h"
#include "reference/Evaluate.h"
#include "reference/RandomTensor.h"
#include "rewrite/rules/SpecialValues.h"
#include "rewrite/rules/Surroundings.h"
#include "rewrite/rules/WideEvaluation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"
#include <algorithm>
#include <cmath>
#include <limits>
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
/// Of those around constants, which are several hundred numbers an input.
static constexpr int64_t surroundingsWork = 1 << 20;

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
enum class Round { Normal, SmallIntegers, Small, Surroundings, Special, Limits };

llvm::StringRef textOf(Round round) {
  switch (round) {
  case Round::Normal:
    return "random numbers";
  case Round::SmallIntegers:
    return "small integers";
  case Round::Small:
    return "small numbers and zeros of both signs";
  case Round::Surroundings:
    return "numbers around the constants of the match and far from them";
  case Round::Special:
    return "infinities, NaN, zeros and numbers close to overflow";
  case Round::Limits:
    return "integers at the ends of their range";
  }
  llvm_unreachable("all rounds are named");
}

using Operations = llvm::SmallPtrSet<Operation *, 16>;

/// Whether `value` has other values in each filling.
bool isInput(Value value, const Operations &inside) {
  Operation *op = value.getDefiningOp();
  return !op || (!inside.contains(op) && !llvm::isa<tk::ConstantOp>(op));
}

/// What the match reads from outside.
llvm::SmallSetVector<Value, 4> inputsOf(const Match &match) {
  Operations inside(match.operations.begin(), match.operations.end());
  llvm::SmallSetVector<Value, 4> inputs;
  for (Operation *op : match.operations)
    for (Value value : op->getOperands())
      if (isInput(value, inside))
        inputs.insert(value);
  return inputs;
}

bool isIntegerValue(Value value) { return isInteger(*fromMlir(tk::tensorType(value).getElementType())); }

/// What is evaluated, and on what.
struct Filling {
  Round round;
  uint64_t seed = 0;
  unsigned inputs = 0;                  ///< of the match
  Surroundings *surroundings = nullptr; ///< in the round of that name
  bool indicesAreSmall = false;         ///< integers in that round too: far ones are out of range as indices
};

class Evaluation {
public:
  Evaluation(const Match &match, const Replacement &replacement, Filling filling) : filling(filling) {
    inside.insert(match.operations.begin(), match.operations.end());
    inside.insert(replacement.created.begin(), replacement.created.end());
  }

  /// Nothing where the evaluator cannot say (an index that is out of range, for example).
  std::optional<Tensor> operator()(Value value) {
    if (auto known = known_.find(value); known != known_.end())
      return known->second;
    if (isInput(value, inside))
      return known_[value] = input(value);
    Operation *op = value.getDefiningOp();
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

  /// The same without rounding and overflow.
  std::optional<WideEvaluation::Wide> wide(Value value) {
    return wide_.evaluate(value, [&](Value read) -> std::optional<Tensor> {
      return isInput(read, inside) || read.getDefiningOp<tk::ConstantOp>() ? (*this)(read) : std::nullopt;
    });
  }

private:
  Tensor input(Value value) {
    auto type = tk::tensorType(value);
    const DataType element = *fromMlir(type.getElementType());
    const unsigned number = inputs++;
    const auto [round, seed, count, surroundings, indicesAreSmall] = filling;
    auto random = [&](reference::RandomValues values) {
      return reference::randomTensor(element, type.getShape(), seed + 1000 * number, values);
    };
    if (round == Round::Normal || element == DataType::Bool)
      return random(reference::RandomValues::Normal);
    if (round == Round::SmallIntegers || (indicesAreSmall && isInteger(element)))
      return random(reference::RandomValues::SmallIntegers);
    if (round == Round::Surroundings)
      return surroundings->draw(random(reference::RandomValues::Normal), number, count, seed);
    const bool atLimits = round == (isFloat(element) ? Round::Special : Round::Limits);
    return specialTensor(atLimits ? SpecialValues::Limits : SpecialValues::Small, element, type.getShape(),
                         number, seed);
  }

  Filling filling;
  unsigned inputs = 0;
  Operations inside;
  llvm::DenseMap<Value, Tensor> known_;
  WideEvaluation wide_;
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

/// Whether element `i` of both is the same, or as near as a tolerance allows of numbers as large as `scale`.
bool agree(const Tensor &before, const Tensor &after, int64_t i, std::optional<double> tolerance,
           double scale) {
  const double a = before.doubleAt(i), b = after.doubleAt(i), apart = distance(before, after, i);
  if (isFloat(before.type()) ? areSame(a, b) : apart == 0)
    return true;
  return tolerance && std::isfinite(a) && std::isfinite(b) && apart <= *tolerance * scale;
}

double magnitude(const Tensor &tensor, int64_t i) {
  const double value = std::fabs(tensor.doubleAt(i));
  return std::isfinite(value) ? value : 0;
}

Difference differenceAt(const Tensor &before, const Tensor &after, int64_t i) {
  return {"is " + textAt(after, i) + " where it was " + textAt(before, i) + " (element " + std::to_string(i) +
              ")",
          distance(before, after, i) == 0};
}

double largest(const Tensor &tensor) {
  double most = 1;
  for (int64_t i = 0; i < tensor.size(); ++i)
    most = std::max(most, magnitude(tensor, i));
  return most;
}

/// The first element that differs by more than `tolerance` allows.
std::optional<Difference> difference(const Tensor &before, const Tensor &after,
                                     std::optional<double> tolerance) {
  const double scale = largest(before);
  for (int64_t i = 0; i < before.size(); ++i)
    if (!agree(before, after, i, tolerance, scale))
      return differenceAt(before, after, i);
  return std::nullopt;
}

/// What float64 itself may round, of the largest number on the way to a result.
constexpr double wideRounding = 0x1p-46;

/// The same for numbers of all magnitudes, which round coarsely, cancel and overflow where those of the other
/// rounds do not: how a rule rounds, and what it makes of infinities, those have seen. So what differs here
/// must do so without any rounding as well (unless the rule allows for none), and must not overflow.
/// @param oneByOne each element has its own scale
std::optional<Difference> farDifference(Evaluation &evaluate, Value old, Value value, const Tensor &before,
                                        const Tensor &after, std::optional<double> tolerance, bool oneByOne) {
  const double scale = largest(before);
  auto scaleAt = [&](const Tensor &tensor, int64_t i) {
    return oneByOne ? std::max(1.0, magnitude(tensor, i)) : scale;
  };
  std::optional<WideEvaluation::Wide> wideBefore, wideAfter;
  for (int64_t i = 0; i < before.size(); ++i) {
    if (agree(before, after, i, tolerance, scaleAt(before, i)))
      continue;
    if (!wideBefore) {
      wideBefore = evaluate.wide(old);
      wideAfter = evaluate.wide(value);
    }
    if (!wideBefore || !wideAfter)
      return differenceAt(before, after, i);
    const auto at = static_cast<size_t>(i);
    const double most = std::max(wideBefore->magnitudes[at], wideAfter->magnitudes[at]);
    if (std::isinf(most))
      continue;
    const bool isRounding = tolerance.value_or(0) > 0 &&
                            (agree(wideBefore->values, wideAfter->values, i, tolerance,
                                   scaleAt(wideBefore->values, i) + wideRounding * most / *tolerance));
    if (!isRounding)
      return differenceAt(before, after, i);
  }
  return std::nullopt;
}

/// What a rule can state so that such a difference is none.
llvm::StringRef hintFor(const Rule &rule, Round round, const Difference &difference) {
  if (difference.ofSigns)
    return "; Tolerance(attr<\"0.0 : f64\">) allows for the sign of zeros";
  if (round == Round::Special || round == Round::Limits)
    return "; AssumeFinite(x) leaves those out";
  // What is right on small numbers and not on these is seldom a matter of rounding.
  return rule.tolerance.value_or(0) == 0 && round != Round::Surroundings
             ? "; Tolerance(attr<\"1.0e-6 : f64\">) allows for rounding"
             : "";
}

/// Compares on one filling. Counts in `compared` the results that could be compared.
llvm::Error compare(const Rule &rule, const Match &match, const Replacement &replacement,
                    const Filling &filling, unsigned &compared) {
  Operation *root = match.operations[0];
  Evaluation evaluate(match, replacement, filling);
  for (auto [old, value] : llvm::zip_equal(root->getResults(), replacement.values)) {
    std::optional<Tensor> before = evaluate(old);
    if (!before)
      continue;
    std::optional<Tensor> after = evaluate(value);
    if (!after)
      return ruleError(rule, "makes what cannot be evaluated");
    ++compared;
    std::optional<Difference> found =
        filling.round == Round::Surroundings
            ? farDifference(evaluate, old, value, *before, *after, rule.tolerance,
                            isElementByElement(match.operations) && isElementByElement(replacement.created))
            : difference(*before, *after, rule.tolerance);
    if (found)
      return ruleError(rule, "changes the result: on " + textOf(filling.round) + " '" +
                                 root->getName().getStringRef() + "' " + found->text +
                                 hintFor(rule, filling.round, *found));
  }
  return llvm::Error::success();
}

/// Compares on numbers around the constants of the match and of its replacement, where there are inputs.
llvm::Error compareAround(const Rule &rule, const Match &match, const Replacement &replacement, int64_t work,
                          unsigned &compared) {
  const llvm::SmallSetVector<Value, 4> inputs = inputsOf(match);
  if (inputs.empty())
    return llvm::Error::success();
  int64_t leastSize = std::numeric_limits<int64_t>::max();
  for (Value input : inputs)
    leastSize = std::min(leastSize, tk::tensorType(input).getNumElements());
  const bool hasIntegers = llvm::any_of(inputs, isIntegerValue);
  const auto count = static_cast<unsigned>(inputs.size());
  const int64_t most =
      std::max(surroundingsWork / std::max<int64_t>(work, 1), leastFillings * int64_t{count});
  llvm::SmallVector<Operation *> all(match.operations);
  llvm::append_range(all, replacement.created);
  for (bool isNear : {false, true}) {
    if (isNear && isElementByElement(all))
      break; // nothing hides behind what is far
    Surroundings surroundings(all, rule.tolerance.value_or(0) == 0, isNear);
    const int64_t fillings = std::min(surroundings.fillings(leastSize, count), most);
    for (int64_t seed = 0; seed < fillings; ++seed) {
      Filling filling{Round::Surroundings, static_cast<uint64_t>(seed), count, &surroundings};
      const unsigned before = compared;
      if (llvm::Error error = compare(rule, match, replacement, filling, compared))
        return error;
      filling.indicesAreSmall = compared == before && hasIntegers;
      if (filling.indicesAreSmall)
        if (llvm::Error error = compare(rule, match, replacement, filling, compared))
          return error;
    }
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
  unsigned compared = 0;
  auto compareOn = [&](Round round, int64_t count) -> llvm::Error {
    for (int64_t seed = 0; seed < count; ++seed)
      if (llvm::Error error =
              compare(rule, match, replacement, {round, static_cast<uint64_t>(seed)}, compared))
        return error;
    return llvm::Error::success();
  };
  if (llvm::Error error = compareOn(Round::Normal, few))
    return error;
  if (llvm::Error error = compareOn(Round::SmallIntegers, few))
    return error;
  if (llvm::Error error = compareOn(Round::Small, fillings))
    return error;
  if (llvm::Error error = compareAround(rule, match, replacement, work, compared))
    return error;
  if (!rule.assumesFinite) {
    if (llvm::Error error = compareOn(Round::Special, fillings))
      return error;
    if (llvm::any_of(inputsOf(match), isIntegerValue))
      if (llvm::Error error = compareOn(Round::Limits, fillings))
        return error;
  }
  if (compared == 0)
    return ruleError(rule,
                     "applies where random inputs have no defined result, so that it cannot be compared with "
                     "the evaluator; --trust-rules skips this");
  return llvm::Error::success();
}
