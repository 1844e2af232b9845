//===- Magnitude.h - values that are known to be finite --------------------------------------------===//
#pragma once
#include "mlir/IR/Value.h"
#include "llvm/ADT/StringRef.h"
#include <optional>

namespace tokamak::analysis {

/// A number that no element of the floating-point `value` exceeds in magnitude; nothing where an element may
/// be infinite or NaN. Graph inputs may be, unless they were integers: so this speaks for what follows a
/// cast. Arguments of a copied part of a graph carry what is known of them in `boundAttribute`.
std::optional<double> magnitudeBound(mlir::Value value);

/// An f64 on an argument of a function.
inline constexpr llvm::StringLiteral boundAttribute = "tk.bound";

} // namespace tokamak::analysis
