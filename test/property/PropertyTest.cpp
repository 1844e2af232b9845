//===- PropertyTest.cpp - random graphs through every pass, partitioner and the compiled code
//-------------===//
// Environment: TOKAMAK_SEED=N checks all properties of that one graph and prints it; TOKAMAK_GRAPHS=COUNT
// checks so many, from TOKAMAK_FIRST on.
#include "ProgramHarness.h"
#include "Properties.h"
#include "RandomGraph.h"
#include "Shrink.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/Signals.h"
#include "gtest/gtest.h"

namespace tokamak::test {

namespace {

int64_t setting(const char *name, int64_t otherwise) {
  const char *text = std::getenv(name);
  return text ? std::atoll(text) : otherwise;
}

std::string textOf(const GraphCase &graph) {
  std::string text;
  llvm::raw_string_ostream out(text);
  graph.module.get()->print(out, mlir::OpPrintingFlags().elideLargeElementsAttrs(64));
  for (const Tensor &input : graph.inputs) {
    out << "input " << name(input.type()) << ":";
    for (int64_t i = 0; i < std::min<int64_t>(input.size(), 32); ++i)
      out << ' ' << input.doubleAt(i);
    out << (input.size() > 32 ? " ...\n" : "\n");
  }
  return text;
}

} // namespace

TEST(RandomGraph, KeepsItsMeaning) {
  llvm::EnablePrettyStackTrace();
  llvm::sys::PrintStackTraceOnErrorSignal("");
  std::unique_ptr<TkPool, void (*)(TkPool *)> pool(tk_pool_create(2), tk_pool_destroy);
  const std::vector<Property> cheap = graphProperties(), compiled = compiledProperties(pool.get());
  const int64_t only = setting("TOKAMAK_SEED", -1);
  const int64_t first = only >= 0 ? only : setting("TOKAMAK_FIRST", 1);
  const int64_t count = only >= 0 ? 1 : setting("TOKAMAK_GRAPHS", 200);
  constexpr int64_t mostFailures = 20;
  int64_t failures = 0;
  for (int64_t seed = first; seed < first + count && failures < mostFailures; ++seed) {
    llvm::PrettyStackTraceFormat trace("random graph, TOKAMAK_SEED=%lld", static_cast<long long>(seed));
    auto context = makeContext();
    RandomGraph random(*context, static_cast<uint64_t>(seed));
    GraphCase graph = random.take();
    if (only >= 0)
      llvm::errs() << textOf(graph);
    ASSERT_TRUE(mlir::succeeded(mlir::verify(*graph.module))) << "seed " << seed << " makes no valid graph";
    // Each graph is compiled in one way, all ways in turn.
    std::vector<const Property *> properties;
    for (const Property &property : cheap)
      properties.push_back(&property);
    for (size_t i = 0; i < compiled.size(); ++i)
      if (only >= 0 || i == static_cast<size_t>(seed) % compiled.size())
        properties.push_back(&compiled[i]);
    for (const Property *property : properties) {
      llvm::PrettyStackTraceFormat what("property: %s", property->name.c_str());
      std::string problem = property->check(graph);
      if (problem.empty())
        continue;
      ++failures;
      GraphCase small =
          shrink(graph, [&](const GraphCase &other) { return !property->check(other).empty(); });
      ADD_FAILURE() << property->name << ": " << problem << "\nrepeat with TOKAMAK_SEED=" << seed
                    << " test_property\nshrunk to (" << property->check(small) << ")\n"
                    << textOf(small);
      break;
    }
  }
}

} // namespace tokamak::test
