//===- Natives.h - the conditions and builders that rules can call ------------------------------===//
// Declared for rule files in rules/prelude.pdll.
#pragma once
#include "mlir/IR/Builders.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <variant>

namespace tokamak::rules {

/// What a name of a pattern stands for: an operation, one or several values, an attribute, one or several
/// types.
using Binding = std::variant<std::monostate, mlir::Operation *, llvm::SmallVector<mlir::Value, 2>,
                             mlir::Attribute, llvm::SmallVector<mlir::Type, 2>>;

/// A number is an attribute; one written in the rule file is known to be a number (see numberOf).
enum class ArgumentKind { Value, Number };

/// Arguments agree with `parameters` in number and kind (the guard has seen to it), a value being exactly
/// one.
struct NativeArgument {
  mlir::Value value;
  mlir::Attribute attribute;
};

struct NativeConstraint {
  llvm::StringRef name;
  llvm::SmallVector<ArgumentKind, 2> parameters;
  bool (*holds)(llvm::ArrayRef<NativeArgument> arguments);
};

struct NativeRewrite {
  llvm::StringRef name;
  llvm::SmallVector<ArgumentKind, 2> parameters;
  /// One value, or null with a reason.
  mlir::Value (*build)(mlir::OpBuilder &builder, mlir::Location loc, llvm::ArrayRef<NativeArgument> arguments,
                       std::string &reason);
};

/// Of a float, boolean or integer attribute, where a double holds it exactly.
std::optional<double> numberOf(mlir::Attribute attribute);

/// Null where there is none of that name.
const NativeConstraint *findConstraint(llvm::StringRef name);
const NativeRewrite *findRewrite(llvm::StringRef name);

} // namespace tokamak::rules
