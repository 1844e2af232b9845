//===- WeightStore.h - the constants of a program
//-----------------------------------------------------------===//
#pragma once
#include "ir/Tensor.h"
#include <functional>
#include <map>
#include <string>

namespace tokamak::codegen {

/// One read-only block that holds every constant, each at a 64-byte boundary; equal bytes are stored once.
class WeightStore {
public:
  /// Byte offset of the tensor's elements. A few vectors of slack follow the last constant, so that kernels
  /// may read whole vectors of packed weights.
  int64_t add(const Tensor &tensor);
  std::string take();

private:
  std::string bytes;
  std::multimap<std::size_t, std::pair<int64_t, std::size_t>> known; ///< hash -> offset, size
};

} // namespace tokamak::codegen
