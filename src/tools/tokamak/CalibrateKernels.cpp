//===- CalibrateKernels.cpp - what share of the machine's rate our own kernels reach -----------===//
#include "CalibrateKernels.h"
#include "CalibrateMachine.h"
#include "driver/Fault.h"
#include "driver/Program.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <limits>

namespace tokamak::tool {

namespace {

/// A graph with operands that the caches keep, and the number of the kernel in it that is measured.
struct Sample {
  size_t kernel;
  double KernelEfficiency::*share;
  double fusion::GroupCost::*part; ///< of the cost that the share scales
  double TargetDescription::*rate; ///< that the share is one of
  std::string graph;
};

std::string convolution(const char *result, const char *input, int64_t in, int64_t out, int64_t size,
                        int64_t kernel, int64_t group = 1) {
  std::string x = fmt::format("tensor<1x{}x{}x{}xf32>", in, size, size),
              w = fmt::format("tensor<{}x{}x{}x{}xf32>", out, in / group, kernel, kernel),
              y = fmt::format("tensor<1x{}x{}x{}xf32>", out, size, size);
  return fmt::format(
      "%{0}w = tk.constant dense<0.01> : {4}\n"
      "%{0} = tk.conv %{1}, %{0}w {{strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, "
      "pads_low = array<i64: {2}, {2}>, pads_high = array<i64: {2}, {2}>, group = {3} : i64}} : "
      "({5}, {4}) -> {6}\n",
      result, input, kernel / 2, group, w, x, y);
}

std::string function(const std::string &input, const std::string &body, const std::string &result) {
  return "func.func @main(%x: " + input + ") -> " + result + " {\n" + body + "return %r : " + result + "\n}";
}

/// Convolutions around the kernel bring its operand into the layout that it finds in a network, and take its
/// result in that layout.
std::string betweenConvolutions(int64_t channels, int64_t size, const std::string &body) {
  std::string plane = fmt::format("tensor<1x{}x{}x{}xf32>", channels, size, size);
  return function(plane,
                  convolution("c", "x", channels, channels, size, 1) + body +
                      convolution("r", "m", channels, channels, size, 1),
                  plane);
}

std::vector<Sample> samples() {
  const std::string plane = "tensor<1x64x28x28xf32>", vector = "tensor<16384xf32>";
  std::string elementwise;
  const char *steps[] = {"exp %x", "abs %a0", "tanh %a1", "neg %a2", "erf %a3", "abs %a4", "exp %a5"};
  for (size_t i = 0; i < std::size(steps); ++i)
    elementwise +=
        fmt::format("%{} = tk.{} : ({}) -> {}\n", i + 1 == std::size(steps) ? "r" : fmt::format("a{}", i),
                    steps[i], vector, vector);
  return {
      {1, &KernelEfficiency::denseConvolution, &fusion::GroupCost::anchor, &TargetDescription::peakFlops,
       betweenConvolutions(64, 28, convolution("m", "c", 64, 64, 28, 3))},
      {1, &KernelEfficiency::pointwiseConvolution, &fusion::GroupCost::anchor, &TargetDescription::peakFlops,
       betweenConvolutions(64, 28, convolution("m", "c", 64, 64, 28, 1))},
      {1, &KernelEfficiency::groupedConvolution, &fusion::GroupCost::anchor, &TargetDescription::peakFlops,
       betweenConvolutions(64, 28, convolution("m", "c", 64, 64, 28, 3, 64))},
      {0, &KernelEfficiency::matmul, &fusion::GroupCost::anchor, &TargetDescription::peakFlops,
       function("tensor<128x256xf32>",
                "%w = tk.constant dense<0.01> : tensor<256x256xf32>\n"
                "%r = tk.matmul %x, %w : (tensor<128x256xf32>, tensor<256x256xf32>) -> tensor<128x256xf32>\n",
                "tensor<128x256xf32>")},
      {1, &KernelEfficiency::window, &fusion::GroupCost::anchor, &TargetDescription::clockHz,
       betweenConvolutions(
           64, 28,
           "%m = tk.window %c {kind = #tk.reduce_kind<max>, kernel = array<i64: 3, 3>, "
           "strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, "
           "pads_high = array<i64: 1, 1>} : (" +
               plane + ") -> " + plane + "\n")},
      {0, &KernelEfficiency::elementwise, &fusion::GroupCost::elementwise, &TargetDescription::clockHz,
       function(vector, elementwise, vector)},
      {0, &KernelEfficiency::reduction, &fusion::GroupCost::elementwise, &TargetDescription::clockHz,
       function("tensor<32x1024xf32>",
                "%r = tk.reduce %x {axes = array<i64: 1>, keep_dims = false, kind = #tk.reduce_kind<sum>} : "
                "(tensor<32x1024xf32>) -> tensor<32xf32>\n",
                "tensor<32xf32>")},
  };
}

llvm::Expected<driver::CompiledModel> compileText(const std::string &text, const TargetDescription &target,
                                                  FusionMode fusion) {
  driver::PartitionedModel model;
  model.context = driver::makeContext();
  model.target = target;
  model.module = mlir::parseSourceString<mlir::ModuleOp>(text, model.context.get());
  PipelineOptions options;
  options.fusion = fusion;
  options.target = target;
  if (!model.module || mlir::failed(runPipeline(*model.module, options)))
    return llvm::createStringError("a graph for calibration does not compile");
  driver::CompileOptions compile;
  compile.predict = true;
  compile.threads = 1;
  return driver::generateModel(model, compile);
}

/// The caller's memory for a program.
class Buffers {
public:
  explicit Buffers(const ProgramInfo &info) {
    for (auto [infos, pointers] : {std::pair(&info.inputs, &inputs), std::pair(&info.outputs, &outputs)})
      for (const ValueInfo &value : *infos)
        pointers->push_back(values.emplace_back(value.type, value.shape).bytes.data());
  }
  void run(driver::Program &program) { program.run(inputs.data(), outputs.data()); }

private:
  std::vector<HostTensor> values;
  std::vector<void *> inputs, outputs;
};

/// Seconds of a kernel of the program, the least of many runs, in turn with the machine's rates.
double measureKernel(driver::Program &program, size_t kernel, TargetDescription &target) {
  Buffers buffers(program.info());
  double best = std::numeric_limits<double>::infinity();
  constexpr int rounds = 5, runs = 20;
  for (int round = 0; round < rounds; ++round) {
    raiseRates(target, 0.005);
    for (int run = 0; run < runs; ++run) {
      program.resetKernelTimes();
      buffers.run(program);
      best = std::min(best, program.kernelTimes()[kernel].ms);
    }
  }
  return best / 1e3;
}

/// Seconds of a program of so many kernels with nothing to do, the least of many runs.
llvm::Expected<double> measureIdle(int kernels, const TargetDescription &target) {
  const std::string type = fmt::format("tensor<{}xf32>", target.lanes());
  std::string body;
  for (int i = 0; i < kernels; ++i)
    body +=
        fmt::format("%{} = tk.add %{}, %x : ({}, {}) -> {}\n", i + 1 == kernels ? "r" : fmt::format("a{}", i),
                    i == 0 ? "x" : fmt::format("a{}", i - 1), type, type, type);
  auto compiled = compileText(function(type, body, type), target, FusionMode::None);
  if (!compiled)
    return compiled.takeError();
  auto program = driver::Program::load(std::move(*compiled), nullptr);
  if (!program)
    return program.takeError();
  Buffers buffers((*program)->info());
  double best = std::numeric_limits<double>::infinity();
  constexpr int runs = 1000;
  for (int run = 0; run < runs; ++run) {
    const auto start = std::chrono::steady_clock::now();
    buffers.run(**program);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    best = std::min(best, taken.count());
  }
  return best;
}

} // namespace

Status measureCall(TargetDescription &target) {
  constexpr int few = 8, many = 264;
  llvm::Expected<double> less = measureIdle(few, target);
  if (!less)
    return driver::toStatus(less.takeError(), StatusCode::Internal);
  llvm::Expected<double> more = measureIdle(many, target);
  if (!more)
    return driver::toStatus(more.takeError(), StatusCode::Internal);
  target.callSeconds = std::max((*more - *less) / (many - few), 1 / target.clockHz);
  return {};
}

Status measureKernels(TargetDescription &target) {
  TargetDescription ideal = target;
  ideal.efficiency = {1, 1, 1, 1, 1, 1, 1};
  const std::vector<Sample> all = samples();
  std::vector<double> shares; // of the rates in `ideal`
  for (const Sample &sample : all) {
    llvm::Expected<driver::CompiledModel> compiled = compileText(sample.graph, ideal, FusionMode::Dominator);
    if (!compiled)
      return driver::toStatus(compiled.takeError(), StatusCode::Internal);
    const double expected = compiled->predictions[sample.kernel].cost.*sample.part;
    auto program = driver::Program::load(std::move(*compiled), nullptr, /*profiled=*/true);
    if (!program)
      return driver::toStatus(program.takeError(), StatusCode::Internal);
    shares.push_back(expected / measureKernel(**program, sample.kernel, target));
  }
  // A kernel that seems to exceed the machine does not: the model counts too much for it.
  constexpr double least = 0.01, most = 1;
  for (auto [sample, share] : llvm::zip_equal(all, shares))
    target.efficiency.*sample.share =
        std::clamp(share * (ideal.*sample.rate / target.*sample.rate), least, most);
  return {};
}

} // namespace tokamak::tool
