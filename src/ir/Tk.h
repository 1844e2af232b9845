//===- Tk.h - the tk dialect -----------------------------------------------------------===//
// The graph IR. Operators are declared in TkOps.td, their interfaces in TkInterfaces.td.
#pragma once
#include "ir/FusionKind.h"
#include "ir/Tensor.h"
#include "ir/TkTraits.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/RegionKindInterface.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tokamak::codegen {
class ElementBuilder;
struct Index;
} // namespace tokamak::codegen

#include "ir/TkInterfaces.h.inc"

#include "ir/TkDialect.h.inc"
#include "ir/TkEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "ir/TkAttributes.h.inc"
#define GET_OP_CLASSES
#include "ir/TkOps.h.inc"

namespace tokamak::tk {

/// Creates `OpTy` with inferred result types, or emits the inference's diagnostic and fails. The generated
/// builders abort on a failed inference, so input-driven code (the importer) uses this one. `opName` may
/// leave out "tk.".
mlir::FailureOr<mlir::Operation *> createChecked(mlir::OpBuilder &builder, mlir::Location loc,
                                                 llvm::StringRef opName, mlir::ValueRange operands,
                                                 llvm::ArrayRef<mlir::NamedAttribute> attributes = {});

/// The tensor of a `tk.constant` (or of a splat/constant-like definition), else nothing.
std::optional<Tensor> constantValue(mlir::Value value);

inline mlir::RankedTensorType tensorType(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType());
}

/// NumPy broadcast of shapes; fails if they do not broadcast.
mlir::FailureOr<llvm::SmallVector<int64_t>> broadcastShapes(llvm::ArrayRef<int64_t> a,
                                                            llvm::ArrayRef<int64_t> b);

/// The ONNX node that an operation came from: locations are `NameLoc("NODE_NAME:OpType")` (see
/// import/Locations.h). Empty strings where the operation has no such location.
struct OnnxNode {
  llvm::StringRef name;
  llvm::StringRef opType;
};
OnnxNode onnxNode(mlir::Location loc);
/// All ONNX nodes of a (possibly fused) location, in order, without repetition.
llvm::SmallVector<OnnxNode> onnxNodes(mlir::Location loc);
mlir::Location onnxLocation(mlir::MLIRContext *context, llvm::StringRef name, llvm::StringRef opType);

} // namespace tokamak::tk
