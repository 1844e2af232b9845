//===- TkInterfaces.td - what passes ask of an operator -----------*- tablegen -*-===//
// Passes never switch over operator names; they ask these interfaces.
#ifndef TK_INTERFACES
#define TK_INTERFACES

include "mlir/IR/OpBase.td"

def FusionKindInterface : OpInterface<"FusionKindInterface"> {
  let description = [{
    The pattern kind of an operator, which follows from its loops (see `ir/FusionKind.h`). Implemented by
    the operators themselves.
  }];
  let cppNamespace = "::tokamak::tk";
  let methods = [InterfaceMethod<"The kind of this operator.", "::tokamak::FusionKind", "getFusionKind", (ins)>];
}

def TrafficInterface : OpInterface<"TrafficInterface"> {
  let description = [{
    The arithmetic of an operator. Bytes follow from operand and result types (`analysis/Traffic.h`), so an
    operator only says how many floating-point or integer operations it performs, a multiply-add being two.
  }];
  let cppNamespace = "::tokamak::tk";
  let methods = [InterfaceMethod<"Operations performed, in units of one.", "int64_t", "getFlops", (ins), "", [{
    int64_t n = 0;
    for (::mlir::Type t : $_op->getResultTypes())
      n += ::llvm::cast<::mlir::ShapedType>(t).getNumElements();
    return n;
  }]>];
}

def ReferenceInterface : OpInterface<"ReferenceInterface"> {
  let description = [{
    The definition of the operator: plain loops, double precision (integers exactly). Attached as an external
    model by `reference/Register.h`.
  }];
  let cppNamespace = "::tokamak::tk";
  let methods = [InterfaceMethod<[{
      Evaluates the operator on `operands` (one tensor an operand, in order; their types match the operand
      types) and returns one tensor a result. Fails only where the value is undefined (the error says why).
    }], "::mlir::FailureOr<::llvm::SmallVector<::tokamak::Tensor>>", "evaluate",
    (ins "::llvm::ArrayRef<::tokamak::Tensor>":$operands)>];
}

def TensorExpressionInterface : OpInterface<"TensorExpressionInterface"> {
  let description = [{
    The value of one output element as an expression over input elements, which is what lets any group be
    emitted. Attached as an external model by `codegen/expression/Register.h`.
  }];
  let cppNamespace = "::tokamak::tk";
  let methods = [InterfaceMethod<[{
      Emits the value of element `index` (one index an axis of the result) of result number `result`.
      Operand elements are obtained from `builder`; the value returned has the builder's lane count.
    }], "::mlir::Value", "emitElement",
    (ins "::tokamak::codegen::ElementBuilder &":$builder,
         "::llvm::ArrayRef<::tokamak::codegen::Index>":$index, "unsigned":$result)>];
}

def LibraryCallInterface : OpInterface<"LibraryCallInterface"> {
  let description = [{
    An opaque operator: the compiled program calls a function of the runtime library, whose signature is
    `TkLibraryFn` of `runtime/Abi.h`.
  }];
  let cppNamespace = "::tokamak::tk";
  let methods = [
    InterfaceMethod<"The C symbol to call.", "::llvm::StringRef", "getLibrarySymbol", (ins)>,
    InterfaceMethod<"The parameters to pass, in the order the function documents.", "void", "getLibraryParameters",
      (ins "::llvm::SmallVectorImpl<int64_t> &":$ints, "::llvm::SmallVectorImpl<double> &":$floats), "", [{}]>];
}

#endif
