//===- ChooseWinograd.cpp - convolutions that are computed by minimal filtering --------------===//
// A convolution of 3x3 taps without stride takes 2.25 or 4 times fewer multiplications by F(2x2, 3x3) or
// F(4x4, 3x3), but transforms of its input and result, and weights of 1.8 or 4 times the size. Which way it
// goes is noted at the operator; a kernel that cannot go that way, a band of a chain say, computes plain
// sums.
//
// Contract: reassociating. The error of F(2x2) is below that of the plain sum, that of F(4x4) about twice as
// large. A NaN or an infinity in the input reaches all results of the tiles that read it.
#include "fusion/WinogradUse.h"
#include "rewrite/Passes.h"

namespace tokamak {
#define GEN_PASS_DEF_CHOOSEWINOGRAD
#include "rewrite/Passes.h.inc"
} // namespace tokamak

using namespace mlir;
using namespace tokamak;

namespace {

struct ChooseWinograd : tokamak::impl::ChooseWinogradBase<ChooseWinograd> {
  explicit ChooseWinograd(PassStatePtr state) : state(std::move(state)) {}

  void runOnOperation() override {
    const TargetDescription &target = state->target;
    fusion::WinogradUse use(fusion::convolutionWeights(getOperation(), target), target);
    getOperation().walk([&](tk::ConvOp conv) {
      const int64_t outputs = use.outputs(conv);
      if (outputs != 0 && state->fuel.take(getArgument(), conv.getLoc()))
        conv.setWinograd(outputs);
    });
  }

private:
  PassStatePtr state;
};

} // namespace

std::unique_ptr<Pass> tokamak::createChooseWinogradPass(PassStatePtr state) {
  return std::make_unique<ChooseWinograd>(orFresh(std::move(state)));
}
