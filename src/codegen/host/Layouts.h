//===- Layouts.h - which values between kernels are channel-blocked
//--------------------------------------===//
#pragma once
#include "analysis/TargetDescription.h"
#include "codegen/Layout.h"
#include "ir/Tk.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tokamak::codegen {

/// Whether `op` (or null) joins channels such that a block of `lanes` holds some of two parts: its elements
/// are picked one by one then, while rows could be copied.
bool joinsWithinBlocks(mlir::Operation *op, int64_t lanes);

/// Layouts of the results of groups; everything else is row-major. Blocked is what a convolution writes and
/// what follows it at the same shape, as long as only groups read it.
class LayoutAssignment {
public:
  LayoutAssignment(mlir::func::FuncOp program, const TargetDescription &target);
  Layout layoutOf(mlir::Value value) const {
    auto it = layouts.find(value);
    return it == layouts.end() ? Layout() : it->second;
  }
  /// Of a blocked value that lies inside another one's memory.
  void setPitch(mlir::Value value, int64_t elements) { layouts[value].pitch = elements; }

private:
  void assign(tk::FusionOp group, const llvm::DenseSet<mlir::Value> &onTheWayOut,
              const TargetDescription &target);
  llvm::DenseMap<mlir::Value, Layout> layouts;
};

} // namespace tokamak::codegen
