//===- FusionKind.h - pattern kinds of operators -------------------------------------===//
#pragma once
#include "llvm/ADT/StringRef.h"

namespace tokamak {

/// How an operator's loops relate its output to its inputs, ordered by how much they restrict fusion.
/// Source: the operator pattern kinds of TVM (Chen et al., OSDI 2018); the numbers are its own.
enum class FusionKind {
  Elementwise = 0, ///< output element i reads element i of an operand of the same shape
  Broadcast = 1,   ///< as elementwise, but every operand is smaller than the result
  Injective = 2,   ///< each output element reads one input element at some other index
  Reduction = 3,   ///< each output element sums (or takes the maximum of, ...) many input elements
  Anchor = 4, ///< a heavy loop nest that elementwise work can follow: convolution, matmul, pooling, softmax
  Tuple = 7,  ///< several values bundled: concatenation
  Opaque = 8, ///< a library call or control flow: never fused
};

llvm::StringRef stringifyFusionKind(FusionKind kind);

} // namespace tokamak
