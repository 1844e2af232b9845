//===- WinogradProgramTest.cpp - convolutions by minimal filtering among other operators ------------===//
// The kernel alone is tested in codegen/anchors/WinogradTest.cpp.
#include "ConvolutionChainCase.h"
#include "codegen/Program.h"
#include "ir/Tk.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "rewrite/PassRunner.h"
#include <cmath>

using namespace tokamak;
using namespace tokamak::test;

namespace {

/// Convolutions that the pass marks, before any of them is merged away.
int64_t marked(const std::string &text, FusionMode fusion, const std::string &cpu, bool exact) {
  mlir::MLIRContext context;
  context.loadDialect<tk::TkDialect, mlir::func::FuncDialect>();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  PipelineOptions options;
  options.fusion = fusion;
  options.exact = exact;
  options.target = llvm::cantFail(TargetDescription::forCpu(cpu));
  if (!module || failed(runPipeline(*module, options)))
    return -1;
  int64_t count = 0;
  module->walk([&](tk::ConvOp conv) { count += conv.getWinograd().has_value(); });
  return count;
}

/// Close to the evaluator's in every mode, on one thread and two, with so many convolutions marked at least;
/// and to the last bit on integers where plain sums are asked for.
void expectSameFiltered(const std::string &text, int64_t atLeast) {
  for (const char *cpu : {"native", "x86-64-v3"})
    for (FusionMode fusion : {FusionMode::None, FusionMode::Dominator, FusionMode::Full}) {
      EXPECT_GE(marked(text, fusion, cpu, false), atLeast) << cpu << "\n" << text;
      EXPECT_EQ(marked(text, fusion, cpu, true), 0) << cpu;
      ProgramCase test;
      test.text = text;
      test.cpu = cpu;
      test.fusion = fusion;
      test.filters = true;
      EXPECT_EQ(differenceFromReference(test), "") << cpu << "\n" << text;
      test.filters = false;
      test.exact = true;
      EXPECT_EQ(differenceFromReference(test), "") << cpu << ", plain sums\n" << text;
    }
}

TEST(WinogradProgram, BiasActivationAndResidual) {
  // Nothing that clips: the error is one of the sums, and theirs is the scale.
  expectSameFiltered(
      Chain({1, 64, 28, 28}).add(pointwise(64)).add(dense(64, 3, 1, "shift")).addInput().function(), 1);
  expectSameFiltered(Chain({2, 64, 28, 28})
                         .add(pointwise(64, "relu6"))
                         .add(dense(64, 3, 1, "shift"))
                         .add(dense(64, 3))
                         .addInput()
                         .function(),
                     2);
}

TEST(WinogradProgram, RaggedChannelsTilesAndPads) {
  Layer uneven{.out = 72, .kernel = 3, .pads = {0, 2, 1, 0}, .act = "relu6"};
  expectSameFiltered(Chain({1, 40, 23, 31}).add(pointwise(56)).add(uneven).add(dense(90, 3)).function(), 1);
  expectSameFiltered(
      Chain({3, 64, 30, 29}).add(pointwise(64)).add(dense(64, 3)).add(dense(64, 3, 1, "shift")).function(),
      2);
}

/// What comes behind finds blocks, rows, or sums as it would behind plain sums.
TEST(WinogradProgram, PoolsAndMeansBehind) {
  expectSameFiltered(Chain({1, 64, 28, 28})
                         .add(dense(64, 3, 1, "relu6"))
                         .pool("max", 3, 2, 1, 1)
                         .add(dense(64, 3))
                         .function(),
                     1);
  expectSameFiltered(
      Chain({1, 64, 28, 28}).add(dense(64, 3)).add(dense(64, 3, 1, "relu6")).reduce("mean").function(), 1);
}

/// A part of a concatenation is written, and another one read, where it lies.
TEST(WinogradProgram, PartsOfOneMemory) {
  Chain chain({2, 64, 28, 28});
  chain.add(pointwise(64)).add(dense(64, 3, 1, "relu6"));
  std::string first = chain.value();
  chain.add(dense(64, 3));
  std::string second = chain.value(), part = chain.type(), whole = "tensor<2x128x28x28xf32>";
  expectSameFiltered(chain.function("%whole = tk.concat " + first + ", " + second + " {axis = 1 : i64} : (" +
                                        part + ", " + part + ") -> " + whole + "\n",
                                    "%whole", whole),
                     2);
}

/// A convolution that finds its input in rows is computed by plain sums, and the module says so afterwards.
TEST(WinogradProgram, AttributesSayWhatWasCompiled) {
  const std::string text =
      Chain({1, 64, 28, 28}).add(dense(64, 3)).add(dense(64, 3)).add(dense(64, 3)).function();
  mlir::MLIRContext context;
  context.loadDialect<tk::TkDialect, mlir::func::FuncDialect>();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  ASSERT_TRUE(module);
  PipelineOptions options;
  options.fusion = FusionMode::Full;
  options.target = llvm::cantFail(TargetDescription::forCpu("native"));
  ASSERT_TRUE(succeeded(runPipeline(*module, options)));
  auto filtered = [&] {
    std::vector<bool> all;
    module->walk([&](tk::ConvOp conv) { all.push_back(conv.getWinograd().has_value()); });
    return all;
  };
  ASSERT_EQ(filtered(), (std::vector<bool>{false, true, true}));
  mlir::OpBuilder builder(&context);
  module->walk([&](tk::ConvOp conv) { conv.setWinogradAttr(builder.getI64IntegerAttr(4)); });
  llvm::cantFail(codegen::compileProgram(*module, *options.target));
  EXPECT_EQ(filtered(), (std::vector<bool>{false, true, true}));
}

/// A NaN reaches all results that read it, and none beyond the tiles that do.
TEST(WinogradProgram, NotANumberStaysInItsTiles) {
  constexpr int64_t channels = 64, extent = 28, at = 13;
  std::string text =
      Chain({1, channels, extent, extent}).add(pointwise(channels)).add(dense(channels, 3)).function();
  mlir::MLIRContext context;
  context.loadDialect<tk::TkDialect, mlir::func::FuncDialect>();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  ASSERT_TRUE(module);
  auto target = llvm::cantFail(TargetDescription::forCpu("native"));
  auto program = llvm::cantFail(TestProgram::compile(*module, FusionMode::Full, target, /*exact=*/false));
  Tensor input(DataType::Float32, {1, channels, extent, extent});
  auto *x = reinterpret_cast<float *>(input.mutableBytes());
  std::fill(x, x + input.size(), 1.0F);
  x[at * extent + at] = std::nanf("");
  std::vector<Tensor> results = llvm::cantFail(program->run({input}, nullptr, GuardedMemory::Guard::Behind));
  for (int64_t row = 0; row < extent; ++row)
    for (int64_t column = 0; column < extent; ++column) {
      const bool isNaN = std::isnan(results[0].doubleAt(row * extent + column));
      const int64_t distance = std::max(std::abs(row - at), std::abs(column - at));
      if (distance <= 1)
        EXPECT_TRUE(isNaN) << row << ", " << column;
      if (distance > 4) // no tile of 6 inputs holds both
        EXPECT_FALSE(isNaN) << row << ", " << column;
    }
}

} // namespace
