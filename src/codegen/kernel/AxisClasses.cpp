//===- AxisClasses.cpp - axes that a whole group keeps apart -------------------------------------===//
#include "codegen/kernel/AxisClasses.h"
#include "codegen/kernel/IndexProbe.h"

namespace tokamak::codegen {

using namespace mlir;

AxisClasses::ClassId AxisClasses::classOf(Value value, size_t axis) {
  auto [it, isNew] =
      ids.try_emplace({value.getAsOpaquePointer(), axis}, static_cast<ClassId>(parents.size()));
  if (isNew) {
    parents.push_back(it->second);
    extents.push_back(tk::tensorType(value).getShape()[axis]);
  }
  return leader(it->second);
}

AxisClasses::ClassId AxisClasses::leader(ClassId id) {
  while (parents[static_cast<size_t>(id)] != id)
    id = parents[static_cast<size_t>(id)];
  return id;
}

void AxisClasses::unite(ClassId a, ClassId b) {
  a = leader(a), b = leader(b);
  if (a == b)
    return;
  parents[static_cast<size_t>(b)] = a;
  if (broken.contains(b))
    broken.insert(a);
}

int AxisClasses::axisOf(Value value, ClassId id) {
  for (size_t axis = 0; axis < tk::tensorType(value).getShape().size(); ++axis)
    if (classOf(value, axis) == leader(id))
      return static_cast<int>(axis);
  return -1;
}

AxisClasses::AxisClasses(KernelBody &body) {
  auto breakClass = [&](ClassId id) { broken.insert(leader(id)); };
  for (Operation &op : body.block().without_terminator()) {
    for (Value result : op.getResults()) {
      IndexProbe probe(result, [](Value) { return true; });
      auto shape = tk::tensorType(result).getShape();
      for (const Access &access : probe.accesses()) {
        auto operandShape = tk::tensorType(access.tensor).getShape();
        for (size_t a = 0; a < operandShape.size(); ++a) {
          if (operandShape[a] < 2)
            continue;
          const Index &index = access.index[a];
          bool matched = false;
          for (size_t i = 0; i < shape.size() && !matched; ++i)
            if (shape[i] == operandShape[a] && index == probe.axis(i)) {
              unite(classOf(result, i), classOf(access.tensor, a));
              matched = true;
            }
          // Memory that the group only reads is complete from the start: any row may read all of it.
          if (matched || isa<BlockArgument>(access.tensor))
            continue;
          breakClass(classOf(access.tensor, a));
          // Result axes that take part in a shifted or mixed index cannot be loops of the whole group either.
          std::function<void(const Index &)> visit = [&](const Index &part) {
            for (const auto &[id, coefficient] : part.terms) {
              for (size_t i = 0; i < shape.size(); ++i)
                if (!probe.axis(i).isConstant() && probe.axis(i).terms[0].first == id)
                  breakClass(classOf(result, i));
              if (probe.space().atom(id).kind == IndexSpace::Kind::Quotient)
                visit(probe.space().atom(id).numerator);
            }
          };
          visit(index);
        }
      }
    }
  }
  // Two axes of one value in one class (x times its own transpose) cannot both be the same loop.
  auto checkDouble = [&](Value value) {
    llvm::DenseSet<ClassId> seen;
    auto shape = tk::tensorType(value).getShape();
    for (size_t axis = 0; axis < shape.size(); ++axis)
      if (shape[axis] > 1 && !seen.insert(classOf(value, axis)).second)
        breakClass(classOf(value, axis));
  };
  for (Value argument : body.arguments())
    checkDouble(argument);
  for (Operation &op : body.block().without_terminator())
    llvm::for_each(op.getResults(), checkDouble);
}

} // namespace tokamak::codegen
