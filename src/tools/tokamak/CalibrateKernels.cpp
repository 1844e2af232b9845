//===- CalibrateKernels.cpp - what share of the machine's rate our own kernels reach -----------===//
#include "CalibrateKernels.h"
#include "driver/Fault.h"
#include "driver/Program.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include <algorithm>
#include <fmt/format.h>
#include <limits>

namespace tokamak::tool {

namespace {

/// A graph with operands that the caches keep, and the number of the kernel in it that is measured.
struct Sample {
  size_t kernel;
  double KernelEfficiency::*share;
  double fusion::GroupCost::*part; ///< of the cost that the share scales
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
      {1, &KernelEfficiency::denseConvolution, &fusion::GroupCost::anchor,
       betweenConvolutions(64, 28, convolution("m", "c", 64, 64, 28, 3))},
      {1, &KernelEfficiency::pointwiseConvolution, &fusion::GroupCost::anchor,
       betweenConvolutions(64, 28, convolution("m", "c", 64, 64, 28, 1))},
      {1, &KernelEfficiency::groupedConvolution, &fusion::GroupCost::anchor,
       betweenConvolutions(64, 28, convolution("m", "c", 64, 64, 28, 3, 64))},
      {0, &KernelEfficiency::matmul, &fusion::GroupCost::anchor,
       function("tensor<128x256xf32>",
                "%w = tk.constant dense<0.01> : tensor<256x256xf32>\n"
                "%r = tk.matmul %x, %w : (tensor<128x256xf32>, tensor<256x256xf32>) -> tensor<128x256xf32>\n",
                "tensor<128x256xf32>")},
      {1, &KernelEfficiency::window, &fusion::GroupCost::anchor,
       betweenConvolutions(
           64, 28,
           "%m = tk.window %c {kind = #tk.reduce_kind<max>, kernel = array<i64: 3, 3>, "
           "strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, "
           "pads_high = array<i64: 1, 1>} : (" +
               plane + ") -> " + plane + "\n")},
      {0, &KernelEfficiency::elementwise, &fusion::GroupCost::elementwise,
       function(vector, elementwise, vector)},
      {0, &KernelEfficiency::reduction, &fusion::GroupCost::elementwise,
       function("tensor<32x1024xf32>",
                "%r = tk.reduce %x {axes = array<i64: 1>, keep_dims = false, kind = #tk.reduce_kind<sum>} : "
                "(tensor<32x1024xf32>) -> tensor<32xf32>\n",
                "tensor<32xf32>")},
  };
}

llvm::Expected<driver::CompiledModel> compileText(const std::string &text, const TargetDescription &target) {
  driver::PartitionedModel model;
  model.context = driver::makeContext();
  model.target = target;
  model.module = mlir::parseSourceString<mlir::ModuleOp>(text, model.context.get());
  PipelineOptions options;
  options.fusion = FusionMode::Dominator;
  options.target = target;
  if (!model.module || mlir::failed(runPipeline(*model.module, options)))
    return llvm::createStringError("a graph for calibration does not compile");
  driver::CompileOptions compile;
  compile.predict = true;
  compile.threads = 1;
  return driver::generateModel(model, compile);
}

/// Milliseconds of a kernel of the program, the least of many runs.
double measureKernel(driver::Program &program, size_t kernel) {
  std::vector<HostTensor> values;
  std::vector<void *> inputs, outputs;
  for (auto [infos, pointers] :
       {std::pair(&program.info().inputs, &inputs), std::pair(&program.info().outputs, &outputs)})
    for (const ValueInfo &info : *infos)
      pointers->push_back(values.emplace_back(info.type, info.shape).bytes.data());
  double best = std::numeric_limits<double>::infinity();
  constexpr int runs = 100;
  for (int run = 0; run < runs; ++run) {
    program.resetKernelTimes();
    program.run(inputs.data(), outputs.data());
    best = std::min(best, program.kernelTimes()[kernel].ms);
  }
  return best;
}

} // namespace

Status measureKernels(TargetDescription &target) {
  TargetDescription ideal = target;
  ideal.efficiency = {1, 1, 1, 1, 1, 1, 1};
  for (const Sample &sample : samples()) {
    llvm::Expected<driver::CompiledModel> compiled = compileText(sample.graph, ideal);
    if (!compiled)
      return driver::toStatus(compiled.takeError(), StatusCode::Internal);
    const double expected = compiled->predictions[sample.kernel].cost.*sample.part;
    const double boundMs = 1e3 * expected;
    auto program = driver::Program::load(std::move(*compiled), nullptr, /*profiled=*/true);
    if (!program)
      return driver::toStatus(program.takeError(), StatusCode::Internal);
    const double measured = measureKernel(**program, sample.kernel);
    // Shares outside of this are faults of the measurement, not of a kernel.
    constexpr double least = 0.01, most = 2;
    target.efficiency.*sample.share = std::clamp(boundMs / measured, least, most);
  }
  return {};
}

} // namespace tokamak::tool
