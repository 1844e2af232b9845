//===- Convolution.cpp - which plan computes a convolution --------------------------------===//
#include "codegen/anchors/Convolution.h"
#include "codegen/anchors/DenseConvolution.h"
#include "codegen/anchors/NarrowGroupConvolution.h"
#include "codegen/anchors/RowMajorDepthwise.h"
#include "codegen/anchors/WinogradConvolution.h"
#include "ir/Tk.h"

using namespace mlir;

namespace tokamak::codegen {

llvm::Expected<std::unique_ptr<ConvolutionPlan>> ConvolutionPlan::create(const ConvolutionShape &shape,
                                                                         const TargetDescription &target) {
  if (shape.winograd != 0) {
    auto plan = createWinogradConvolution(shape, shape.winograd, target);
    if (plan)
      return plan;
    llvm::consumeError(plan.takeError());
  }
  int64_t outputs = shape.outChannelsPerGroup(), lanes = target.lanes();
  bool fillsVectors = outputs == lanes && (shape.inputBlock == 0 || shape.inChannelsPerGroup() % lanes == 0);
  bool hasNarrowGroups = shape.group > 1 && outputs <= lanes && !fillsVectors;
  hasNarrowGroups |= shape.window != ConvolutionShape::Window::None;
  if (!hasNarrowGroups)
    return createDenseConvolution(shape, target);
  const bool isRowMajor = shape.inputBlock == 0 && shape.window == ConvolutionShape::Window::None;
  return isRowMajor ? createRowMajorDepthwise(shape, target) : createNarrowGroupConvolution(shape, target);
}

/// The extents, and the attributes that all operators of the kind have; the last axes of the shape are the
/// operator's.
template <class Op>
static llvm::Expected<ConvolutionShape> shapeOf(Op op, ArrayRef<int64_t> kernel,
                                                const std::optional<Layout> &layout,
                                                const TargetDescription &target) {
  RankedTensorType input = tk::tensorType(op.getInput()), output = tk::tensorType(op.getResult());
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
  shape.inputBlock = layout ? layout->block : target.lanes();
  shape.inputPitch = layout ? layout->pitch : 0;
  shape.computesInput = !layout;
  for (int64_t i = 0; i < spatialRank; ++i) {
    int64_t axis = 3 - spatialRank + i;
    shape.input[axis] = input.getDimSize(2 + i);
    shape.kernel[axis] = kernel[i];
    shape.output[axis] = output.getDimSize(2 + i);
    shape.strides[axis] = op.getStrides()[i];
    shape.dilations[axis] = op.getDilations()[i];
    shape.padsLow[axis] = op.getPadsLow()[i];
  }
  return shape;
}

template <class Op>
static llvm::Expected<ConvolutionShape> weightedShape(Op op, const std::optional<Layout> &layout,
                                                      const TargetDescription &target) {
  auto kernel = tk::tensorType(op.getWeight()).getShape().drop_front(2);
  llvm::Expected<ConvolutionShape> shape = shapeOf(op, kernel, layout, target);
  if (shape)
    shape->group = op.getGroup();
  return shape;
}

llvm::Expected<ConvolutionShape> ConvolutionPlan::describe(Operation *op, const std::optional<Layout> &layout,
                                                           const TargetDescription &target) {
  if (auto convolution = llvm::dyn_cast<tk::ConvOp>(op)) {
    llvm::Expected<ConvolutionShape> shape = weightedShape(convolution, layout, target);
    if (shape)
      shape->winograd = static_cast<int64_t>(convolution.getWinograd().value_or(0));
    return shape;
  }
  if (auto transposed = llvm::dyn_cast<tk::ConvTransposeOp>(op)) {
    llvm::Expected<ConvolutionShape> shape = weightedShape(transposed, layout, target);
    if (shape)
      shape->transposed = true;
    return shape;
  }
  auto window = llvm::dyn_cast<tk::WindowOp>(op);
  if (!window)
    return llvm::createStringError("no convolution and no window");
  bool isMax = window.getKind() == tk::ReduceKind::Max;
  if (!isMax && window.getKind() != tk::ReduceKind::Sum)
    return llvm::createStringError("a window of another kind");
  llvm::Expected<ConvolutionShape> shape = shapeOf(window, window.getKernel(), layout, target);
  if (shape) {
    shape->group = shape->inChannels;
    shape->window = isMax ? ConvolutionShape::Window::Max : ConvolutionShape::Window::Sum;
  }
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
