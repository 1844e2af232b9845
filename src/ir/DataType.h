//===- DataType.h - element types of tensors ----------------------------------------===//
#pragma once
#include "mlir/IR/Types.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>

namespace mlir {
class MLIRContext;
}

namespace tokamak {

/// Element types, numbered as ONNX TensorProto.DataType does. Kept in step with `tokamak_dtype` of the C API.
enum class DataType : int32_t {
  Float32 = 1,
  UInt8 = 2,
  Int8 = 3,
  UInt16 = 4,
  Int16 = 5,
  Int32 = 6,
  Int64 = 7,
  Bool = 9,
  Float16 = 10,
  Float64 = 11,
  UInt32 = 12,
  UInt64 = 13,
  BFloat16 = 16,
};

/// Bytes of one element (Bool takes one byte, 0 or 1).
size_t byteSize(DataType type);
bool isFloat(DataType type);
/// True for uint8..uint64 and not for bool.
bool isUnsigned(DataType type);
bool isInteger(DataType type); ///< signed or unsigned, not bool
/// "float32", "int64", "bool", ...: the names of NumPy ("bfloat16" besides).
llvm::StringRef name(DataType type);

/// The MLIR element type: f32, f64, f16, bf16; i8..i64 (signless) for signed, ui8..ui64 for unsigned; i1 for
/// bool.
mlir::Type toMlir(DataType type, mlir::MLIRContext *context);
/// The inverse; nothing for a type that tensors of this project never have.
std::optional<DataType> fromMlir(mlir::Type elementType);

} // namespace tokamak
