//===- WeightMemory.cpp - where the weights of a program lie while it is loaded ---------------------===//
#include "driver/WeightMemory.h"
#include "codegen/Program.h"
#include <cstdlib>
#include <sys/mman.h>

using namespace tokamak;

namespace {

constexpr size_t hugePage = size_t(2) << 20;

class HugePages : public llvm::WritableMemoryBuffer {
public:
  /// Owns `memory`, of `bytes` and from the allocator of C.
  HugePages(char *memory, size_t bytes) { init(memory, memory + bytes, /*RequiresNullTerminator=*/false); }
  ~HugePages() override { std::free(getBufferStart()); } // NOLINT(cppcoreguidelines-no-malloc)
  BufferKind getBufferKind() const override { return MemoryBuffer_Malloc; }
};

} // namespace

std::unique_ptr<llvm::WritableMemoryBuffer> driver::allocateWeights(size_t bytes) {
  if (bytes < hugePage)
    return llvm::WritableMemoryBuffer::getNewUninitMemBuffer(bytes, "", codegen::weightAlignment);
  void *memory = nullptr;
  if (posix_memalign(&memory, hugePage, bytes) != 0)
    return nullptr;
  madvise(memory, bytes / hugePage * hugePage, MADV_HUGEPAGE); // a wish: without them it is as right
  return std::make_unique<HugePages>(static_cast<char *>(memory), bytes);
}
