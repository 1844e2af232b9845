//===- Testing.h - operators on literal tensors ------------------------------------------===//
#pragma once
#include "ir/Tensor.h"
#include <gtest/gtest.h>
#include <initializer_list>
#include <limits>
#include <string>
#include <vector>

namespace tokamak::reference::test {

using Shape = std::vector<int64_t>;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

constexpr DataType floatTypes[] = {DataType::Float16, DataType::BFloat16, DataType::Float32,
                                   DataType::Float64};
constexpr DataType integerTypes[] = {DataType::Int8,  DataType::Int16,  DataType::Int32,  DataType::Int64,
                                     DataType::UInt8, DataType::UInt16, DataType::UInt32, DataType::UInt64};
constexpr DataType numberTypes[] = {DataType::Float16, DataType::BFloat16, DataType::Float32,
                                    DataType::Float64, DataType::Int8,     DataType::Int16,
                                    DataType::Int32,   DataType::Int64,    DataType::UInt8,
                                    DataType::UInt16,  DataType::UInt32,   DataType::UInt64};

/// Literals. `make` rounds to the type; `ints` are exact.
Tensor make(DataType type, const Shape &shape, const std::vector<double> &values);
Tensor ints(DataType type, const Shape &shape, const std::vector<int64_t> &values);
inline Tensor f32(const Shape &shape, const std::vector<double> &values) {
  return make(DataType::Float32, shape, values);
}
inline Tensor i64(const Shape &shape, const std::vector<int64_t> &values) {
  return ints(DataType::Int64, shape, values);
}
inline Tensor bools(const Shape &shape, const std::vector<int64_t> &values) {
  return ints(DataType::Bool, shape, values);
}

/// Results, or the diagnostic why not.
struct Outcome {
  std::vector<Tensor> results;
  std::string error;
};

/// Evaluates function `source`, textual IR, on `arguments`.
Outcome evaluateText(const std::string &source, const std::vector<Tensor> &arguments);
/// Evaluates `tk.op` of the operands with the attributes between the braces; `types` are its result types,
/// which the verifier compares with the inferred ones.
Outcome evaluateOp(const std::string &op, const std::vector<Tensor> &operands, const std::string &types,
                   const std::string &attributes = "");
/// The only result of `evaluateOp`, which must succeed.
Tensor apply(const std::string &op, const std::vector<Tensor> &operands, const std::string &types,
             const std::string &attributes = "");
/// As `apply`, for operators whose result has the first operand's type.
Tensor applySame(const std::string &op, const std::vector<Tensor> &operands,
                 const std::string &attributes = "");

std::string typeOf(const Tensor &tensor); ///< "tensor<2x3xf32>"
std::string elementTypeOf(DataType type); ///< "ui8"
inline std::string typeOf(DataType type, const Shape &shape) { return typeOf(Tensor(type, shape)); }

/// Type, shape and all elements agree: integers exactly, floats by value with NaN equal to NaN and zeros of
/// both signs different, or up to `tolerance`.
testing::AssertionResult same(const Tensor &actual, const Tensor &expected, double tolerance = 0);

} // namespace tokamak::reference::test
