//===- KernelTimesTest.cpp - when kernels take longer as one ----------------------------------------===//
#include "fusion/KernelTimes.h"
#include "gtest/gtest.h"

using namespace tokamak::fusion;

namespace {

constexpr double us = 1e-6;

/// So much work on one thread, or shared by two where it is woken.
GroupCost kernel(double work, bool isShared = false) {
  GroupCost cost;
  cost.elementwise = work * us;
  if (isShared)
    cost.dispatch = 2 * us, cost.parallelism = 2;
  return cost;
}

KernelTimes timesOf(std::initializer_list<GroupCost> kernels) {
  KernelTimes times;
  for (const GroupCost &cost : kernels)
    times += KernelTimes(cost);
  return times;
}

KernelTimes refused() {
  GroupCost cost = kernel(1);
  cost.refusal = "too much code";
  return KernelTimes(cost);
}

TEST(KernelTimes, AddUp) {
  const KernelTimes times = timesOf({kernel(10, true), kernel(4), kernel(6, true)});
  EXPECT_DOUBLE_EQ(times.alone / us, 20);
  EXPECT_DOUBLE_EQ(times.awake / us, 5 + 4 + 3);
  EXPECT_DOUBLE_EQ(times.woken / us, 16);
  EXPECT_EQ(times.dispatches, 2);
}

TEST(KernelTimes, ADispatchThatGainsLessThanItTakesIsInVain) {
  const KernelTimes apart = timesOf({kernel(1.5), kernel(1.5)});
  EXPECT_TRUE(timesOf({kernel(2.9, true)}).takesLonger(apart));
  EXPECT_FALSE(timesOf({kernel(1.9, true)}).takesLonger(apart));
  // However much longer the rest may take.
  EXPECT_TRUE(timesOf({kernel(2.1, true)}).takesLonger(apart, 1.1));
}

TEST(KernelTimes, LostThreadsCount) {
  // Less work in all, by one thread instead of two.
  const KernelTimes apart = timesOf({kernel(3), kernel(13, true)}), together = timesOf({kernel(15)});
  EXPECT_LT(together.alone, apart.alone);
  EXPECT_TRUE(together.takesLonger(apart));
  EXPECT_FALSE(timesOf({kernel(11)}).takesLonger(apart));
}

TEST(KernelTimes, WhatTheModelCannotTellIsNoLonger) {
  const KernelTimes apart = timesOf({kernel(10)});
  EXPECT_FALSE(timesOf({kernel(10)}).takesLonger(apart));
  EXPECT_TRUE(timesOf({kernel(10.2)}).takesLonger(apart));
  EXPECT_FALSE(timesOf({kernel(10.2)}).takesLonger(apart, 1.03));
  EXPECT_TRUE(timesOf({kernel(10.4)}).takesLonger(apart, 1.03));
}

TEST(KernelTimes, OneThreadLosesNoMoreThanAllGain) {
  const KernelTimes apart = timesOf({kernel(10), kernel(10)});
  EXPECT_TRUE(timesOf({kernel(20, true)}).isBalanced(apart));  // as long on one thread, 12 us on two
  EXPECT_TRUE(timesOf({kernel(24, true)}).isBalanced(apart));  // 1.2 times as long, 14 of 20 us
  EXPECT_FALSE(timesOf({kernel(30, true)}).isBalanced(apart)); // 1.5 times as long, 17 of 20 us
  EXPECT_TRUE(timesOf({kernel(19, true)}).pays(apart));
  EXPECT_FALSE(timesOf({kernel(20)}).pays(apart)); // no gain
}

TEST(KernelTimes, WhatIsRefusedNeverPays) {
  const KernelTimes apart = timesOf({kernel(10), kernel(10)});
  for (const KernelTimes &together : {refused(), KernelTimes::never()}) {
    EXPECT_FALSE(together.isPossible());
    for (const KernelTimes &other : {apart, KernelTimes(), refused(), KernelTimes::never()}) {
      EXPECT_FALSE(together.isBalanced(other));
      EXPECT_FALSE(together.pays(other));
      EXPECT_TRUE(together.takesLonger(other));
    }
    KernelTimes sum = apart;
    sum += together;
    EXPECT_FALSE(sum.isPossible());
  }
  EXPECT_TRUE(apart.isBalanced(refused()));
  EXPECT_TRUE(apart.pays(refused()));
  EXPECT_FALSE(apart.takesLonger(refused()));
  EXPECT_TRUE(KernelTimes().isPossible());
}

} // namespace
