//===- Convolution.cpp - which plan computes a convolution --------------------------------===//
#include "codegen/anchors/Convolution.h"
#include "codegen/anchors/DenseConvolution.h"
#include "codegen/anchors/NarrowGroupConvolution.h"
#include "ir/Tk.h"

using namespace mlir;

namespace tokamak::codegen {

llvm::Expected<std::unique_ptr<ConvolutionPlan>> ConvolutionPlan::create(const ConvolutionShape &shape,
                                                                         const TargetDescription &target) {
  int64_t outputs = shape.outChannelsPerGroup(), lanes = target.lanes();
  bool fillsVectors = outputs == lanes && (shape.inputBlock == 0 || shape.inChannelsPerGroup() % lanes == 0);
  bool hasNarrowGroups = shape.group > 1 && outputs <= lanes && !fillsVectors;
  return hasNarrowGroups ? createNarrowGroupConvolution(shape, target)
                         : createDenseConvolution(shape, target);
}

/// Extents and attributes of either operator; the last axes of the shape are the operator's.
template <class Op>
static llvm::Expected<ConvolutionShape> describe(Op op, const std::optional<Layout> &layout,
                                                 const TargetDescription &target) {
  RankedTensorType input = tk::tensorType(op.getInput()), weight = tk::tensorType(op.getWeight()),
                   output = tk::tensorType(op.getResult());
  if (!input.getElementType().isF32())
    return llvm::createStringError("not float32");
  int64_t spatialRank = input.getRank() - 2;
  if (spatialRank < 1 || spatialRank > 3)
    return llvm::createStringError("not 1 to 3 spatial axes");
  if (!layout && spatialRank > 2)
    return llvm::createStringError("an input of three spatial axes is not computed band by band");
  if (!layout && input.getDimSize(1) * 2 < target.lanes())
    return llvm::createStringError("blocks of so few channels would be computed mostly in vain");
  ConvolutionShape shape;
  shape.spatialRank = spatialRank;
  shape.batch = input.getDimSize(0);
  shape.inChannels = input.getDimSize(1);
  shape.outChannels = output.getDimSize(1);
  shape.group = op.getGroup();
  shape.inputBlock = layout ? layout->block : target.lanes();
  shape.inputPitch = layout ? layout->pitch : 0;
  shape.computesInput = !layout;
  for (int64_t i = 0; i < spatialRank; ++i) {
    int64_t axis = 3 - spatialRank + i;
    shape.input[axis] = input.getDimSize(2 + i);
    shape.kernel[axis] = weight.getDimSize(2 + i);
    shape.output[axis] = output.getDimSize(2 + i);
    shape.strides[axis] = op.getStrides()[i];
    shape.dilations[axis] = op.getDilations()[i];
    shape.padsLow[axis] = op.getPadsLow()[i];
  }
  return shape;
}

/// As above, for any operation.
static llvm::Expected<ConvolutionShape> describe(Operation *op, const std::optional<Layout> &layout,
                                                 const TargetDescription &target) {
  if (auto convolution = llvm::dyn_cast<tk::ConvOp>(op))
    return describe(convolution, layout, target);
  auto transposed = llvm::dyn_cast<tk::ConvTransposeOp>(op);
  if (!transposed)
    return llvm::createStringError("not a convolution");
  llvm::Expected<ConvolutionShape> shape = describe(transposed, layout, target);
  if (shape)
    shape->transposed = true;
  return shape;
}

llvm::Expected<std::unique_ptr<ConvolutionPlan>>
ConvolutionPlan::create(Operation *op, const std::optional<Layout> &input, const TargetDescription &target) {
  llvm::Expected<ConvolutionShape> shape = describe(op, input, target);
  if (!shape)
    return shape.takeError();
  return create(*shape, target);
}

} // namespace tokamak::codegen
