//===- Diagnostics.h - what passes complain about, in one line ----------------------------===//
#pragma once
#include "mlir/IR/Diagnostics.h"
#include <string>

namespace tokamak::driver {

/// While it lives, errors of passes and verifiers are kept instead of printed. Warnings and remarks are
/// dropped: none of ours speaks to the user.
class DiagnosticCollector {
public:
  explicit DiagnosticCollector(mlir::MLIRContext *context);
  /// The first error as "node 'NAME' (OpType): message", or `otherwise` if there was none.
  std::string firstError(llvm::StringRef otherwise) const;

private:
  std::string first;
  mlir::ScopedDiagnosticHandler handler;
};

/// "node 'NAME' (OpType)" from the location of an operation; empty where it has no ONNX node.
std::string describeLocation(mlir::Location loc);

} // namespace tokamak::driver
