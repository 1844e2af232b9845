//===- TkDialect.cpp - registration of the dialect -------------------------------------===//
#include "ir/Tk.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

#include "ir/TkDialect.cpp.inc"
#include "ir/TkEnums.cpp.inc"
#include "ir/TkInterfaces.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "ir/TkAttributes.cpp.inc"
#define GET_OP_CLASSES
#include "ir/TkOps.cpp.inc"

void tokamak::tk::TkDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "ir/TkOps.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ir/TkAttributes.cpp.inc"
      >();
}

mlir::Operation *tokamak::tk::TkDialect::materializeConstant(mlir::OpBuilder &builder, mlir::Attribute value,
                                                             mlir::Type type, mlir::Location loc) {
  auto elements = llvm::dyn_cast<mlir::ElementsAttr>(value);
  if (!elements || elements.getType() != type)
    return nullptr;
  return builder.create<ConstantOp>(loc, type, elements);
}
