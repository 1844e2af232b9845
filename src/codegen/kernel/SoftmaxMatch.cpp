//===- SoftmaxMatch.cpp - a softmax between two matrix products -------------------------------------===//
#include "codegen/kernel/SoftmaxMatch.h"
#include "codegen/kernel/AnchorOperands.h"
#include "codegen/kernel/IndexProbe.h"
#include "codegen/kernel/MatrixChain.h"

namespace tokamak::codegen {

using namespace mlir;

namespace {

llvm::Error refuse(const char *reason) { return llvm::createStringError(reason); }

/// What `value` repeats or reshapes.
Value behindShape(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<tk::ReshapeOp, tk::BroadcastOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

/// The operand of a reduction of the last axis.
Value rowReduction(Value value, tk::ReduceKind kind) {
  auto reduce = behindShape(value).getDefiningOp<tk::ReduceOp>();
  if (!reduce || reduce.getKind() != kind)
    return nullptr;
  const int64_t last = tk::tensorType(reduce.getInput()).getRank() - 1;
  return reduce.getAxes() == ArrayRef<int64_t>{last} ? behindShape(reduce.getInput()) : nullptr;
}

/// The values that make a softmax.
struct Pieces {
  Value scores, maximum, sum;
};

std::optional<Pieces> piecesOf(Value weights) {
  auto quotient = behindShape(weights).getDefiningOp<tk::DivOp>();
  auto power = quotient ? behindShape(quotient.getLhs()).getDefiningOp<tk::ExpOp>() : nullptr;
  auto shifted = power ? behindShape(power.getInput()).getDefiningOp<tk::SubOp>() : nullptr;
  if (!shifted)
    return std::nullopt;
  Value scores = behindShape(shifted.getLhs());
  if (rowReduction(quotient.getRhs(), tk::ReduceKind::Sum) != power.getResult() ||
      rowReduction(shifted.getRhs(), tk::ReduceKind::Max) != scores)
    return std::nullopt;
  return Pieces{scores, behindShape(shifted.getRhs()), behindShape(quotient.getRhs())};
}

/// Whether each weight is computed from the score at its place and from the sum and maximum of its row.
bool readsItsRow(Value weights, const Pieces &pieces) {
  IndexProbe probe(weights, [&](Value value) {
    return value == pieces.scores || value == pieces.maximum || value == pieces.sum;
  });
  IndexSpace &space = probe.space();
  auto shape = tk::tensorType(weights).getShape();
  const Index position = linearize(space, probe.ownIndex(), shape),
              row = linearize(space, probe.ownIndex().drop_back(), shape.drop_back());
  return llvm::all_of(probe.accesses(), [&](const Access &access) {
    const Index at = linearize(space, access.index, tk::tensorType(access.tensor).getShape());
    return at == (access.tensor == pieces.scores ? position : row);
  });
}

/// Whether anything between `product` and `reader` is needed elsewhere.
bool isReadElsewhere(tk::MatMulOp product, tk::MatMulOp reader) {
  auto sources = sourcesOf(reader.getLhs());
  return llvm::any_of(sources, [&](Operation *op) {
    if (op != product && !sourcesOf(op->getResult(0)).contains(product))
      return false;
    return llvm::any_of(op->getUsers(),
                        [&](Operation *user) { return !sources.contains(user) && user != reader; });
  });
}

} // namespace

llvm::Expected<SoftmaxMatch> matchSoftmax(KernelBody &body, tk::MatMulOp reader) {
  Value weights = reader.getLhs();
  auto type = tk::tensorType(weights);
  auto pieces = piecesOf(weights);
  if (!pieces || reader.getTransposeLhs())
    return refuse("no softmax over the rows that the second product reads");
  SoftmaxMatch match;
  match.scores = pieces->scores;
  if (!type.getElementType().isF32())
    return refuse("each tensor of the softmax rounds to its own type");
  auto scoresType = tk::tensorType(match.scores);
  if (type.getNumElements() == 0)
    return refuse("there are no keys");
  if (scoresType.getNumElements() != type.getNumElements() ||
      scoresType.getShape().back() != type.getShape().back() || !readsItsRow(weights, *pieces))
    return refuse("the softmax is not over the rows that the second product reads");
  auto sources = sourcesOf(match.scores);
  auto heavy = body.heavyOperators();
  llvm::erase_if(heavy, [&](Operation *op) { return !sources.contains(op); });
  match.product = heavy.empty() ? nullptr : dyn_cast<tk::MatMulOp>(heavy.back());
  auto sourcesOfProduct = match.product ? sourcesOf(match.product.getResult()) : sources;
  if (!llvm::all_of(heavy, [&](Operation *op) { return sourcesOfProduct.contains(op); }))
    return refuse("the scores are not from one product alone");
  if (!match.product || !match.product.getType().getElementType().isF32())
    return refuse("the scores are no float32 product");
  if (match.product.getType().getNumElements() != type.getNumElements() ||
      match.product.getType().getShape().take_back(2) != type.getShape().take_back(2) ||
      !readInPlace(match.scores, match.product))
    return refuse("a score is not computed from the product at its place alone");
  if (isReadElsewhere(match.product, reader) || weights == reader.getRhs())
    return refuse("scores or weights are needed elsewhere");
  return match;
}

} // namespace tokamak::codegen
