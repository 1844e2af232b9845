//===- Weights.h - tensors of the file ------------------------------------------------------===//
#pragma once
#include "ir/Tensor.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>

namespace onnx {
class SparseTensorProto;
class TensorProto;
} // namespace onnx

namespace tokamak::import {

/// The element type of an ONNX type number, or nothing where tensors of that type cannot be compiled.
std::optional<DataType> dataTypeOf(int32_t onnxType);
/// "string", "float8e4m3fn", ... for messages.
std::string onnxTypeName(int32_t onnxType);

/// Decodes a tensor: raw bytes, the typed fields, or external data below `folder` ("" where the model came
/// from memory and has no folder). The claimed size is compared with the bytes that are there before anything
/// is allocated. The error is the reason alone, without the place.
llvm::Expected<Tensor> decodeTensor(const onnx::TensorProto &proto, llvm::StringRef folder);

/// The dense form; refused where it is out of proportion to what is stored.
llvm::Expected<Tensor> decodeSparse(const onnx::SparseTensorProto &proto, llvm::StringRef folder);

} // namespace tokamak::import
