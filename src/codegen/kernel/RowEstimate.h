//===- RowEstimate.h - what a group would be as a row kernel ------------------------------------===//
#pragma once
#include "analysis/TargetDescription.h"
#include "ir/Tk.h"

namespace tokamak::codegen {

struct RowEstimate {
  int64_t rows = 1;            ///< iterations of the outer loops, or vectors of those where lanes are rows
  int64_t rowsAtOnce = 1;      ///< of which a task has so many, one a lane
  bool lanesAreRows = false;   ///< neighbouring rows lie side by side in memory, not the elements of one
  int64_t vectorsAtOnce = 1;   ///< neighbouring vectors that a task works on line by line
  bool rereadsMemory = false;  ///< a row is too long to be near when it is read again
  bool isWorthSharing = false; ///< among threads
  int64_t scratchBytes = 0;    ///< values kept while a task is worked on
};

/// For a group without anchors; operands and results count as row-major.
RowEstimate estimateRows(tk::FusionOp group, const TargetDescription &target);

} // namespace tokamak::codegen
