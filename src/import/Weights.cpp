//===- Weights.cpp - tensors of the file ----------------------------------------------------===//
#include "import/Weights.h"
#include "import/ErrorLine.h"
#include "onnx/onnx_pb.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <cstring>

namespace tokamak::import {

static llvm::Error fault(const llvm::Twine &reason) {
  return llvm::make_error<llvm::StringError>(reason, llvm::inconvertibleErrorCode());
}

std::optional<DataType> dataTypeOf(int32_t onnxType) {
  switch (onnxType) {
  case 1:
  case 2:
  case 3:
  case 4:
  case 5:
  case 6:
  case 7:
  case 9:
  case 10:
  case 11:
  case 12:
  case 13:
  case 16:
    return static_cast<DataType>(onnxType);
  default:
    return std::nullopt;
  }
}

std::string onnxTypeName(int32_t onnxType) {
  if (std::optional<DataType> type = dataTypeOf(onnxType))
    return name(*type).str();
  switch (onnxType) {
  case 0:
    return "undefined";
  case 8:
    return "string";
  case 14:
    return "complex64";
  case 15:
    return "complex128";
  case 17:
    return "float8e4m3fn";
  case 18:
    return "float8e4m3fnuz";
  case 19:
    return "float8e5m2";
  case 20:
    return "float8e5m2fnuz";
  case 21:
    return "uint4";
  case 22:
    return "int4";
  case 23:
    return "float4e2m1";
  default:
    return "number " + std::to_string(onnxType);
  }
}

/// The number of bytes that `shape` takes, or an error where it cannot be a size.
static llvm::Expected<int64_t> byteCountOf(llvm::ArrayRef<int64_t> shape, DataType type) {
  int64_t bytes = static_cast<int64_t>(byteSize(type));
  int64_t stored = bytes;
  for (int64_t extent : shape) {
    if (extent < 0)
      return fault("has the negative extent " + llvm::Twine(extent) + "; the file is damaged");
    // The product without its zeros must fit as well: later computations multiply in other orders.
    if (llvm::MulOverflow(bytes, std::max<int64_t>(extent, 1), bytes))
      return fault("claims shape " + shapeText(shape) + ", which is too large; the file is damaged");
    stored = extent == 0 ? 0 : stored * extent;
  }
  return stored;
}

/// Where external data lies, as the file says.
struct ExternalData {
  std::string location;
  int64_t offset = 0, length = -1;
};

static llvm::Expected<ExternalData> externalDataOf(const onnx::TensorProto &proto) {
  ExternalData external;
  for (const onnx::StringStringEntryProto &entry : proto.external_data()) {
    int64_t *number = entry.key() == "offset"   ? &external.offset
                      : entry.key() == "length" ? &external.length
                                                : nullptr;
    if (entry.key() == "location")
      external.location = entry.value();
    else if (number && (llvm::StringRef(entry.value()).getAsInteger(10, *number) || *number < 0))
      return fault("its external data has the " + entry.key() + " '" + oneLine(entry.value(), 40) +
                   "', which is no size; the file is damaged");
  }
  return external;
}

/// The path of external data: relative, and inside the model's folder also after following links.
static llvm::Expected<std::string> externalPath(llvm::StringRef location, llvm::StringRef folder) {
  namespace path = llvm::sys::path;
  namespace fs = llvm::sys::fs;
  std::string shown = "'" + oneLine(location, 120) + "'";
  bool climbs = std::any_of(path::begin(location), path::end(location),
                            [](llvm::StringRef part) { return part == ".."; });
  if (location.empty() || path::is_absolute(location) || climbs || location.contains('\0'))
    return fault("its external data " + shown +
                 " does not lie in the model's folder; store a relative path below it");
  llvm::SmallString<256> file(folder), realFile, realFolder;
  std::error_code code = fs::real_path(file, realFolder);
  path::append(file, location);
  if (!code)
    code = fs::real_path(file, realFile);
  if (code)
    return fault("its external data " + shown + " cannot be read (" + code.message() +
                 "); put the file beside the model");
  if (!path::is_separator(realFolder.back()))
    realFolder += path::get_separator();
  if (!realFile.starts_with(realFolder))
    return fault("its external data " + shown +
                 " does not lie in the model's folder; store a relative path below it");
  if (!fs::is_regular_file(realFile))
    return fault("its external data " + shown + " is not a regular file; put the file beside the model");
  return realFile.str().str();
}

static llvm::Error readExternal(const onnx::TensorProto &proto, llvm::StringRef folder, int64_t bytes,
                                llvm::function_ref<void(llvm::StringRef)> store) {
  llvm::Expected<ExternalData> external = externalDataOf(proto);
  if (!external)
    return external.takeError();
  if (folder.empty())
    return fault("its data lies in the file '" + oneLine(external->location, 120) +
                 "', which a model in memory cannot refer to; load the model from its file");
  llvm::Expected<std::string> file = externalPath(external->location, folder);
  if (!file)
    return file.takeError();
  uint64_t size = 0;
  std::string shown = "'" + oneLine(external->location, 120) + "'";
  if (std::error_code code = llvm::sys::fs::file_size(*file, size))
    return fault("its external data " + shown + " cannot be read (" + code.message() + ")");
  if (external->length >= 0 && external->length != bytes)
    return fault("its external data has " + llvm::Twine(external->length) + " bytes, but its shape needs " +
                 llvm::Twine(bytes) + "; the file is damaged");
  if (static_cast<uint64_t>(external->offset) > size ||
      size - external->offset < static_cast<uint64_t>(bytes))
    return fault("its external data ends at byte " + llvm::Twine(external->offset) + " + " +
                 llvm::Twine(bytes) + ", but " + shown + " has " + llvm::Twine(size) +
                 " bytes; the file is cut off");
  if (bytes == 0)
    return llvm::Error::success();
  auto buffer = llvm::MemoryBuffer::getFileSlice(*file, static_cast<uint64_t>(bytes),
                                                 static_cast<uint64_t>(external->offset));
  if (!buffer)
    return fault("its external data " + shown + " cannot be read (" + buffer.getError().message() + ")");
  store((*buffer)->getBuffer());
  return llvm::Error::success();
}

/// Copies little-endian element bytes; any bool that is not 0 becomes 1.
static void storeBytes(Tensor &tensor, llvm::StringRef bytes) {
  if (bytes.empty())
    return;
  std::memcpy(tensor.mutableBytes(), bytes.data(), bytes.size());
  if (tensor.type() == DataType::Bool)
    for (size_t i = 0; i < bytes.size(); ++i)
      tensor.mutableBytes()[i] = std::byte(bytes[i] != 0);
}

/// Copies a typed field whose elements are as wide as the tensor's or (int32_data) wider: the low bytes
/// count.
template <class Field>
static void storeField(Tensor &tensor, const Field &field) {
  size_t width = byteSize(tensor.type());
  bool isBool = tensor.type() == DataType::Bool;
  for (int i = 0; i < field.size(); ++i) {
    auto value = field.Get(i);
    if (isBool)
      value = value != 0;
    std::memcpy(tensor.mutableBytes() + i * width, &value, width);
  }
}

static int typedFieldSize(const onnx::TensorProto &proto, DataType type) {
  switch (type) {
  case DataType::Float32:
    return proto.float_data_size();
  case DataType::Float64:
    return proto.double_data_size();
  case DataType::Int64:
    return proto.int64_data_size();
  case DataType::UInt32:
  case DataType::UInt64:
    return proto.uint64_data_size();
  default:
    return proto.int32_data_size();
  }
}

llvm::Expected<Tensor> decodeTensor(const onnx::TensorProto &proto, llvm::StringRef folder) {
  std::optional<DataType> type = dataTypeOf(proto.data_type());
  if (!type)
    return fault("has elements of type " + onnxTypeName(proto.data_type()) +
                 ", which cannot be compiled; use a model without them");
  if (proto.has_segment())
    return fault("is stored in segments, which no tool writes; store it whole");
  llvm::SmallVector<int64_t> shape(proto.dims().begin(), proto.dims().end());
  llvm::Expected<int64_t> bytes = byteCountOf(shape, *type);
  if (!bytes)
    return bytes.takeError();

  if (proto.data_location() == onnx::TensorProto::EXTERNAL) {
    Tensor tensor;
    if (llvm::Error error = readExternal(proto, folder, *bytes, [&](llvm::StringRef data) {
          tensor = Tensor(*type, shape);
          storeBytes(tensor, data);
        }))
      return std::move(error);
    return *bytes == 0 ? Tensor(*type, shape) : tensor;
  }

  int64_t stored = proto.has_raw_data()
                       ? static_cast<int64_t>(proto.raw_data().size())
                       : static_cast<int64_t>(typedFieldSize(proto, *type) * byteSize(*type));
  if (stored != *bytes)
    return fault("claims shape " + shapeText(shape) + " of " + name(*type) + " (" + llvm::Twine(*bytes) +
                 " bytes), but holds " + llvm::Twine(stored) + " bytes; the file is damaged");
  Tensor tensor(*type, shape);
  if (proto.has_raw_data())
    storeBytes(tensor, proto.raw_data());
  else if (*type == DataType::Float32)
    storeField(tensor, proto.float_data());
  else if (*type == DataType::Float64)
    storeField(tensor, proto.double_data());
  else if (*type == DataType::Int64)
    storeField(tensor, proto.int64_data());
  else if (*type == DataType::UInt32 || *type == DataType::UInt64)
    storeField(tensor, proto.uint64_data());
  else
    storeField(tensor, proto.int32_data());
  return tensor;
}

llvm::Expected<Tensor> decodeSparse(const onnx::SparseTensorProto &proto, llvm::StringRef folder) {
  llvm::Expected<Tensor> values = decodeTensor(proto.values(), folder);
  if (!values)
    return values.takeError();
  llvm::Expected<Tensor> indices = decodeTensor(proto.indices(), folder);
  if (!indices)
    return indices.takeError();
  llvm::SmallVector<int64_t> shape(proto.dims().begin(), proto.dims().end());
  llvm::Expected<int64_t> bytes = byteCountOf(shape, values->type());
  if (!bytes)
    return bytes.takeError();
  // Dense tensors are what the compiler computes with, so a small file must not ask for an unrelated amount.
  constexpr int64_t alwaysAllowed = 16 << 20;
  if (*bytes > alwaysAllowed && *bytes / 1024 > static_cast<int64_t>(values->byteCount()))
    return fault("is sparse and " + llvm::Twine(*bytes) + " bytes large when dense; store it dense");

  int64_t rank = static_cast<int64_t>(shape.size()), count = values->size();
  bool linear = indices->rank() == 1 && indices->size() == count;
  bool coordinates = indices->rank() == 2 && indices->shape()[0] == count && indices->shape()[1] == rank;
  if (values->rank() != 1 || indices->type() != DataType::Int64 || (!linear && !coordinates))
    return fault("is sparse with values " + shapeText(values->shape()) + " and indices " +
                 shapeText(indices->shape()) + ", which do not fit; the file is damaged");
  Tensor dense(values->type(), shape);
  size_t width = byteSize(dense.type());
  for (int64_t i = 0; i < count; ++i) {
    int64_t at = linear ? indices->intAt(i) : 0;
    bool inside = at >= 0 && at < dense.size();
    for (int64_t axis = 0; !linear && axis < rank; ++axis) {
      int64_t index = indices->intAt(i * rank + axis);
      inside &= index >= 0 && index < shape[axis];
      at = inside ? at * shape[axis] + index : 0;
    }
    if (!inside)
      return fault("is sparse with an index outside its shape " + shapeText(shape) + "; the file is damaged");
    std::memcpy(dense.mutableBytes() + at * width, values->bytes() + i * width, width);
  }
  return dense;
}

} // namespace tokamak::import
