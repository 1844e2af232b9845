//===- RandomTensorTest.cpp - deterministic values for inputs that nobody gave ---------------===//
#include "reference/RandomTensor.h"
#include "Testing.h"
#include <algorithm>
#include <cmath>

namespace tokamak::reference::test {
namespace {

TEST(RandomTensor, DependsOnTheSeedAlone) {
  for (DataType type :
       {DataType::Float32, DataType::Float16, DataType::Int64, DataType::UInt8, DataType::Bool}) {
    EXPECT_TRUE(same(randomTensor(type, {3, 40}, 7), randomTensor(type, {3, 40}, 7)));
    EXPECT_FALSE(same(randomTensor(type, {3, 40}, 7), randomTensor(type, {3, 40}, 8)));
  }
  // The values are part of the contract: results that were noted down stay comparable.
  EXPECT_TRUE(same(randomTensor(DataType::Int32, {6}, 0), ints(DataType::Int32, {6}, {3, -4, -3, 3, 0, -1})));
}

TEST(RandomTensor, NormalMoments) {
  Tensor x = randomTensor(DataType::Float64, {20000}, 3);
  double sum = 0, squares = 0;
  for (int64_t i = 0; i < x.size(); ++i) {
    ASSERT_TRUE(std::isfinite(x.doubleAt(i)));
    sum += x.doubleAt(i);
    squares += x.doubleAt(i) * x.doubleAt(i);
  }
  EXPECT_NEAR(sum / 20000, 0, 0.03);
  EXPECT_NEAR(squares / 20000, 1, 0.05);
}

TEST(RandomTensor, IntegersCoverTheirRange) {
  auto range = [](const Tensor &x) {
    std::vector<int64_t> seen;
    seen.reserve(static_cast<size_t>(x.size()));
    for (int64_t i = 0; i < x.size(); ++i)
      seen.push_back(x.intAt(i));
    std::sort(seen.begin(), seen.end());
    seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
    return seen;
  };
  const std::vector<int64_t> small = {-4, -3, -2, -1, 0, 1, 2, 3, 4};
  EXPECT_EQ(range(randomTensor(DataType::Int8, {500}, 1)), small);
  EXPECT_EQ(range(randomTensor(DataType::Float32, {500}, 1, RandomValues::SmallIntegers)), small);
  EXPECT_EQ(range(randomTensor(DataType::UInt32, {500}, 1)),
            (std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(range(randomTensor(DataType::Bool, {50}, 1)), (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(range(randomIntegers(DataType::Int64, {200}, 1, 10, 12)), (std::vector<int64_t>{10, 11, 12}));
  EXPECT_EQ(range(randomIntegers(DataType::Int64, {3}, 1, 5, 5)), (std::vector<int64_t>{5}));
  EXPECT_EQ(randomIntegers(DataType::Int64, {1}, 1, std::numeric_limits<int64_t>::min(),
                           std::numeric_limits<int64_t>::max())
                .size(),
            1);
  EXPECT_EQ(randomTensor(DataType::Float32, {0, 3}, 1).size(), 0);
}

} // namespace
} // namespace tokamak::reference::test
