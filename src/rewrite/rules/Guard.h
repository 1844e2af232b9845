//===- Guard.h - which patterns may be applied at all -----------------------------------------===//
#pragma once
#include "rewrite/rules/Rule.h"

namespace tokamak::rules {

/// Checks a pattern before it is ever matched: operators, their attributes and numbers of operands and
/// results are those of the tk dialect, natives those of the prelude; it replaces its root, once, and erases
/// nothing. What is accepted can be interpreted without further questions.
llvm::Expected<Rule> checkPattern(mlir::pdl::PatternOp pattern);

/// Checks that each pattern of `file`, which need not be verified yet, says what replaces its root.
llvm::Error checkBodies(mlir::ModuleOp file);

/// How many results operators of that name have; nothing where it varies.
std::optional<unsigned> resultCount(mlir::OperationName name);

} // namespace tokamak::rules
