//===- MergeSums.cpp - the sum of two anchors as one --------------------------------------------===//
// conv(a) + conv(b) of one geometry is a convolution of a and b side by side over the input channels; x A + y
// B likewise. Slices of one value that lie side by side are that value, so that split + conv + add loses the
// split and the addition. Of one input, conv(x, A) + conv(x, B) is conv(x, A + B), where x is never infinite:
// an infinity times weights of both signs would be NaN in the sum alone. Contract: reassociating: one sum of
// all products, rounded as one sum instead of as two and their sum, and A + B rounded.
#include "analysis/Blocks.h"
#include "analysis/Magnitude.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "rewrite/ConstantOperands.h"
#include "rewrite/CostedRewrite.h"
#include "rewrite/Passes.h"
#include "rewrite/ValueFacts.h"
#include "rewrite/WeightedAnchor.h"
#include <limits>

namespace tokamak {
#define GEN_PASS_DEF_MERGESUMS
#include "rewrite/Passes.h.inc"
} // namespace tokamak

using namespace mlir;
using namespace tokamak;
using namespace tokamak::rewrite;

namespace {

/// The anchor that makes `value`, for one reader alone.
std::optional<WeightedAnchor> ownAnchor(Value value) {
  Operation *op = value.getDefiningOp();
  return op && op->hasOneUse() ? weightedAnchor(op) : std::nullopt;
}

/// Whether b may stand behind a along the inputs' channels.
bool areSummands(const WeightedAnchor &a, const WeightedAnchor &b) {
  // Partial sums of halves are rounded to halves, and may overflow: only exact rewrites are for them.
  if (tk::tensorType(a.weight).getElementType().getIntOrFloatBitWidth() < 32)
    return false;
  if (a.op == b.op || a.inputAxis != b.inputAxis || !haveSameGeometry(a, b, a.weightInAxis) ||
      a.op->getResult(0).getType() != b.op->getResult(0).getType())
    return false;
  llvm::SmallVector<int64_t> first(tk::tensorType(a.input).getShape()),
      second(tk::tensorType(b.input).getShape());
  if (first.size() != second.size())
    return false;
  first[static_cast<size_t>(a.inputAxis)] = second[static_cast<size_t>(a.inputAxis)] = 1;
  return first == second;
}

/// `b` begins where `a` ends, in one value and along `axis`.
bool areAdjacentSlices(Value a, Value b, int64_t axis) {
  auto first = a.getDefiningOp<tk::SliceOp>(), second = b.getDefiningOp<tk::SliceOp>();
  if (!first || !second || first.getInput() != second.getInput())
    return false;
  auto isUnit = [](int64_t step) { return step == 1; };
  if (!llvm::all_of(first.getSteps(), isUnit) || !llvm::all_of(second.getSteps(), isUnit))
    return false;
  for (size_t i = 0; i < first.getStarts().size(); ++i) {
    const int64_t shift = static_cast<int64_t>(i) == axis ? first.getSizes()[i] : 0;
    if (first.getStarts()[i] + shift != second.getStarts()[i] ||
        (static_cast<int64_t>(i) != axis && first.getSizes()[i] != second.getSizes()[i]))
      return false;
  }
  return true;
}

/// a and b side by side: what they were cut from, where they were.
Value joinInputs(Value a, Value b, int64_t axis, Location loc, IRRewriter &rewriter) {
  if (!areAdjacentSlices(a, b, axis))
    return concatenate(rewriter, loc, {a, b}, axis);
  auto first = a.getDefiningOp<tk::SliceOp>();
  Value joined = first.getInput();
  for (int64_t i = 0; i < tk::tensorType(joined).getRank(); ++i) {
    int64_t size = first.getSizes()[static_cast<size_t>(i)];
    if (i == axis)
      size += tk::tensorType(b).getDimSize(axis);
    if (size != tk::tensorType(joined).getDimSize(i))
      joined = sliceAlong(rewriter, loc, joined, i, first.getStarts()[static_cast<size_t>(i)], size);
  }
  return joined;
}

/// Whether the sum of the weights of anchors of one input does what they do for each input there can be.
bool addsUp(const WeightedAnchor &a, const WeightedAnchor &b) {
  if (!(isNeverInfinite(a.input) || analysis::magnitudeBound(a.input)) ||
      a.weight.getType() != b.weight.getType())
    return false;
  auto isSmall = [](Value weight) { // so that no sum overflows
    std::optional<Tensor> constant = compactConstant(weight);
    return constant && allElements(*constant, [](double w) {
             return std::abs(w) < std::numeric_limits<float>::max() / 2;
           });
  };
  return isSmall(a.weight) && isSmall(b.weight);
}

Value sumOfBiases(const WeightedAnchor &a, const WeightedAnchor &b, Location loc, IRRewriter &rewriter) {
  if (a.bias && b.bias)
    return rewriter.create<tk::AddOp>(loc, a.bias.getType(), a.bias, b.bias);
  return a.bias ? a.bias : b.bias;
}

/// Erases definitions that nothing reads any more.
void eraseUnused(llvm::ArrayRef<Value> values, IRRewriter &rewriter) {
  for (Value value : values) {
    Operation *op = value.getDefiningOp();
    if (op && isOpTriviallyDead(op)) {
      llvm::SmallVector<Value> operands(op->getOperands());
      rewriter.eraseOp(op);
      llvm::sort(operands, [](Value x, Value y) { return x.getAsOpaquePointer() < y.getAsOpaquePointer(); });
      operands.erase(llvm::unique(operands), operands.end());
      eraseUnused(operands, rewriter);
    }
  }
}

class MergeSumsRewrite : public CostedRewrite {
public:
  llvm::StringRef name() const override { return "merge-sums"; }

  /// The addition; the anchors are its operands.
  std::vector<Site> findSites(Block &block) const override {
    std::vector<Site> sites;
    for (Operation &op : block) {
      auto add = dyn_cast<tk::AddOp>(op);
      if (!add)
        continue;
      auto a = ownAnchor(add.getLhs()), b = ownAnchor(add.getRhs());
      if (a && b && areSummands(*a, *b))
        sites.push_back({add});
    }
    return sites;
  }

  void apply(const Site &site, IRRewriter &rewriter) const override {
    auto add = cast<tk::AddOp>(site.front());
    WeightedAnchor a = *ownAnchor(add.getLhs()), b = *ownAnchor(add.getRhs());
    if (areAdjacentSlices(b.input, a.input, a.inputAxis))
      std::swap(a, b);
    Location loc = FusedLoc::get(add.getContext(), {a.op->getLoc(), b.op->getLoc(), add.getLoc()});
    rewriter.setInsertionPoint(add);
    const bool isOneInput = a.input == b.input && addsUp(a, b);
    Value input = isOneInput ? a.input : joinInputs(a.input, b.input, a.inputAxis, loc, rewriter);
    Value weight = isOneInput
                       ? rewriter.create<tk::AddOp>(loc, a.weight.getType(), a.weight, b.weight).getResult()
                       : concatenate(rewriter, loc, {a.weight, b.weight}, a.weightInAxis);
    Value bias = sumOfBiases(a, b, loc, rewriter);
    rewriter.replaceOp(add, rebuildAnchor(rewriter, loc, a, input, weight, bias));
    eraseUnused({a.op->getResult(0), b.op->getResult(0)}, rewriter);
  }
};

struct MergeSums : tokamak::impl::MergeSumsBase<MergeSums> {
  explicit MergeSums(PassStatePtr state) : state(std::move(state)) {}
  void runOnOperation() override {
    analysis::forEachGraphBlock(getOperation(), [&](Block &block) {
      applyEverywhere(mergeSums(), block, *state, [](const Site &) { return true; });
    });
  }
  PassStatePtr state;
};

} // namespace

const CostedRewrite &rewrite::mergeSums() {
  static const MergeSumsRewrite instance;
  return instance;
}

std::unique_ptr<Pass> tokamak::createMergeSumsPass(PassStatePtr state) {
  return std::make_unique<MergeSums>(orFresh(std::move(state)));
}
