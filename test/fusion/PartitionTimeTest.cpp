//===- PartitionTimeTest.cpp - the time that forming groups takes grows with the graph
//--------------------===//
// Environment: TOKAMAK_PARTITION_TIMES=1 prints a table up to 20,000 operators.
#include "ir/Tk.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "rewrite/PassRunner.h"
#include "gtest/gtest.h"
#include <ctime>

using namespace tokamak;

namespace {

/// Blocks of what real graphs are made of: chains, residual additions, norms in pieces, products; one value
/// that every block reads, and every block's value in one long sum.
std::string generate(int operators) {
  std::string row = "tensor<32x64xf32>", one = "tensor<32x1xf32>";
  std::string text = "func.func @main(%x0: " + row + ", %w: tensor<64x64xf32>) -> (" + row + ", " + row +
                     ") {\n%n = tk.constant dense<64.0> : tensor<f32>\n%mask = tk.exp %x0 : (" + row +
                     ") -> " + row + "\n%sum0 = tk.neg %x0 : (" + row + ") -> " + row + "\n";
  auto reduce = [&](const std::string &to, const std::string &from) {
    text += to + " = tk.reduce " + from +
            " {kind = #tk.reduce_kind<sum>, axes = array<i64: 1>, keep_dims = true} : (" + row + ") -> " +
            one + "\n";
  };
  auto binary = [&](const std::string &op, const std::string &to, const std::string &a, const std::string &b,
                    const std::string &bType) {
    text += to + " = tk." + op + " " + a + ", " + b + " : (" + row + ", " + bType + ") -> " + row + "\n";
  };
  int blocks = operators / 12;
  for (int i = 0; i < blocks; ++i) {
    auto name = [&](const std::string &what) { return "%" + what + std::to_string(i); };
    std::string x = "%x" + std::to_string(i);
    reduce(name("s"), x);
    text += name("m") + " = tk.div " + name("s") + ", %n : (" + one + ", tensor<f32>) -> " + one + "\n";
    binary("sub", name("d"), x, name("m"), one);
    binary("mul", name("q"), name("d"), name("d"), row);
    reduce(name("t"), name("q"));
    text += name("u") + " = tk.sqrt " + name("t") + " : (" + one + ") -> " + one + "\n";
    binary("div", name("r"), name("d"), name("u"), one);
    text +=
        name("p") + " = tk.matmul " + name("r") + ", %w : (" + row + ", tensor<64x64xf32>) -> " + row + "\n";
    binary("add", name("a"), name("p"), x, row);
    binary("mul", name("k"), name("a"), "%mask", row);
    text += "%x" + std::to_string(i + 1) + " = tk.tanh " + name("k") + " : (" + row + ") -> " + row + "\n";
    binary("add", "%sum" + std::to_string(i + 1), "%sum" + std::to_string(i), name("a"), row);
  }
  std::string last = std::to_string(blocks);
  return text + "return %x" + last + ", %sum" + last + " : " + row + ", " + row + "\n}";
}

double seconds(int operators, FusionMode fusion) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<tk::TkDialect, mlir::func::FuncDialect>();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(generate(operators), &context);
  EXPECT_TRUE(module);
  PipelineOptions options;
  options.fusion = fusion;
  DecisionLog decisions;
  options.decisions = &decisions;
  std::clock_t start = std::clock();
  EXPECT_TRUE(mlir::succeeded(runPipeline(*module, options)));
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

TEST(PartitionTime, GrowsNoFasterThanTheGraph) {
  if (std::getenv("TOKAMAK_PARTITION_TIMES")) {
    for (int operators : {1000, 2000, 5000, 10000, 20000})
      for (FusionMode fusion : {FusionMode::Dominator, FusionMode::Full})
        printf("%6d operators, fusion %d: %.3f s\n", operators, static_cast<int>(fusion),
               seconds(operators, fusion));
    return;
  }
  // Processor time, so that a busy machine does not matter; n log n would be 4.7 times as long.
  double small = seconds(600, FusionMode::Full), large = seconds(2400, FusionMode::Full);
  EXPECT_LT(large, 8 * small) << "600 operators: " << small << " s, 2400: " << large << " s";
}

} // namespace
