//===- IndexTest.cpp - affine indices with value ranges ---------------------------------------===//
// Simplification must not change a value: every index is compared with plain integer arithmetic on random
// values of its variables. What must simplify (views, blocked layouts) is checked for its form.
#include "codegen/expression/Index.h"
#include "gtest/gtest.h"
#include <array>
#include <map>
#include <numeric>
#include <random>

using namespace tokamak::codegen;

namespace {

int64_t floorDivide(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

using Values = std::map<AtomId, int64_t>; ///< of quotients known already: they share their numerators

int64_t valueOf(const IndexSpace &space, const Index &index, const std::vector<int64_t> &variables,
                Values &known) {
  int64_t sum = index.constant;
  for (const auto &[id, coefficient] : index.terms) {
    const auto &atom = space.atom(id);
    if (atom.kind != IndexSpace::Kind::Quotient)
      known[id] = variables[static_cast<size_t>(id)];
    else if (!known.contains(id))
      known[id] = floorDivide(valueOf(space, atom.numerator, variables, known), atom.divisor);
    sum += coefficient * known[id];
  }
  return sum;
}

int64_t valueOf(const IndexSpace &space, const Index &index, const std::vector<int64_t> &variables) {
  Values known;
  return valueOf(space, index, variables, known);
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

TEST(Index, TransposeThereAndBackIsTheIdentity) {
  IndexSpace space;
  Index position = space.uniform({}, 0, 63);
  auto transpose = [&](const Index &at) {
    auto index = delinearize(space, at, {8, 8});
    return linearize(space, {index[1], index[0]}, {8, 8});
  };
  EXPECT_NE(transpose(position), position);
  EXPECT_EQ(transpose(transpose(position)), position);
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

// Each level multiplies the coefficients of a plain sum by an extent: 64 bits last for some twenty.
TEST(Index, ManyTranspositionsKeepTheirValue) {
  std::mt19937 random(11);
  for (int trial = 0; trial < 100; ++trial) {
    llvm::SmallVector<int64_t> shape;
    for (int axis = 0; axis < 3; ++axis)
      shape.push_back(std::uniform_int_distribution<int64_t>(1, 40)(random));
    int64_t elements = shape[0] * shape[1] * shape[2];
    IndexSpace space;
    Index position = space.uniform({}, 0, elements - 1);
    std::vector<int64_t> expected(static_cast<size_t>(elements));
    std::iota(expected.begin(), expected.end(), 0);
    for (int level = 0; level < 100; ++level) {
      std::array<size_t, 3> order{0, 1, 2};
      std::shuffle(order.begin(), order.end(), random);
      llvm::SmallVector<int64_t> permuted{shape[order[0]], shape[order[1]], shape[order[2]]};
      auto index = delinearize(space, position, shape);
      position = linearize(space, {index[order[0]], index[order[1]], index[order[2]]}, permuted);
      for (int64_t &value : expected) {
        std::array<int64_t, 3> at{value / (shape[1] * shape[2]), value / shape[2] % shape[1],
                                  value % shape[2]};
        value = (at[order[0]] * permuted[1] + at[order[1]]) * permuted[2] + at[order[2]];
      }
      Range range = space.range(position);
      ASSERT_GE(range.low, 0) << "trial " << trial << ", level " << level;
      ASSERT_LT(range.high, elements) << "trial " << trial << ", level " << level;
    }
    for (int64_t start = 0; start < elements; start += 1 + elements / 50)
      ASSERT_EQ(valueOf(space, position, {start}), expected[static_cast<size_t>(start)])
          << "trial " << trial << " at " << start;
  }
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
