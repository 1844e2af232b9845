//===- RefineAxes.cpp - axes cut wherever a reshape of the group cuts them --------------------------===//
#include "codegen/kernel/RefineAxes.h"
#include "ir/Tk.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include <map>
#include <set>

namespace tokamak::codegen {

using namespace mlir;

namespace {

using Shape = ArrayRef<int64_t>;

Shape shapeOf(Value value) { return tk::tensorType(value).getShape(); }

/// Reads its operands where it writes, but for axes of extent 1.
bool isElementwise(Operation *op) {
  auto kinded = dyn_cast<tk::FusionKindInterface>(op);
  return kinded && kinded.getFusionKind() == FusionKind::Elementwise && op->getNumResults() == 1 &&
         !isa<tk::BatchNormOp>(op); // whose operands run along axis 1
}

class AxisRefiner {
public:
  explicit AxisRefiner(Block &block) : block(block) {}

  void run() {
    if (!isWorthwhile() || !collect() || !cutAll() || !isAnyCut())
      return;
    rebuild();
  }

private:
  /// A class of axes that run together, known by its first axis. Extents are 1 or the extent of the class.
  using Axis = std::pair<void *, size_t>;
  struct Class {
    int64_t extent = 1;
    bool isPinned = false;
    /// Products of the parts behind each cut, ascending; each divides the next.
    std::set<int64_t> cuts;
  };

  bool isWorthwhile() {
    bool reduces = false, reshapes = false;
    for (Operation &op : block.without_terminator()) {
      auto kind = cast<tk::FusionKindInterface>(op).getFusionKind();
      if (kind > FusionKind::Reduction || (kind == FusionKind::Reduction && !isa<tk::ReduceOp>(op)))
        return false;
      reduces |= kind == FusionKind::Reduction;
      reshapes |= kind == FusionKind::Injective && isa<tk::ReshapeOp>(op);
    }
    return reduces && reshapes;
  }

  Class &classOf(Value value, size_t axis) {
    Axis leader = classes.getOrInsertLeaderValue({value.getAsOpaquePointer(), axis});
    Class &found = known[leader];
    if (found.extent == 1)
      found.extent = shapeOf(value)[axis];
    return found;
  }

  bool unite(Value a, size_t axisOfA, Value b, size_t axisOfB) {
    Class joined = classOf(a, axisOfA), other = classOf(b, axisOfB);
    if (joined.extent != other.extent && joined.extent != 1 && other.extent != 1)
      return false;
    joined.extent = std::max(joined.extent, other.extent);
    joined.isPinned |= other.isPinned;
    classes.unionSets({a.getAsOpaquePointer(), axisOfA}, {b.getAsOpaquePointer(), axisOfB});
    classOf(a, axisOfA) = joined;
    return true;
  }

  /// Which axes run together. False where something does not fit.
  bool collect() {
    for (Operation &op : block.without_terminator()) {
      for (Value value :
           llvm::concat<Value>(SmallVector<Value>(op.getOperands()), SmallVector<Value>(op.getResults())))
        if (llvm::is_contained(shapeOf(value), 0))
          return false;
      if (isa<tk::ReshapeOp, tk::ConstantOp>(op))
        continue;
      bool fits = true;
      if (auto reduce = dyn_cast<tk::ReduceOp>(op))
        fits = uniteReduction(reduce);
      else if (isElementwise(&op) || isa<tk::BroadcastOp>(op))
        fits = llvm::all_of(op.getOperands(),
                            [&](Value operand) { return uniteBroadcast(op.getResult(0), operand); });
      else
        pin(op);
      if (!fits)
        return false;
    }
    return true;
  }

  void pin(Operation &op) {
    for (Value value :
         llvm::concat<Value>(SmallVector<Value>(op.getOperands()), SmallVector<Value>(op.getResults())))
      for (size_t axis = 0; axis < shapeOf(value).size(); ++axis)
        classOf(value, axis).isPinned = true;
  }

  bool uniteBroadcast(Value result, Value operand) {
    size_t rank = shapeOf(result).size(), own = shapeOf(operand).size();
    if (own > rank)
      return false;
    for (size_t axis = 0; axis < own; ++axis)
      if (!unite(result, axis + rank - own, operand, axis))
        return false;
    return true;
  }

  bool uniteReduction(tk::ReduceOp reduce) {
    size_t next = 0;
    for (size_t axis = 0; axis < shapeOf(reduce.getInput()).size(); ++axis) {
      bool isReduced = llvm::is_contained(reduce.getAxes(), static_cast<int64_t>(axis));
      if (isReduced && !reduce.getKeepDims())
        continue;
      if (!unite(reduce.getInput(), axis, reduce.getResult(), next++))
        return false;
    }
    return true;
  }

  /// Products of the parts behind each cut of a value, within its axes and between them.
  std::set<int64_t> boundaries(Value value) {
    std::set<int64_t> all;
    int64_t behind = 1;
    Shape shape = shapeOf(value);
    for (size_t axis = shape.size(); axis-- > 0;) {
      if (shape[axis] > 1)
        for (int64_t cut : classOf(value, axis).cuts)
          all.insert(behind * cut);
      behind *= shape[axis];
      all.insert(behind);
    }
    return all;
  }

  /// Cuts the axes of both sides of each reshape alike, until nothing changes.
  bool cutAll() {
    for (bool changed = true; changed;) {
      changed = false;
      for (auto reshape : block.getOps<tk::ReshapeOp>()) {
        std::set<int64_t> wanted = boundaries(reshape.getInput());
        wanted.merge(boundaries(reshape.getResult()));
        for (Value side : {Value(reshape.getInput()), Value(reshape.getResult())}) {
          std::optional<bool> cut = cutAlong(side, wanted);
          if (!cut)
            return false;
          changed |= *cut;
        }
      }
    }
    return true;
  }

  /// Whether an axis was cut; nothing where that cannot be.
  std::optional<bool> cutAlong(Value value, const std::set<int64_t> &wanted) {
    bool changed = false;
    int64_t behind = 1;
    Shape shape = shapeOf(value);
    for (size_t axis = shape.size(); axis-- > 0; behind *= shape[axis]) {
      if (shape[axis] == 1)
        continue;
      Class &own = classOf(value, axis);
      for (auto it = wanted.upper_bound(behind); it != wanted.end() && *it < behind * shape[axis]; ++it) {
        if (*it % behind != 0)
          return std::nullopt;
        changed |= own.cuts.insert(*it / behind).second;
      }
      int64_t last = 1;
      for (int64_t cut : own.cuts) {
        if (cut % last != 0)
          return std::nullopt;
        last = cut;
      }
      if (own.extent % last != 0 || (own.isPinned && !own.cuts.empty()))
        return std::nullopt;
    }
    return changed;
  }

  bool isAnyCut() const {
    return llvm::any_of(known, [](const auto &entry) { return !entry.second.cuts.empty(); });
  }

  /// The parts of an axis, outermost first.
  SmallVector<int64_t> parts(Value value, size_t axis) {
    const Class &own = classOf(value, axis);
    SmallVector<int64_t> result;
    int64_t rest = own.extent;
    for (int64_t cut : llvm::reverse(own.cuts)) {
      result.push_back(rest / cut);
      rest = cut;
    }
    result.push_back(rest);
    if (shapeOf(value)[axis] == 1)
      std::fill(result.begin(), result.end(), 1);
    return result;
  }

  SmallVector<int64_t> refinedShape(Value value) {
    SmallVector<int64_t> shape;
    for (size_t axis = 0; axis < shapeOf(value).size(); ++axis)
      llvm::append_range(shape, parts(value, axis));
    return shape;
  }

  DenseI64ArrayAttr refinedAxes(tk::ReduceOp reduce) {
    SmallVector<int64_t> axes;
    int64_t next = 0;
    for (size_t axis = 0; axis < shapeOf(reduce.getInput()).size(); ++axis)
      for (size_t part = parts(reduce.getInput(), axis).size(); part-- > 0; ++next)
        if (llvm::is_contained(reduce.getAxes(), static_cast<int64_t>(axis)))
          axes.push_back(next);
    return DenseI64ArrayAttr::get(reduce.getContext(), axes);
  }

  void rebuild() {
    SmallVector<Operation *> old;
    for (Operation &op : block.without_terminator())
      old.push_back(&op);
    OpBuilder builder(block.getTerminator());
    IRMapping refined;
    for (Value argument : block.getArguments())
      refined.map(argument, viewed(builder, argument, refinedShape(argument)));
    for (Operation *op : old)
      refined.map(op->getResults(), refine(builder, op, refined));
    Operation *terminator = block.getTerminator();
    for (OpOperand &operand : terminator->getOpOperands())
      if (operand.get().getDefiningOp())
        operand.set(refined.lookup(operand.get()));
    for (Operation *op : llvm::reverse(old))
      op->erase();
  }

  Value viewed(OpBuilder &builder, Value value, ArrayRef<int64_t> shape) {
    if (shapeOf(value) == shape)
      return value;
    return builder.create<tk::ReshapeOp>(value.getLoc(), tk::tensorType(value).clone(shape), value, shape);
  }

  SmallVector<Value> refine(OpBuilder &builder, Operation *op, IRMapping &refined) {
    SmallVector<int64_t> shape = refinedShape(op->getResult(0));
    if (auto constant = dyn_cast<tk::ConstantOp>(op)) {
      Tensor value = Tensor::fromAttr(constant.getValue()).reshaped(shape);
      return {builder.create<tk::ConstantOp>(op->getLoc(), value.toAttr(builder.getContext()))};
    }
    if (isa<tk::ReshapeOp>(op))
      return {viewed(builder, refined.lookup(op->getOperand(0)), shape)};
    Operation *copy = builder.clone(*op, refined);
    for (auto [original, result] : llvm::zip(op->getResults(), copy->getResults()))
      result.setType(tk::tensorType(original).clone(refinedShape(original)));
    if (auto reduce = dyn_cast<tk::ReduceOp>(copy))
      reduce.setAxesAttr(refinedAxes(cast<tk::ReduceOp>(op)));
    if (auto broadcast = dyn_cast<tk::BroadcastOp>(copy))
      broadcast.setShape(shape);
    return SmallVector<Value>(copy->getResults());
  }

  Block &block;
  llvm::EquivalenceClasses<Axis> classes;
  std::map<Axis, Class> known; ///< by the leader
};

} // namespace

void refineAxes(Block &body) { AxisRefiner(body).run(); }

} // namespace tokamak::codegen
