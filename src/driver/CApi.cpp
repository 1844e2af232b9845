//===- CApi.cpp - the C interface: load a model, run it -----------------------------------===//
#include "analysis/TargetDescription.h"
#include "driver/Shapes.h"
#include "tokamak/Session.h"
#include "tokamak/tokamak.h"
#include <cstring>
#include <new>

using tokamak::ElementType;
using tokamak::HostTensor;
using tokamak::NamedTensor;
using tokamak::Result;
using tokamak::Session;
using tokamak::Status;
using tokamak::StatusCode;
using tokamak::TensorView;
using tokamak::ValueInfo;

static_assert(TOKAMAK_INTERNAL == static_cast<int>(StatusCode::Internal) &&
                  TOKAMAK_BFLOAT16 == static_cast<int>(ElementType::BFloat16),
              "the C enumerations are those of Session.h");

struct tokamak_session {
  std::unique_ptr<Session> session;
};

static thread_local std::string lastError;

static tokamak_status report(const Status &status) {
  if (!status.ok())
    lastError = status.message;
  return static_cast<tokamak_status>(status.code);
}

static Status misuse(std::string message) { return {StatusCode::Misuse, std::move(message)}; }

/// Runs `body`, which returns a Status. No exception crosses the C boundary; only exhausted memory throws.
template <typename Body>
static tokamak_status guarded(Body body) {
  try {
    return report(body());
  } catch (const std::bad_alloc &) {
    return report({StatusCode::InvalidInput, "out of memory"});
  }
}

static std::optional<ElementType> elementType(int32_t dtype) {
  switch (static_cast<ElementType>(dtype)) {
  case ElementType::Float32:
  case ElementType::UInt8:
  case ElementType::Int8:
  case ElementType::UInt16:
  case ElementType::Int16:
  case ElementType::Int32:
  case ElementType::Int64:
  case ElementType::Bool:
  case ElementType::Float16:
  case ElementType::Float64:
  case ElementType::UInt32:
  case ElementType::UInt64:
  case ElementType::BFloat16:
    return static_cast<ElementType>(dtype);
  }
  return std::nullopt;
}

/// The tensor as a view, once its dtype, rank and extents make sense.
static Status view(const tokamak_tensor &tensor, const std::string &what, TensorView &result) {
  std::optional<ElementType> type = elementType(tensor.dtype);
  if (!type)
    return misuse(what + ": " + std::to_string(tensor.dtype) + " is no element type");
  if (tensor.rank < 0 || tensor.rank > TOKAMAK_MAX_RANK)
    return misuse(what + ": rank " + std::to_string(tensor.rank) + " is not from 0 to " +
                  std::to_string(TOKAMAK_MAX_RANK));
  result.type = *type;
  result.shape = {tensor.dims, static_cast<size_t>(tensor.rank)};
  result.data = tensor.data;
  if (!tokamak::driver::elementCount({tensor.dims, static_cast<size_t>(tensor.rank)},
                                     tokamak::elementBytes(*type)))
    return {StatusCode::InvalidInput,
            what + ": shape " + tokamak::driver::shapeText({tensor.dims, static_cast<size_t>(tensor.rank)}) +
                " has a negative extent or is too large"};
  return {};
}

static Status nullArray(const char *role) {
  return misuse(std::string("the array of ") + role + "s is null");
}

static Status views(const tokamak_tensor *tensors, size_t count, const char *role,
                    std::vector<TensorView> &result) {
  if (!tensors && count)
    return nullArray(role);
  result.resize(count);
  for (size_t i = 0; i < count; ++i) {
    if (Status status = view(tensors[i], role + (" " + std::to_string(i)), result[i]); !status.ok())
      return status;
  }
  return {};
}

/// A copy that owns its bytes; the data pointer may be null only where there are no bytes.
static HostTensor copy(const TensorView &view) {
  HostTensor tensor(view.type, tokamak::Shape(view.shape.begin(), view.shape.end()));
  if (!tensor.bytes.empty())
    std::memcpy(tensor.bytes.data(), view.data, tensor.bytes.size());
  return tensor;
}

static Status convert(const tokamak_options *options, tokamak::SessionOptions &result) {
  if (!options)
    return {};
  if (options->threads < 0)
    return misuse("threads = " + std::to_string(options->threads) + " is negative; 0 means one a core");
  result.threads = options->threads;
  if (options->cache_directory)
    result.cacheDirectory = options->cache_directory;
  if (options->target_cpu) {
    result.targetCpu = options->target_cpu;
    // Here rather than when compiling: it is the caller's, not the model's fault.
    if (llvm::Error error = tokamak::TargetDescription::forCpu(result.targetCpu).takeError())
      return misuse("target_cpu: " + llvm::toString(std::move(error)));
  }
  std::string fusion = options->fusion ? options->fusion : "full";
  if (fusion == "none")
    result.fusion = tokamak::Fusion::None;
  else if (fusion == "dominator")
    result.fusion = tokamak::Fusion::Dominator;
  else if (fusion != "full")
    return misuse("fusion '" + fusion + "' is none of none, dominator, full");
  return {};
}

/// `load` makes the session out of the options.
template <typename Load>
static tokamak_status loadSession(const tokamak_options *options, tokamak_session **session, Load load) {
  return guarded([&]() -> Status {
    if (!session)
      return misuse("the pointer to the session is null");
    *session = nullptr;
    tokamak::SessionOptions converted;
    if (Status status = convert(options, converted); !status.ok())
      return status;
    Result<std::unique_ptr<Session>> loaded = load(std::move(converted));
    if (!loaded)
      return loaded.status();
    *session = new tokamak_session{std::move(*loaded)};
    return {};
  });
}

tokamak_status tokamak_load_file(const char *path, const tokamak_options *options,
                                 tokamak_session **session) {
  return loadSession(options, session,
                     [&](tokamak::SessionOptions converted) -> Result<std::unique_ptr<Session>> {
                       if (!path)
                         return misuse("the path is null");
                       return Session::fromFile(path, std::move(converted));
                     });
}

tokamak_status tokamak_load_memory(const void *data, size_t size, const tokamak_options *options,
                                   tokamak_session **session) {
  return loadSession(options, session, [&](tokamak::SessionOptions converted) {
    return Session::fromMemory(data, size, std::move(converted));
  });
}

void tokamak_free(tokamak_session *session) { delete session; }

size_t tokamak_input_count(const tokamak_session *session) {
  return session ? session->session->inputs().size() : 0;
}
size_t tokamak_output_count(const tokamak_session *session) {
  return session ? session->session->outputs().size() : 0;
}

static Status describe(const std::vector<ValueInfo> &values, size_t index, tokamak_value_info *info) {
  if (!info)
    return misuse("the pointer to the description is null");
  if (index >= values.size())
    return misuse("index " + std::to_string(index) + " is out of range: there are " +
                  std::to_string(values.size()));
  const ValueInfo &value = values[index];
  if (value.shape.size() > TOKAMAK_MAX_RANK)
    return {StatusCode::InvalidInput, "'" + value.name + "' has rank " + std::to_string(value.shape.size()) +
                                          ", more than this interface can describe"};
  *info = {};
  info->name = value.name.c_str();
  info->dtype = static_cast<int32_t>(value.type);
  info->rank = value.hasRank ? static_cast<int32_t>(value.shape.size()) : -1;
  for (size_t axis = 0; axis < value.shape.size(); ++axis) {
    info->dims[axis] = value.shape[axis];
    info->symbols[axis] = value.symbols[axis].c_str();
  }
  return {};
}

tokamak_status tokamak_input_info(const tokamak_session *session, size_t index, tokamak_value_info *info) {
  return guarded([&] {
    return session ? describe(session->session->inputs(), index, info) : misuse("the session is null");
  });
}

tokamak_status tokamak_output_info(const tokamak_session *session, size_t index, tokamak_value_info *info) {
  return guarded([&] {
    return session ? describe(session->session->outputs(), index, info) : misuse("the session is null");
  });
}

tokamak_status tokamak_bind(tokamak_session *session, const char *input, const tokamak_tensor *value) {
  return guarded([&]() -> Status {
    if (!session || !input || !value)
      return misuse("the session, the name or the value is null");
    TensorView tensor;
    if (Status status = view(*value, std::string("the value of '") + input + "'", tensor); !status.ok())
      return status;
    if (!value->data && tokamak_tensor_bytes(value))
      return misuse(std::string("the value of '") + input + "': the data pointer is null");
    return session->session->bind(input, copy(tensor));
  });
}

tokamak_status tokamak_prepare(tokamak_session *session, const tokamak_tensor *inputs, size_t input_count,
                               tokamak_tensor *outputs, size_t output_count) {
  return guarded([&]() -> Status {
    if (!session)
      return misuse("the session is null");
    if (!outputs && output_count)
      return nullArray("output");
    const std::vector<ValueInfo> &declared = session->session->inputs();
    std::vector<TensorView> given;
    if (Status status = views(inputs, input_count, "input", given); !status.ok())
      return status;
    if (given.size() != declared.size())
      return {StatusCode::InvalidInput, "the model has " + std::to_string(declared.size()) + " inputs, " +
                                            std::to_string(given.size()) + " were given" +
                                            tokamak::driver::listNames("inputs", declared)};
    std::map<std::string, tokamak::Shape> shapes;
    std::vector<NamedTensor> values;
    for (size_t i = 0; i < given.size(); ++i) {
      if (given[i].type != declared[i].type)
        return {StatusCode::InvalidInput, "input '" + declared[i].name + "' is " +
                                              tokamak::elementTypeName(declared[i].type) + ", not " +
                                              tokamak::elementTypeName(given[i].type)};
      shapes[declared[i].name] = tokamak::Shape(given[i].shape.begin(), given[i].shape.end());
      if (given[i].data)
        values.push_back({declared[i].name, copy(given[i])});
    }
    Result<tokamak::ProgramInfo> program = session->session->prepare(shapes, values);
    if (!program)
      return program.status();
    if (!outputs)
      return {};
    if (output_count != program->outputs.size())
      return {StatusCode::InvalidInput, "the model has " + std::to_string(program->outputs.size()) +
                                            " outputs, " + std::to_string(output_count) + " were given"};
    for (size_t i = 0; i < output_count; ++i) {
      const ValueInfo &info = program->outputs[i];
      if (info.shape.size() > TOKAMAK_MAX_RANK)
        return {StatusCode::InvalidInput, "output '" + info.name + "' has rank " +
                                              std::to_string(info.shape.size()) +
                                              ", more than this interface can describe"};
      outputs[i].dtype = static_cast<int32_t>(info.type);
      outputs[i].rank = static_cast<int32_t>(info.shape.size());
      std::copy(info.shape.begin(), info.shape.end(), outputs[i].dims);
    }
    return {};
  });
}

tokamak_status tokamak_run(tokamak_session *session, const tokamak_tensor *inputs, size_t input_count,
                           const tokamak_tensor *outputs, size_t output_count) {
  return guarded([&]() -> Status {
    if (!session)
      return misuse("the session is null");
    std::vector<TensorView> read, written;
    if (Status status = views(inputs, input_count, "input", read); !status.ok())
      return status;
    if (Status status = views(outputs, output_count, "output", written); !status.ok())
      return status;
    return session->session->run(read, written);
  });
}

size_t tokamak_tensor_bytes(const tokamak_tensor *tensor) {
  if (!tensor || tensor->rank < 0 || tensor->rank > TOKAMAK_MAX_RANK)
    return 0;
  std::optional<ElementType> type = elementType(tensor->dtype);
  if (!type)
    return 0;
  size_t bytes = tokamak::elementBytes(*type);
  std::optional<int64_t> count =
      tokamak::driver::elementCount({tensor->dims, static_cast<size_t>(tensor->rank)}, bytes);
  return count ? static_cast<size_t>(*count) * bytes : 0;
}

const char *tokamak_last_error(void) { return lastError.c_str(); }

const char *tokamak_version(void) { return TOKAMAK_VERSION; }
