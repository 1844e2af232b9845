//===- Traffic.h - bytes moved and arithmetic done -----------------------------------------===//
// A model, not a measurement: every kernel reads each of its operands once and writes each of its results
// once.
#pragma once
#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"
#include <cstdint>

namespace tokamak::analysis {

/// Of one kernel, or summed over a program. Activations and weights are apart, since fusion saves only the
/// former.
struct Traffic {
  int64_t kernels = 0;
  int64_t bytesRead = 0;    ///< of activations
  int64_t bytesWritten = 0; ///< of activations
  int64_t weightBytes = 0;  ///< read from constants
  int64_t flops = 0;        ///< a multiply-add is two

  Traffic &operator+=(const Traffic &other);
};

/// Bytes of a tensor value; saturates instead of overflowing.
int64_t tensorBytes(mlir::Value value);

/// Bytes that a kernel reads of a value through `uses`: all of it, unless every use picks a part.
int64_t bytesReadThrough(mlir::Value value, llvm::ArrayRef<mlir::OpOperand *> uses);

/// On a tk.fusion that needs no kernel: its result lies inside another value's memory (codegen/host/Views.h).
inline constexpr const char *viewAttribute = "tk.view";

/// True for operations that become no kernel and move nothing: constants, reshapes and other views,
/// terminators.
bool isFree(mlir::Operation *op);

/// The value whose buffer `value` lies in: looks through reshapes, which are views outside of kernels.
mlir::Value bufferOf(mlir::Value value);

/// The traffic of `op` as one kernel (an operator, a composite, a library call, a tk.fusion). Control flow:
/// the branch that costs more; the body times the iterations, as far as they are known (else one).
Traffic trafficOf(mlir::Operation *op);

/// How often `op` runs in one run of its function: the trips of the loops around it, as far as they are
/// known.
int64_t timesRun(mlir::Operation *op);

/// The sum over the block's operations.
Traffic trafficOf(mlir::Block &block);

} // namespace tokamak::analysis
