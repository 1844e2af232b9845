//===- Common.h - helpers shared by the import entries ------------------------------------===//
#pragma once
#include "import/NodeContext.h"

namespace tokamak::import {

using Ints = llvm::SmallVector<int64_t>;
using IntsRef = llvm::ArrayRef<int64_t>;

/// Ends the import of the node with this reason.
[[noreturn]] void fault(const llvm::Twine &reason);

/// "[2,3,4]", for messages.
std::string text(IntsRef values);

/// `axis` counted from the front; a fault where it is outside [-rank, rank).
int64_t normalizeAxis(int64_t axis, int64_t rank);
/// All of them, sorted; a fault where one is outside or named twice.
Ints normalizeAxes(IntsRef axes, int64_t rank);
/// first, first + 1, ..., last - 1.
Ints axisRange(int64_t first, int64_t last);

/// Product of extents; a fault where it does not fit in 2^62.
int64_t product(IntsRef extents);

/// A fault where a table of constants with that many entries would be too large to make.
void checkTable(int64_t entries);

/// A DataType from the number in an ONNX attribute; a fault for types that tensors here never have (strings,
/// float8).
DataType dataType(int64_t onnxNumber);

/// f16 and bf16 values are computed in f32: one ONNX operator of several steps rounds once, at its end.
DataType wideType(DataType type);
Value widen(Body &b, Value x);

/// One composite of one result that computes in the wide type: `build` sees the operands widened; its result
/// is converted to `resultType`, by default the type of the first operand.
Result wideComposite(NodeContext &n, ValueRange operands, llvm::function_ref<Value(Body &, ValueRange)> build,
                     std::optional<DataType> resultType = std::nullopt);

/// A vector along `axis` of a tensor of `rank`: [k] becomes [1, .., k, .., 1].
Value alongAxis(Body &b, Value vector, int64_t axis, int64_t rank);
/// A one-element value of any rank (or a rank-0 one) as rank 0; a fault where it has more elements.
Value asScalar(Body &b, Value x, llvm::StringRef what);

/// Constants from values in memory.
Tensor intTensor(IntsRef values, IntsRef shape, DataType type = DataType::Int64);
Tensor doubleTensor(llvm::ArrayRef<double> values, IntsRef shape, DataType type);
/// `value` everywhere, as a broadcast of a rank-0 constant.
Value filled(Body &b, DataType type, IntsRef shape, double value);

/// The operands of a composite, collected while its body is planned: `add` returns the position of the
/// argument.
struct Operands {
  Values values;
  size_t add(Value v) {
    values.push_back(v);
    return values.size() - 1;
  }
};

/// The matrix product of ONNX MatMul (operands of rank 1 and up) inside a body.
Value matmulOfAnyRank(Body &b, Value lhs, Value rhs);

/// Logarithm of the softmax, and the softmax, over `axes`, shifted by the maximum.
Value softmaxOver(Body &b, Value x, IntsRef axes, bool logarithm);

} // namespace tokamak::import
