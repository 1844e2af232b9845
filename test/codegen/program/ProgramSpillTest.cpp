//===- ProgramSpillTest.cpp - accumulators of whole programs stay in registers ----------------===//
// Kernels as models have them, with prologues, epilogues and bands; for single anchors see
// anchors/SpillTest.cpp.
#include "ConvolutionChainCase.h"
#include "codegen/anchors/KernelHarness.h"
#include "mlir/Parser/Parser.h"

using namespace tokamak;
using namespace tokamak::test;

namespace {

class ProgramSpillTest : public testing::TestWithParam<const char *> {
protected:
  TargetDescription target = llvm::cantFail(TargetDescription::forCpu(GetParam()));
  // Of the last program.
  size_t kernels = 0;
  int64_t filtered = 0; ///< convolutions by minimal filtering

  /// Kernels that spill in an innermost loop with multiply-adds, and how often; or what went wrong.
  std::string spills(const Chain &chain) {
    auto context = makeContext();
    auto module = mlir::parseSourceString<mlir::ModuleOp>(chain.function(), context.get());
    PipelineOptions options;
    options.fusion = FusionMode::Full;
    options.threads = 1;
    options.target = target;
    if (!module || failed(runPipeline(*module, options)))
      return "the pipeline failed";
    std::string assembly, found;
    codegen::CodegenOptions codegen;
    codegen.emit = "asm";
    codegen.emitted = &assembly;
    auto program = codegen::compileProgram(*module, target, codegen);
    if (!program)
      return llvm::toString(program.takeError());
    kernels = program->kernelCount;
    filtered = 0;
    module->walk([&](tk::ConvOp conv) { filtered += conv.getWinograd().has_value(); });
    if (!llvm::StringRef(assembly).contains("vfmadd"))
      return "no multiply-adds";
    llvm::SmallVector<llvm::StringRef> functions;
    llvm::StringRef(assembly).split(functions, "\t.globl\t");
    for (llvm::StringRef function : functions)
      if (int64_t count = countInnerLoopSpills(function))
        found += function.take_until([](char c) { return c == '\n' || c == '\t'; }).str() + ": " +
                 std::to_string(count) + "\n";
    return found;
  }
};

TEST_P(ProgramSpillTest, Resnet) {
  EXPECT_EQ(spills(Chain({1, 3, 112, 112})
                       .add(dense(64, 7, 2, "relu6"))
                       .pool("max", 3, 2, 1, 1)
                       .add(dense(64, 3, 2, "relu6"))
                       .add(pointwise(128))
                       .reduce("mean")),
            "");
  EXPECT_EQ(filtered, 0);
  EXPECT_EQ(spills(Chain({1, 256, 28, 28})
                       .add(pointwise(64, "relu6"))
                       .add(dense(64, 3, 1, "relu6"))
                       .add(pointwise(256))
                       .addInput()
                       .activate("relu6")),
            "");
  EXPECT_GT(filtered, 0);
  EXPECT_EQ(spills(Chain({1, 128, 14, 14})
                       .add(pointwise(256, "relu6"))
                       .add(dense(256, 3, 1, "relu6"))
                       .add(dense(256, 3, 1))
                       .add(dense(128, 3, 2))),
            "");
  EXPECT_GT(filtered, 0);
}

TEST_P(ProgramSpillTest, Mobilenet) {
  EXPECT_EQ(spills(Chain({1, 3, 112, 112})
                       .add(dense(32, 3, 2, "relu6"))
                       .add(depthwise(32, 3, 1, "relu6"))
                       .add(pointwise(16))
                       .add(pointwise(96, "relu6"))
                       .add(depthwise(96, 3, 2, "relu6"))
                       .add(pointwise(24))),
            "");
  EXPECT_EQ(spills(Chain({1, 24, 56, 56})
                       .add(pointwise(144, "relu6"))
                       .add(depthwise(144, 3, 1, "relu6"))
                       .add(pointwise(24))
                       .addInput()),
            "");
}

// Expand, depthwise and project as bands of one kernel.
TEST_P(ProgramSpillTest, Bottlenecks) {
  makeCallsDear(target);
  for (const char *act : {"relu6", "gate"})
    for (int64_t extent : {28, 14, 7})
      for (int64_t kernel : {3, 5})
        for (int64_t stride : {1, 2}) {
          EXPECT_EQ(spills(Chain({1, 40, extent, extent})
                               .add(pointwise(240, act))
                               .add(depthwise(240, kernel, stride, act))
                               .add(pointwise(80))),
                    "")
              << act << ", " << extent << ", " << kernel << ", " << stride;
          EXPECT_EQ(kernels, 1u);
        }
  EXPECT_EQ(spills(Chain({1, 64, 28, 28}).add(dense(64, 3, 1, "relu6")).add(pointwise(128))), "");
  EXPECT_EQ(kernels, 1u);
}

INSTANTIATE_TEST_SUITE_P(Targets, ProgramSpillTest, testing::Values("x86-64-v4", "x86-64-v3"),
                         [](const testing::TestParamInfo<const char *> &info) {
                           return std::string(info.param).substr(7);
                         });

} // namespace
