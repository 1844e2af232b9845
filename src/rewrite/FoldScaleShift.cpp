//===- FoldScaleShift.cpp - multiplications and additions a channel into weights and bias ------===//
// s * (W x + b) + t is the operator with weights s W and bias s b + t; W (s * x + t) + b is the operator with
// weights W s and bias b + W t. Exporters leave such scales and shifts behind norms, learnt scales (PP-OCR
// has them around every activation) and where a norm stands before its convolution.
//
// Contract: reassociating, on float32 and float64. Products and sums of constants are computed in double and
// rounded once a step, so each term of the sum carries one more rounding of its weight; a shift before the
// operator adds an error of eps sum |W| (|x| + |t|). Infinities and NaN come from the same inputs, but for
// sums beyond the largest number, which a scale may have brought back. A zero keeps its sign: a scale that is
// not positive folds only where a shift by constants follows, with scales and shifts alone in between. That
// shift makes +0 of zeros of both signs, so what the scale does to them is never seen.
//
// Before a matrix product the scales and shifts may be of the channels of an image that is then flattened: a
// value for each column of what the product reads.
//
// A shift does not pass a convolution that pads: the padding is zero behind the shift, too. The weights are
// new constants; large ones that others read are not doubled. A result that anything else reads stays as it
// is.
#include "mlir/IR/PatternMatch.h"
#include "rewrite/ConstantOperands.h"
#include "rewrite/LinearOperator.h"
#include "rewrite/Passes.h"
#include "rewrite/RewriteDriver.h"

namespace tokamak {
#define GEN_PASS_DEF_FOLDSCALESHIFT
#include "rewrite/Passes.h.inc"
} // namespace tokamak

using namespace mlir;
using namespace tokamak;
using rewrite::ConstantOperand;
using rewrite::constantOperand;
using rewrite::LinearOperator;
using rewrite::linearOperator;
using rewrite::makeConstant;
using rewrite::PerChannel;

/// Weights that others read as well are copied up to this size.
static constexpr int64_t largestSharedWeight = 16 << 10;

static bool mayCopyWeight(const LinearOperator &linear) {
  return linear.weight().hasOneUse() ||
         tk::constantValue(linear.weight())->byteCount() <= largestSharedWeight;
}

/// The linear operator whose result `value` is, where nothing else reads it.
static std::optional<LinearOperator> onlyUseOfLinear(Value value) {
  return value.hasOneUse() ? linearOperator(value.getDefiningOp()) : std::nullopt;
}

/// The constant beside a value of `op`, a channel of axis `axis` of that value.
static std::optional<PerChannel> channelsOf(const ConstantOperand &parts, int64_t axis) {
  std::optional<PerChannel> values =
      rewrite::perChannel(parts.constant, tk::tensorType(parts.x).getShape(), axis);
  if (!values || !llvm::all_of(*values, [](double v) { return std::isfinite(v); }))
    return std::nullopt;
  return values;
}

/// Shifts beyond may be there for the rounding that they bring: (x + 3 * 2^22) - 3 * 2^22 is an integer.
static constexpr double largestShift = 0x1p16;

static std::optional<PerChannel> shiftsOf(const ConstantOperand &parts, int64_t axis) {
  std::optional<PerChannel> values = channelsOf(parts, axis);
  if (!values || !llvm::all_of(*values, [](double v) { return std::abs(v) <= largestShift; }))
    return std::nullopt;
  return values;
}

/// A [M] constant as an operand beside a value of `rank` whose channels are along `axis`.
static Value alignedConstant(OpBuilder &builder, Location loc, const Tensor &values, int64_t rank,
                             int64_t axis) {
  llvm::SmallVector<int64_t> shape(rank - axis, 1);
  shape.front() = values.size();
  return makeConstant(builder, loc, values.reshaped(shape));
}

/// scale * linear + shift, in place of `op`, which is the last operator of that.
static LogicalResult replaceByScaled(Operation *op, const LinearOperator &linear, const PerChannel &scale,
                                     const PerChannel *shift, PatternRewriter &rewriter) {
  const bool isScaled = llvm::any_of(scale, [](double s) { return s != 1; });
  // A scale inside a loop leaves the operator where it runs once.
  if (linear.op->getBlock() != op->getBlock() || (isScaled && !mayCopyWeight(linear)))
    return failure();
  std::optional<Tensor> weight =
      isScaled ? linear.weightForScaledResult(scale) : tk::constantValue(linear.weight());
  const PerChannel none(scale.size(), 0.0);
  std::optional<Tensor> bias = linear.scaledAndShiftedBias(scale, shift ? *shift : none);
  if (!weight || !bias)
    return failure();
  Location loc = mergeLocations(linear.op->getLoc(), op->getLoc());
  Value newWeight = isScaled ? makeConstant(rewriter, loc, *weight) : linear.weight();
  Value newBias;
  if (linear.takesBias && (shift || linear.bias()))
    newBias = makeConstant(rewriter, loc, *bias);
  Operation *merged = linear.rebuild(rewriter, loc, linear.input(), newWeight, newBias);
  if (shift && !linear.takesBias)
    merged = rewriter.create<tk::AddOp>(
        op->getLoc(), op->getResult(0).getType(), merged->getResult(0),
        alignedConstant(rewriter, loc, *bias, tk::tensorType(op->getResult(0)).getRank(), linear.resultAxis));
  rewriter.replaceOp(op, merged);
  return success();
}

/// Whether `value` goes through scales and shifts by constants alone until a shift without a -0, behind which
/// no zero keeps its sign. That shift need not fold itself.
static bool isShifted(Value value) {
  constexpr int mostSteps = 16; // each scale of a chain asks anew
  for (int step = 0; step < mostSteps && value.hasOneUse(); ++step) {
    Operation *reader = *value.user_begin();
    std::optional<ConstantOperand> parts = constantOperand(reader);
    if (!parts || !llvm::isa<tk::MulOp, tk::AddOp>(reader))
      return false;
    if (llvm::isa<tk::AddOp>(reader) &&
        rewrite::allElements(parts->constant, [](double v) { return !rewrite::isNegativeZero(v); }))
      return true;
    value = reader->getResult(0);
  }
  return false;
}

/// Whether a scale may go into weights: s > 0 keeps the sign of a zero, a shift behind it leaves none to
/// keep.
static bool mayFold(tk::MulOp product, const PerChannel &scale) {
  return llvm::all_of(scale, [](double s) { return s > 0; }) || isShifted(product.getResult());
}

/// linear * s.
static LogicalResult scaleResult(tk::MulOp op, PatternRewriter &rewriter) {
  std::optional<ConstantOperand> parts = constantOperand(op);
  std::optional<LinearOperator> linear = parts ? onlyUseOfLinear(parts->x) : std::nullopt;
  std::optional<PerChannel> scale = linear ? channelsOf(*parts, linear->resultAxis) : std::nullopt;
  if (!scale || !mayFold(op, *scale))
    return failure();
  return replaceByScaled(op, *linear, *scale, nullptr, rewriter);
}

/// (product + b) * s: a matrix product keeps its bias in an addition behind it.
static LogicalResult scaleBiasedResult(tk::MulOp op, PatternRewriter &rewriter) {
  std::optional<ConstantOperand> parts = constantOperand(op);
  auto addition = parts && parts->x.hasOneUse() ? parts->x.getDefiningOp<tk::AddOp>() : nullptr;
  std::optional<ConstantOperand> terms = constantOperand(addition);
  std::optional<LinearOperator> linear = terms ? onlyUseOfLinear(terms->x) : std::nullopt;
  if (!linear || linear->takesBias)
    return failure();
  std::optional<PerChannel> scale = channelsOf(*parts, linear->resultAxis);
  std::optional<PerChannel> bias = shiftsOf(*terms, linear->resultAxis);
  if (!scale || !bias || !mayFold(op, *scale))
    return failure();
  for (auto [b, s] : llvm::zip_equal(*bias, *scale))
    b *= s;
  return replaceByScaled(op, *linear, *scale, &*bias, rewriter);
}

/// linear + t.
static LogicalResult shiftResult(tk::AddOp op, PatternRewriter &rewriter) {
  std::optional<ConstantOperand> parts = constantOperand(op);
  std::optional<LinearOperator> linear = parts ? onlyUseOfLinear(parts->x) : std::nullopt;
  std::optional<PerChannel> shift = linear ? shiftsOf(*parts, linear->resultAxis) : std::nullopt;
  if (!shift || !linear->takesBias)
    return failure();
  return replaceByScaled(op, *linear, PerChannel(shift->size(), 1.0), &*shift, rewriter);
}

/// (product + b) + t.
static LogicalResult shiftBiasedResult(tk::AddOp op, PatternRewriter &rewriter) {
  std::optional<ConstantOperand> parts = constantOperand(op);
  auto addition = parts && parts->x.hasOneUse() ? parts->x.getDefiningOp<tk::AddOp>() : nullptr;
  std::optional<ConstantOperand> terms = constantOperand(addition);
  std::optional<LinearOperator> linear = terms ? onlyUseOfLinear(terms->x) : std::nullopt;
  if (!linear || linear->takesBias)
    return failure();
  std::optional<PerChannel> bias = shiftsOf(*terms, linear->resultAxis);
  std::optional<PerChannel> shift = shiftsOf(*parts, linear->resultAxis);
  if (!bias || !shift)
    return failure();
  for (auto [b, t] : llvm::zip_equal(*bias, *shift))
    b += t;
  return replaceByScaled(op, *linear, PerChannel(bias->size(), 1.0), &*bias, rewriter);
}

/// t - linear.
static LogicalResult subtractResult(tk::SubOp op, PatternRewriter &rewriter) {
  std::optional<ConstantOperand> parts = constantOperand(op);
  std::optional<LinearOperator> linear = parts && parts->isLeft ? onlyUseOfLinear(parts->x) : std::nullopt;
  std::optional<PerChannel> shift = linear ? shiftsOf(*parts, linear->resultAxis) : std::nullopt;
  if (!shift || !linear->takesBias || llvm::any_of(*shift, rewrite::isNegativeZero))
    return failure();
  return replaceByScaled(op, *linear, PerChannel(shift->size(), -1.0), &*shift, rewriter);
}

/// The constant beside a value that `reshape` brings into the shape in which an operator reads its channels
/// along the last axis: laid out as the elements of `shape` from `axis` on are, which become that axis.
static std::optional<Tensor> flattened(const Tensor &constant, llvm::ArrayRef<int64_t> shape, size_t axis) {
  llvm::ArrayRef<int64_t> inner = shape.drop_front(axis);
  const auto rank = static_cast<int64_t>(inner.size());
  for (int64_t i = 0; i + rank < constant.rank(); ++i)
    if (constant.shape()[static_cast<size_t>(i)] != 1)
      return std::nullopt;
  int64_t count = 1;
  for (int64_t extent : inner)
    count *= extent;
  Tensor values(constant.type(), {count});
  for (int64_t at = 0; at < count; ++at) {
    int64_t rest = at, from = 0, step = 1;
    for (int64_t i = 1; i <= rank; ++i) {
      const int64_t extent = inner[static_cast<size_t>(rank - i)], index = rest % extent;
      rest /= extent;
      if (i > constant.rank())
        continue;
      const int64_t own = constant.shape()[static_cast<size_t>(constant.rank() - i)];
      from += own == 1 ? 0 : index * step;
      step *= own;
    }
    values.setDouble(at, constant.doubleAt(from));
  }
  return values;
}

/// What `linear` reads: a value with a constant beside it, or such a value in another shape.
struct ReadWithConstant {
  ConstantOperand parts; ///< `x` in the shape that the operator reads
  Value x;               ///< as it is
};

/// Of `op`, maybe behind `reshape` (or null). Nothing where the constants are not those of channels.
static std::optional<ReadWithConstant> readWithConstant(const LinearOperator &linear, Operation *op,
                                                        tk::ReshapeOp reshape) {
  std::optional<ConstantOperand> parts = constantOperand(op);
  if (!parts)
    return std::nullopt;
  Value x = parts->x;
  if (!reshape)
    return ReadWithConstant{*parts, x};
  auto shape = tk::tensorType(x).getShape(), read = reshape.getType().getShape();
  if (linear.inputAxis + 1 != static_cast<int64_t>(read.size()))
    return std::nullopt;
  int64_t behind = 1;
  size_t axis = shape.size();
  while (axis > 0 && behind < read.back())
    behind *= shape[--axis];
  std::optional<Tensor> constant;
  if (behind == read.back() && behind > 0)
    constant = flattened(parts->constant, shape, axis);
  if (!constant)
    return std::nullopt;
  return ReadWithConstant{{reshape.getResult(), *constant, parts->isLeft}, x};
}

/// `x` as the operator reads it.
static Value readAgain(const ReadWithConstant &read, tk::ReshapeOp reshape, PatternRewriter &rewriter) {
  if (!reshape)
    return read.x;
  return rewriter.create<tk::ReshapeOp>(reshape.getLoc(), reshape.getType(), read.x, reshape.getShape());
}

/// linear(x * s).
static LogicalResult scaleInput(const LinearOperator &linear, tk::MulOp product, tk::ReshapeOp reshape,
                                PatternRewriter &rewriter) {
  std::optional<ReadWithConstant> read = readWithConstant(linear, product, reshape);
  std::optional<PerChannel> scale = read ? channelsOf(read->parts, linear.inputAxis) : std::nullopt;
  std::optional<Tensor> weight =
      scale && mayCopyWeight(linear) ? linear.weightForScaledInput(*scale) : std::nullopt;
  if (!weight)
    return failure();
  Location loc = mergeLocations(linear.op->getLoc(), product.getLoc());
  Value x = readAgain(*read, reshape, rewriter);
  rewriter.replaceOp(linear.op,
                     linear.rebuild(rewriter, loc, x, makeConstant(rewriter, loc, *weight), linear.bias()));
  return success();
}

/// linear(x + t). Behind a matrix product the shift becomes an addition of its own, which pays where there is
/// one to join already, or less to add to.
static LogicalResult shiftInput(const LinearOperator &linear, tk::AddOp addition, tk::ReshapeOp reshape,
                                PatternRewriter &rewriter) {
  std::optional<ReadWithConstant> read = readWithConstant(linear, addition, reshape);
  std::optional<PerChannel> shift = read ? shiftsOf(read->parts, linear.inputAxis) : std::nullopt;
  if (!shift || !linear.seesAllTaps)
    return failure();
  Value result = linear.op->getResult(0);
  const bool isAddedTo = result.hasOneUse() && llvm::isa<tk::AddOp>(*result.user_begin()) &&
                         constantOperand(*result.user_begin());
  if (!linear.takesBias && !isAddedTo && linear.resultChannels() > linear.inputChannels())
    return failure();
  const PerChannel added = linear.resultOfShiftedInput(*shift);
  std::optional<Tensor> bias = linear.scaledAndShiftedBias(PerChannel(added.size(), 1.0), added);
  if (!bias)
    return failure();
  Location loc = mergeLocations(linear.op->getLoc(), addition.getLoc());
  Value newBias = linear.takesBias ? makeConstant(rewriter, loc, *bias) : nullptr;
  Operation *merged =
      linear.rebuild(rewriter, loc, readAgain(*read, reshape, rewriter), linear.weight(), newBias);
  if (!linear.takesBias)
    merged = rewriter.create<tk::AddOp>(
        addition.getLoc(), result.getType(), merged->getResult(0),
        alignedConstant(rewriter, loc, *bias, tk::tensorType(result).getRank(), linear.resultAxis));
  rewriter.replaceOp(linear.op, merged);
  return success();
}

template <typename Op>
static LogicalResult foldInput(Op op, PatternRewriter &rewriter) {
  std::optional<LinearOperator> linear = linearOperator(op);
  if (!linear || !linear->input().hasOneUse())
    return failure();
  Value input = linear->input();
  auto reshape = input.getDefiningOp<tk::ReshapeOp>();
  if (reshape)
    input = reshape.getInput();
  if (!input.hasOneUse())
    return failure();
  if (auto product = input.getDefiningOp<tk::MulOp>())
    return scaleInput(*linear, product, reshape, rewriter);
  if (auto addition = input.getDefiningOp<tk::AddOp>())
    return shiftInput(*linear, addition, reshape, rewriter);
  return failure();
}

namespace {
struct FoldScaleShift : tokamak::impl::FoldScaleShiftBase<FoldScaleShift> {
  explicit FoldScaleShift(PassStatePtr state) : state(std::move(state)) {}

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add(scaleResult)
        .add(scaleBiasedResult)
        .add(shiftResult)
        .add(shiftBiasedResult)
        .add(subtractResult)
        .add(foldInput<tk::ConvOp>)
        .add(foldInput<tk::ConvTransposeOp>)
        .add(foldInput<tk::MatMulOp>);
    rewrite::applyRewrites(getOperation(), std::move(patterns), *state, getArgument());
  }

  PassStatePtr state;
};
} // namespace

std::unique_ptr<Pass> tokamak::createFoldScaleShiftPass(PassStatePtr state) {
  return std::make_unique<FoldScaleShift>(orFresh(std::move(state)));
}
