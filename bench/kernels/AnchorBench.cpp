//===- AnchorBench.cpp - single emitted anchor kernels beside the peak ------------------------===//
// Processor time of one pinned thread over all tasks of a kernel, as rates of the multiply-adds that it does.
// The peak is measured right before and behind each kernel, since clocks change. A kernel that memory bounds
// is held to the bandwidth of the level that holds what it reads and writes, measured at the start.
#include "AnchorCase.h"
#include "CalibrateMachine.h"
#include "ConvolutionCase.h"
#include <benchmark/benchmark.h>
#include <cstdio>
#include <ctime>
#include <sched.h>
#include <string_view>

using namespace tokamak;
using codegen::ConvolutionShape;
using codegen::MatMulShape;

namespace {

/// Of this thread: other work on the machine stretches the wall clock, not this one.
double processorSeconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double bandwidthFor(double bytes, const TargetDescription &machine) {
  size_t level = 0;
  while (level + 1 < memoryLevels &&
         bytes > static_cast<double>(machine.capacity(static_cast<MemoryLevel>(level))))
    ++level;
  return machine.bandwidth[level];
}

/// The rates of `work`, timed by `state`.
void time(benchmark::State &state, const bench::AnchorCase &work, TargetDescription machine) {
  constexpr double peakSeconds = 0.005;
  machine.peakFlops = 0;
  tool::raiseRates(machine, peakSeconds);
  work.run();
  const double begin = processorSeconds();
  for ([[maybe_unused]] auto iteration : state)
    work.run();
  const double seconds = (processorSeconds() - begin) / static_cast<double>(state.iterations());
  tool::raiseRates(machine, peakSeconds);

  state.counters["GF/s"] = work.flops / seconds * 1e-9;
  state.counters["peak%"] = 100 * work.flops / seconds / machine.peakFlops;
  state.counters["spills"] = static_cast<double>(work.spills);
  const double bandwidth = bandwidthFor(work.bytes, machine);
  if (work.bytes / bandwidth <= work.flops / machine.peakFlops)
    return;
  state.counters["GB/s"] = work.bytes / seconds * 1e-9;
  state.counters["bandwidth%"] = 100 * work.bytes / seconds / bandwidth;
}

class Suite {
public:
  explicit Suite(const TargetDescription &machine) : machine(machine) {}

  void convolution(const std::string &name, test::PaddedConvolution padded, bool isBlocked = true) {
    padded.lanes = isBlocked ? machine.lanes() : 0;
    add(name, padded.shape(), bench::convolutionCase);
  }
  /// By tiles of 2x2 and of 4x4.
  void winograd(const std::string &name, int64_t in, int64_t out, int64_t extent) {
    ConvolutionShape shape =
        test::PaddedConvolution{in, out, extent, extent, 3, 1, 1, machine.lanes()}.shape();
    for (int64_t outputs : {2, 4}) {
      shape.winograd = outputs;
      add(name + "/F" + std::to_string(outputs), shape, bench::convolutionCase);
    }
  }
  void product(const std::string &name, int64_t m, int64_t k, int64_t n, int64_t batch = 1,
               bool constant = true, bool transposeRhs = false) {
    MatMulShape shape;
    shape.m = m;
    shape.n = n;
    shape.k = k;
    shape.transposeRhs = transposeRhs;
    shape.rhsIsConstant = constant;
    shape.batch = shape.lhsBatch = shape.rhsBatch = {batch};
    add(name, shape, bench::matmulCase);
  }

private:
  /// Compiled when it is first run: a filter may leave it out.
  template <typename Shape, typename Make>
  void add(const std::string &name, const Shape &shape, Make make) {
    benchmark::RegisterBenchmark(name.c_str(), [=, machine = machine,
                                                made = std::shared_ptr<bench::AnchorCase>()](
                                                   benchmark::State &state) mutable {
      if (!made)
        made = make(shape, machine);
      time(state, *made, machine);
    })->Unit(benchmark::kMicrosecond);
  }

  TargetDescription machine;
};

/// in, out, height, width, kernel, stride, group.
void addAll(Suite suite) {
  suite.convolution("pointwise/64-256@56", {64, 256, 56, 56, 1});
  suite.convolution("pointwise/512-128@28", {512, 128, 28, 28, 1});
  suite.convolution("pointwise/2048-512@7", {2048, 512, 7, 7, 1});
  suite.convolution("pointwise/24-144@56", {24, 144, 56, 56, 1});
  suite.convolution("pointwise/144-24@56", {144, 24, 56, 56, 1});
  suite.convolution("dense3x3/64-64@56", {64, 64, 56, 56, 3});
  suite.convolution("dense3x3/128-128@28", {128, 128, 28, 28, 3});
  suite.convolution("dense3x3/256-256@14", {256, 256, 14, 14, 3});
  suite.convolution("dense3x3/512-512@7", {512, 512, 7, 7, 3});
  suite.convolution("dense3x3/32-32@160", {32, 32, 160, 160, 3});
  suite.convolution("dense3x3/96-208@14", {96, 208, 14, 14, 3});
  suite.convolution("dense3x3/48-8@28", {48, 8, 28, 28, 3});
  suite.convolution("dense3x3/192-384@17", {192, 384, 17, 17, 3});
  suite.convolution("strided/1x1:256-512@56", {256, 512, 56, 56, 1, 2});
  suite.convolution("strided/3x3:128-128@56", {128, 128, 56, 56, 3, 2});
  suite.convolution("first/7x7:3-64@224", {3, 64, 224, 224, 7, 2}, false);
  suite.convolution("first/3x3:3-32@224", {3, 32, 224, 224, 3, 2}, false);
  for (bool isBlocked : {true, false}) {
    const std::string family = isBlocked ? "depthwise/" : "depthwise_rows/";
    suite.convolution(family + "3x3:32@112", {32, 32, 112, 112, 3, 1, 32}, isBlocked);
    suite.convolution(family + "3x3:512@14", {512, 512, 14, 14, 3, 1, 512}, isBlocked);
    suite.convolution(family + "5x5:480@14", {480, 480, 14, 14, 5, 1, 480}, isBlocked);
    suite.convolution(family + "5x5:960@7", {960, 960, 7, 7, 5, 1, 960}, isBlocked);
  }
  suite.convolution("depthwise/3x3s2:96@112", {96, 96, 112, 112, 3, 2, 96});
  suite.convolution("transposed/2x2:96-96@80", {96, 96, 80, 80, 2, 2, 1, 0, true});
  suite.convolution("transposed/4x4:64-32@40", {64, 32, 40, 40, 4, 2, 1, 0, true});
  suite.winograd("winograd/64-64@56", 64, 64, 56);
  suite.winograd("winograd/128-128@28", 128, 128, 28);
  suite.winograd("winograd/256-256@14", 256, 256, 14);
  suite.winograd("winograd/512-512@7", 512, 512, 7);
  suite.winograd("winograd/32-32@160", 32, 32, 160);
  suite.winograd("winograd/96-208@14", 96, 208, 14);
  suite.winograd("winograd/192-384@17", 192, 384, 17);
  suite.product("product/128x768x3072", 128, 768, 3072);
  suite.product("product/128x3072x768", 128, 3072, 768);
  suite.product("product/197x768x2304", 197, 768, 2304);
  suite.product("product/128x1024x1024", 128, 1024, 1024);
  suite.product("product/7x512x512", 7, 512, 512);
  suite.product("vector/2048x1000", 1, 2048, 1000);
  suite.product("vector/128x512", 1, 128, 512);
  suite.product("attention/scores:12x128x64x128", 128, 64, 128, 12, false, true);
  suite.product("attention/values:12x128x128x64", 128, 128, 64, 12, false);
  suite.product("attention/scores:12x197x64x197", 197, 64, 197, 12, false, true);
}

/// To the processor at hand, unless the caller has pinned it already.
void pin() {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<size_t>(sched_getcpu()), &set);
  sched_setaffinity(0, sizeof(set), &set);
}

void printHelp() {
  printf("usage: anchor_bench [--target-cpu=CPU] [options of Google Benchmark]\n"
         "GF/s: the multiply-adds that a kernel does, two operations each; taps on padding are none, "
         "Winograd's are\n"
         "those of its transformed tiles. peak%%: of the machine's own rate, measured around each kernel.\n"
         "bandwidth%%: where memory bounds a kernel, of the level that holds its operands. spills: in inner "
         "loops.\n"
         "  --benchmark_filter=REGEX         which kernels\n"
         "  --benchmark_repetitions=N        medians as well\n"
         "  --benchmark_format=console|json  how to print\n");
}

} // namespace

int main(int argc, char **argv) {
  benchmark::Initialize(&argc, argv, printHelp);
  std::string cpu = "native";
  constexpr std::string_view option = "--target-cpu=";
  if (argc > 1 && std::string_view(argv[1]).starts_with(option)) {
    cpu = std::string_view(argv[1]).substr(option.size());
    argv[1] = argv[0];
    ++argv;
    --argc;
  }
  if (benchmark::ReportUnrecognizedArguments(argc, argv))
    return 1;
  llvm::Expected<TargetDescription> target = TargetDescription::forCpu(cpu);
  if (!target) {
    fprintf(stderr, "anchor_bench: %s\n", llvm::toString(target.takeError()).c_str());
    return 1;
  }
  if (!test::canRun(*target)) {
    fprintf(stderr, "anchor_bench: this machine does not run code for %s\n", target->cpu.c_str());
    return 1;
  }
  pin();
  target->cores = 1;
  tool::measureMachine(*target);
  addAll(Suite(*target));
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
