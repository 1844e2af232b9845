//===- Rule.h - a rule of a file, ready to be applied -------------------------------------------===//
// A rule is a pdl.pattern that the guard (Guard.cpp) has accepted. It is interpreted here, not by MLIR's
// bytecode: that one trusts its patterns, and a wrong one crashes the process or rewrites the graph silently.
#pragma once
#include "mlir/Dialect/PDL/IR/PDLOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>
#include <vector>

namespace tokamak::rules {

struct Rule {
  mlir::pdl::PatternOp pattern;
  std::string name;                              ///< "HardSwish", or "the rule" where it has none
  mlir::pdl::OperationOp root;                   ///< what the replacement is for
  std::vector<mlir::pdl::OperationOp> swappable; ///< binary commutative operators: both orders are tried
  unsigned depth = 1;                            ///< operators on the longest path that the pattern matches
  std::optional<double> tolerance;               ///< see checkSameness
  bool assumesFinite = false;                    ///< see checkSameness
};

struct RuleFile {
  std::string name; ///< as the user gave it
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<Rule> rules; ///< higher benefit first, else in the order of the file
};

/// Compiles and checks a rule file, or shipped rules (see compileRules). An error is one line that begins
/// with file, line and column where there are some.
llvm::Expected<RuleFile> loadRules(llvm::StringRef rules, mlir::MLIRContext &context);

/// An error "FILE:LINE:COLUMN: MESSAGE" at a place in a rule file.
llvm::Error ruleError(mlir::Location loc, const llvm::Twine &message);
/// The same of a rule: "FILE:LINE:COLUMN: rule 'NAME' MESSAGE".
llvm::Error ruleError(const Rule &rule, const llvm::Twine &message);

} // namespace tokamak::rules
