//===- Digest.cpp - what a loaded model is, in one hash ---------------------------------------===//
#include "import/ModelFile.h"
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

namespace tokamak::import {

namespace {

/// Adds what `loadModelFile` took out of the message, in the order of the file.
class Weights {
public:
  Weights(const ModelFile &file, llvm::BLAKE3 &hash) : file(file), hash(hash) {}

  /// False where a tensor's bytes are not read yet.
  bool add(const onnx::GraphProto &graph) {
    for (const onnx::TensorProto &initializer : graph.initializer())
      add(file.weights.lookup(&initializer));
    for (const onnx::SparseTensorProto &initializer : graph.sparse_initializer())
      add(file.sparseWeights.lookup(&initializer));
    return add(graph.node());
  }

  bool add(const google::protobuf::RepeatedPtrField<onnx::NodeProto> &nodes) {
    for (const onnx::NodeProto &node : nodes) {
      for (const onnx::AttributeProto &attribute : node.attribute()) {
        if (isExternal(attribute.t()) || isExternal(attribute.sparse_tensor().values()) ||
            isExternal(attribute.sparse_tensor().indices()))
          return false;
        if (attribute.has_g() && !add(attribute.g()))
          return false;
        for (const onnx::GraphProto &graph : attribute.graphs()) {
          if (!add(graph))
            return false;
        }
      }
    }
    return true;
  }

private:
  static bool isExternal(const onnx::TensorProto &tensor) {
    return tensor.data_location() == onnx::TensorProto::EXTERNAL;
  }

  /// Type and shape are in the message; the length keeps neighbours apart.
  void add(const Tensor &tensor) {
    const uint64_t bytes = tensor.byteCount();
    hash.update(llvm::ArrayRef(reinterpret_cast<const uint8_t *>(&bytes), sizeof bytes));
    hash.update(llvm::ArrayRef(reinterpret_cast<const uint8_t *>(tensor.bytes()), bytes));
  }

  const ModelFile &file;
  llvm::BLAKE3 &hash;
};

} // namespace

std::optional<Digest> digestOf(const ModelFile &file) {
  std::string message;
  {
    google::protobuf::io::StringOutputStream text(&message);
    google::protobuf::io::CodedOutputStream stream(&text);
    stream.SetSerializationDeterministic(true);
    if (!file.proto.SerializeToCodedStream(&stream))
      return std::nullopt;
  }
  llvm::BLAKE3 hash;
  hash.update(message);
  Weights weights(file, hash);
  if (!weights.add(file.proto.graph()))
    return std::nullopt;
  for (const onnx::FunctionProto &function : file.proto.functions()) {
    if (!weights.add(function.node()))
      return std::nullopt;
  }
  return hash.final();
}

} // namespace tokamak::import
