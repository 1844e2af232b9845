//===- WeightMemoryTest.cpp - where the weights of a program lie ------------------------------------===//
#include "driver/WeightMemory.h"
#include "gtest/gtest.h"
#include <cstring>

using namespace tokamak;

namespace {

TEST(WeightMemory, IsAsLargeAndAlignedAsAskedFor) {
  for (size_t bytes :
       {size_t(0), size_t(1), size_t(4096), (size_t(2) << 20) - 1, size_t(2) << 20, (size_t(5) << 20) + 3}) {
    auto memory = driver::allocateWeights(bytes);
    ASSERT_TRUE(memory) << bytes;
    EXPECT_EQ(memory->getBufferSize(), bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory->getBufferStart()) % 64, 0U) << bytes;
    std::memset(memory->getBufferStart(), 1, bytes);
  }
}

} // namespace
