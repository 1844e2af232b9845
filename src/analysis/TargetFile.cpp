//===- TargetFile.cpp - target descriptions as JSON files --------------------------------===//
#include "analysis/TargetFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <cmath>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <variant>
#include <vector>

using namespace tokamak;

namespace {

/// A number of the description under its key in the file; real numbers are scaled to the key's unit.
struct Field {
  const char *key;
  std::variant<int64_t *, double *> place;
  double unit = 1;
  double most = 1e15; ///< in the key's unit
};

std::vector<Field> fieldsOf(TargetDescription &target) {
  auto &bandwidth = target.bandwidth;
  KernelEfficiency &share = target.efficiency;
  // A kernel may exceed what the model expects of it, yet not by much.
  constexpr double mostShare = 4;
  return {{"l1_bytes", &target.l1Bytes},
          {"l2_bytes", &target.l2Bytes},
          {"l3_bytes", &target.l3Bytes},
          {"cores", &target.cores, 1, 65536},
          {"clock_ghz", &target.clockHz, 1e9},
          {"peak_gflops", &target.peakFlops, 1e9},
          {"l1_gbytes_per_s", &bandwidth[0], 1e9},
          {"l2_gbytes_per_s", &bandwidth[1], 1e9},
          {"l3_gbytes_per_s", &bandwidth[2], 1e9},
          {"memory_gbytes_per_s", &bandwidth[3], 1e9},
          {"shared_memory_gbytes_per_s", &target.sharedMemoryBandwidth, 1e9},
          {"dispatch_us", &target.dispatchSeconds, 1e-6},
          {"call_us", &target.callSeconds, 1e-6},
          {"dense_convolution_efficiency", &share.denseConvolution, 1, mostShare},
          {"pointwise_convolution_efficiency", &share.pointwiseConvolution, 1, mostShare},
          {"grouped_convolution_efficiency", &share.groupedConvolution, 1, mostShare},
          {"matmul_efficiency", &share.matmul, 1, mostShare},
          {"window_efficiency", &share.window, 1, mostShare},
          {"elementwise_efficiency", &share.elementwise, 1, mostShare},
          {"reduction_efficiency", &share.reduction, 1, mostShare}};
}

using nlohmann::ordered_json;

template <typename... Parts>
llvm::Error fault(llvm::StringRef file, const Parts &...parts) {
  std::string message = "target description '" + file.str() + "': ";
  ((message += parts), ...);
  return llvm::createStringError(message);
}

/// The number as the file spells it where it fits the field.
llvm::Error readField(const Field &field, const ordered_json &value, llvm::StringRef file) {
  const bool isInteger = std::holds_alternative<int64_t *>(field.place);
  if (isInteger ? !value.is_number_integer() : !value.is_number())
    return fault(file, "'", field.key, "' must be ", isInteger ? "an integer" : "a number");
  // An unsigned value beyond int64 would come out negative.
  const double number = value.get<double>();
  if (!(number > 0) || number > field.most || !std::isfinite(number))
    return fault(file, "'", field.key, "' must be above 0 and at most ", ordered_json(field.most).dump());
  if (isInteger)
    *std::get<int64_t *>(field.place) = value.get<int64_t>();
  else
    *std::get<double *>(field.place) = number * field.unit;
  return llvm::Error::success();
}

/// The object in `text`; an error is one line.
llvm::Expected<ordered_json> parseObject(llvm::StringRef text, llvm::StringRef file) {
  ordered_json json = ordered_json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded())
    return fault(file, "is not JSON");
  if (!json.is_object())
    return fault(file, "must hold one object");
  return json;
}

llvm::Expected<std::string> cpuOf(const ordered_json &json, llvm::StringRef file) {
  auto cpu = json.find("cpu");
  if (cpu == json.end())
    return std::string();
  if (!cpu->is_string())
    return fault(file, "'cpu' must be a string");
  return cpu->get<std::string>();
}

llvm::Error apply(const ordered_json &json, llvm::StringRef file, TargetDescription &target) {
  TargetDescription result = target;
  std::map<std::string, Field> fields;
  for (const Field &field : fieldsOf(result))
    fields.emplace(field.key, field);
  for (const auto &[key, value] : json.items()) {
    if (key == "cpu")
      continue;
    auto field = fields.find(key);
    if (field == fields.end()) {
      std::string known;
      for (const auto &[name, entry] : fields)
        known += ", " + name;
      return fault(file, "there is no '", key, "'; known are cpu", known);
    }
    if (llvm::Error error = readField(field->second, value, file))
      return error;
  }
  if (result.l1Bytes > result.l2Bytes || result.l2Bytes > result.l3Bytes)
    return fault(file, "caches must grow from level to level, but l1_bytes is ",
                 std::to_string(result.l1Bytes), ", l2_bytes ", std::to_string(result.l2Bytes), ", l3_bytes ",
                 std::to_string(result.l3Bytes));
  result.source = file.str();
  target = std::move(result);
  return llvm::Error::success();
}

llvm::Expected<ordered_json> readFile(llvm::StringRef file) {
  auto buffer = llvm::MemoryBuffer::getFile(file, /*IsText=*/true);
  if (!buffer)
    return fault(file, "cannot be read: ", buffer.getError().message());
  return parseObject((*buffer)->getBuffer(), file);
}

} // namespace

llvm::Error tokamak::readTarget(llvm::StringRef text, llvm::StringRef file, TargetDescription &target) {
  llvm::Expected<ordered_json> json = parseObject(text, file);
  if (!json)
    return json.takeError();
  if (auto cpu = cpuOf(*json, file); !cpu)
    return cpu.takeError();
  return apply(*json, file, target);
}

std::string tokamak::writeTarget(const TargetDescription &target) {
  TargetDescription copy = target;
  ordered_json json;
  json["cpu"] = copy.cpu;
  for (const Field &field : fieldsOf(copy)) {
    if (auto *const *integer = std::get_if<int64_t *>(&field.place))
      json[field.key] = **integer;
    else
      json[field.key] = *std::get<double *>(field.place) / field.unit;
  }
  return json.dump(2) + "\n";
}

std::string tokamak::cacheFile(llvm::StringRef name) {
  llvm::SmallString<128> path;
  if (const char *cache = std::getenv("XDG_CACHE_HOME"); cache && *cache == '/')
    path = cache;
  else if (const char *home = std::getenv("HOME"); home && *home == '/')
    llvm::sys::path::append(path = home, ".cache");
  else
    return "";
  llvm::sys::path::append(path, "tokamak", name);
  return path.str().str();
}

std::string tokamak::defaultTargetFile() { return cacheFile("target.json"); }

/// What `tokamak calibrate` left, over `target`, where it is valid and of the same CPU. A stale or damaged
/// file must not keep anybody from compiling.
static void applyCalibration(TargetDescription &target) {
  const std::string file = defaultTargetFile();
  if (file.empty() || !llvm::sys::fs::exists(file))
    return;
  llvm::Expected<ordered_json> json = readFile(file);
  if (!json) {
    llvm::consumeError(json.takeError());
    return;
  }
  llvm::Expected<std::string> cpu = cpuOf(*json, file);
  if (!cpu)
    llvm::consumeError(cpu.takeError());
  else if (*cpu == target.cpu)
    llvm::consumeError(apply(*json, file, target));
}

llvm::Expected<TargetDescription> tokamak::resolveTarget(const std::string &cpu, const std::string &file) {
  if (file.empty()) {
    llvm::Expected<TargetDescription> target = TargetDescription::forCpu(cpu);
    if (target && cpu == "native")
      applyCalibration(*target);
    return target;
  }
  llvm::Expected<ordered_json> json = readFile(file);
  if (!json)
    return json.takeError();
  llvm::Expected<std::string> described = cpuOf(*json, file);
  if (!described)
    return described.takeError();
  // This machine's own name means this machine, with the features that the system lets us use.
  const bool isNamed = cpu == "native" && !described->empty() && *described != TargetDescription::host().cpu;
  llvm::Expected<TargetDescription> target = TargetDescription::forCpu(isNamed ? *described : cpu);
  if (!target)
    return target.takeError();
  if (llvm::Error error = apply(*json, file, *target))
    return std::move(error);
  return target;
}
