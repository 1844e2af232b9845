//===- MayBeView.h - groups that may need no kernel ----------------------------------------------===//
#pragma once
#include "analysis/TargetDescription.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/ArrayRef.h"

namespace tokamak::fusion {

/// Whether these are reshapes alone: views of row-major memory.
bool areReshapes(llvm::ArrayRef<mlir::Operation *> group);

/// Whether the group can be a part of other values' memory, or show one, which takes no time
/// (codegen/host/Views.h): reshapes, or one concatenation or slice in channel-blocked layouts, or along an
/// axis that only axes of extent 1 precede. Layouts decide later.
bool mayBeView(llvm::ArrayRef<mlir::Operation *> group, const TargetDescription &target);

} // namespace tokamak::fusion
