//===- AxisClasses.h - axes that a whole group keeps apart ---------------------------------------===//
#pragma once
#include "codegen/kernel/KernelBody.h"
#include "llvm/ADT/EquivalenceClasses.h"

namespace tokamak::codegen {

/// Which axes of a group's values run together. Element i along an axis of one value depends only on elements
/// i along the axes of the same class in others, unless the class is broken: some operator reduces, shifts or
/// mixes it. An unbroken class can be an outer loop around the whole group.
class AxisClasses {
public:
  explicit AxisClasses(KernelBody &body);

  using ClassId = int;
  /// The class of an axis (extent 1 included).
  ClassId classOf(mlir::Value value, size_t axis);
  bool isBroken(ClassId id) { return broken.contains(leader(id)); }
  int64_t extent(ClassId id) { return extents[static_cast<size_t>(leader(id))]; }
  /// The axis of `value` in a class, or -1.
  int axisOf(mlir::Value value, ClassId id);

private:
  ClassId leader(ClassId id);
  void unite(ClassId a, ClassId b);
  std::map<std::pair<void *, size_t>, ClassId> ids;
  std::vector<ClassId> parents;
  std::vector<int64_t> extents;
  llvm::DenseSet<ClassId> broken;
};

} // namespace tokamak::codegen
