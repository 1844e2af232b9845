//===- WeightStore.cpp - the constants of a program
//---------------------------------------------------------===//
#include "codegen/host/WeightStore.h"
#include <string_view>

namespace tokamak::codegen {

int64_t WeightStore::add(const Tensor &tensor) {
  std::string_view content(reinterpret_cast<const char *>(tensor.bytes()), tensor.byteCount());
  std::size_t hash = std::hash<std::string_view>()(content);
  auto [first, last] = known.equal_range(hash);
  for (auto it = first; it != last; ++it)
    if (it->second.second == content.size() &&
        std::string_view(bytes).substr(static_cast<std::size_t>(it->second.first), content.size()) == content)
      return it->second.first;
  bytes.resize((bytes.size() + 63) / 64 * 64);
  auto offset = static_cast<int64_t>(bytes.size());
  bytes.append(content);
  known.insert({hash, {offset, content.size()}});
  return offset;
}

std::string WeightStore::take() {
  bytes.resize((bytes.size() + 63) / 64 * 64 + 256);
  return std::move(bytes);
}

} // namespace tokamak::codegen
