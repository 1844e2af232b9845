//===- WeightMemory.h - where the weights of a program lie while it is loaded -----------------------===//
#pragma once
#include "llvm/Support/MemoryBuffer.h"
#include <cstddef>
#include <memory>

namespace tokamak::driver {

/// Memory for `bytes` of packed weights, uninitialized, aligned for the widest vectors; null where there is
/// none. Large ones lie in huge pages where the system has them: a run reads them in streams that would end
/// at each small page, and loading would wait for each to be mapped.
std::unique_ptr<llvm::WritableMemoryBuffer> allocateWeights(size_t bytes);

} // namespace tokamak::driver
