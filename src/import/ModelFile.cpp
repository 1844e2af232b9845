//===- ModelFile.cpp - reading an ONNX file --------------------------------------------------===//
#include "import/ModelFile.h"
#include "import/ErrorLine.h"
#include "import/Weights.h"
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/stubs/logging.h>
#include <limits>

namespace tokamak::import {

/// Operator sets up to this version differ from 21 only in the element types that operators accept.
static constexpr int64_t newestOpset = 24;
static constexpr int64_t oldestIrVersion = 3;
/// Messages in messages: a graph within a graph is the third, by way of a node and its attribute. What the
/// innermost graph holds may nest as protobuf allows by default.
static constexpr int maxMessageNesting = 3 * maxNesting + 100;

std::string ModelFile::placeOf(const onnx::NodeProto &node) const {
  auto it = nodeNames.find(&node);
  return nodePlace(it == nodeNames.end() ? llvm::StringRef(node.name()) : llvm::StringRef(it->second),
                   node.op_type());
}

std::string functionKey(llvm::StringRef domain, llvm::StringRef name, llvm::StringRef overload) {
  return ((domain == "ai.onnx" ? "" : domain) + "\n" + name + "\n" + overload).str();
}

/// The string in unknown field `number`, or "".
static std::string unknownString(const google::protobuf::Message &message, int number) {
  const google::protobuf::UnknownFieldSet &fields = message.GetReflection()->GetUnknownFields(message);
  for (int i = 0; i < fields.field_count(); ++i)
    if (fields.field(i).number() == number &&
        fields.field(i).type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED)
      return fields.field(i).length_delimited();
  return "";
}

// Field numbers of onnx.proto as of IR version 10.
std::string overloadOf(const onnx::NodeProto &node) { return unknownString(node, 8); }
std::string overloadOf(const onnx::FunctionProto &function) { return unknownString(function, 13); }

std::vector<onnx::AttributeProto> defaultAttributesOf(const onnx::FunctionProto &function) {
  constexpr int attributeProtoField = 11;
  std::vector<onnx::AttributeProto> attributes;
  const google::protobuf::UnknownFieldSet &fields = function.GetReflection()->GetUnknownFields(function);
  for (int i = 0; i < fields.field_count(); ++i) {
    onnx::AttributeProto attribute;
    if (fields.field(i).number() == attributeProtoField &&
        fields.field(i).type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED &&
        attribute.ParseFromString(fields.field(i).length_delimited()))
      attributes.push_back(std::move(attribute));
  }
  return attributes;
}

//===----------------------------------------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------------------------------------===//

static llvm::Error loadWeights(ModelFile &file, onnx::GraphProto &graph);

static llvm::Error loadWeights(ModelFile &file, google::protobuf::RepeatedPtrField<onnx::NodeProto> &nodes) {
  for (onnx::NodeProto &node : nodes)
    for (onnx::AttributeProto &attribute : *node.mutable_attribute()) {
      if (attribute.has_g())
        if (llvm::Error error = loadWeights(file, *attribute.mutable_g()))
          return error;
      for (onnx::GraphProto &graph : *attribute.mutable_graphs())
        if (llvm::Error error = loadWeights(file, graph))
          return error;
    }
  return llvm::Error::success();
}

/// Decodes all initializers below `graph` and frees their bytes in the message.
static llvm::Error loadWeights(ModelFile &file, onnx::GraphProto &graph) {
  for (onnx::TensorProto &initializer : *graph.mutable_initializer()) {
    std::string place = "initializer '" + oneLine(initializer.name(), 120) + "'";
    if (!dataTypeOf(initializer.data_type())) {
      file.refusedWeights[&initializer] =
          "the initializer '" + oneLine(initializer.name(), 120) + "' holds elements of type " +
          onnxTypeName(initializer.data_type()) + ", which cannot be compiled; use a model without them";
      continue;
    }
    llvm::Expected<Tensor> tensor = decodeTensor(initializer, file.folder);
    if (!tensor)
      return errorLine(file.name, place, llvm::toString(tensor.takeError()));
    file.weights[&initializer] = *tensor;
    if (initializer.has_raw_data())
      delete initializer.release_raw_data();
    google::protobuf::RepeatedField<float>().Swap(initializer.mutable_float_data());
    google::protobuf::RepeatedField<double>().Swap(initializer.mutable_double_data());
    google::protobuf::RepeatedField<int32_t>().Swap(initializer.mutable_int32_data());
    google::protobuf::RepeatedField<int64_t>().Swap(initializer.mutable_int64_data());
    google::protobuf::RepeatedField<uint64_t>().Swap(initializer.mutable_uint64_data());
  }
  for (const onnx::SparseTensorProto &initializer : graph.sparse_initializer()) {
    llvm::Expected<Tensor> tensor = decodeSparse(initializer, file.folder);
    if (!tensor)
      return errorLine(file.name, "initializer '" + oneLine(initializer.values().name(), 120) + "'",
                       llvm::toString(tensor.takeError()));
    file.sparseWeights[&initializer] = *tensor;
  }
  return loadWeights(file, *graph.mutable_node());
}

//===----------------------------------------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------------------------------------===//

/// Reads operator set versions; `of` says whose they are.
static llvm::Error readOpsets(const ModelFile &file,
                              const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto> &list,
                              Opsets &opsets) {
  for (const onnx::OperatorSetIdProto &entry : list) {
    llvm::StringRef domain = entry.domain() == "ai.onnx" ? "" : llvm::StringRef(entry.domain());
    if (domain.empty() && (entry.version() < 1 || entry.version() > newestOpset))
      return errorLine(file.name, "",
                       "uses operator set " + llvm::Twine(entry.version()) + " of ai.onnx, but 1 to " +
                           llvm::Twine(newestOpset) + " are known; export the model with operator set 21");
    opsets[domain] = entry.version();
  }
  return llvm::Error::success();
}

/// Whether messages nest beyond the limit, as far as `bytes` can be read: protobuf says only that it failed.
static bool nestsTooDeeply(llvm::StringRef bytes) {
  struct Message {
    const google::protobuf::Descriptor *type;
    int end;
  };
  const auto size = static_cast<int>(bytes.size());
  google::protobuf::io::CodedInputStream stream(reinterpret_cast<const uint8_t *>(bytes.data()), size);
  std::vector<Message> open{{onnx::ModelProto::descriptor(), size}};
  while (open.size() <= 1 + maxMessageNesting) {
    const auto [type, end] = open.back();
    if (stream.CurrentPosition() == end) {
      open.pop_back();
      if (open.empty())
        return false;
      continue;
    }
    const uint32_t tag = stream.ReadTag();
    const google::protobuf::FieldDescriptor *field = type->FindFieldByNumber(static_cast<int>(tag >> 3));
    int length = 0;
    uint64_t number = 0;
    switch (tag & 7) {
    case 0: // a number; also the tag 0, which ends what can be read
      if (tag == 0 || !stream.ReadVarint64(&number))
        return false;
      continue;
    case 1:
      length = 8;
      break;
    case 2:
      if (!stream.ReadVarintSizeAsInt(&length) || length > end - stream.CurrentPosition())
        return false;
      if (field && field->message_type()) {
        open.push_back({field->message_type(), stream.CurrentPosition() + length});
        continue;
      }
      break;
    case 5:
      length = 4;
      break;
    default: // groups, of which ONNX has none
      return false;
    }
    if (!stream.Skip(length))
      return false;
  }
  return true;
}

llvm::Expected<std::unique_ptr<ModelFile>> loadModelFile(llvm::StringRef bytes, llvm::StringRef name,
                                                         std::string folder) {
  auto file = std::make_unique<ModelFile>();
  file->name = oneLine(name, 300);
  file->folder = std::move(folder);
  file->byteCount = bytes.size();
  auto refuse = [&](const llvm::Twine &reason) { return errorLine(file->name, "", reason); };
  if (bytes.empty())
    return refuse("the file is empty; give an ONNX model");
  if (bytes.size() > static_cast<size_t>(std::numeric_limits<int>::max()))
    return refuse("is larger than 2 GiB, which protobuf cannot read; store the weights as external data");

  // Protobuf would print its own complaints to the terminal.
  google::protobuf::LogSilencer silencer;
  google::protobuf::io::CodedInputStream stream(reinterpret_cast<const uint8_t *>(bytes.data()),
                                                static_cast<int>(bytes.size()));
  stream.SetRecursionLimit(maxMessageNesting);
  if (!file->proto.ParseFromCodedStream(&stream) || !stream.ConsumedEntireMessage())
    return refuse(nestsTooDeeply(bytes)
                      ? tooMuchNesting
                      : "is not an ONNX model, or is damaged or cut off; get the file again");
  if (!file->proto.has_graph() || file->proto.ir_version() <= 0)
    return refuse("is not an ONNX model (no graph or no IR version); give an ONNX model");
  if (file->proto.ir_version() < oldestIrVersion)
    return refuse("has IR version " + llvm::Twine(file->proto.ir_version()) +
                  ", but 3 or later is needed; export the model again");
  if (llvm::Error error = readOpsets(*file, file->proto.opset_import(), file->opsets))
    return std::move(error);
  for (const onnx::FunctionProto &function : file->proto.functions()) {
    std::string key = functionKey(function.domain(), function.name(), overloadOf(function));
    if (!file->functions.try_emplace(key, &function).second)
      return refuse("defines the function '" + oneLine(function.name(), 120) +
                    "' twice; the file is damaged");
    Opsets opsets;
    if (llvm::Error error = readOpsets(*file, function.opset_import(), opsets))
      return std::move(error);
  }
  if (llvm::Error error = loadWeights(*file, *file->proto.mutable_graph()))
    return std::move(error);
  for (onnx::FunctionProto &function : *file->proto.mutable_functions())
    if (llvm::Error error = loadWeights(*file, *function.mutable_node()))
      return std::move(error);
  if (llvm::Error error = checkStructure(*file))
    return std::move(error);
  return file;
}

} // namespace tokamak::import
