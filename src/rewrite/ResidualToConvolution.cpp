//===- ResidualToConvolution.cpp - an addend as an identity convolution ---------------------------===//
// conv(b) + a, where a and b were cut from one value, becomes conv(b) + conv(a) with a kernel that is one at
// its centre and zero elsewhere; then merge-sums makes one convolution of the whole value, which needs
// neither the split nor the addition (the split, conv, add of Jia et al., "TASO", SOSP 2019). Contract: exact
// on finite values only, as enlarge-kernels, and with the same guard.
#include "analysis/Blocks.h"
#include "analysis/Magnitude.h"
#include "rewrite/CostedRewrite.h"
#include "rewrite/KernelGeometry.h"
#include "rewrite/Passes.h"

namespace tokamak {
#define GEN_PASS_DEF_RESIDUALTOCONVOLUTION
#include "rewrite/Passes.h.inc"
} // namespace tokamak

using namespace mlir;
using namespace tokamak;
using namespace tokamak::rewrite;

namespace {

/// The centred convolution among the addition's operands whose input comes from the same value as the other
/// operand.
tk::ConvOp convolutionBeside(tk::AddOp add) {
  for (auto [summand, addend] : {std::pair(add.getLhs(), add.getRhs()), {add.getRhs(), add.getLhs()}}) {
    auto conv = summand.getDefiningOp<tk::ConvOp>();
    auto slice = addend.getDefiningOp<tk::SliceOp>();
    if (!conv || !slice || !conv->hasOneUse() || !weightedAnchor(conv) || !isCentred(conv) ||
        conv.getType() != slice.getType())
      continue;
    auto other = conv.getInput().getDefiningOp<tk::SliceOp>();
    if (other && other != slice && other.getInput() == slice.getInput())
      return conv;
  }
  return {};
}

Value identityWeights(OpBuilder &builder, Location loc, RankedTensorType type) {
  const int64_t channels = type.getDimSize(0);
  llvm::SmallVector<int64_t> shape(static_cast<size_t>(type.getRank()), 1);
  shape[0] = shape[1] = channels;
  Tensor identity(*fromMlir(type.getElementType()), shape);
  for (int64_t c = 0; c < channels; ++c)
    identity.setDouble(c * channels + c, 1);
  Value centre = builder.create<tk::ConstantOp>(loc, identity.mlirType(builder.getContext()),
                                                identity.toAttr(builder.getContext()));
  return embedKernel(builder, loc, centre, type.getShape().drop_front(2));
}

class ResidualToConvolutionRewrite : public CostedRewrite {
public:
  llvm::StringRef name() const override { return "residual-to-convolution"; }

  /// The addition.
  std::vector<Site> findSites(Block &block) const override {
    std::vector<Site> sites;
    for (Operation &op : block)
      if (auto add = dyn_cast<tk::AddOp>(op); add && convolutionBeside(add))
        sites.push_back({add});
    return sites;
  }

  bool keepsNonFinite(const Site &site) const override {
    tk::ConvOp conv = convolutionBeside(cast<tk::AddOp>(site.front()));
    return analysis::magnitudeBound(conv.getInput().getDefiningOp<tk::SliceOp>().getInput()).has_value();
  }

  void apply(const Site &site, IRRewriter &rewriter) const override {
    auto add = cast<tk::AddOp>(site.front());
    tk::ConvOp conv = convolutionBeside(add);
    Value addend = add.getLhs() == conv.getResult() ? add.getRhs() : add.getLhs();
    rewriter.setInsertionPoint(add);
    auto channels = tk::tensorType(addend).getDimSize(1);
    llvm::SmallVector<int64_t> shape(tk::tensorType(conv.getWeight()).getShape());
    shape[0] = shape[1] = channels;
    Value weight = identityWeights(rewriter, add.getLoc(), tk::tensorType(conv.getWeight()).clone(shape));
    Value identity = rebuildAnchor(rewriter, add.getLoc(), *weightedAnchor(conv), addend, weight, Value());
    rewriter.replaceOpWithNewOp<tk::AddOp>(add, add.getType(), conv.getResult(), identity);
  }
};

struct ResidualToConvolution : tokamak::impl::ResidualToConvolutionBase<ResidualToConvolution> {
  explicit ResidualToConvolution(PassStatePtr state) : state(std::move(state)) {}
  void runOnOperation() override {
    analysis::forEachGraphBlock(getOperation(), [&](Block &block) {
      applyEverywhere(residualToConvolution(), block, *state, [](const Site &) { return true; });
    });
  }
  PassStatePtr state;
};

} // namespace

const CostedRewrite &rewrite::residualToConvolution() {
  static const ResidualToConvolutionRewrite instance;
  return instance;
}

std::unique_ptr<Pass> tokamak::createResidualToConvolutionPass(PassStatePtr state) {
  return std::make_unique<ResidualToConvolution>(orFresh(std::move(state)));
}
