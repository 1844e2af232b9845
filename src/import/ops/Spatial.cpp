//===- Spatial.cpp - the sliding-window attributes of convolutions and pools ---------------===//
#include "import/ops/Spatial.h"
#include "llvm/ADT/STLExtras.h"

namespace tokamak::import {

/// Larger strides, dilations and pads than this are faults in the file; sums and products of them stay in
/// range.
static constexpr int64_t limit = int64_t(1) << 30;

void checkExtents(IntsRef extents) {
  for (int64_t extent : extents)
    if (extent < 0 || extent > limit)
      fault("an extent of " + llvm::Twine(extent) + " is out of range");
}

static Ints listOf(NodeContext &n, llvm::StringRef name, int64_t count, int64_t fallback, int64_t lowest) {
  Ints values = n.intsAttr(name).value_or(Ints(count, fallback));
  if (static_cast<int64_t>(values.size()) != count)
    fault("attribute '" + name + "' has " + llvm::Twine(values.size()) + " entries, not " +
          llvm::Twine(count));
  for (int64_t v : values)
    if (v < lowest || v > limit)
      fault("attribute '" + name + "' must not hold " + llvm::Twine(v));
  return values;
}

Spatial Spatial::read(NodeContext &n, int64_t axes, std::optional<Ints> kernel) {
  Spatial s;
  s.kernel = n.intsAttr("kernel_shape") || !kernel ? listOf(n, "kernel_shape", axes, 0, 1) : *kernel;
  if (kernel && s.kernel != *kernel)
    fault("kernel_shape " + text(s.kernel) + " does not fit a weight with kernel " + text(*kernel));
  for (int64_t k : s.kernel)
    if (k < 1 || k > limit)
      fault("a kernel of shape " + text(s.kernel) +
            " is not supported; export the model with extents from 1 to " + llvm::Twine(limit));
  s.strides = listOf(n, "strides", axes, 1, 1);
  s.dilations = listOf(n, "dilations", axes, 1, 1);
  Ints pads = listOf(n, "pads", 2 * axes, 0, 0);
  s.padsLow.assign(pads.begin(), pads.begin() + axes);
  s.padsHigh.assign(pads.begin() + axes, pads.end());
  s.declaredHigh = s.padsHigh;
  return s;
}

void Spatial::resolve(NodeContext &n, IntsRef input, bool ceilMode) {
  std::string autoPad = n.stringAttr("auto_pad", "NOTSET");
  bool same = autoPad == "SAME_UPPER" || autoPad == "SAME_LOWER";
  if (!same && autoPad != "VALID" && autoPad != "NOTSET" && !autoPad.empty())
    fault("auto_pad '" + autoPad + "' is unknown; use NOTSET, SAME_UPPER, SAME_LOWER or VALID");
  for (auto [i, extent] : llvm::enumerate(input)) {
    int64_t window = dilatedExtent(kernel[i], dilations[i]);
    if (autoPad == "VALID")
      padsLow[i] = padsHigh[i] = 0;
    if (same) {
      output.push_back((extent + strides[i] - 1) / strides[i]);
      int64_t total = std::max<int64_t>((output[i] - 1) * strides[i] + window - extent, 0);
      padsLow[i] = autoPad == "SAME_UPPER" ? total / 2 : total - total / 2;
      padsHigh[i] = total - padsLow[i];
      declaredHigh[i] = padsHigh[i];
      continue;
    }
    declaredHigh[i] = padsHigh[i];
    int64_t room = extent + padsLow[i] + padsHigh[i] - window;
    if (room < 0)
      fault("a window of " + llvm::Twine(window) + " does not fit extent " + llvm::Twine(extent) +
            " with pads " + llvm::Twine(padsLow[i]) + " and " + llvm::Twine(padsHigh[i]));
    output.push_back(room / strides[i] + 1);
    if (ceilMode) {
      // One more window for what is left, but none that starts in the padding behind the input.
      output[i] += room % strides[i] != 0;
      if ((output[i] - 1) * strides[i] >= extent + padsLow[i])
        --output[i];
      padsHigh[i] = std::max<int64_t>((output[i] - 1) * strides[i] + window - extent - padsLow[i], 0);
    }
  }
}

static IntsRef spatialOf(IntsRef shape) {
  if (shape.size() < 3)
    fault("an input of shape " + text(shape) + " has no spatial axis");
  return shape.drop_front(2);
}

Spatial Spatial::ofConvolution(NodeContext &n, IntsRef input, IntsRef weight) {
  if (input.size() != weight.size())
    fault("an input of shape " + text(input) + " does not fit a weight of shape " + text(weight));
  IntsRef extents = spatialOf(input);
  Spatial s = read(n, static_cast<int64_t>(extents.size()), Ints(weight.drop_front(2)));
  s.group = n.intAttr("group", 1);
  s.resolve(n, extents, false);
  return s;
}

Spatial Spatial::ofPool(NodeContext &n, IntsRef input) {
  IntsRef extents = spatialOf(input);
  Spatial s = read(n, static_cast<int64_t>(extents.size()), std::nullopt);
  s.resolve(n, extents, n.intAttr("ceil_mode", 0) != 0);
  return s;
}

llvm::SmallVector<mlir::NamedAttribute> Spatial::attrs(Body &b) const {
  return {b.attr("strides", IntsRef(strides)), b.attr("dilations", IntsRef(dilations)),
          b.attr("pads_low", IntsRef(padsLow)), b.attr("pads_high", IntsRef(padsHigh))};
}
llvm::SmallVector<mlir::NamedAttribute> Spatial::convolutionAttrs(Body &b) const {
  auto result = attrs(b);
  result.push_back(b.attr("group", group));
  return result;
}
llvm::SmallVector<mlir::NamedAttribute> Spatial::windowAttrs(Body &b) const {
  auto result = attrs(b);
  result.push_back(b.attr("kernel", IntsRef(kernel)));
  return result;
}

} // namespace tokamak::import
