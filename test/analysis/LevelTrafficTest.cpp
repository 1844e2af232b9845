//===- LevelTrafficTest.cpp - reuse distances and the levels that follow from them ------------------===//
#include "analysis/LevelTraffic.h"
#include "GraphTest.h"
#include "analysis/ReuseDistance.h"
#include "analysis/Traffic.h"
#include <list>
#include <random>

using namespace tokamak;
using namespace tokamak::analysis;

using LevelTrafficTest = GraphTest;

namespace {

TargetDescription smallCaches() {
  TargetDescription target;
  target.l1Bytes = 1000, target.l2Bytes = 12'000, target.l3Bytes = 120'000;
  return target;
}

std::vector<LevelTraffic> trafficOfKernels(mlir::Block &block) {
  std::vector<KernelOperands> kernels;
  for (mlir::Operation &op : block)
    if (!isFree(&op))
      kernels.push_back(operandsOf(&op));
  return levelTraffic(kernels, smallCaches());
}

} // namespace

TEST(ReuseDistance, BytesSinceTheLastTouch) {
  ReuseDistance distances;
  EXPECT_FALSE(distances.touch(1, 10));
  EXPECT_FALSE(distances.touch(2, 100));
  EXPECT_EQ(distances.touch(1, 10), 110);
  EXPECT_EQ(distances.touch(1, 10), 10);
  EXPECT_EQ(distances.touch(2, 50), 60); // only half of it now
  EXPECT_EQ(distances.touch(1, 10), 60);
}

TEST(ReuseDistance, AgreesWithAStack) {
  std::mt19937 random(7);
  ReuseDistance distances;
  std::list<std::pair<int64_t, int64_t>> stack; // the most recent in front
  for (int i = 0; i < 3000; ++i) {
    int64_t id = static_cast<int64_t>(random() % 40), bytes = static_cast<int64_t>(random() % 100), above = 0;
    std::optional<int64_t> expected;
    for (auto it = stack.begin(); it != stack.end(); ++it) {
      if (it->first == id) {
        expected = above + bytes;
        stack.erase(it);
        break;
      }
      above += it->second;
    }
    stack.emplace_front(id, bytes);
    ASSERT_EQ(distances.touch(id, bytes), expected) << "touch " << i;
  }
}

TEST(ReuseDistance, LevelsShareTheBytes) {
  TargetDescription target = smallCaches();
  EXPECT_EQ(bytesByLevel(500, 500, target), (BytesByLevel{500, 0, 0, 0}));
  EXPECT_EQ(bytesByLevel(500, 5000, target), (BytesByLevel{0, 500, 0, 0}));
  EXPECT_EQ(bytesByLevel(500, 50'000, target), (BytesByLevel{0, 0, 500, 0}));
  EXPECT_EQ(bytesByLevel(500, 1'000'000, target), (BytesByLevel{0, 0, 0, 500}));
  EXPECT_EQ(bytesByLevel(0, 1'000'000, target), (BytesByLevel{0, 0, 0, 0}));
  for (int64_t distance = 1; distance < 300'000; distance = distance * 5 / 4 + 1) {
    auto levels = bytesByLevel(777, distance, target);
    EXPECT_EQ(levels[0] + levels[1] + levels[2] + levels[3], 777) << distance;
  }
}

TEST_F(LevelTrafficTest, AChainRunsInTheArena) {
  // Each value 4000 bytes: two of them lie in the second level. The input and the output are the caller's,
  // the chain between goes to and fro between two pieces of memory.
  mlir::Block &block = parse(R"(
    func.func @main(%x: tensor<1000xf32>) -> tensor<1000xf32> {
      %0 = tk.exp %x : (tensor<1000xf32>) -> tensor<1000xf32>
      %1 = tk.neg %0 : (tensor<1000xf32>) -> tensor<1000xf32>
      %2 = tk.exp %1 : (tensor<1000xf32>) -> tensor<1000xf32>
      %3 = tk.neg %2 : (tensor<1000xf32>) -> tensor<1000xf32>
      %4 = tk.exp %3 : (tensor<1000xf32>) -> tensor<1000xf32>
      return %4 : tensor<1000xf32>
    })");
  std::vector<LevelTraffic> traffic = trafficOfKernels(block);
  ASSERT_EQ(traffic.size(), 5u);
  EXPECT_EQ(traffic[1].read[1], 4000); // just written
  EXPECT_EQ(traffic[3].read[1], 4000);
  EXPECT_EQ(traffic[3].beyond(MemoryLevel::L1), 8000);
  EXPECT_EQ(traffic[3].beyond(MemoryLevel::L2), 0);
  EXPECT_GT(traffic[0].read[2], 0); // the input was read a run ago, 16000 bytes
}

TEST_F(LevelTrafficTest, WeightsComeBackOnceARun) {
  mlir::Block &block = parse(R"(
    func.func @main(%x: tensor<4x100xf32>) -> tensor<4x100xf32> {
      %w = tk.constant dense<1.0> : tensor<100x100xf32>
      %v = tk.constant dense<2.0> : tensor<100x100xf32>
      %0 = tk.matmul %x, %w : (tensor<4x100xf32>, tensor<100x100xf32>) -> tensor<4x100xf32>
      %1 = tk.matmul %0, %v : (tensor<4x100xf32>, tensor<100x100xf32>) -> tensor<4x100xf32>
      return %1 : tensor<4x100xf32>
    })");
  std::vector<LevelTraffic> traffic = trafficOfKernels(block);
  EXPECT_EQ(traffic[0].weights[2],
            40'000); // 80 kB of weights: beyond the second level, within the third
  EXPECT_EQ(traffic[0].weights[1], 0);
  EXPECT_EQ(traffic[1].read[0] + traffic[1].read[1], 1600);
}

TEST_F(LevelTrafficTest, MembersAreAKernelAsTheirGroupIs) {
  mlir::Block &block = parse(R"(
    func.func @main(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
      %w = tk.constant dense<1.0> : tensor<8xf32>
      %c = tk.constant dense<2.0> : tensor<f32>
      %0 = tk.exp %x : (tensor<8xf32>) -> tensor<8xf32>
      %1 = tk.mul %0, %c : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
      %2 = tk.add %1, %w : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
      return %2, %0 : tensor<8xf32>, tensor<8xf32>
    })");
  KernelOperands operands = operandsOf({at(block, 2), at(block, 3), at(block, 4)});
  ASSERT_EQ(operands.reads.size(), 2u); // x and w; the scalar is part of the code
  EXPECT_EQ(operands.reads[0].value, block.getArgument(0));
  EXPECT_TRUE(isWeight(operands.reads[1].value));
  ASSERT_EQ(operands.writes.size(), 2u); // what the others read as well
  EXPECT_EQ(operands.writes[0].bytes, 32);
}
