//===- IndexTest.cpp - affine indices with value ranges ---------------------------------------===//
// Simplification must not change a value: every index is compared with plain integer arithmetic on random
// values of its variables. What must simplify (views, blocked layouts) is checked for its form.
#include "codegen/expression/Index.h"
#include "gtest/gtest.h"
#include <random>

using namespace tokamak::codegen;

namespace {

int64_t floorDivide(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

int64_t valueOf(const IndexSpace &space, const Index &index, const std::vector<int64_t> &variables) {
  int64_t sum = index.constant;
  for (const auto &[id, coefficient] : index.terms) {
    const auto &atom = space.atom(id);
    int64_t value = atom.kind == IndexSpace::Kind::Quotient
                        ? floorDivide(valueOf(space, atom.numerator, variables), atom.divisor)
                        : variables[static_cast<size_t>(id)];
    sum += coefficient * value;
  }
  return sum;
}

TEST(Index, BlockedChannelIsContiguousInItsBlock) {
  IndexSpace space;
  Index block = space.uniform({}, 0, 3), lane = space.lane(16);
  Index channel = space.add(space.scale(block, 16), lane);
  EXPECT_EQ(space.floorDiv(channel, 16), block);
  EXPECT_EQ(space.mod(channel, 16), lane);
}

TEST(Index, ReshapeThereAndBackIsTheIdentity) {
  IndexSpace space;
  llvm::SmallVector<Index> index{space.uniform({}, 0, 2), space.uniform({}, 0, 4), space.uniform({}, 0, 6)};
  Index position = linearize(space, index, {3, 5, 7});
  auto flat = delinearize(space, position, {15, 7});
  EXPECT_EQ(linearize(space, flat, {15, 7}), position);
  auto back = delinearize(space, linearize(space, flat, {15, 7}), {3, 5, 7});
  for (size_t i = 0; i < 3; ++i)
    EXPECT_EQ(back[i], index[i]);
}

TEST(Index, CollapsedAxesRecombine) {
  IndexSpace space;
  Index v = space.uniform({}, 0, 100), position = space.add(space.scale(v, 16), space.lane(16));
  auto index = delinearize(space, position, {101, 4, 4});
  EXPECT_EQ(linearize(space, index, {101, 4, 4}), position);
  EXPECT_EQ(space.laneStride(position), 1);
}

TEST(Index, LanesThatCrossARowAreIrregular) {
  IndexSpace space;
  Index position = space.add(space.scale(space.uniform({}, 0, 9), 16), space.lane(16));
  auto index = delinearize(space, position, {23, 7});
  EXPECT_EQ(space.laneStride(index[1]), std::nullopt);
  EXPECT_FALSE(space.isUniform(index[0]));
}

TEST(Index, RandomExpressionsKeepTheirValue) {
  std::mt19937 random(7);
  auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  for (int trial = 0; trial < 3000; ++trial) {
    IndexSpace space;
    std::vector<Index> pool;
    std::vector<std::pair<int64_t, int64_t>> ranges;
    for (int i = 0; i < 3; ++i) {
      int64_t low = pick(-3, 2), high = low + pick(1, 40);
      pool.push_back(space.uniform({}, low, high));
      ranges.push_back({low, high});
    }
    // The plain meaning of each pool entry, as a function of the variables.
    std::vector<std::function<int64_t(const std::vector<int64_t> &)>> meaning;
    for (size_t i = 0; i < 3; ++i)
      meaning.push_back([i](const std::vector<int64_t> &v) { return v[i]; });
    for (int step = 0; step < 8; ++step) {
      auto a = static_cast<size_t>(pick(0, static_cast<int64_t>(pool.size()) - 1));
      auto b = static_cast<size_t>(pick(0, static_cast<int64_t>(pool.size()) - 1));
      int64_t k = pick(1, 12);
      auto ma = meaning[a], mb = meaning[b];
      switch (pick(0, 3)) {
      case 0:
        pool.push_back(space.add(pool[a], space.scale(pool[b], k)));
        meaning.push_back([=](const std::vector<int64_t> &v) { return ma(v) + mb(v) * k; });
        break;
      case 1:
        pool.push_back(space.floorDiv(pool[a], k));
        meaning.push_back([=](const std::vector<int64_t> &v) { return floorDivide(ma(v), k); });
        break;
      case 2:
        pool.push_back(space.mod(pool[a], k));
        meaning.push_back([=](const std::vector<int64_t> &v) { return ma(v) - k * floorDivide(ma(v), k); });
        break;
      default:
        pool.push_back(space.sub(pool[a], Index(k)));
        meaning.push_back([=](const std::vector<int64_t> &v) { return ma(v) - k; });
        break;
      }
    }
    for (int sample = 0; sample < 20; ++sample) {
      std::vector<int64_t> values;
      for (auto [low, high] : ranges)
        values.push_back(pick(low, high));
      for (size_t i = 0; i < pool.size(); ++i) {
        int64_t expected = meaning[i](values);
        ASSERT_EQ(valueOf(space, pool[i], values), expected) << "trial " << trial << ", entry " << i;
        Range range = space.range(pool[i]);
        ASSERT_LE(range.low, expected) << "trial " << trial << ", entry " << i;
        ASSERT_GE(range.high, expected) << "trial " << trial << ", entry " << i;
      }
    }
  }
}

} // namespace
