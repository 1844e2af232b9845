//===- PackTransposed.h - transposes rows of a matrix into a panel while running ----------===//
#pragma once
#include "codegen/anchors/LoopBuilder.h"

namespace tokamak::codegen {

/// Transposes a square of `lanes` vectors in place.
void transposeSquare(LoopBuilder &loops, LoopBuilder::Values &rows);

/// Emits panel[k * width + r] = matrix[r * k extent + k] for 0 <= r < rows, 0 <= k < extent, and zeros for
/// rows <= r < width. `width` is a multiple of the lanes. Reads nothing outside the rows.
void emitPackTransposed(LoopBuilder &loops, mlir::Value matrix, mlir::Value panel, int64_t rows,
                        int64_t extent, int64_t width);

} // namespace tokamak::codegen
