//===- Convolution.cpp - Conv, ConvTranspose, Col2Im ---------------------------------------===//
#include "import/ops/Spatial.h"
#include "llvm/Support/MathExtras.h"

namespace tokamak::import {

namespace {

/// Input, weight and, where given, bias.
Values convolutionOperands(NodeContext &n) {
  Values operands{n.input(0), n.input(1)};
  if (n.has(2))
    operands.push_back(n.input(2));
  return operands;
}

Result importConv(NodeContext &n) {
  n.takesInputs(3);
  Spatial s = Spatial::ofConvolution(n, shapeOf(n.input(0)), shapeOf(n.input(1)));
  return Values{n.body().op("conv", convolutionOperands(n), s.convolutionAttrs(n.body()))};
}

/// Pads and output_padding of ConvTranspose follow from output_shape or auto_pad where those are given.
Result importConvTranspose(NodeContext &n) {
  n.takesInputs(3);
  IntsRef input = shapeOf(n.input(0)), weight = shapeOf(n.input(1));
  if (input.size() < 3 || weight.size() != input.size())
    return n.error("an input of shape " + text(input) + " does not fit a weight of shape " + text(weight));
  checkExtents(input);
  int64_t axes = static_cast<int64_t>(input.size()) - 2;
  Spatial s = Spatial::read(n, axes, Ints(weight.drop_front(2)));
  Ints outputPadding = n.intsAttr("output_padding").value_or(Ints(axes, 0));
  std::optional<Ints> outputShape = n.intsAttr("output_shape");
  std::string autoPad = n.stringAttr("auto_pad", "NOTSET");
  bool same = autoPad == "SAME_UPPER" || autoPad == "SAME_LOWER";
  if (outputShape && outputShape->size() == input.size()) // some exporters include batch and channels
    outputShape = Ints(llvm::ArrayRef(*outputShape).drop_front(2));
  if (static_cast<int64_t>(outputPadding.size()) != axes ||
      (outputShape && static_cast<int64_t>(outputShape->size()) != axes))
    return n.error("output_padding and output_shape need one entry a spatial axis");
  checkExtents(outputPadding);
  if (outputShape)
    checkExtents(*outputShape);
  if (autoPad == "VALID")
    s.padsLow = s.padsHigh = Ints(axes, 0);
  for (int64_t i = 0; i < axes && (outputShape || same); ++i) {
    int64_t target = outputShape ? (*outputShape)[i] : input[i + 2] * s.strides[i];
    int64_t natural =
        (input[i + 2] - 1) * s.strides[i] + outputPadding[i] + dilatedExtent(s.kernel[i], s.dilations[i]);
    int64_t total = natural - target;
    int64_t half = llvm::divideFloorSigned(total, int64_t(2));
    s.padsLow[i] = autoPad == "SAME_UPPER" ? half : total - half;
    s.padsHigh[i] = total - s.padsLow[i];
  }
  Body &b = n.body();
  auto attrs = s.attrs(b);
  attrs.push_back(b.attr("output_padding", IntsRef(outputPadding)));
  attrs.push_back(b.attr("group", n.intAttr("group", 1)));
  return Values{b.op("conv_transpose", convolutionOperands(n), attrs)};
}

/// Adds the columns of an im2col matrix back into an image: a depthwise transposed convolution whose weight
/// puts column k at kernel position k.
Result importCol2Im(NodeContext &n) {
  Ints image = n.constantInts(1, "image_shape"), kernel = n.constantInts(2, "block_shape");
  checkExtents(image);
  int64_t axes = static_cast<int64_t>(image.size());
  if (axes == 0 || kernel.size() != image.size())
    return n.error("image_shape and block_shape must have the same number of entries");
  Spatial s = Spatial::read(n, axes, kernel);
  IntsRef input = shapeOf(n.input(0));
  int64_t taps = product(kernel);
  if (input.size() != 3 || input[1] % taps != 0)
    return n.error("an input of shape " + text(input) + " does not hold blocks of " + text(kernel));
  int64_t channels = input[1] / taps;
  Ints columns{input[0], input[1]}, outputPadding, imageShape{input[0], channels};
  for (int64_t i = 0; i < axes; ++i) {
    int64_t room = image[i] + s.padsLow[i] + s.padsHigh[i] - dilatedExtent(kernel[i], s.dilations[i]);
    if (room < 0)
      return n.error("a block does not fit the image");
    columns.push_back(room / s.strides[i] + 1);
    outputPadding.push_back(room % s.strides[i]);
    imageShape.push_back(image[i]);
  }
  if (product(IntsRef(columns).drop_front(2)) != input[2])
    return n.error("the image has " + llvm::Twine(product(IntsRef(columns).drop_front(2))) +
                   " blocks, the input " + llvm::Twine(input[2]));
  return wideComposite(n, {n.input(0)}, [&](Body &b, ValueRange x) {
    Ints flatIdentity{taps, taps};
    Value identity = b.cast(b.compare(tk::Predicate::Equal, b.iota(flatIdentity, 0, DataType::Int64),
                                      b.iota(flatIdentity, 1, DataType::Int64)),
                            typeOf(x[0]));
    Ints repeated{channels, taps, taps}, allTaps{channels * taps, 1};
    allTaps.append(kernel.begin(), kernel.end());
    Value weight = b.reshape(b.broadcast(identity, repeated), allTaps);
    auto attrs = s.attrs(b);
    attrs.push_back(b.attr("output_padding", IntsRef(outputPadding)));
    attrs.push_back(b.attr("group", channels));
    return b.op("conv_transpose", {b.reshape(x[0], columns), weight}, attrs);
  });
}

} // namespace

void registerConvolution(Registry &registry) {
  registry.add("Col2Im", importCol2Im);
  registry.add("Conv", importConv);
  registry.add("ConvTranspose", importConvTranspose);
}

} // namespace tokamak::import
