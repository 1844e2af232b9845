//===- CalibrateMachine.cpp - what this machine's cores, caches and threads reach --------------===//
#include "CalibrateMachine.h"
#include "runtime/ThreadPool.h"
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <immintrin.h>
#include <limits>
#include <memory>
#include <thread>
#include <vector>

namespace tokamak::tool {

namespace {

using Clock = std::chrono::steady_clock;

double secondsOf(Clock::duration duration) { return std::chrono::duration<double>(duration).count(); }

/// The shortest of the runs of `work` that fit into `budget` seconds; at least three.
template <typename Work>
double shortest(double budget, Work work) {
  double best = std::numeric_limits<double>::infinity();
  const Clock::time_point begin = Clock::now();
  for (int run = 0; run < 3 || secondsOf(Clock::now() - begin) < budget; ++run) {
    const Clock::time_point start = Clock::now();
    work();
    best = std::min(best, secondsOf(Clock::now() - start));
  }
  return best;
}

/// Keeps a result alive. A number, since an array whose address is taken would live in memory all along.
template <typename T>
void use(T &value) {
  asm volatile("" : : "m"(value) : "memory");
}

/// Multiplications each of which waits for the one before it: three cycles each on every x86 core of this
/// century.
double measureClock(double budget) {
  constexpr int64_t rounds = 20'000;
  const double seconds = shortest(budget, [] {
    uint64_t x = 3;
    for (int64_t i = 0; i < rounds; ++i)
      asm volatile("imul %0, %0\n imul %0, %0\n imul %0, %0\n imul %0, %0\n imul %0, %0\n imul %0, %0\n"
                   "imul %0, %0\n imul %0, %0\n imul %0, %0\n imul %0, %0"
                   : "+r"(x));
    use(x);
  });
  return 10 * 3 * static_cast<double>(rounds) / seconds;
}

constexpr int64_t fmaRounds = 20'000, fmaChains = 12;

// Twelve independent chains: more than latency times throughput asks for on any core.
__attribute__((target("avx512f"))) void multiplyAdd512() {
  __m512 sums[fmaChains], x = _mm512_set1_ps(0.999F);
  for (auto &sum : sums)
    sum = _mm512_set1_ps(1);
  for (int64_t i = 0; i < fmaRounds; ++i) {
#pragma clang loop unroll(full)
    for (auto &sum : sums) // NOLINT(modernize-loop-convert)
      sum = _mm512_fmadd_ps(sum, x, x);
  }
  for (int64_t i = 1; i < fmaChains; ++i)
    sums[0] = _mm512_add_ps(sums[0], sums[i]);
  float lane = _mm512_cvtss_f32(sums[0]);
  use(lane);
}
__attribute__((target("avx2,fma"))) void multiplyAdd256() {
  __m256 sums[fmaChains], x = _mm256_set1_ps(0.999F);
  for (auto &sum : sums)
    sum = _mm256_set1_ps(1);
  for (int64_t i = 0; i < fmaRounds; ++i) {
#pragma clang loop unroll(full)
    for (auto &sum : sums)
      sum = _mm256_fmadd_ps(sum, x, x);
  }
  for (int64_t i = 1; i < fmaChains; ++i)
    sums[0] = _mm256_add_ps(sums[0], sums[i]);
  float lane = _mm256_cvtss_f32(sums[0]);
  use(lane);
}

// Bytes are a multiple of 512.
__attribute__((target("avx512f"))) void read512(const char *data, int64_t bytes) {
  __m512i sums[8] = {};
  for (int64_t at = 0; at < bytes; at += 512) {
#pragma clang loop unroll(full)
    for (int i = 0; i < 8; ++i)
      sums[i] = _mm512_or_si512(sums[i], _mm512_load_si512(data + at + 64 * i));
  }
  for (int i = 1; i < 8; ++i)
    sums[0] = _mm512_or_si512(sums[0], sums[i]);
  int lane = _mm512_cvtsi512_si32(sums[0]);
  use(lane);
}
__attribute__((target("avx2"))) void read256(const char *data, int64_t bytes) {
  __m256i sums[8] = {};
  for (int64_t at = 0; at < bytes; at += 256) {
#pragma clang loop unroll(full)
    for (int i = 0; i < 8; ++i)
      sums[i] = _mm256_or_si256(sums[i], _mm256_load_si256(reinterpret_cast<const __m256i *>(data + at) + i));
  }
  for (int i = 1; i < 8; ++i)
    sums[0] = _mm256_or_si256(sums[0], sums[i]);
  int lane = _mm256_cvtsi256_si32(sums[0]);
  use(lane);
}

void readAll(const TargetDescription &target, const char *data, int64_t bytes) {
  if (target.vectorBytes == 64)
    read512(data, bytes);
  else
    read256(data, bytes);
}

struct Free {
  void operator()(char *data) const { std::free(data); }
};
using Memory = std::unique_ptr<char, Free>;

/// Memory whose pages exist, or null.
Memory allocate(int64_t bytes) {
  constexpr size_t page = 4096;
  Memory memory(
      static_cast<char *>(std::aligned_alloc(page, (static_cast<size_t>(bytes) + page - 1) / page * page)));
  if (memory)
    std::memset(memory.get(), 1, static_cast<size_t>(bytes));
  return memory;
}

/// Bytes a second that `threads` threads together read, each of `bytes` of its own, again and again. 0 where
/// memory is short.
double measureRead(const TargetDescription &target, int64_t bytes, int64_t threads, double budget) {
  bytes = bytes / 512 * 512;
  std::vector<Memory> memory;
  for (int64_t i = 0; i < threads; ++i)
    if (!memory.emplace_back(allocate(bytes)))
      return 0;
  // As much as makes the clock's own cost vanish.
  const int64_t repetitions = std::max<int64_t>(1, (int64_t(1) << 20) / bytes);
  auto work = [&](size_t i) {
    for (int64_t r = 0; r < repetitions; ++r)
      readAll(target, memory[i].get(), bytes);
  };
  const double seconds = shortest(budget, [&] {
    std::vector<std::thread> others;
    for (size_t i = 1; i < memory.size(); ++i)
      others.emplace_back(work, i);
    work(0);
    for (std::thread &other : others)
      other.join();
  });
  return static_cast<double>(bytes * repetitions * threads) / seconds;
}

/// Threads that have come to the present dispatch.
struct Meeting {
  std::atomic<int64_t> arrived = 0;
  int64_t wanted = 0;
};

/// A task that waits until every thread has one, so that none does two. Not for ever: the pool promises
/// nothing.
void meet(void *const *buffers, int64_t begin, int64_t end, void *) {
  auto *meeting = static_cast<Meeting *>(buffers[0]);
  const int64_t now = meeting->arrived.fetch_add(end - begin) + end - begin;
  constexpr int patience = 100'000;
  const int64_t all = (now + meeting->wanted - 1) / meeting->wanted * meeting->wanted;
  for (int i = 0; i < patience && meeting->arrived.load() < all; ++i)
    _mm_pause();
}

/// Handing a task to each thread and waiting for all.
double measureDispatch(int threads, double fallback) {
  std::unique_ptr<TkPool, void (*)(TkPool *)> pool(tk_pool_create(threads), tk_pool_destroy);
  if (!pool || tk_pool_threads(pool.get()) < threads)
    return fallback;
  std::vector<char> scratch(static_cast<size_t>(threads) * 64);
  TkContext context{pool.get(), scratch.data(), 64};
  Meeting meeting;
  meeting.wanted = threads;
  void *buffers[] = {&meeting};
  constexpr int dispatches = 20;
  return shortest(0.1,
                  [&] {
                    for (int i = 0; i < dispatches; ++i)
                      tk_parallel_for(&context, meet, buffers, threads);
                  }) /
         dispatches;
}

} // namespace

void raiseRates(TargetDescription &target, double seconds) {
  target.clockHz = std::max(target.clockHz, measureClock(seconds));
  const double shortestRun = shortest(seconds, target.vectorBytes == 64 ? multiplyAdd512 : multiplyAdd256);
  const double flops = 2 * static_cast<double>(target.lanes()) * static_cast<double>(fmaRounds * fmaChains);
  target.peakFlops = std::max(target.peakFlops, flops / shortestRun);
}

std::string measureMachine(TargetDescription &target) {
  target.clockHz = target.peakFlops = 0; // defaults are none of this machine's
  raiseRates(target, 0.1);

  // Half of a level is surely in it and beyond the one before; memory begins where no cache can help.
  constexpr int64_t mostBytes = int64_t(1) << 28;
  const int64_t sizes[memoryLevels] = {target.l1Bytes / 2, target.l2Bytes / 2, target.l3Bytes / 2,
                                       std::min(target.l3Bytes * 3, mostBytes)};
  for (size_t level = 0; level < memoryLevels; ++level)
    if (double measured = measureRead(target, sizes[level], 1, 0.1); measured > 0)
      target.bandwidth[level] = measured;
  // A level is no faster than the one in front of it; what says so is noise.
  for (size_t level = memoryLevels - 1; level > 0; --level)
    target.bandwidth[level - 1] = std::max(target.bandwidth[level - 1], target.bandwidth[level]);
  target.sharedMemoryBandwidth = target.bandwidth.back();
  if (target.cores > 1) {
    const double all = measureRead(target, sizes[memoryLevels - 1], target.cores, 0.2);
    target.sharedMemoryBandwidth = std::max(all, target.sharedMemoryBandwidth);
    const double measured = measureDispatch(static_cast<int>(target.cores), target.dispatchSeconds);
    // Microseconds; milliseconds are the turns of other work, and fusion would be decided by them.
    constexpr double longest = 500e-6;
    if (measured > longest)
      return fmt::format(
          "the machine is busy: handing work to {} threads takes {:.1f} ms; {:.1f} us are taken for "
          "it, calibrate again when nothing else runs",
          target.cores, measured * 1e3, target.dispatchSeconds * 1e6);
    target.dispatchSeconds = measured;
  }
  return "";
}

} // namespace tokamak::tool
