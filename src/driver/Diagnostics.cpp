//===- Diagnostics.cpp - what passes complain about, in one line --------------------------===//
#include "driver/Diagnostics.h"
#include "driver/Fault.h"
#include "ir/Tk.h"

namespace tokamak::driver {

std::string describeLocation(mlir::Location loc) {
  std::string text;
  for (const tk::OnnxNode &node : tk::onnxNodes(loc))
    text += (text.empty() ? "node '" : ", '") + node.name.str() + "' (" + node.opType.str() + ")";
  return text;
}

DiagnosticCollector::DiagnosticCollector(mlir::MLIRContext *context)
    : handler(context, [this](mlir::Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() != mlir::DiagnosticSeverity::Error || !first.empty())
          return mlir::success();
        std::string place = describeLocation(diagnostic.getLocation());
        first = (place.empty() ? "" : place + ": ") + oneLine(diagnostic.str());
        return mlir::success();
      }) {}

std::string DiagnosticCollector::firstError(llvm::StringRef otherwise) const {
  return first.empty() ? otherwise.str() : first;
}

} // namespace tokamak::driver
