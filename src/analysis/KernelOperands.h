//===- KernelOperands.h - the memory that a kernel reads and writes -----------------------===//
#pragma once
#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>

namespace tokamak::analysis {

/// Buffers, each listed once: the value that owns the memory, and how many bytes of it are touched.
struct KernelOperands {
  struct Buffer {
    mlir::Value value;
    int64_t bytes = 0;
  };
  llvm::SmallVector<Buffer> reads, writes;
};

/// Of one kernel as it stands in the graph: an operator, a composite, a library call, a tk.fusion.
KernelOperands operandsOf(mlir::Operation *kernel);

/// Of the operations of one block as one kernel. Constants of one element become part of its code.
KernelOperands operandsOf(llvm::ArrayRef<mlir::Operation *> members);

/// Whether the buffer is a constant of the model.
bool isWeight(mlir::Value buffer);

} // namespace tokamak::analysis
