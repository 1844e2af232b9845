//===- Prologue.h - operands of anchors as expressions ----------------------------------------------===//
#pragma once
#include "codegen/anchors/InputRegion.h"
#include "codegen/kernel/IndexBoxes.h"
#include "codegen/kernel/KernelContext.h"

namespace tokamak::codegen {

/// How parts of a convolution's input are computed, channel-blocked.
struct ConvolutionInput {
  mlir::Value value; ///< inside the group
  /// Lanes run over columns, and squares of vectors are transposed in registers: neighbours lie in memory
  /// that way. Else lanes are channels.
  bool alongColumns = false;
  /// Blocks of channels at which the loop over them is cut, so that each piece reads one operand of a
  /// concatenation.
  std::set<int64_t> cuts = {};
  double loads = 0; ///< of a vector, irregular ones counted by lane, and what the transposition costs
};
ConvolutionInput planConvolutionInput(KernelBody &body, const KernelMemory &memory, mlir::Value value,
                                      int64_t lanes);
ConvolutionInputFn computeConvolutionInput(KernelContext &k, const ConvolutionInput &input);

/// One vector of float32 at a position of some memory, counted in elements.
Buffer vectorAt(mlir::Value memory, const Index &position);

/// Loads of such a vector, irregular ones counted by lane; the lanes run along axis `laneAxis` of `value`.
double loadsOfVector(KernelBody &body, const KernelMemory &memory, mlir::Value value, size_t laneAxis,
                     int64_t lanes);

/// How parts of a matrix product's operand are computed.
struct MatrixInput {
  mlir::Value operand; ///< a value inside the group
  bool isTransposed = false;
  /// Lanes run over rows, and squares of vectors are transposed in registers: neighbours lie in memory that
  /// way.
  bool alongRows = false;
  double loads = 0; ///< of a vector, as above, and what the transposition costs
};
/// `isWhole`: parts are all rows of a matrix.
MatrixInput planMatrixInput(KernelBody &body, const KernelMemory &memory, mlir::Value operand,
                            bool isTransposed, bool isWhole, int64_t lanes);
MatrixInputFn computeMatrix(KernelContext &k, const MatrixInput &input);

} // namespace tokamak::codegen
