//===- ThreadPoolTest.cpp - every task once, from any number of callers ----------------===//
#include "runtime/ThreadPool.h"
#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

/// A context with its scratch memory; each thread's slice is 64 bytes.
struct OwnedContext {
  explicit OwnedContext(TkPool *pool)
      : scratch(static_cast<size_t>(tk_pool_threads(pool)) * 64), context{pool, scratch.data(), 64} {}
  std::vector<char> scratch;
  TkContext context;
};

void countVisits(void *const *buffers, int64_t begin, int64_t end, void *) {
  auto *visits = static_cast<int *>(buffers[0]); // plain: a task that runs twice is a data race as well
  for (int64_t i = begin; i < end; ++i)
    ++visits[i];
}

void expectEachOnce(TkContext &context, int64_t tasks) {
  std::vector<int> visits(static_cast<size_t>(tasks));
  void *buffers[] = {visits.data()};
  tk_parallel_for(&context, countVisits, buffers, tasks);
  for (int count : visits)
    ASSERT_EQ(count, 1);
}

TEST(ThreadPool, RunsEachTaskOnce) {
  for (int threads : {1, 2, 3, 8}) {
    TkPool *pool = tk_pool_create(threads);
    ASSERT_EQ(tk_pool_threads(pool), threads);
    OwnedContext run(pool);
    for (int64_t tasks : {0, 1, 2, 3, 7, 64, 1000, 4097})
      expectEachOnce(run.context, tasks);
    tk_pool_destroy(pool);
  }
}

TEST(ThreadPool, NoPoolRunsOnTheCaller) {
  OwnedContext run(nullptr);
  EXPECT_EQ(tk_pool_threads(nullptr), 1);
  expectEachOnce(run.context, 100);
  tk_pool_destroy(nullptr);
}

TEST(ThreadPool, ZeroThreadsMeansOneAProcessor) {
  TkPool *pool = tk_pool_create(0);
  ASSERT_NE(pool, nullptr);
  EXPECT_GE(tk_pool_threads(pool), 1);
  OwnedContext run(pool);
  expectEachOnce(run.context, 100);
  tk_pool_destroy(pool);
}

TEST(ThreadPool, ManyShortJobs) {
  TkPool *pool = tk_pool_create(3);
  OwnedContext run(pool);
  for (int i = 0; i < 5000; ++i)
    expectEachOnce(run.context, i % 17);
  tk_pool_destroy(pool);
}

TEST(ThreadPool, WorkersWakeAfterParking) {
  TkPool *pool = tk_pool_create(2);
  OwnedContext run(pool);
  for (int i = 0; i < 5; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    expectEachOnce(run.context, 1000);
  }
  tk_pool_destroy(pool);
}

TEST(ThreadPool, AllThreadsTakePart) {
  TkPool *pool = tk_pool_create(2);
  OwnedContext run(pool);
  // The first task to run waits for another one, which only another thread can run.
  std::atomic<int> arrived{0};
  void *buffers[] = {&arrived};
  tk_parallel_for(
      &run.context,
      [](void *const *operands, int64_t begin, int64_t end, void *) {
        auto &count = *static_cast<std::atomic<int> *>(operands[0]);
        for (int64_t i = begin; i < end; ++i) {
          count.fetch_add(1);
          while (count.load() < 2)
            std::this_thread::yield();
        }
      },
      buffers, 2);
  EXPECT_EQ(arrived.load(), 2);
  tk_pool_destroy(pool);
}

TEST(ThreadPool, ScratchIsPrivate) {
  TkPool *pool = tk_pool_create(4);
  OwnedContext run(pool);
  for (int i = 0; i < 200; ++i) {
    std::atomic<int> wrong{0};
    void *buffers[] = {&wrong};
    tk_parallel_for(
        &run.context,
        [](void *const *operands, int64_t begin, int64_t end, void *scratch) {
          auto *slot = static_cast<int64_t *>(scratch);
          for (int64_t task = begin; task < end; ++task) {
            *slot = task;
            for (int k = 0; k < 50; ++k)
              if (*static_cast<volatile int64_t *>(slot) != task)
                static_cast<std::atomic<int> *>(operands[0])->fetch_add(1);
          }
        },
        buffers, 200);
    ASSERT_EQ(wrong.load(), 0);
  }
  tk_pool_destroy(pool);
}

TEST(ThreadPool, NestedCallsRunSerially) {
  TkPool *pool = tk_pool_create(3);
  OwnedContext run(pool);
  std::vector<int> visits(64 * 64);
  void *buffers[] = {visits.data(), &run.context};
  tk_parallel_for(
      &run.context,
      [](void *const *operands, int64_t begin, int64_t end, void *scratch) {
        for (int64_t i = begin; i < end; ++i) {
          void *inner[] = {static_cast<int *>(operands[0]) + i * 64, scratch};
          tk_parallel_for(
              static_cast<TkContext *>(operands[1]),
              [](void *const *cells, int64_t from, int64_t to, void *innerScratch) {
                EXPECT_EQ(innerScratch, cells[1]); // still this thread's slice
                countVisits(cells, from, to, innerScratch);
              },
              inner, 64);
        }
      },
      buffers, 64);
  for (int count : visits)
    ASSERT_EQ(count, 1);
  tk_pool_destroy(pool);
}

TEST(ThreadPool, SeveralCallersShareAPool) {
  TkPool *pool = tk_pool_create(3);
  std::vector<std::thread> callers;
  for (int c = 0; c < 4; ++c)
    callers.emplace_back([pool, c] {
      OwnedContext run(pool);
      for (int i = 0; i < 500; ++i)
        expectEachOnce(run.context, 1 + (i + c) % 130);
    });
  for (std::thread &caller : callers)
    caller.join();
  tk_pool_destroy(pool);
}

TEST(ThreadPool, PoolsComeAndGo) {
  for (int i = 0; i < 50; ++i) {
    TkPool *pool = tk_pool_create(4);
    OwnedContext run(pool);
    if (i % 2)
      expectEachOnce(run.context, 10);
    tk_pool_destroy(pool);
  }
}

/// A wave of kernels that count visits; every third one is in one piece.
struct CountedWave {
  explicit CountedWave(const std::vector<int64_t> &tasks) : visits(tasks.size()), buffers(tasks.size()) {
    for (size_t i = 0; i < tasks.size(); ++i) {
      visits[i].resize(static_cast<size_t>(tasks[i]));
      buffers[i] = visits[i].data();
      kernels.push_back({countVisits, &buffers[i], tasks[i], i % 3 == 1 ? 1 : tasks[i]});
    }
  }
  void runOn(TkContext &context) {
    tk_parallel_wave(&context, kernels.data(), static_cast<int64_t>(kernels.size()));
  }
  void expectVisits(int times) const {
    for (const std::vector<int> &kernel : visits)
      for (int count : kernel)
        ASSERT_EQ(count, times);
  }
  std::vector<std::vector<int>> visits;
  std::vector<void *> buffers;
  std::vector<TkWaveKernel> kernels;
};

TEST(ThreadPool, WaveRunsEachTaskOnce) {
  for (int threads : {1, 2, 3, 8}) {
    TkPool *pool = tk_pool_create(threads);
    OwnedContext run(pool);
    for (const std::vector<int64_t> &tasks : std::vector<std::vector<int64_t>>{
             {}, {5}, {1, 1}, {100, 3, 1, 7}, {1, 1, 1, 1, 1, 1}, {4097, 1000, 2}}) {
      CountedWave wave(tasks);
      wave.runOn(run.context);
      wave.expectVisits(1);
    }
    tk_pool_destroy(pool);
  }
}

TEST(ThreadPool, WavesAndKernelsInTurns) {
  TkPool *pool = tk_pool_create(3);
  OwnedContext run(pool);
  CountedWave wave({17, 40, 1, 64, 3, 2});
  for (int i = 0; i < 2000; ++i) {
    wave.runOn(run.context);
    expectEachOnce(run.context, i % 17);
  }
  wave.expectVisits(2000);
  tk_pool_destroy(pool);
}

TEST(ThreadPool, WaveOfSingleTasksTakesAllThreads) {
  TkPool *pool = tk_pool_create(2);
  OwnedContext run(pool);
  // Each kernel waits for the other one, which only another thread can run.
  std::atomic<int> arrived{0};
  void *buffers[] = {&arrived};
  auto meet = [](void *const *operands, int64_t, int64_t, void *) {
    auto &count = *static_cast<std::atomic<int> *>(operands[0]);
    count.fetch_add(1);
    while (count.load() < 2)
      std::this_thread::yield();
  };
  TkWaveKernel kernels[] = {{meet, buffers, 5, 1}, {meet, buffers, 1, 1}};
  tk_parallel_wave(&run.context, kernels, 2);
  EXPECT_EQ(arrived.load(), 2);
  tk_pool_destroy(pool);
}

TEST(ThreadPool, WavesOfSeveralCallers) {
  TkPool *pool = tk_pool_create(3);
  std::vector<std::thread> callers;
  for (int c = 0; c < 4; ++c)
    callers.emplace_back([pool, c] {
      OwnedContext run(pool);
      CountedWave wave({1 + c, 30, 2, 9 * c + 1});
      for (int i = 0; i < 300; ++i)
        wave.runOn(run.context);
      wave.expectVisits(300);
    });
  for (std::thread &caller : callers)
    caller.join();
  tk_pool_destroy(pool);
}

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define UNDER_THREAD_SANITIZER
#endif
#endif
#ifndef UNDER_THREAD_SANITIZER // which does not support threads on both sides of a fork
TEST(ThreadPool, RunsInAForkedChild) {
  TkPool *pool = tk_pool_create(2);
  OwnedContext run(pool);
  expectEachOnce(run.context, 100);
  pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(20);
    expectEachOnce(run.context, 100);
    tk_pool_destroy(pool);
    _exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  expectEachOnce(run.context, 100);
  tk_pool_destroy(pool);
}
#endif

} // namespace
