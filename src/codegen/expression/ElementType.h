//===- ElementType.h - the element type of a value --------------------------------------------===//
#pragma once
#include "ir/Tk.h"

namespace tokamak::codegen {

/// The element type of `tensor`, which has one that DataType knows, like all values of a program.
inline DataType elementOf(mlir::Value tensor) { return *fromMlir(tk::tensorType(tensor).getElementType()); }

} // namespace tokamak::codegen
