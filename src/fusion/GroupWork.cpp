//===- GroupWork.cpp - how often the operators of a group are evaluated --------------------===//
#include "fusion/GroupWork.h"
#include "analysis/PostDominatorTree.h"
#include "analysis/Traffic.h"
#include "codegen/kernel/BandEstimate.h"
#include "ir/Tk.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"
#include <algorithm>

using namespace mlir;
using namespace tokamak;

namespace {

double elementsOf(Value value) { return static_cast<double>(tk::tensorType(value).getNumElements()); }

/// Elements of the innermost axes of `result` for which an elementwise reader finds one element of `operand`:
/// its value is computed outside of their loops.
double invariance(Value operand, Value result) {
  auto small = tk::tensorType(operand).getShape(), large = tk::tensorType(result).getShape();
  double elements = 1;
  for (size_t i = 1; i <= large.size(); ++i) {
    if (i <= small.size() && small[small.size() - i] != 1)
      break;
    elements *= static_cast<double>(std::max<int64_t>(large[large.size() - i], 1));
  }
  // A reshape lists its elements under other axes.
  return std::min(elements, std::max(elementsOf(result) / std::max(elementsOf(operand), 1.0), 1.0));
}

bool hasOwnLoops(Operation *op) {
  const FusionKind kind = analysis::kindOf(op);
  return kind == FusionKind::Reduction || kind == FusionKind::Anchor;
}

/// Whether each row of a kernel that reduces to `reduced` has elements of its own of `value`: they are kept
/// where a loop would compute them again and again.
bool spansRows(Value value, Value reduced) {
  auto shape = tk::tensorType(value).getShape(), rows = tk::tensorType(reduced).getShape();
  return shape.size() == rows.size() && llvm::all_of(llvm::zip(shape, rows), [](auto extents) {
           return std::get<1>(extents) == 1 || std::get<0>(extents) == std::get<1>(extents);
         });
}

/// Operators inside `members`, with for each value inside a composite or group the one outside that it stands
/// for.
class Flattened {
public:
  explicit Flattened(llvm::ArrayRef<Operation *> members) {
    for (Operation *op : members)
      append(op);
  }
  llvm::SmallVector<Operation *> operators;

  /// The value that `value` is another name of: an operand of a composite for its block argument, what the
  /// body yields for a result.
  Value resolve(Value value) const {
    for (auto it = names.find(value); it != names.end(); it = names.find(value))
      value = it->second;
    return value;
  }

private:
  void append(Operation *op) {
    if (!llvm::isa<tk::CompositeOp, tk::FusionOp>(op)) {
      if (!op->hasTrait<OpTrait::ConstantLike>())
        operators.push_back(op);
      return;
    }
    Block &body = op->getRegion(0).front();
    for (auto [argument, operand] : llvm::zip(body.getArguments(), op->getOperands()))
      names[argument] = operand;
    for (auto [result, yielded] : llvm::zip(op->getResults(), body.getTerminator()->getOperands()))
      names[result] = yielded;
    for (Operation &inner : body.without_terminator())
      append(&inner);
  }
  llvm::DenseMap<Value, Value> names;
};

} // namespace

/// How often an element of an operand is computed for an anchor.
static double repeatsOf(const codegen::ChainedAnchor &anchor, bool isFirst) {
  return isFirst ? anchor.inputRepeats : anchor.weightRepeats.value_or(anchor.inputRepeats);
}

llvm::SmallVector<fusion::OperatorWork> fusion::workOf(llvm::ArrayRef<Operation *> members,
                                                       llvm::function_ref<ExpressionFacts(Operation *)> facts,
                                                       llvm::ArrayRef<codegen::ChainedAnchor> chain) {
  Flattened flat(members);
  llvm::DenseMap<Operation *, size_t> index;
  llvm::SmallVector<OperatorWork> work;
  for (Operation *op : flat.operators) {
    index[op] = work.size();
    work.emplace_back().op = op;
    for (Value result : op->getResults())
      work.back().elements += elementsOf(result);
  }
  size_t anchors = 0;
  for (OperatorWork &one : work)
    if (!chain.empty() && analysis::kindOf(one.op) == FusionKind::Anchor)
      one.chained = &chain[anchors++];
  // What is asked for at the reader's own index, and at indices of its own making; the most that one asks.
  llvm::SmallVector<double> same(work.size()), other(work.size()), most(work.size());
  const bool holdsAnchor =
      llvm::any_of(flat.operators, [](Operation *op) { return analysis::kindOf(op) == FusionKind::Anchor; });
  auto reduction = llvm::find_if(flat.operators,
                                 [](Operation *op) { return analysis::kindOf(op) == FusionKind::Reduction; });
  const bool runsByRows = reduction != flat.operators.end();

  // Results of the group: what something outside of the members reads. An anchor's epilogue writes all of
  // them at once, as the loops of elementwise results of one shape do; elsewhere each has loops of its own.
  llvm::SmallPtrSet<Operation *, 16> inside(members.begin(), members.end());
  llvm::SmallVector<Value> results;
  for (Operation *op : members)
    for (Value result : op->getResults())
      if (result.use_empty() ||
          llvm::any_of(result.getUsers(), [&](Operation *user) { return !inside.contains(user); }))
        results.push_back(result);
  const bool apart = !holdsAnchor && llvm::any_of(results, [&](Value result) {
    return (runsByRows && result != results.front()) ||
           tk::tensorType(result).getShape() != tk::tensorType(results.front()).getShape();
  });
  for (Value result : results) {
    Operation *definition = flat.resolve(result).getDefiningOp();
    auto producer = definition ? index.find(definition) : index.end();
    if (producer == index.end())
      continue;
    double &sum = (apart ? other : same)[producer->second];
    sum = apart ? sum + elementsOf(result) : std::max(sum, elementsOf(result));
    most[producer->second] = std::max(most[producer->second], elementsOf(result));
  }

  for (size_t i = work.size(); i-- > 0;) {
    OperatorWork &reader = work[i];
    const bool loops = hasOwnLoops(reader.op);
    const double asked = same[i] + other[i];
    const ExpressionFacts expression = loops ? ExpressionFacts() : facts(reader.op);
    // A row keeps what all of its stages read, and what is its own; a value that rows share is computed in
    // each.
    if (runsByRows && expression.isExpensive &&
        spansRows(reader.op->getResult(0), (*reduction)->getResult(0)))
      most[i] = std::min(most[i], reader.elements);
    reader.evaluations = loops                                  ? std::min(asked, reader.elements)
                         : runsByRows && expression.isExpensive ? most[i]
                                                                : asked;
    if (reader.chained)
      reader.evaluations = reader.elements * reader.chained->repeats;
    const FusionKind kind = analysis::kindOf(reader.op);
    llvm::SmallPtrSet<Value, 4> seen;
    for (Value operand : reader.op->getOperands()) {
      Value source = flat.resolve(operand);
      if (!seen.insert(source).second)
        continue;
      Operation *definition = source.getDefiningOp();
      const bool isConstant = definition && definition->hasTrait<OpTrait::ConstantLike>();
      if (isConstant && elementsOf(source) == 1)
        continue;
      ++reader.operands;
      auto producer = definition ? index.find(definition) : index.end();
      if (producer == index.end()) {
        reader.fromMemory +=
            kind <= FusionKind::Broadcast ? 1 / invariance(source, reader.op->getResult(0)) : 1;
        reader.fullFromMemory += elementsOf(source) >= reader.elements;
        reader.constantWeight |=
            isConstant && operand == reader.op->getOperand(std::min(1U, reader.op->getNumOperands() - 1));
        continue;
      }
      OperatorWork &from = work[producer->second];
      double wanted = reader.evaluations;
      if (kind == FusionKind::Reduction)
        wanted = elementsOf(source); // each once
      else if (reader.chained)       // bands of it, computed into scratch
        wanted = elementsOf(source) * repeatsOf(*reader.chained, operand == reader.op->getOperand(0));
      else if (kind == FusionKind::Anchor) // for each multiplication: only memory keeps elements of operands
        wanted = std::max(elementsOf(source),
                          static_cast<double>(llvm::cast<tk::TrafficInterface>(reader.op).getFlops()) / 2);
      else if (kind == FusionKind::Tuple && reader.feedsAnchor) // there, loops are cut where operands begin
        wanted *= elementsOf(source) / std::max(reader.elements, 1.0);
      // Sums over bands take what the epilogue has in registers.
      if (reader.chained && codegen::sumsBands(reader.op)) {
        same[producer->second] = std::max(same[producer->second], elementsOf(source));
        most[producer->second] = std::max(most[producer->second], elementsOf(source));
        continue;
      }
      // Elsewhere a concatenation asks each operand, under a mask, for every element of its own. Anchors that
      // run in the loops of another have what that one has computed.
      const bool isInPlace = kind <= FusionKind::Broadcast || (reader.chained && !reader.chained->startsAnew);
      const double readers = kind <= FusionKind::Broadcast ? invariance(source, reader.op->getResult(0)) : 1;
      wanted /= readers;
      if (readers > 1)
        from.alike = std::max(from.alike, reader.alike * readers);
      double &sum = (isInPlace ? same : other)[producer->second];
      sum = isInPlace ? std::max(sum, wanted) : sum + wanted;
      // What a stage that is computed again asks for, it asks a kept value for once.
      const double once = loops || reader.evaluations == 0 ? 1 : most[i] / reader.evaluations;
      most[producer->second] = std::max(most[producer->second], wanted * once);
      from.feedsAnchor |= reader.feedsAnchor || kind == FusionKind::Anchor;
      if (!loops)
        from.scattered += expression.scatters ? wanted : reader.scattered;
    }
  }
  return work;
}
