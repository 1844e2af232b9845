//===- AnchorBench.cpp - speed of single emitted anchor kernels -----------------------------===//
// anchor_bench [CPU [NAME]]: for each shape (whose name contains NAME) the time of one thread over all tasks,
// the rate in GF/s of the multiply-adds that are computed (taps on padding are not), how many accumulators
// the code generator spilled in innermost loops, and what compiling took. The first line is the machine's own
// rate of multiply-adds.
#include "ConvolutionCase.h"
#include "codegen/anchors/MatMul.h"
#include "codegen/anchors/WinogradConvolution.h"
#include <algorithm>
#include <cstdio>
#include <functional>
#include <random>
#include <time.h>

using namespace tokamak;
using namespace tokamak::test;
using codegen::ConvolutionPlan;
using codegen::ConvolutionShape;
using codegen::MatMulPlan;
using codegen::MatMulShape;

namespace {

/// Processor time of this thread: other work on the machine stretches the wall clock, not this one.
double seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Median time of one call, of at least seven calls and some 50 ms.
double medianSeconds(const std::function<void()> &run) {
  run();
  std::vector<double> times;
  for (double start = seconds(); times.size() < 7 || seconds() - start < 0.05;) {
    double before = seconds();
    run();
    times.push_back(seconds() - before);
  }
  std::nth_element(times.begin(), times.begin() + static_cast<long>(times.size() / 2), times.end());
  return times[times.size() / 2];
}

/// 64-byte aligned floats of small random values.
class Buffer {
public:
  explicit Buffer(int64_t count) : values(static_cast<size_t>(count) + 16) {
    auto address = reinterpret_cast<uintptr_t>(values.data());
    floats = values.data() + (64 - address % 64) % 64 / sizeof(float);
    std::mt19937 random(1);
    std::uniform_real_distribution<float> unit(-1, 1);
    for (float &value : values)
      value = unit(random);
  }
  float *data() { return floats; }

private:
  std::vector<float> values;
  float *floats;
};

void report(const std::string &name, const CompiledKernel &kernel, double flops,
            const std::function<void()> &run) {
  double time = medianSeconds(run);
  printf("%-28s %9.1f us %7.1f GF/s  spills %3lld  build %5.1f lower %6.1f codegen %6.1f ms  %4zu KB\n",
         name.c_str(), time * 1e6, flops / time * 1e-9,
         static_cast<long long>(countInnerLoopSpills(kernel.assembly)), kernel.buildMs, kernel.lowerMs,
         kernel.codegenMs, kernel.objectBytes / 1024);
  fflush(stdout);
}

/// The multiply-adds whose taps lie inside the input, times two.
double computedFlops(const ConvolutionShape &shape) {
  double pairs = 1;
  for (unsigned axis = 0; axis < 3; ++axis) {
    int64_t inside = 0;
    for (const codegen::AxisTaps &taps : codegen::axisPhases(shape, axis))
      for (int64_t q = 0; q < taps.outCount; ++q)
        for (int64_t tap = 0; tap < taps.tapCount; ++tap)
          inside += taps.isInside(q, tap);
    pairs *= static_cast<double>(inside);
  }
  return 2 * pairs * static_cast<double>(shape.batch * shape.outChannels * shape.inChannelsPerGroup());
}

struct Bench {
  TargetDescription target;
  std::string filter;

  bool isWanted(const std::string &name) const { return name.find(filter) != std::string::npos; }

  void convolution(const std::string &name, int64_t in, int64_t out, int64_t height, int64_t width,
                   int64_t kernel, int64_t stride = 1, int64_t group = 1, bool blockedInput = true,
                   bool transposed = false) {
    if (!isWanted(name))
      return;
    const PaddedConvolution padded{
        in, out, height, width, kernel, stride, group, blockedInput ? target.lanes() : 0, transposed};
    const ConvolutionShape shape = padded.shape();
    time(name, shape, llvm::cantFail(ConvolutionPlan::create(shape, target)));
    if (kernel != 3 || stride != 1 || group != 1 || !blockedInput || transposed)
      return;
    for (int64_t outputs : {2, 4})
      time("  by F(" + std::to_string(outputs) + ", 3)", shape,
           llvm::cantFail(codegen::createWinogradConvolution(shape, outputs, target)));
  }

  /// The rate of a plan by minimal filtering counts the multiply-adds of the plain sum.
  void time(const std::string &name, const ConvolutionShape &shape, std::unique_ptr<ConvolutionPlan> plan) {
    ResultShape result = resultShape(shape, true);
    result.hasRelu = true;
    CompiledKernel compiled = compileConvolution(*plan, result, target, true);
    Buffer input(inputSize(shape) + shape.input[1] * shape.input[2] * target.lanes());
    Buffer output(result.bufferSize(target.lanes())), scratch(plan->scratchBytes() / 4);
    Buffer weights(
        plan->pack(tensorOf(std::vector<float>(static_cast<size_t>(weightSize(shape)), 0.5F))).size());
    report(name, compiled, computedFlops(shape), [&] {
      compiled.run(input.data(), weights.data(), scratch.data(), output.data(), 0, plan->taskCount());
    });
  }

  void matmul(const std::string &name, int64_t m, int64_t k, int64_t n, bool constant = true,
              bool transposeRhs = false, int64_t batch = 1) {
    if (!isWanted(name))
      return;
    MatMulShape shape;
    shape.m = m;
    shape.n = n;
    shape.k = k;
    shape.transposeRhs = transposeRhs;
    shape.rhsIsConstant = constant;
    shape.batch = {batch};
    shape.lhsBatch = {batch};
    shape.rhsBatch = {constant ? 1 : batch};
    auto plan = llvm::cantFail(MatMulPlan::create(shape, target));
    ResultShape result;
    result.before = {batch, m};
    result.vectorExtent = n;
    CompiledKernel compiled = compileKernel(
        [&](mlir::OpBuilder &builder, mlir::Location loc, mlir::Value left, mlir::Value right,
            mlir::Value scratch, mlir::Value begin, mlir::Value end, const codegen::EpilogueFn &epilogue) {
          plan->emit(builder, loc, left, right, scratch, begin, end, epilogue);
        },
        result, target, true);
    Buffer lhs(batch * m * k), rhs(batch * k * (n + 8 * target.lanes())), output(batch * m * n);
    Buffer scratch(plan->scratchBytes() / 4);
    report(name, compiled, 2.0 * static_cast<double>(batch * m) * static_cast<double>(n * k), [&] {
      compiled.run(lhs.data(), rhs.data(), scratch.data(), output.data(), 0, plan->taskCount());
    });
  }
};

/// A product with everything in the first-level cache: what the multiply-add units give.
void printPeak(const TargetDescription &target) {
  Bench{target, ""}.matmul("in-cache product 84x64x32", 84, 64, 32);
}

} // namespace

int main(int argc, char **argv) {
  llvm::Expected<TargetDescription> target = TargetDescription::forCpu(argc > 1 ? argv[1] : "native");
  if (!target) {
    fprintf(stderr, "%s\n", llvm::toString(target.takeError()).c_str());
    return 1;
  }
  if (!canRun(*target)) {
    fprintf(stderr, "this machine does not run code for %s\n", target->cpu.c_str());
    return 1;
  }
  printPeak(*target);
  Bench bench{*target, argc > 2 ? argv[2] : ""};
  bench.convolution("conv1x1 64->256 @56", 64, 256, 56, 56, 1);
  bench.convolution("conv1x1 512->128 @28", 512, 128, 28, 28, 1);
  bench.convolution("conv1x1s2 256->512 @56", 256, 512, 56, 56, 1, 2);
  bench.convolution("conv1x1 2048->512 @7", 2048, 512, 7, 7, 1);
  bench.convolution("conv1x1 24->144 @56", 24, 144, 56, 56, 1);
  bench.convolution("conv1x1 144->24 @56", 144, 24, 56, 56, 1);
  bench.convolution("conv3x3 64->64 @56", 64, 64, 56, 56, 3);
  bench.convolution("conv3x3 128->128 @28", 128, 128, 28, 28, 3);
  bench.convolution("conv3x3 256->256 @14", 256, 256, 14, 14, 3);
  bench.convolution("conv3x3 512->512 @7", 512, 512, 7, 7, 3);
  bench.convolution("conv3x3 32->32 @160", 32, 32, 160, 160, 3);
  bench.convolution("conv3x3 96->208 @14", 96, 208, 14, 14, 3);
  bench.convolution("conv3x3s2 128->128 @56", 128, 128, 56, 56, 3, 2);
  bench.convolution("conv3x3 192->384 @17", 192, 384, 17, 17, 3);
  bench.convolution("conv7x7s2 3->64 @224 rows", 3, 64, 224, 224, 7, 2, 1, false);
  bench.convolution("conv3x3s2 3->32 @224 rows", 3, 32, 224, 224, 3, 2, 1, false);
  bench.convolution("depthwise3x3 32 @112", 32, 32, 112, 112, 3, 1, 32);
  bench.convolution("depthwise3x3s2 96 @112", 96, 96, 112, 112, 3, 2, 96);
  bench.convolution("depthwise3x3 512 @14", 512, 512, 14, 14, 3, 1, 512);
  bench.convolution("depthwise5x5 480 @14", 480, 480, 14, 14, 5, 1, 480);
  bench.convolution("depthwise5x5 960 @7", 960, 960, 7, 7, 5, 1, 960);
  bench.convolution("transposed2x2 96->96 @80", 96, 96, 80, 80, 2, 2, 1, true, true);
  bench.convolution("transposed4x4 64->32 @40", 64, 32, 40, 40, 4, 2, 1, true, true);
  bench.matmul("product 128x768x3072", 128, 768, 3072);
  bench.matmul("product 128x3072x768", 128, 3072, 768);
  bench.matmul("product 197x768x2304", 197, 768, 2304);
  bench.matmul("product 128x1024x1024", 128, 1024, 1024);
  bench.matmul("product 7x512x512", 7, 512, 512);
  bench.matmul("vector 1x2048x1000", 1, 2048, 1000);
  bench.matmul("vector 1x128x512", 1, 128, 512);
  bench.matmul("attention 12x128x64x128 t", 128, 64, 128, false, true, 12);
  bench.matmul("attention 12x128x128x64", 128, 128, 64, false, false, 12);
  bench.matmul("attention 12x197x64x197 t", 197, 64, 197, false, true, 12);
  return 0;
}
