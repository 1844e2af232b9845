//===- ShareEpilogues.cpp - equal work on all slices of a value is done on the whole ------------===//
#include "rewrite/ShareEpilogues.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "rewrite/Elementwise.h"
#include "rewrite/WeightedAnchor.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::rewrite;

namespace {

class EpilogueSharer {
public:
  EpilogueSharer(int64_t axis, IRRewriter &rewriter) : axis(axis), rewriter(rewriter) {}

  void run(Value whole, llvm::ArrayRef<Value> parts) {
    divided.push_back({whole, llvm::SmallVector<Value>(parts)});
    for (size_t i = 0; i < divided.size(); ++i) {
      Value part = divided[i].parts.front();
      llvm::SmallVector<Operation *> users = llvm::to_vector(llvm::make_filter_range(
          part.getUsers(), [&](Operation *user) { return isElementwiseOn(user, part); }));
      llvm::sort(users, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
      users.erase(llvm::unique(users), users.end());
      for (Operation *user : users)
        tryShare(i, user);
    }
    for (Divided &value : llvm::reverse(divided))
      for (Value part : value.parts)
        if (Operation *slice = part.getDefiningOp(); isOpTriviallyDead(slice))
          rewriter.eraseOp(slice);
  }

private:
  struct Divided {
    Value whole;
    llvm::SmallVector<Value> parts;
  };

  /// Whether `op` has an element of its one result for each element of `part`.
  static bool isElementwiseOn(Operation *op, Value part) {
    return op->getBlock() == part.getParentBlock() && isElementwise(op) && isMemoryEffectFree(op) &&
           tk::tensorType(op->getResult(0)).getShape() == tk::tensorType(part).getShape();
  }

  /// The divided value that has `operand` as its part number `i`.
  std::optional<size_t> dividedBy(Value operand, size_t i) const {
    for (auto [number, value] : llvm::enumerate(divided))
      if (value.parts[i] == operand)
        return number;
    return std::nullopt;
  }

  /// Whether `other` does to part `i` what `first` does to part 0.
  bool isCounterpart(Operation *first, Operation *other, size_t i) const {
    if (other->getName() != first->getName() || other->getAttrDictionary() != first->getAttrDictionary() ||
        other->getNumOperands() != first->getNumOperands())
      return false;
    for (auto [mine, yours] : llvm::zip_equal(first->getOperands(), other->getOperands())) {
      auto value = dividedBy(mine, 0);
      if (value != dividedBy(yours, i) ||
          (!value && !(isConstantExpression(mine) && isConstantExpression(yours))))
        return false;
    }
    return true;
  }

  void tryShare(size_t number, Operation *first) {
    const llvm::SmallVector<Value> parts = divided[number].parts;
    llvm::SmallVector<Operation *> ops = {first};
    llvm::SmallPtrSet<Operation *, 8> taken = {first};
    for (size_t i = 1; i < parts.size(); ++i) {
      auto users = parts[i].getUsers();
      auto found = llvm::find_if(users, [&](Operation *user) {
        return !taken.contains(user) && isElementwiseOn(user, parts[i]) && isCounterpart(first, user, i);
      });
      if (found == users.end())
        return;
      ops.push_back(*found);
      taken.insert(*found);
    }
    std::optional<llvm::SmallVector<Value>> operands = joinedOperands(ops, parts);
    if (operands)
      share(ops, *operands, parts);
  }

  /// Operands of the operator on the whole; nothing where constants do not join.
  std::optional<llvm::SmallVector<Value>> joinedOperands(llvm::ArrayRef<Operation *> ops,
                                                         llvm::ArrayRef<Value> parts) {
    // Checked before anything is created.
    for (unsigned k = 0; k < ops[0]->getNumOperands(); ++k)
      if (!dividedBy(ops[0]->getOperand(k), 0) && !doJoin(ops, k, parts))
        return std::nullopt;
    Operation *front =
        *llvm::min_element(ops, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
    rewriter.setInsertionPoint(front);
    llvm::SmallVector<Value> joined;
    for (unsigned k = 0; k < ops[0]->getNumOperands(); ++k) {
      auto value = dividedBy(ops[0]->getOperand(k), 0);
      joined.push_back(value ? divided[*value].whole : joinConstants(ops, k, front));
    }
    return joined;
  }

  /// The axis of a constant that runs along the divided one; nothing where it has one element there.
  std::optional<int64_t> constantAxis(Value constant, Value part) const {
    auto type = tk::tensorType(constant);
    int64_t own = axis - (tk::tensorType(part).getRank() - type.getRank());
    return own < 0 || type.getDimSize(own) == 1 ? std::nullopt : std::optional<int64_t>(own);
  }

  static bool areOneConstant(llvm::ArrayRef<Operation *> ops, unsigned k) {
    auto attribute = [&](Operation *op) -> Attribute {
      auto constant = op->getOperand(k).getDefiningOp<tk::ConstantOp>();
      return constant ? constant.getValue() : Attribute();
    };
    return llvm::all_of(ops, [&](Operation *op) {
      return op->getOperand(k) == ops[0]->getOperand(k) ||
             (attribute(op) && attribute(op) == attribute(ops[0]));
    });
  }

  /// Constants join side by side, or as the one that they all are.
  bool doJoin(llvm::ArrayRef<Operation *> ops, unsigned k, llvm::ArrayRef<Value> parts) const {
    auto own = constantAxis(ops[0]->getOperand(k), parts[0]);
    if (!own)
      return areOneConstant(ops, k);
    auto first = tk::tensorType(ops[0]->getOperand(k));
    for (auto [op, part] : llvm::zip_equal(ops, parts)) {
      auto type = tk::tensorType(op->getOperand(k));
      if (type.getRank() != first.getRank() || constantAxis(op->getOperand(k), part) != own)
        return false;
      for (int64_t i = 0; i < type.getRank(); ++i)
        if (i != *own && type.getDimSize(i) != first.getDimSize(i))
          return false;
    }
    return true;
  }

  Value joinConstants(llvm::ArrayRef<Operation *> ops, unsigned k, Operation *front) {
    Value first = ops[0]->getOperand(k);
    auto own = constantAxis(first, ops[0]->getResult(0));
    if (!own) {
      moveConstantsBefore(first, front);
      return first;
    }
    llvm::SmallVector<Value> constants;
    for (Operation *op : ops) {
      moveConstantsBefore(op->getOperand(k), front);
      constants.push_back(op->getOperand(k));
    }
    return concatenate(rewriter, front->getLoc(), constants, *own);
  }

  void share(llvm::ArrayRef<Operation *> ops, llvm::ArrayRef<Value> operands, llvm::ArrayRef<Value> parts) {
    Location loc = FusedLoc::get(ops[0]->getContext(),
                                 llvm::map_to_vector(ops, [](Operation *op) { return op->getLoc(); }));
    FailureOr<Operation *> made =
        tk::createChecked(rewriter, loc, ops[0]->getName().getStringRef(), operands, ops[0]->getAttrs());
    assert(succeeded(made) && "the parts have been checked");
    Divided result{(*made)->getResult(0), {}};
    int64_t start = 0;
    for (auto [op, part] : llvm::zip_equal(ops, parts)) {
      const int64_t size = tk::tensorType(part).getDimSize(axis);
      result.parts.push_back(sliceAlong(rewriter, op->getLoc(), result.whole, axis, start, size));
      start += size;
    }
    for (auto [op, part] : llvm::zip_equal(ops, result.parts))
      rewriter.replaceOp(op, part);
    divided.push_back(std::move(result));
  }

  int64_t axis;
  IRRewriter &rewriter;
  std::vector<Divided> divided;
};

} // namespace

void rewrite::shareEpilogues(Value whole, llvm::ArrayRef<Value> parts, int64_t axis, IRRewriter &rewriter) {
  EpilogueSharer(axis, rewriter).run(whole, parts);
}
