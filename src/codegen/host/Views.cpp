//===- Views.cpp - values that lie inside the memory of others -----------------------------------===//
#include "codegen/host/Views.h"
#include "analysis/Traffic.h"
#include "mlir/IR/Iterators.h"

namespace tokamak::codegen {

using namespace mlir;

Value viewedValue(Value value) {
  while (auto reshape = value.getDefiningOp<tk::ReshapeOp>())
    value = reshape.getInput();
  return value;
}

namespace {

bool isReturned(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) {
    if (auto reshape = dyn_cast<tk::ReshapeOp>(user))
      return isReturned(reshape.getResult());
    return user->hasTrait<OpTrait::IsTerminator>();
  });
}

/// The only operation of the group, reading the group's operands and yielded as it is, or null.
Operation *onlyOperation(tk::FusionOp group) {
  Block &body = group.getBody().front();
  if (!llvm::hasNItems(body, 2) || group.getNumResults() != 1)
    return nullptr;
  return &body.front();
}

/// Elements from index `at` of an axis to the memory's beginning, where a part of the axis is one stretch an
/// image.
std::optional<int64_t> stretchAt(RankedTensorType whole, const Layout &layout, int64_t axis, int64_t at) {
  ArrayRef<int64_t> shape = whole.getShape();
  SmallVector<int64_t> physical = layout.physicalShape(shape);
  int64_t inner = 1;
  for (int64_t extent : ArrayRef<int64_t>(physical).drop_front(static_cast<size_t>(axis) + 1))
    inner *= extent;
  if (layout.isBlocked()) {
    if (axis != 1 || at % layout.block != 0)
      return std::nullopt;
    return at / layout.block * inner;
  }
  if (llvm::any_of(shape.take_front(static_cast<size_t>(axis)), [](int64_t n) { return n != 1; }))
    return std::nullopt;
  return at * inner;
}

int64_t imageElements(Value value, const Layout &layout) {
  SmallVector<int64_t> physical = layout.physicalShape(tk::tensorType(value).getShape());
  int64_t elements = 1;
  for (int64_t extent : ArrayRef<int64_t>(physical).drop_front())
    elements *= extent;
  return elements;
}

/// Constants and results that control flow writes have places of their own.
bool isComputedPlainly(Value value) {
  Operation *definition = value.getDefiningOp();
  return definition && !isa<tk::ConstantOp, tk::IfOp, tk::LoopOp>(definition);
}

} // namespace

ViewAssignment::ViewAssignment(func::FuncOp program, LayoutAssignment &layouts) : layouts(layouts) {
  // Later groups first: what is concatenated once more lies in the outer result.
  program.walk<WalkOrder::PostOrder, ReverseIterator>([&](tk::FusionOp group) {
    Operation *op = onlyOperation(group);
    if (auto concat = dyn_cast_or_null<tk::ConcatOp>(op))
      tryConcat(group, concat);
  });
  program.walk([&](tk::FusionOp group) {
    Operation *op = onlyOperation(group);
    if (auto slice = dyn_cast_or_null<tk::SliceOp>(op))
      trySlice(group, slice);
  });
  setPitches();
}

ViewAssignment::Location ViewAssignment::locate(Value value) const {
  Location location{value};
  while (true) {
    if (auto it = parents.find(location.base); it != parents.end())
      location = {it->second.base, location.elements + it->second.elements};
    else if (auto reshape = location.base.getDefiningOp<tk::ReshapeOp>())
      location.base = reshape.getInput();
    else
      return location;
  }
}

ArrayRef<Value> ViewAssignment::partsOf(Value base) const {
  auto it = parts.find(base);
  return it == parts.end() ? ArrayRef<Value>() : ArrayRef<Value>(it->second);
}

void ViewAssignment::place(Value part, Value whole, int64_t elements) { parents[part] = {whole, elements}; }

void ViewAssignment::tryConcat(tk::FusionOp group, tk::ConcatOp concat) {
  Value whole = group.getResult(0);
  auto type = tk::tensorType(whole);
  Layout layout = layouts.layoutOf(whole);
  int64_t at = 0, axis = concat.getAxis();
  llvm::SmallVector<std::pair<Value, int64_t>> found;
  llvm::DenseSet<Value> seen;
  for (Value input : concat.getInputs()) {
    auto argument = dyn_cast<BlockArgument>(input);
    if (!argument)
      return;
    Value operand = group.getInputs()[argument.getArgNumber()], part = viewedValue(operand);
    auto stretch = stretchAt(type, layout, axis, at);
    bool sameLayout = layouts.layoutOf(part) == layout && (part == operand || !layout.isBlocked());
    if (!stretch || !sameLayout || !isComputedPlainly(part) || parents.contains(part) ||
        !seen.insert(part).second || part.getParentBlock() != group->getBlock() || isReturned(part))
      return;
    found.push_back({part, *stretch});
    at += tk::tensorType(operand).getDimSize(static_cast<unsigned>(axis));
  }
  for (auto [part, elements] : found)
    place(part, whole, elements);
  groups.insert(group);
}

void ViewAssignment::trySlice(tk::FusionOp group, tk::SliceOp slice) {
  Value part = group.getResult(0), whole = group.getInputs()[0];
  auto type = tk::tensorType(whole);
  Layout layout = layouts.layoutOf(whole), own = layouts.layoutOf(part);
  bool isSteady = llvm::all_of(slice.getSteps(), [](int64_t step) { return step == 1; });
  if (!isa<BlockArgument>(slice.getInput()) || !isSteady || own.block != layout.block ||
      parents.contains(part) || isReturned(part) || type.getNumElements() == 0 ||
      tk::tensorType(part).getNumElements() == 0)
    return;
  // Caller's inputs and computed values; a loop's carried values change under their views.
  Value base = locate(whole).base;
  bool isInput = isa<BlockArgument>(base) && isa<func::FuncOp>(base.getParentBlock()->getParentOp());
  if (!isInput && !isComputedPlainly(base))
    return;
  std::optional<int64_t> axis;
  for (auto [i, size] : llvm::enumerate(slice.getSizes())) {
    if (size == type.getDimSize(static_cast<unsigned>(i)))
      continue;
    if (axis)
      return;
    axis = static_cast<int64_t>(i);
  }
  auto stretch = axis ? stretchAt(type, layout, *axis, slice.getStarts()[static_cast<size_t>(*axis)]) : 0;
  if (!stretch)
    return;
  place(part, whole, *stretch);
  groups.insert(group);
}

/// Images of a view are as far apart as those of its base.
void ViewAssignment::setPitches() {
  for (auto &[part, parent] : parents) {
    Value base = locate(part).base;
    parts[base].push_back(part);
    Layout layout = layouts.layoutOf(part);
    if (layout.isBlocked() && tk::tensorType(part).getDimSize(0) > 1)
      layouts.setPitch(part, imageElements(base, layouts.layoutOf(base)));
  }
}

void markViews(func::FuncOp program, const TargetDescription &target) {
  LayoutAssignment layouts(program, target);
  ViewAssignment views(program, layouts);
  program.walk([&](tk::FusionOp group) {
    if (views.isView(group))
      group->setAttr(analysis::viewAttribute, UnitAttr::get(group.getContext()));
  });
}

} // namespace tokamak::codegen
