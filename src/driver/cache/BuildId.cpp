//===- BuildId.cpp - which compiler this is ---------------------------------------------------===//
#include "driver/cache/BuildId.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>
#include <link.h>

namespace tokamak::driver {

namespace {

struct Ids {
  llvm::SmallVector<uint8_t> bytes;
  bool complete = true;
};

/// The NT_GNU_BUILD_ID among the notes of a loaded object; empty without one.
llvm::ArrayRef<uint8_t> noteOf(const dl_phdr_info &object) {
  for (const ElfW(Phdr) & segment : llvm::ArrayRef(object.dlpi_phdr, object.dlpi_phnum)) {
    if (segment.p_type != PT_NOTE)
      continue;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the loader tells addresses as numbers.
    const auto *note = reinterpret_cast<const uint8_t *>(object.dlpi_addr + segment.p_vaddr);
    const uint8_t *end = note + segment.p_memsz;
    const uint64_t align = segment.p_align == 8 ? 8 : 4;
    while (note + sizeof(ElfW(Nhdr)) <= end) {
      ElfW(Nhdr) header;
      std::memcpy(&header, note, sizeof header);
      const uint8_t *name = note + sizeof header;
      const uint8_t *content = note + llvm::alignTo(sizeof header + header.n_namesz, align);
      if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == 4 && std::memcmp(name, "GNU", 4) == 0 &&
          content + header.n_descsz <= end)
        return {content, header.n_descsz};
      note = content + llvm::alignTo(header.n_descsz, align);
    }
  }
  return {};
}

/// True where one of the object's segments holds our code.
bool isOurs(const dl_phdr_info &object) {
  const auto here = reinterpret_cast<uintptr_t>(&noteOf);
  return llvm::any_of(llvm::ArrayRef(object.dlpi_phdr, object.dlpi_phnum), [&](const ElfW(Phdr) & segment) {
    const uintptr_t start = object.dlpi_addr + segment.p_vaddr;
    return segment.p_type == PT_LOAD && here >= start && here < start + segment.p_memsz;
  });
}

int addId(dl_phdr_info *object, size_t, void *data) {
  auto &ids = *static_cast<Ids *>(data);
  llvm::StringRef file = llvm::StringRef(object->dlpi_name).rsplit('/').second;
  if (!isOurs(*object) && !file.starts_with("libLLVM") && !file.starts_with("libMLIR"))
    return 0;
  llvm::ArrayRef<uint8_t> id = noteOf(*object);
  ids.complete &= !id.empty();
  ids.bytes.append(id.begin(), id.end());
  return 0;
}

} // namespace

std::optional<llvm::SmallVector<uint8_t>> buildId() {
  Ids ids;
  dl_iterate_phdr(addId, &ids);
  if (!ids.complete || ids.bytes.empty())
    return std::nullopt;
  return ids.bytes;
}

} // namespace tokamak::driver
