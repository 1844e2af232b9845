//===- PartitionTimeTest.cpp - the time that rewriting and fusing take grows with the graph --------===//
// Environment: TOKAMAK_PARTITION_TIMES=1 prints FAMILY,OPERATORS,MODE,SECONDS up to 20,000 operators instead
// (scripts/compile-time draws it).
#include "LargeGraphs.h"
#include "ir/Tk.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "rewrite/PassRunner.h"
#include "gtest/gtest.h"
#include <cmath>
#include <cstdlib>
#include <ctime>

using namespace tokamak;
using test::GraphFamily;

namespace {

struct Mode {
  const char *name;
  FusionMode fusion;
  std::vector<std::string> forced = {};
};

const Mode modes[] = {{"dominator", FusionMode::Dominator},
                      {"full", FusionMode::Full},
                      {"search", FusionMode::Full, {"merge-siblings"}}};

/// Processor time, so that a busy machine does not matter.
double seconds(const GraphFamily &family, int operators, const Mode &mode) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<tk::TkDialect, mlir::func::FuncDialect>();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(family.generate(operators), &context);
  EXPECT_TRUE(module);
  PipelineOptions options;
  options.fusion = mode.fusion;
  options.forcedRewrites = mode.forced;
  options.timing = std::getenv("TOKAMAK_PASS_TIMES") != nullptr;
  DecisionLog decisions;
  options.decisions = &decisions;
  std::vector<std::pair<std::string, std::string>> removed;
  options.removed = &removed;
  std::clock_t start = std::clock();
  EXPECT_TRUE(mlir::succeeded(runPipeline(*module, options)));
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

class PartitionTime : public testing::TestWithParam<GraphFamily> {};

TEST_P(PartitionTime, GrowsNoFasterThanTheGraph) {
  const GraphFamily &family = GetParam();
  if (std::getenv("TOKAMAK_PARTITION_TIMES")) {
    for (int operators : {1000, 2000, 5000, 10000, 20000})
      for (const Mode &mode : modes) {
        printf("%s,%d,%s,%.3f\n", family.name, operators, mode.name, seconds(family, operators, mode));
        fflush(stdout);
      }
    return;
  }
  // n log n would be 4.7 times as long. Other work takes caches away for a while, not three times over.
  for (const Mode &mode : modes) {
    double small = 0, large = 1;
    for (int attempt = 0; attempt < 3 && large >= 8 * small + 0.05; ++attempt) {
      small = seconds(family, 600, mode);
      large = seconds(family, 2400, mode);
    }
    EXPECT_LT(large, 8 * small + 0.05) << mode.name << ": " << small << " s, then " << large << " s";
  }
}

INSTANTIATE_TEST_SUITE_P(Families, PartitionTime, testing::ValuesIn(test::graphFamilies()),
                         [](const auto &info) { return info.param.name; });

} // namespace
