//===- ProgramEntry.cpp - a compiled program as bytes of a file -------------------------------===//
#include "driver/cache/ProgramEntry.h"
#include "driver/WeightMemory.h"
#include "llvm/Support/xxhash.h"
#include <nlohmann/json.hpp>

namespace tokamak {

namespace analysis {
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Traffic, kernels, bytesRead, bytesWritten, weightBytes, flops)
}
namespace codegen {
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ProgramValue, name, type, shape)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ProgramStep, kernel, kind, nodes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CompiledProgram, objects, entry, arenaBytes, scratchBytes, inputs, outputs,
                                   steps, faultPlaces, kernelCount)
} // namespace codegen

namespace driver {
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CompiledModel, program, specialized, onnxNodes, indexInputs, traffic)

namespace {

/// Does not compile where a field was added: it must be written above as well, or be one that is not kept.
[[maybe_unused]] void allFields(const CompiledModel &model) {
  [[maybe_unused]] const auto &[program, specialized, onnxNodes, indexInputs, traffic, predictions,
                                storedWeights, emitted] = model;
  [[maybe_unused]] const auto &[objects, entry, weights, arena, scratch, inputs, outputs, steps, faultPlaces,
                                observed, kernelCount] = program;
}

using Json = nlohmann::json;

/// No other program writes these, and the key tells versions of this one apart: the fields need no byte order
/// and no version.
struct Header {
  std::array<char, 8> magic = {'T', 'K', 'P', 'R', 'O', 'G', 'R', 'M'};
  ProgramKey key;
  uint64_t descriptionBytes = 0, weightBytes = 0;
  uint64_t checksum = 0; ///< over the fields above, the description and the weights
};
static_assert(sizeof(Header) == 64 && std::has_unique_object_representations_v<Header>);

using Bytes = llvm::ArrayRef<uint8_t>;
Bytes bytesOf(llvm::StringRef text) { return {text.bytes_begin(), text.bytes_end()}; }

uint64_t checksumOf(const Header &header, Bytes description, Bytes weights) {
  const Bytes fields(reinterpret_cast<const uint8_t *>(&header), offsetof(Header, checksum));
  const std::array<uint64_t, 3> parts = {llvm::xxh3_64bits(fields), llvm::xxh3_64bits(description),
                                         llvm::xxh3_64bits(weights)};
  return llvm::xxh3_64bits(Bytes(reinterpret_cast<const uint8_t *>(parts.data()), sizeof parts));
}

/// Fills `into`, or returns false.
bool readAt(llvm::sys::fs::file_t file, uint64_t offset, llvm::MutableArrayRef<char> into) {
  while (!into.empty()) {
    llvm::Expected<size_t> count = llvm::sys::fs::readNativeFileSlice(file, into, offset);
    if (!count || *count == 0) {
      consumeError(count.takeError());
      return false;
    }
    into = into.drop_front(*count);
    offset += *count;
  }
  return true;
}

/// What writeEntry wrote; CBOR of other contents throws.
ProgramEntry describedBy(Bytes description) {
  const Json json = Json::from_cbor(description.begin(), description.end());
  ProgramEntry entry;
  if (json.contains("program"))
    entry.program = json.at("program").get<CompiledModel>();
  entry.inputs = json.at("inputs").get<std::vector<std::string>>();
  return entry;
}

} // namespace

void writeEntry(llvm::raw_ostream &os, const ProgramKey &key, const ProgramEntry &entry) {
  Json json = {{"inputs", entry.inputs}};
  llvm::StringRef weights;
  if (entry.program) {
    json["program"] = *entry.program;
    weights = entry.program->program.weights;
  }
  const std::vector<uint8_t> description = Json::to_cbor(json);
  Header header;
  header.key = key;
  header.descriptionBytes = description.size();
  header.weightBytes = weights.size();
  header.checksum = checksumOf(header, description, bytesOf(weights));
  os.write(reinterpret_cast<const char *>(&header), sizeof header);
  os.write(reinterpret_cast<const char *>(description.data()), description.size());
  os << weights;
}

std::optional<ProgramEntry> readEntry(llvm::sys::fs::file_t file, uint64_t fileBytes, const ProgramKey &key) {
  const Header expected{};
  Header header{};
  if (!readAt(file, 0, {reinterpret_cast<char *>(&header), sizeof header}) ||
      header.magic != expected.magic || header.key != key)
    return std::nullopt;
  // Before anything is allocated by what the header claims.
  if (fileBytes < sizeof header)
    return std::nullopt;
  const uint64_t rest = fileBytes - sizeof header;
  if (header.descriptionBytes > rest || header.weightBytes != rest - header.descriptionBytes)
    return std::nullopt;
  std::vector<uint8_t> description(header.descriptionBytes);
  auto weights = allocateWeights(header.weightBytes);
  if (!weights ||
      !readAt(file, sizeof header, {reinterpret_cast<char *>(description.data()), description.size()}) ||
      !readAt(file, sizeof header + description.size(), weights->getBuffer()) ||
      header.checksum != checksumOf(header, description,
                                    Bytes(reinterpret_cast<const uint8_t *>(weights->getBufferStart()),
                                          weights->getBufferSize())))
    return std::nullopt;
  try {
    ProgramEntry entry = describedBy(description);
    if (entry.program)
      entry.program->storedWeights = std::move(weights);
    return entry;
  } catch (const Json::exception &) {
    return std::nullopt;
  }
}

} // namespace driver
} // namespace tokamak
