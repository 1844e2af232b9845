//===- RandomGraphTest.cpp - random graphs, compiled, against the evaluator
//-------------------------------===//
// Environment: TOKAMAK_SEED=N runs that one graph and prints it; TOKAMAK_GRAPHS=COUNT runs so many, from
// TOKAMAK_FIRST on.
#include "RandomGraph.h"
#include "ProgramHarness.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "reference/Evaluate.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/Signals.h"
#include "gtest/gtest.h"

namespace tokamak::test {

namespace {

int64_t setting(const char *name, int64_t otherwise) {
  const char *text = std::getenv(name);
  return text ? std::atoll(text) : otherwise;
}

struct Configuration {
  const char *cpu;
  FusionMode fusion;
};

/// Empty, or what went wrong with the graph.
std::string run(mlir::MLIRContext &context, uint64_t seed, bool print,
                llvm::ArrayRef<Configuration> configurations, TkPool *pool) {
  RandomGraph graph(context, seed);
  if (print)
    graph.module->dump();
  if (mlir::failed(mlir::verify(*graph.module)))
    return "the generator made a graph that is not valid";
  auto expected =
      reference::evaluateFunction(graph.module->lookupSymbol<mlir::func::FuncOp>("main"), graph.inputs);
  if (mlir::failed(expected))
    return "the evaluator failed";
  for (const Configuration &configuration : configurations) {
    std::string where = std::string(configuration.cpu) +
                        (configuration.fusion == FusionMode::None ? ", unfused: " : ", fused: ");
    auto program = TestProgram::compile(*graph.module, configuration.fusion, configuration.cpu);
    if (!program)
      return where + llvm::toString(program.takeError());
    auto results = (*program)->run(graph.inputs, nullptr, GuardedMemory::Guard::Behind);
    if (!results)
      return where + llvm::toString(results.takeError());
    for (size_t i = 0; i < results->size(); ++i)
      if (auto text = firstDifference((*results)[i], (*expected)[i], graph.tolerances[i]); !text.empty())
        return where + "result " + std::to_string(i) + ", " + text;
    auto again = (*program)->run(graph.inputs, pool, GuardedMemory::Guard::Before);
    if (!again)
      return where + llvm::toString(again.takeError());
    if (!haveSameBytes(*results, *again))
      return where + "two threads give other bits than one";
  }
  return "";
}

} // namespace

TEST(RandomGraph, ComputesWhatTheEvaluatorSays) {
  llvm::EnablePrettyStackTrace();
  llvm::sys::PrintStackTraceOnErrorSignal("");
  std::unique_ptr<TkPool, void (*)(TkPool *)> pool(tk_pool_create(2), tk_pool_destroy);
  const Configuration all[] = {{"native", FusionMode::Dominator},
                               {"native", FusionMode::None},
                               {"x86-64-v3", FusionMode::Dominator},
                               {"x86-64-v3", FusionMode::None}};
  const int64_t only = setting("TOKAMAK_SEED", -1);
  const int64_t first = only >= 0 ? only : setting("TOKAMAK_FIRST", 1);
  const int64_t count = only >= 0 ? 1 : setting("TOKAMAK_GRAPHS", 200);
  int64_t failures = 0;
  for (int64_t seed = first; seed < first + count && failures < 50; ++seed) {
    llvm::PrettyStackTraceFormat trace("random graph, seed %lld", static_cast<long long>(seed));
    auto context = makeContext();
    // Each graph in one way, all ways in turn.
    llvm::ArrayRef<Configuration> configurations = all;
    if (only < 0)
      configurations = configurations.slice(static_cast<size_t>(seed % 4), 1);
    std::string problem = run(*context, static_cast<uint64_t>(seed), only >= 0, configurations, pool.get());
    if (problem.empty())
      continue;
    ++failures;
    ADD_FAILURE() << "seed " << seed << ": " << problem;
  }
}

} // namespace tokamak::test
