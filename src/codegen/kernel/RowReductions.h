//===- RowReductions.h - how the elements of a row are combined ------------------------------------===//
#pragma once
#include "codegen/kernel/RowTask.h"

namespace tokamak::codegen {

/// Whether lanes run along the reduced axes where they run along a row: the contiguous one is among them. A
/// loop for each element of the result, then.
bool reducesContiguously(tk::ReduceOp reduce);

/// Stores all elements of `reduce` in the task's rows to `memory`, its scratch. False, and no code, where
/// loops over the elements of the result are as good.
bool emitRowReduction(RowTask &task, tk::ReduceOp reduce, const Buffer &memory);

} // namespace tokamak::codegen
