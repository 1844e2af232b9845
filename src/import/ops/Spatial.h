//===- Spatial.h - the sliding-window attributes of convolutions and pools -----------------===//
#pragma once
#include "import/ops/Common.h"

namespace tokamak::import {

/// Extent covered by a dilated kernel.
inline int64_t dilatedExtent(int64_t kernel, int64_t dilation) { return (kernel - 1) * dilation + 1; }

/// A fault where an extent is negative, or times a stride could overflow.
void checkExtents(IntsRef extents);

/// kernel_shape, strides, dilations, pads and auto_pad of a node with their defaults, checked, one entry a
/// spatial axis. `auto_pad` (and for pools `ceil_mode`) is resolved into pads; `output` holds the resulting
/// extents.
struct Spatial {
  Ints kernel, strides, dilations, padsLow, padsHigh, output;
  Ints declaredHigh; ///< padsHigh before ceil_mode widened it
  int64_t group = 1;

  /// Of Conv on input [N, C, ...] and weight [M, C/group, ...].
  static Spatial ofConvolution(NodeContext &n, IntsRef input, IntsRef weight);
  /// Of MaxPool, AveragePool, LpPool on input [N, C, ...].
  static Spatial ofPool(NodeContext &n, IntsRef input);
  /// Attributes as written: no auto_pad, no output extents. `kernel` is the default of kernel_shape.
  static Spatial read(NodeContext &n, int64_t axes, std::optional<Ints> kernel);

  /// strides, dilations, pads_low, pads_high.
  llvm::SmallVector<mlir::NamedAttribute> attrs(Body &b) const;
  llvm::SmallVector<mlir::NamedAttribute> convolutionAttrs(Body &b) const; ///< and group
  llvm::SmallVector<mlir::NamedAttribute> windowAttrs(Body &b) const;      ///< and kernel

private:
  void resolve(NodeContext &n, IntsRef input, bool ceilMode);
};

} // namespace tokamak::import
