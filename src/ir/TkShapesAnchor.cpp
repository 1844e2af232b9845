//===- TkShapesAnchor.cpp - result types: reductions, products, windows ------------------===//
#include "ir/TkShapes.h"
#include "llvm/ADT/STLExtras.h"

namespace tokamak::tk {
namespace shapes {

mlir::FailureOr<Extents> windowPositions(Loc loc, llvm::ArrayRef<int64_t> input,
                                         llvm::ArrayRef<int64_t> kernel, llvm::ArrayRef<int64_t> strides,
                                         llvm::ArrayRef<int64_t> dilations, llvm::ArrayRef<int64_t> padsLow,
                                         llvm::ArrayRef<int64_t> padsHigh) {
  const auto rank = static_cast<int64_t>(input.size());
  if (mlir::failed(checkLength(loc, "kernel", kernel, rank)) ||
      mlir::failed(checkRange(loc, "kernel", kernel, 1)) ||
      mlir::failed(checkLength(loc, "strides", strides, rank)) ||
      mlir::failed(checkRange(loc, "strides", strides, 1)) ||
      mlir::failed(checkLength(loc, "dilations", dilations, rank)) ||
      mlir::failed(checkRange(loc, "dilations", dilations, 1)) ||
      mlir::failed(checkLength(loc, "pads_low", padsLow, rank)) ||
      mlir::failed(checkRange(loc, "pads_low", padsLow, 0)) ||
      mlir::failed(checkLength(loc, "pads_high", padsHigh, rank)) ||
      mlir::failed(checkRange(loc, "pads_high", padsHigh, 0)))
    return mlir::failure();
  Extents positions;
  for (int64_t i = 0; i < rank; ++i) {
    const int64_t padded = input[i] + padsLow[i] + padsHigh[i];
    const int64_t window = (kernel[i] - 1) * dilations[i] + 1; // below 2^62
    if (padded != 0 && window > padded)
      return refuse(loc, "the window spans ", window, " elements of spatial axis ", i,
                    ", but the padded input ", show(input), " has only ", padded, " there");
    positions.push_back(padded == 0 ? 0 : (padded - window) / strides[i] + 1);
  }
  return positions;
}

} // namespace shapes

using namespace shapes;
using mlir::failed;
using mlir::failure;

/// `shape` after a reduction over `axes`.
static Extents reducedShape(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> axes, bool keepDims) {
  Extents reduced;
  for (auto [i, extent] : llvm::enumerate(shape)) {
    if (!llvm::is_contained(axes, static_cast<int64_t>(i)))
      reduced.push_back(extent);
    else if (keepDims)
      reduced.push_back(1);
  }
  return reduced;
}

TK_INFER(ReduceOp) {
  llvm::ArrayRef<int64_t> axes = x.getAxes();
  for (auto [i, axis] : llvm::enumerate(axes)) {
    if (failed(checkAxis(loc, axis, rankOf(x.getInput()))))
      return failure();
    if (i > 0 && axis <= axes[i - 1])
      return refuse(loc, "axes ", show(axes), " should be in ascending order, each once");
  }
  return give(loc, reducedShape(shapeOf(x.getInput()), axes, x.getKeepDims()), elementOf(x.getInput()),
              results);
}

TK_INFER(ArgReduceOp) {
  llvm::ArrayRef<int64_t> shape = shapeOf(x.getInput());
  const auto axis = static_cast<int64_t>(x.getAxis());
  if (failed(checkAxis(loc, axis, rankOf(x.getInput()))))
    return failure();
  if (x.getKind() != ReduceKind::Max && x.getKind() != ReduceKind::Min)
    return refuse(loc, "only a maximum or minimum has an index");
  Extents reduced = reducedShape(shape, axis, x.getKeepDims());
  if (shape[axis] == 0 && !llvm::is_contained(reduced, 0))
    return refuse(loc, "axis ", axis, " of ", show(shape), " is empty, so it has no extreme");
  return give(loc, reduced, mlir::IntegerType::get(x.getInput().getContext(), 64), results);
}

TK_INFER(MatMulOp) {
  llvm::ArrayRef<int64_t> lhs = shapeOf(x.getLhs()), rhs = shapeOf(x.getRhs());
  if (lhs.size() < 2 || rhs.size() < 2)
    return refuse(loc, "matrix product of ", show(lhs), " and ", show(rhs), ": both need two axes or more");
  if (failed(checkSameElement(loc, x.getOperands())))
    return failure();
  llvm::ArrayRef<int64_t> left = lhs.take_back(2), right = rhs.take_back(2);
  const int64_t rows = left[x.getTransposeLhs() ? 1 : 0], inner = left[x.getTransposeLhs() ? 0 : 1];
  const int64_t rightInner = right[x.getTransposeRhs() ? 1 : 0], columns = right[x.getTransposeRhs() ? 0 : 1];
  if (inner != rightInner)
    return refuse(loc, "matrix product of ", show(lhs), x.getTransposeLhs() ? " (transposed)" : "", " and ",
                  show(rhs), x.getTransposeRhs() ? " (transposed)" : "", ": inner extents ", inner, " and ",
                  rightInner, " differ");
  mlir::FailureOr<Extents> shape = broadcastShapes(lhs.drop_back(2), rhs.drop_back(2));
  if (failed(shape))
    return refuse(loc, "matrix product of ", show(lhs), " and ", show(rhs),
                  ": leading axes do not broadcast");
  shape->append({rows, columns});
  return give(loc, *shape, elementOf(x.getLhs()), results);
}

/// What conv and conv_transpose share: ranks, element types, the group count, a bias of `channels`.
template <typename Adaptor>
static mlir::LogicalResult checkConvolution(Loc loc, Adaptor x) {
  llvm::ArrayRef<int64_t> input = shapeOf(x.getInput()), weight = shapeOf(x.getWeight());
  if (input.size() < 3)
    return refuse(loc, "the input ", show(input),
                  " should have a batch, a channel and at least one spatial axis");
  if (weight.size() != input.size())
    return refuse(loc, "input ", show(input), " and weight ", show(weight), " should have the same rank");
  if (failed(checkSameElement(loc, x.getOperands())))
    return failure();
  return checkRange(loc, "group", static_cast<int64_t>(x.getGroup()), 1);
}

static mlir::LogicalResult checkBias(Loc loc, mlir::Value bias, int64_t channels) {
  if (!bias || shapeOf(bias) == llvm::ArrayRef(channels))
    return mlir::success();
  return refuse(loc, "bias ", show(shapeOf(bias)), " should have shape ", show(channels),
                ", one value for each output channel");
}

TK_INFER(ConvOp) {
  if (failed(checkConvolution(loc, x)))
    return failure();
  llvm::ArrayRef<int64_t> input = shapeOf(x.getInput()), weight = shapeOf(x.getWeight());
  const auto group = static_cast<int64_t>(x.getGroup());
  if (input[1] % group != 0 || input[1] / group != weight[1])
    return refuse(loc, "input ", show(input), " has ", input[1], " channels in ", group,
                  " group(s), but weight ", show(weight), " expects ", weight[1], " a group");
  if (weight[0] % group != 0)
    return refuse(loc, weight[0], " output channels (weight ", show(weight), ") do not divide into ", group,
                  " groups");
  if (failed(checkBias(loc, x.getBias(), weight[0])))
    return failure();
  mlir::FailureOr<Extents> positions =
      windowPositions(loc, input.drop_front(2), weight.drop_front(2), x.getStrides(), x.getDilations(),
                      x.getPadsLow(), x.getPadsHigh());
  if (failed(positions))
    return failure();
  positions->insert(positions->begin(), {input[0], weight[0]});
  return give(loc, *positions, elementOf(x.getInput()), results);
}

TK_INFER(ConvTransposeOp) {
  if (failed(checkConvolution(loc, x)))
    return failure();
  llvm::ArrayRef<int64_t> input = shapeOf(x.getInput()), weight = shapeOf(x.getWeight());
  const auto group = static_cast<int64_t>(x.getGroup());
  const auto rank = static_cast<int64_t>(input.size()) - 2;
  if (input[1] != weight[0])
    return refuse(loc, "input ", show(input), " has ", input[1], " channels, but weight ", show(weight),
                  " expects ", weight[0]);
  if (input[1] % group != 0)
    return refuse(loc, input[1], " channels do not divide into ", group, " groups");
  constexpr int64_t lowestPad = -(int64_t(1) << 31);
  if (failed(checkRange(loc, "kernel", weight.drop_front(2), 1)) ||
      failed(checkLength(loc, "strides", x.getStrides(), rank)) ||
      failed(checkRange(loc, "strides", x.getStrides(), 1)) ||
      failed(checkLength(loc, "dilations", x.getDilations(), rank)) ||
      failed(checkRange(loc, "dilations", x.getDilations(), 1)) ||
      failed(checkLength(loc, "pads_low", x.getPadsLow(), rank)) ||
      failed(checkRange(loc, "pads_low", x.getPadsLow(), lowestPad)) ||
      failed(checkLength(loc, "pads_high", x.getPadsHigh(), rank)) ||
      failed(checkRange(loc, "pads_high", x.getPadsHigh(), lowestPad)) ||
      failed(checkLength(loc, "output_padding", x.getOutputPadding(), rank)) ||
      failed(checkRange(loc, "output_padding", x.getOutputPadding(), 0)))
    return failure();
  Extents shape = {input[0], weight[1]};
  if (weight[1] > (int64_t(1) << 31))
    return refuse(loc, "weight ", show(weight), " has too many channels");
  shape[1] *= group;
  if (failed(checkBias(loc, x.getBias(), shape[1])))
    return failure();
  for (int64_t i = 0; i < rank; ++i) {
    // Exact: an extent may reach 2^40 and a stride 2^31.
    const __int128 extent = __int128(input[i + 2] - 1) * x.getStrides()[i] +
                            __int128(weight[i + 2] - 1) * x.getDilations()[i] + 1 - x.getPadsLow()[i] -
                            x.getPadsHigh()[i] + x.getOutputPadding()[i];
    if (extent < 0 || extent > (int64_t(1) << 40))
      return refuse(loc, "the output of input ", show(input), " with kernel ", show(weight.drop_front(2)),
                    extent < 0 ? " has a negative extent" : " is too large", " along spatial axis ", i);
    shape.push_back(static_cast<int64_t>(extent));
  }
  return give(loc, shape, elementOf(x.getInput()), results);
}

TK_INFER(WindowOp) {
  llvm::ArrayRef<int64_t> input = shapeOf(x.getInput());
  if (input.size() < 3)
    return refuse(loc, "the input ", show(input),
                  " should have a batch, a channel and at least one spatial axis");
  if (x.getKind() != ReduceKind::Sum && x.getKind() != ReduceKind::Max)
    return refuse(loc, "windows are combined by sum or max");
  mlir::FailureOr<Extents> positions =
      windowPositions(loc, input.drop_front(2), x.getKernel(), x.getStrides(), x.getDilations(),
                      x.getPadsLow(), x.getPadsHigh());
  if (failed(positions))
    return failure();
  positions->insert(positions->begin(), {input[0], input[1]});
  return give(loc, *positions, elementOf(x.getInput()), results);
}

} // namespace tokamak::tk
