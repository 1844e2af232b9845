//===- SoftmaxMatch.h - a softmax between two matrix products ---------------------------------------===//
// Recognised by what is computed, not by how an exporter has cut it into operators: exp(x - row maximum of x)
// over its row sum, where x is any function of one score each.
#pragma once
#include "codegen/kernel/KernelBody.h"
#include "llvm/Support/Error.h"

namespace tokamak::codegen {

struct SoftmaxMatch {
  tk::MatMulOp product; ///< its result are the bare scores
  mlir::Value scores;   ///< x: scaled and masked, at each position from the bare score there
};

/// The softmax that computes the left operand of `reader`, whose weights and scores nobody else needs; or why
/// there is none.
llvm::Expected<SoftmaxMatch> matchSoftmax(KernelBody &body, tk::MatMulOp reader);

} // namespace tokamak::codegen
