//===- ElementTypeFault.h - which element types an operator would have taken ---------------===//
#pragma once
#include "import/NodeContext.h"

namespace tokamak::import {

/// Why `tk::createChecked` refused an operation, where that is an operand's element type alone: others in its
/// place, or in the place of all operands of that type, are taken.
std::optional<ElementTypeFault> elementTypeFault(llvm::StringRef opName, ValueRange operands,
                                                 llvm::ArrayRef<mlir::NamedAttribute> attributes,
                                                 mlir::MLIRContext *context);

/// The fault's reason; of an element type in terms of the node, with the input that it comes from.
std::string reasonOf(const ImportFault &fault, const onnx::NodeProto &node, ValueRange inputs);

} // namespace tokamak::import
