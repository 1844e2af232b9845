//===- RankCorrelationTest.cpp - whether two sets of numbers have one order -------------------------===//
#include "RankCorrelation.h"
#include "gtest/gtest.h"
#include <vector>

using tokamak::tool::rankCorrelation;
using Numbers = std::vector<double>;

TEST(RankCorrelation, OrderAloneCounts) {
  EXPECT_DOUBLE_EQ(rankCorrelation(Numbers{1, 2, 3, 4}, Numbers{1, 10, 100, 1e9}), 1);
  EXPECT_DOUBLE_EQ(rankCorrelation(Numbers{1, 2, 3, 4}, Numbers{4, 3, 2, 1}), -1);
  // 1 - 6 * (0 + 1 + 1 + 0) / (4 * 15)
  EXPECT_DOUBLE_EQ(rankCorrelation(Numbers{1, 2, 3, 4}, Numbers{1, 3, 2, 4}), 0.8);
}

TEST(RankCorrelation, EqualNumbersShareTheirRank) {
  EXPECT_DOUBLE_EQ(rankCorrelation(Numbers{1, 1, 2}, Numbers{5, 5, 7}), 1);
  // Ranks 0.5 0.5 2 and 0 1 2: covariance 1.5, variances 1.5 and 2.
  EXPECT_NEAR(rankCorrelation(Numbers{1, 1, 2}, Numbers{5, 6, 7}), 0.8660254037844387, 1e-12);
}

TEST(RankCorrelation, NothingToOrder) {
  EXPECT_EQ(rankCorrelation(Numbers{}, Numbers{}), 0);
  EXPECT_EQ(rankCorrelation(Numbers{1}, Numbers{2}), 0);
  EXPECT_EQ(rankCorrelation(Numbers{1, 1}, Numbers{2, 3}), 0);
}
