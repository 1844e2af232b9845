//===- TkOps.td - the tk dialect: the operators of the graph IR ---------*- tablegen -*-===//
// Ranked tensors of static shape, ONNX semantics, no layout. Elementwise operators broadcast as NumPy does.
// Adding an operator: an entry here (kind and cost included; result types that no trait gives are in TkShapes*.cpp or
// TkLibrary.cpp), its evaluator (src/reference), its import entry and, unless it is a library call, its element
// expression (src/codegen/expression).
#ifndef TK_OPS
#define TK_OPS

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "ir/TkInterfaces.td"

def Tk_Dialect : Dialect {
  let name = "tk";
  let cppNamespace = "::tokamak::tk";
  let summary = "Tensor graphs to be fused";
  let usePropertiesForAttributes = 0;
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
}

def Tk_Element : AnyTypeOf<[F16, BF16, F32, F64, I1, I8, I16, I32, I64, UI8, UI16, UI32, UI64]>;
def Tk_Float : AnyTypeOf<[F16, BF16, F32, F64]>;
def Tk_Int : AnyTypeOf<[I8, I16, I32, I64, UI8, UI16, UI32, UI64]>;
def Tk_Number : AnyTypeOf<[F16, BF16, F32, F64, I8, I16, I32, I64, UI8, UI16, UI32, UI64]>;
def Tk_Tensor : StaticShapeTensorOf<[Tk_Element]>;
def Tk_FloatTensor : StaticShapeTensorOf<[Tk_Float]>;
def Tk_IntTensor : StaticShapeTensorOf<[Tk_Int]>;
def Tk_NumberTensor : StaticShapeTensorOf<[Tk_Number]>;
def Tk_BoolTensor : StaticShapeTensorOf<[I1]>;
def Tk_IndexTensor : StaticShapeTensorOf<[I32, I64]>;

// Written #tk.name<case>.
class Tk_Enum<EnumAttrInfo info, string name> : EnumAttr<Tk_Dialect, info, name> {
  let assemblyFormat = "`<` $value `>`";
}

class Tk_Op<string mnemonic, list<Trait> traits = []> : Op<Tk_Dialect, mnemonic, traits>;
// Kinds (ir/FusionKind.h). `Tk_OwnKind`: follows from more than the shapes, FusionKind.cpp says how.
class Tk_Trait<string name> : NativeOpTrait<name> {
  let cppNamespace = "::tokamak::tk";
}
class Tk_Kind<string kind> : TraitList<[Tk_Trait<"HasKind<::tokamak::FusionKind::" # kind # ">::Impl">,
                                        FusionKindInterface]>;
def Tk_ElementwiseKind : TraitList<[Tk_Trait<"HasElementwiseKind">, FusionKindInterface]>;
def Tk_OwnKind : DeclareOpInterfaceMethods<FusionKindInterface>;
// Result types: that of the one operand; bool in its shape; the element type of all operands in their broadcast shape.
class Tk_InfersBy<string function> : TraitList<[
    Tk_Trait<"InfersBy<::tokamak::tk::detail::" # function # ">::Impl">, InferTypeOpInterface]>;
def Tk_LikeInput : Tk_InfersBy<"inferLikeInput">;
def Tk_TestsInput : Tk_InfersBy<"inferTest">;
def Tk_Broadcasts : Tk_InfersBy<"inferBroadcast">;
// Worth computing once rather than in each loop that reads it (a test compares with the element expressions).
def Tk_Expensive : Tk_Trait<"IsExpensive">;
def Tk_Flops : DeclareOpInterfaceMethods<TrafficInterface, ["getFlops"]>;
def Tk_Library : DeclareOpInterfaceMethods<LibraryCallInterface, ["getLibrarySymbol", "getLibraryParameters"]>;

// A pure operator whose result types follow from operands and attributes (`Tk_InfersBy`; the verifier compares).
class Tk_Typed<string mnemonic, list<Trait> traits> : Tk_Op<mnemonic, traits # [Pure]> {
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}
// The same with an inference of its own (`TK_INFER` in TkShapes*.cpp).
class Tk_Pure<string mnemonic, list<Trait> traits> : Tk_Typed<mnemonic, traits # [InferTypeOpAdaptor]>;
// TrafficInterface as it is: one operation a result element.
defvar Tk_ElementwiseTraits = [Tk_ElementwiseKind, TrafficInterface];

//===--------------------------------------------------------------------------------------------------------===//
// Constants
//===--------------------------------------------------------------------------------------------------------===//

def Tk_ConstantOp : Tk_Op<"constant", [Pure, ConstantLike, DeclareOpInterfaceMethods<InferTypeOpInterface>,
                                    Tk_Kind<"Elementwise">]> {
  // Partitioners leave constants out of the groups; the kind says that they never stand in the way.
  let summary = "a tensor known when compiling";
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Tk_Tensor:$result);
  let assemblyFormat = "attr-dict $value";
  let hasFolder = 1;
  let hasVerifier = 1;
}

//===--------------------------------------------------------------------------------------------------------===//
// Elementwise
//===--------------------------------------------------------------------------------------------------------===//

class Tk_Unary<string mnemonic, Type type, list<Trait> traits = []>
    : Tk_Typed<mnemonic, traits # Tk_ElementwiseTraits # [Tk_LikeInput]> {
  let arguments = (ins type:$input);
  let results = (outs type:$result);
}
def Tk_NegOp : Tk_Unary<"neg", Tk_NumberTensor> { let hasFolder = 1; }
def Tk_AbsOp : Tk_Unary<"abs", Tk_NumberTensor>;
def Tk_SignOp : Tk_Unary<"sign", Tk_NumberTensor>;
def Tk_NotOp : Tk_Unary<"not", Tk_BoolTensor> { let hasFolder = 1; }
def Tk_BitNotOp : Tk_Unary<"bit_not", Tk_IntTensor>;
def Tk_ExpOp : Tk_Unary<"exp", Tk_FloatTensor, [Tk_Expensive]>;
def Tk_LogOp : Tk_Unary<"log", Tk_FloatTensor, [Tk_Expensive]>;
def Tk_SqrtOp : Tk_Unary<"sqrt", Tk_FloatTensor, [Tk_Expensive]>;
def Tk_SinOp : Tk_Unary<"sin", Tk_FloatTensor, [Tk_Expensive]>;
def Tk_CosOp : Tk_Unary<"cos", Tk_FloatTensor, [Tk_Expensive]>;
def Tk_TanOp : Tk_Unary<"tan", Tk_FloatTensor, [Tk_Expensive]>;
def Tk_AsinOp : Tk_Unary<"asin", Tk_FloatTensor, [Tk_Expensive]>;
def Tk_AcosOp : Tk_Unary<"acos", Tk_FloatTensor, [Tk_Expensive]>;
def Tk_AtanOp : Tk_Unary<"atan", Tk_FloatTensor, [Tk_Expensive]>;
def Tk_SinhOp : Tk_Unary<"sinh", Tk_FloatTensor, [Tk_Expensive]>;
def Tk_CoshOp : Tk_Unary<"cosh", Tk_FloatTensor, [Tk_Expensive]>;
def Tk_TanhOp : Tk_Unary<"tanh", Tk_FloatTensor, [Tk_Expensive]>;
def Tk_AsinhOp : Tk_Unary<"asinh", Tk_FloatTensor, [Tk_Expensive]>;
def Tk_AcoshOp : Tk_Unary<"acosh", Tk_FloatTensor, [Tk_Expensive]>;
def Tk_AtanhOp : Tk_Unary<"atanh", Tk_FloatTensor, [Tk_Expensive]>;
def Tk_ErfOp : Tk_Unary<"erf", Tk_FloatTensor, [Tk_Expensive]>;
def Tk_FloorOp : Tk_Unary<"floor", Tk_FloatTensor>;
def Tk_CeilOp : Tk_Unary<"ceil", Tk_FloatTensor>;
// Half to even.
def Tk_RoundOp : Tk_Unary<"round", Tk_FloatTensor>;

class Tk_FloatTest<string mnemonic> : Tk_Typed<mnemonic, Tk_ElementwiseTraits # [Tk_TestsInput]> {
  let arguments = (ins Tk_FloatTensor:$input);
  let results = (outs Tk_BoolTensor:$result);
}
def Tk_IsNaNOp : Tk_FloatTest<"is_nan">;
def Tk_IsInfOp : Tk_FloatTest<"is_inf"> {
  let arguments = (ins Tk_FloatTensor:$input, DefaultValuedAttr<BoolAttr, "true">:$positive,
                       DefaultValuedAttr<BoolAttr, "true">:$negative);
}

// Both operands have one element type; shapes broadcast.
class Tk_Binary<string mnemonic, Type type, list<Trait> traits = []>
    : Tk_Typed<mnemonic, traits # Tk_ElementwiseTraits # [Tk_Broadcasts]> {
  let arguments = (ins type:$lhs, type:$rhs);
  let results = (outs type:$result);
}
def Tk_AddOp : Tk_Binary<"add", Tk_NumberTensor, [Commutative]> { let hasFolder = 1; }
def Tk_SubOp : Tk_Binary<"sub", Tk_NumberTensor> { let hasFolder = 1; }
def Tk_MulOp : Tk_Binary<"mul", Tk_NumberTensor, [Commutative]> { let hasFolder = 1; }
// Integers truncate toward zero; x / 0 and the most negative number / -1 are defined as 0 and itself (no trap).
def Tk_DivOp : Tk_Binary<"div", Tk_NumberTensor, [Tk_Expensive]> { let hasFolder = 1; }
// base ** exponent. Integers wrap as products of them do; a negative exponent divides 1 by the power, as tk.div does.
def Tk_PowOp : Tk_Binary<"pow", Tk_NumberTensor, [Tk_Expensive]>;
// NaN in either operand gives NaN (as ONNX, unlike C fmax).
def Tk_MaxOp : Tk_Binary<"max", Tk_NumberTensor, [Commutative]>;
def Tk_MinOp : Tk_Binary<"min", Tk_NumberTensor, [Commutative]>;
// Remainder with the sign of the divisor, or of the dividend where `truncated` (C fmod). x mod 0 is 0 for integers.
def Tk_ModOp : Tk_Binary<"mod", Tk_NumberTensor, [Tk_Expensive]> {
  let arguments = (ins Tk_NumberTensor:$lhs, Tk_NumberTensor:$rhs, DefaultValuedAttr<BoolAttr, "false">:$truncated);
}
def Tk_AndOp : Tk_Binary<"and", Tk_BoolTensor, [Commutative]>;
def Tk_OrOp : Tk_Binary<"or", Tk_BoolTensor, [Commutative]>;
def Tk_XorOp : Tk_Binary<"xor", Tk_BoolTensor, [Commutative]>;
def Tk_BitAndOp : Tk_Binary<"bit_and", Tk_IntTensor, [Commutative]>;
def Tk_BitOrOp : Tk_Binary<"bit_or", Tk_IntTensor, [Commutative]>;
def Tk_BitXorOp : Tk_Binary<"bit_xor", Tk_IntTensor, [Commutative]>;
// A shift by the width or more gives 0. Right shift is logical.
def Tk_ShiftLeftOp : Tk_Binary<"shift_left", Tk_IntTensor>;
def Tk_ShiftRightOp : Tk_Binary<"shift_right", Tk_IntTensor>;

def Tk_Predicate : I32EnumAttr<"Predicate", "comparison", [
    I32EnumAttrCase<"Equal", 0, "eq">, I32EnumAttrCase<"Less", 1, "lt">, I32EnumAttrCase<"LessOrEqual", 2, "le">,
    I32EnumAttrCase<"Greater", 3, "gt">, I32EnumAttrCase<"GreaterOrEqual", 4, "ge">]> {
  let cppNamespace = "::tokamak::tk";
  let genSpecializedAttr = 0;
}
def Tk_PredicateAttr : Tk_Enum<Tk_Predicate, "predicate">;
// Comparisons with NaN are false. Bool operands compare as 0 and 1.
def Tk_CompareOp : Tk_Pure<"compare", Tk_ElementwiseTraits> {
  let arguments = (ins Tk_Tensor:$lhs, Tk_Tensor:$rhs, Tk_PredicateAttr:$predicate);
  let results = (outs Tk_BoolTensor:$result);
}
def Tk_SelectOp : Tk_Pure<"select", Tk_ElementwiseTraits> {
  let summary = "condition ? on_true : on_false, the three broadcast together";
  let arguments = (ins Tk_BoolTensor:$condition, Tk_Tensor:$on_true, Tk_Tensor:$on_false);
  let results = (outs Tk_Tensor:$result);
}
def Tk_CastOp : Tk_Pure<"cast", Tk_ElementwiseTraits> {
  let summary = "conversion of the element type";
  let description = [{
    To bool: x != 0 (NaN is true). Float to integer truncates toward zero; out of range (and NaN) is the value
    that x86 conversion to int64 followed by wrapping to the width gives, unless `saturate`, which clamps (NaN: 0).
    Float to float rounds to nearest even. Integer to integer wraps.
  }];
  let arguments = (ins Tk_Tensor:$input, TypeAttr:$to, DefaultValuedAttr<BoolAttr, "false">:$saturate);
  let results = (outs Tk_Tensor:$result);
  let hasFolder = 1;
}
def Tk_BatchNormOp : Tk_Pure<"batch_norm", Tk_ElementwiseTraits> {
  let summary = "inference: (x - mean) / sqrt(variance + epsilon) * scale + bias along axis 1";
  // scale, bias, mean, variance are [C]; x is [N, C, ...] (or [N] or rank 1 with C = 1, as ONNX allows).
  let arguments = (ins Tk_FloatTensor:$input, Tk_FloatTensor:$scale, Tk_FloatTensor:$bias, Tk_FloatTensor:$mean,
                       Tk_FloatTensor:$variance, F64Attr:$epsilon);
  let results = (outs Tk_FloatTensor:$result);
}

//===--------------------------------------------------------------------------------------------------------===//
// Injective
//===--------------------------------------------------------------------------------------------------------===//

def Tk_BroadcastOp : Tk_Pure<"broadcast", [Tk_Kind<"Broadcast">]> {
  let summary = "NumPy broadcast_to `shape`";
  let arguments = (ins Tk_Tensor:$input, DenseI64ArrayAttr:$shape);
  let results = (outs Tk_Tensor:$result);
  let hasFolder = 1;
}
def Tk_ReshapeOp : Tk_Pure<"reshape", [Tk_OwnKind]> {
  let summary = "the same elements in row-major order under another shape (no -1, no copied 0)";
  let arguments = (ins Tk_Tensor:$input, DenseI64ArrayAttr:$shape);
  let results = (outs Tk_Tensor:$result);
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}
def Tk_TransposeOp : Tk_Pure<"transpose", [Tk_Kind<"Injective">]> {
  let summary = "result axis i is input axis permutation[i]";
  let arguments = (ins Tk_Tensor:$input, DenseI64ArrayAttr:$permutation);
  let results = (outs Tk_Tensor:$result);
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}
def Tk_SliceOp : Tk_Pure<"slice", [Tk_Kind<"Injective">]> {
  let summary = "result[i] = input[starts + i * steps], `sizes` elements an axis; steps may be negative, all in range";
  let arguments = (ins Tk_Tensor:$input, DenseI64ArrayAttr:$starts, DenseI64ArrayAttr:$sizes, DenseI64ArrayAttr:$steps);
  let results = (outs Tk_Tensor:$result);
  let hasFolder = 1;
}
// The published baseline spells a concatenation as a tuple and an injective operator that absorbs it; the partitioner
// knows that the two are one here.
def Tk_ConcatOp : Tk_Pure<"concat", [Tk_Kind<"Tuple">]> {
  let arguments = (ins Variadic<Tk_Tensor>:$inputs, I64Attr:$axis);
  let results = (outs Tk_Tensor:$result);
  let hasFolder = 1;
}
def Tk_PadOp : Tk_Pure<"pad", [Tk_Kind<"Injective">]> {
  let summary = "constant padding by `low` and `high` (>= 0) elements an axis, filled with the rank-0 `value`";
  // Negative ONNX pads are slices; reflect, edge and wrap are gathers with constant indices.
  let arguments = (ins Tk_Tensor:$input, Tk_Tensor:$value, DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$high);
  let results = (outs Tk_Tensor:$result);
}
def Tk_GatherOp : Tk_Pure<"gather", [Tk_Kind<"Injective">, Tk_Expensive]> {
  let summary = "ONNX Gather: result[a.., i.., b..] = input[a.., indices[i..], b..]; negative indices count from the end";
  let arguments = (ins Tk_Tensor:$input, Tk_IndexTensor:$indices, I64Attr:$axis);
  let results = (outs Tk_Tensor:$result);
}
def Tk_GatherElementsOp : Tk_Pure<"gather_elements", [Tk_Kind<"Injective">, Tk_Expensive]> {
  let arguments = (ins Tk_Tensor:$input, Tk_IndexTensor:$indices, I64Attr:$axis);
  let results = (outs Tk_Tensor:$result);
}
def Tk_GatherNDOp : Tk_Pure<"gather_nd", [Tk_Kind<"Injective">, Tk_Expensive]> {
  let arguments = (ins Tk_Tensor:$input, Tk_IndexTensor:$indices, DefaultValuedAttr<I64Attr, "0">:$batch_dims);
  let results = (outs Tk_Tensor:$result);
}
def Tk_IotaOp : Tk_Pure<"iota", [Tk_Kind<"Injective">]> {
  let summary = "result[i...] = i[axis], in the element type `to`";
  let arguments = (ins DenseI64ArrayAttr:$shape, I64Attr:$axis, TypeAttr:$to);
  let results = (outs Tk_Tensor:$result);
}

//===--------------------------------------------------------------------------------------------------------===//
// Reductions
//===--------------------------------------------------------------------------------------------------------===//

def Tk_ReduceKind : I32EnumAttr<"ReduceKind", "how elements combine", [
    I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Product", 1, "product">, I32EnumAttrCase<"Max", 2, "max">,
    I32EnumAttrCase<"Min", 3, "min">]> {
  let cppNamespace = "::tokamak::tk";
  let genSpecializedAttr = 0;
}
def Tk_ReduceKindAttr : Tk_Enum<Tk_ReduceKind, "reduce_kind">;
def Tk_ReduceOp : Tk_Pure<"reduce", [Tk_Kind<"Reduction">, Tk_Flops]> {
  let summary = "reduction over `axes` (sorted, >= 0, may be empty)";
  let description = [{
    Over no elements: 0, 1, and for max/min the lowest/highest value of the type (-inf/inf). Max and min give
    NaN where any element is NaN. Mean is a sum and a multiplication. f16/bf16 accumulate in f32, round once.
  }];
  let arguments = (ins Tk_NumberTensor:$input, Tk_ReduceKindAttr:$kind, DenseI64ArrayAttr:$axes, BoolAttr:$keep_dims);
  let results = (outs Tk_NumberTensor:$result);
  let hasFolder = 1;
}
def Tk_ArgReduceOp : Tk_Pure<"arg_reduce", [Tk_Kind<"Reduction">, Tk_Flops]> {
  let summary = "index (int64) of the extreme along `axis`; `kind` is max or min; of ties the first, or the last";
  let arguments = (ins Tk_NumberTensor:$input, Tk_ReduceKindAttr:$kind, I64Attr:$axis, BoolAttr:$keep_dims,
                       DefaultValuedAttr<BoolAttr, "false">:$select_last);
  let results = (outs Tk_IndexTensor:$result);
}

//===--------------------------------------------------------------------------------------------------------===//
// Anchors
//===--------------------------------------------------------------------------------------------------------===//

def Tk_MatMulOp : Tk_Pure<"matmul", [Tk_Kind<"Anchor">, Tk_Flops]> {
  let summary = "[..., M, K] x [..., K, N], leading axes broadcast; ranks >= 2";
  let description = [{
    A transposed operand is stored [..., K, M] resp. [..., N, K]. Integers wrap. K = 0 gives zeros.
  }];
  let arguments = (ins Tk_NumberTensor:$lhs, Tk_NumberTensor:$rhs, DefaultValuedAttr<BoolAttr, "false">:$transpose_lhs,
                       DefaultValuedAttr<BoolAttr, "false">:$transpose_rhs);
  let results = (outs Tk_NumberTensor:$result);
}
class Tk_Spatial<dag more> {
  dag attributes = !con((ins DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$pads_low,
                       DenseI64ArrayAttr:$pads_high), more);
}
def Tk_ConvOp : Tk_Pure<"conv", [Tk_Kind<"Anchor">, Tk_Flops]> {
  let summary = "cross-correlation; x [N, C, spatial...], w [M, C/group, kernel...], bias [M], result [N, M, out...]";
  // auto_pad is resolved at import; pads may be any value >= 0. `winograd`: computed by minimal filtering where the
  // kernel allows it, tiles of so many results (2, 4) along both axes; of 3x3 float32 taps, stride 1, one group only.
  let arguments = !con((ins Tk_NumberTensor:$input, Tk_NumberTensor:$weight, Optional<Tk_NumberTensor>:$bias),
                       Tk_Spatial<(ins I64Attr:$group, OptionalAttr<I64Attr>:$winograd)>.attributes);
  let results = (outs Tk_NumberTensor:$result);
  let hasVerifier = 1;
}
def Tk_ConvTransposeOp : Tk_Pure<"conv_transpose", [Tk_Kind<"Anchor">, Tk_Flops]> {
  let summary = "gradient of conv by its input; x [N, C, in...], w [C, M/group, kernel...], bias [M]";
  let description = [{
    Output extent = (in - 1) * stride + (kernel - 1) * dilation + 1 - pads_low - pads_high + output_padding.
    Pads crop the output; they may be negative when output_shape asked for more.
  }];
  let arguments = !con((ins Tk_FloatTensor:$input, Tk_FloatTensor:$weight, Optional<Tk_FloatTensor>:$bias),
                       Tk_Spatial<(ins DenseI64ArrayAttr:$output_padding, I64Attr:$group)>.attributes);
  let results = (outs Tk_FloatTensor:$result);
}
def Tk_WindowOp : Tk_Pure<"window", [Tk_Kind<"Anchor">, Tk_Flops]> {
  let summary = "sum or max over sliding windows of the spatial axes (2..rank-1); padding is the identity";
  // ceil_mode is resolved into pads_high at import; average pooling is a sum times 1/count.
  let arguments = !con((ins Tk_NumberTensor:$input, Tk_ReduceKindAttr:$kind, DenseI64ArrayAttr:$kernel),
                       Tk_Spatial<(ins)>.attributes);
  let results = (outs Tk_NumberTensor:$result);
}

//===--------------------------------------------------------------------------------------------------------===//
// Opaque: calls of the runtime library
//===--------------------------------------------------------------------------------------------------------===//

class Tk_Opaque<string mnemonic> : Tk_Pure<mnemonic, [Tk_Kind<"Opaque">, TrafficInterface, Tk_Library]>;
def Tk_CumSumOp : Tk_Opaque<"cumsum"> {
  let arguments = (ins Tk_NumberTensor:$input, I64Attr:$axis, BoolAttr:$exclusive, BoolAttr:$reverse);
  let results = (outs Tk_NumberTensor:$result);
}
def Tk_TopKOp : Tk_Opaque<"top_k"> {
  let summary = "the k largest (or smallest) along axis with their int64 indices; ties: the lower index first";
  let arguments = (ins Tk_NumberTensor:$input, I64Attr:$k, I64Attr:$axis, BoolAttr:$largest, BoolAttr:$sorted);
  let results = (outs Tk_NumberTensor:$values, Tk_IndexTensor:$indices);
}
def Tk_ScatterReduction : I32EnumAttr<"ScatterReduction", "how an update combines with the element", [
    I32EnumAttrCase<"None", 0, "none">, I32EnumAttrCase<"Add", 1, "add">, I32EnumAttrCase<"Mul", 2, "mul">,
    I32EnumAttrCase<"Max", 3, "max">, I32EnumAttrCase<"Min", 4, "min">]> {
  let cppNamespace = "::tokamak::tk";
  let genSpecializedAttr = 0;
}
def Tk_ScatterReductionAttr : Tk_Enum<Tk_ScatterReduction, "scatter_reduction">;
def Tk_ScatterElementsOp : Tk_Opaque<"scatter_elements"> {
  let arguments = (ins Tk_Tensor:$input, Tk_IndexTensor:$indices, Tk_Tensor:$updates, I64Attr:$axis,
                       Tk_ScatterReductionAttr:$reduction);
  let results = (outs Tk_Tensor:$result);
}
def Tk_ScatterNDOp : Tk_Opaque<"scatter_nd"> {
  let arguments = (ins Tk_Tensor:$input, Tk_IndexTensor:$indices, Tk_Tensor:$updates, Tk_ScatterReductionAttr:$reduction);
  let results = (outs Tk_Tensor:$result);
}
def Tk_MaxPoolIndicesOp : Tk_Opaque<"max_pool_indices"> {
  let summary = "max pooling that also returns int64 indices into the flattened input";
  let description = "`column_major` (ONNX storage_order 1) counts spatial positions with the first spatial axis fastest.";
  let arguments = !con((ins Tk_NumberTensor:$input, DenseI64ArrayAttr:$kernel),
                       Tk_Spatial<(ins BoolAttr:$column_major)>.attributes);
  let results = (outs Tk_NumberTensor:$result, Tk_IndexTensor:$indices);
}
def Tk_RoiAlignOp : Tk_Opaque<"roi_align"> {
  let summary = "ONNX RoiAlign-16; x [N,C,H,W], rois [R,4], batch_indices [R] -> [R,C,height,width]";
  let arguments = (ins Tk_FloatTensor:$input, Tk_FloatTensor:$rois, Tk_IndexTensor:$batch_indices, BoolAttr:$max_mode,
                       BoolAttr:$half_pixel, I64Attr:$height, I64Attr:$width, I64Attr:$sampling_ratio,
                       F64Attr:$spatial_scale);
  let results = (outs Tk_FloatTensor:$result);
}
def Tk_GridMode : I32EnumAttr<"GridMode", "interpolation", [
    I32EnumAttrCase<"Linear", 0, "linear">, I32EnumAttrCase<"Nearest", 1, "nearest">, I32EnumAttrCase<"Cubic", 2, "cubic">]> {
  let cppNamespace = "::tokamak::tk";
  let genSpecializedAttr = 0;
}
def Tk_GridModeAttr : Tk_Enum<Tk_GridMode, "grid_mode">;
def Tk_GridPadding : I32EnumAttr<"GridPadding", "what lies outside", [
    I32EnumAttrCase<"Zeros", 0, "zeros">, I32EnumAttrCase<"Border", 1, "border">, I32EnumAttrCase<"Reflection", 2, "reflection">]> {
  let cppNamespace = "::tokamak::tk";
  let genSpecializedAttr = 0;
}
def Tk_GridPaddingAttr : Tk_Enum<Tk_GridPadding, "grid_padding">;
def Tk_GridSampleOp : Tk_Opaque<"grid_sample"> {
  let summary = "ONNX GridSample-16/20; x [N,C,spatial...], grid [N,out...,D] -> [N,C,out...], D = 1 to 3 spatial axes";
  let arguments = (ins Tk_FloatTensor:$input, Tk_FloatTensor:$grid, Tk_GridModeAttr:$mode, Tk_GridPaddingAttr:$padding,
                       BoolAttr:$align_corners);
  let results = (outs Tk_FloatTensor:$result);
}
def Tk_DetOp : Tk_Opaque<"det"> {
  let summary = "determinants of [..., M, M]";
  let arguments = (ins Tk_FloatTensor:$input);
  let results = (outs Tk_FloatTensor:$result);
}

//===--------------------------------------------------------------------------------------------------------===//
// Regions
//===--------------------------------------------------------------------------------------------------------===//

def Tk_YieldOp : Tk_Op<"yield", [Pure, Terminator, ReturnLike, ParentOneOf<["CompositeOp", "FusionOp", "IfOp", "LoopOp"]>]> {
  let summary = "the results of the enclosing region";
  let arguments = (ins Variadic<Tk_Tensor>:$results);
  let builders = [OpBuilder<(ins), [{}]>];
  let assemblyFormat = "($results^)? attr-dict (`:` type($results)^)?";
}

def Tk_CompositeOp : Tk_Op<"composite", [Pure, IsolatedFromAbove, SingleBlock, Tk_OwnKind, Tk_Flops]> {
  let summary = "one ONNX operator given as a body of tk operators (softmax, layer norm, gelu, ...)";
  let description = [{
    Keeps an exported node whole for `--fusion none` and `dominator`, where softmax is one operator; `full` inlines
    it first. Its kind follows from the body: the largest kind, and anchor where a reduction meets other work.
    `name` is the ONNX operator type. At most one matmul, convolution or window inside, no opaque operator.
    The body's block arguments are the operands; a body holds scalars as its own constants.
  }];
  let arguments = (ins Variadic<Tk_Tensor>:$inputs, StrAttr:$name);
  let results = (outs Variadic<Tk_Tensor>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$name `(` $inputs `)` $body attr-dict `:` functional-type($inputs, $outputs)";
  let hasRegionVerifier = 1;
}

def Tk_FusionOp : Tk_Op<"fusion", [Pure, IsolatedFromAbove, SingleBlock, Tk_Flops]> {
  let summary = "a group: becomes one kernel";
  let description = [{
    Operands are the block arguments; results are what the body yields (one or several). Single-element constants live
    inside, other constants are operands. `name` (optional) becomes the kernel's symbol.
  }];
  let arguments = (ins Variadic<Tk_Tensor>:$inputs, OptionalAttr<StrAttr>:$name);
  let results = (outs Variadic<Tk_Tensor>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "($name^)? `(` $inputs `)` $body attr-dict `:` functional-type($inputs, $outputs)";
  let hasRegionVerifier = 1;
}

def Tk_IfOp : Tk_Op<"if", [Pure, NoRegionArguments, SingleBlock, Tk_Kind<"Opaque">]> {
  let summary = "runs one of two regions, which may use values from outside; both yield the result types";
  let arguments = (ins Tk_BoolTensor:$condition); // one element
  let results = (outs Variadic<Tk_Tensor>:$outputs);
  let regions = (region SizedRegion<1>:$then_region, SizedRegion<1>:$else_region);
  let assemblyFormat = "$condition $then_region `else` $else_region attr-dict `:` functional-type($condition, $outputs)";
  let hasRegionVerifier = 1;
}

def Tk_LoopOp : Tk_Op<"loop", [Pure, SingleBlock, AttrSizedOperandSegments, Tk_Kind<"Opaque">]> {
  let summary = "ONNX Loop/Scan, and the time loop of recurrent layers";
  let description = [{
    Runs at most `trip_limit` times (an int64 tensor of one element, or nothing: no limit but the condition) while the
    condition (one bool; absent means true) holds. Body arguments: iteration number (int64, rank 0), condition (bool,
    rank 0), then the carried values; it yields the next condition, the carried values (same types) and then one value a
    scan output. Results: the carried values, then the scan outputs, each stacked along a new leading axis of extent
    `scan_trips`, which must be the number of iterations run (the importer proves it). Regions may use outer values.
  }];
  let arguments = (ins Optional<Tk_IndexTensor>:$trip_limit, Optional<Tk_BoolTensor>:$condition,
                       Variadic<Tk_Tensor>:$carried, I64Attr:$scan_trips);
  let results = (outs Variadic<Tk_Tensor>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    (`limit` `(` $trip_limit^ `:` type($trip_limit) `)`)? (`while` `(` $condition^ `:` type($condition) `)`)?
    `carry` `(` $carried `)` `trips` $scan_trips $body attr-dict `:` functional-type($carried, $outputs)
  }];
  let hasRegionVerifier = 1;
}

#endif
