//===- WaveTimeTest.cpp - what kernels take that run at the same time -----------------------===//
#include "fusion/WaveTime.h"
#include "gtest/gtest.h"

using namespace tokamak;
using fusion::GroupCost;
using fusion::waveSeconds;
using fusion::WaveWork;

namespace {

constexpr double us = 1e-6;

struct WaveTime : testing::Test {
  WaveTime() { target.dispatchSeconds = 2 * us; }

  /// `tasks` even parts of `each` seconds; one stays on its thread.
  static WaveWork kernel(int64_t tasks, double each) {
    GroupCost cost;
    cost.elementwise = static_cast<double>(tasks) * each;
    cost.tasks = tasks;
    cost.parallelism = tasks > 1 ? 2 : 1;
    return {cost};
  }
  double seconds(std::initializer_list<WaveWork> kernels, int64_t threads = 2) const {
    return waveSeconds(kernels, target, threads) / us;
  }
  TargetDescription target;
};

TEST_F(WaveTime, OneSmallKernelIsNotDispatched) { EXPECT_DOUBLE_EQ(seconds({kernel(1, 10 * us)}), 10); }

TEST_F(WaveTime, SmallKernelsRunBesideEachOther) {
  EXPECT_DOUBLE_EQ(seconds({kernel(1, 10 * us), kernel(1, 10 * us)}), 12);
  EXPECT_DOUBLE_EQ(seconds({kernel(1, 10 * us), kernel(1, 6 * us), kernel(1, 5 * us)}), 13);
  EXPECT_DOUBLE_EQ(seconds({kernel(1, 10 * us), kernel(1, 10 * us), kernel(1, 10 * us)}, 4), 12);
}

TEST_F(WaveTime, TasksThatAreLeftOverFillUp) {
  EXPECT_DOUBLE_EQ(seconds({kernel(7, us)}), 6);                // 4 rounds
  EXPECT_DOUBLE_EQ(seconds({kernel(7, us), kernel(7, us)}), 9); // 7 rounds
}

TEST_F(WaveTime, NoThreadIsAlone) {
  // The long piece on one thread, all the others on the other one.
  EXPECT_DOUBLE_EQ(seconds({kernel(10, us), kernel(1, 10 * us)}), 12);
  EXPECT_DOUBLE_EQ(seconds({kernel(4, us), kernel(1, 10 * us)}), 12);
}

TEST_F(WaveTime, OneThreadAddsUp) { EXPECT_DOUBLE_EQ(seconds({kernel(7, us), kernel(1, 10 * us)}, 1), 17); }

TEST_F(WaveTime, MemoryIsShared) {
  GroupCost cost;
  cost.memory = 10 * us, cost.sharedMemory = 8 * us;
  EXPECT_DOUBLE_EQ(seconds({WaveWork(cost), WaveWork(cost)}), 18);
}

TEST_F(WaveTime, ManyTasksAreEvenParts) { EXPECT_NEAR(seconds({kernel(100000, 0.01 * us)}), 502, 1e-6); }

} // namespace
