//===- DataType.cpp - element types of tensors --------------------------------------===//
#include "ir/DataType.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/ErrorHandling.h"

namespace tokamak {

size_t byteSize(DataType type) {
  switch (type) {
  case DataType::Bool:
  case DataType::Int8:
  case DataType::UInt8:
    return 1;
  case DataType::Float16:
  case DataType::BFloat16:
  case DataType::Int16:
  case DataType::UInt16:
    return 2;
  case DataType::Float32:
  case DataType::Int32:
  case DataType::UInt32:
    return 4;
  case DataType::Float64:
  case DataType::Int64:
  case DataType::UInt64:
    return 8;
  }
  llvm_unreachable("unknown data type");
}

bool isFloat(DataType type) {
  return type == DataType::Float16 || type == DataType::BFloat16 || type == DataType::Float32 ||
         type == DataType::Float64;
}

bool isUnsigned(DataType type) {
  return type == DataType::UInt8 || type == DataType::UInt16 || type == DataType::UInt32 ||
         type == DataType::UInt64;
}

bool isInteger(DataType type) { return !isFloat(type) && type != DataType::Bool; }

llvm::StringRef name(DataType type) {
  switch (type) {
  case DataType::Float32:
    return "float32";
  case DataType::UInt8:
    return "uint8";
  case DataType::Int8:
    return "int8";
  case DataType::UInt16:
    return "uint16";
  case DataType::Int16:
    return "int16";
  case DataType::Int32:
    return "int32";
  case DataType::Int64:
    return "int64";
  case DataType::Bool:
    return "bool";
  case DataType::Float16:
    return "float16";
  case DataType::Float64:
    return "float64";
  case DataType::UInt32:
    return "uint32";
  case DataType::UInt64:
    return "uint64";
  case DataType::BFloat16:
    return "bfloat16";
  }
  llvm_unreachable("unknown data type");
}

mlir::Type toMlir(DataType type, mlir::MLIRContext *context) {
  auto integer = [&](unsigned width, mlir::IntegerType::SignednessSemantics sign) -> mlir::Type {
    return mlir::IntegerType::get(context, width, sign);
  };
  switch (type) {
  case DataType::Float32:
    return mlir::Float32Type::get(context);
  case DataType::Float64:
    return mlir::Float64Type::get(context);
  case DataType::Float16:
    return mlir::Float16Type::get(context);
  case DataType::BFloat16:
    return mlir::BFloat16Type::get(context);
  case DataType::Bool:
    return integer(1, mlir::IntegerType::Signless);
  case DataType::Int8:
  case DataType::Int16:
  case DataType::Int32:
  case DataType::Int64:
    return integer(8 * byteSize(type), mlir::IntegerType::Signless);
  case DataType::UInt8:
  case DataType::UInt16:
  case DataType::UInt32:
  case DataType::UInt64:
    return integer(8 * byteSize(type), mlir::IntegerType::Unsigned);
  }
  llvm_unreachable("unknown data type");
}

std::optional<DataType> fromMlir(mlir::Type elementType) {
  if (elementType.isF32())
    return DataType::Float32;
  if (elementType.isF64())
    return DataType::Float64;
  if (elementType.isF16())
    return DataType::Float16;
  if (elementType.isBF16())
    return DataType::BFloat16;
  auto integer = llvm::dyn_cast<mlir::IntegerType>(elementType);
  if (!integer || integer.isSigned())
    return std::nullopt;
  bool isUnsigned = integer.isUnsigned();
  switch (integer.getWidth()) {
  case 1:
    return isUnsigned ? std::nullopt : std::optional(DataType::Bool);
  case 8:
    return isUnsigned ? DataType::UInt8 : DataType::Int8;
  case 16:
    return isUnsigned ? DataType::UInt16 : DataType::Int16;
  case 32:
    return isUnsigned ? DataType::UInt32 : DataType::Int32;
  case 64:
    return isUnsigned ? DataType::UInt64 : DataType::Int64;
  default:
    return std::nullopt;
  }
}

} // namespace tokamak
