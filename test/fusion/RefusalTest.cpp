//===- RefusalTest.cpp - each guard of the merging passes has its reason --------------------------------===//
// Several guards of a pass stand behind each other, and behind all of them the cost model: without one the
// groups may be the same, for another reason. The reason tells which guard it was.
#include "analysis/TargetDescription.h"
#include "codegen/kernel/KernelEstimate.h"
#include "fusion/Candidate.h"
#include "fusion/Decision.h"
#include "fusion/KernelDialects.h"
#include "ir/Tk.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "rewrite/Passes.h"
#include "gtest/gtest.h"

using namespace tokamak;

namespace {

using CreatePass = std::unique_ptr<mlir::Pass> (*)(PassStatePtr);

class RefusalTest : public testing::Test {
protected:
  RefusalTest() {
    mlir::DialectRegistry registry;
    fusion::registerKernelDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadDialect<tk::TkDialect, mlir::func::FuncDialect>();
  }

  /// Runs the partitioner and the passes; the decisions of the last are kept.
  void run(const std::string &function, std::initializer_list<CreatePass> merging) {
    module = mlir::parseSourceString<mlir::ModuleOp>(function, &context);
    ASSERT_TRUE(module);
    log.decisions.clear();
    mlir::PassManager passes(&context);
    auto first = std::make_shared<PassState>();
    if (merging.size() == 0)
      first->decisions = &log;
    passes.addPass(createPartitionDominatorPass(first));
    for (const CreatePass *create = merging.begin(); create != merging.end(); ++create) {
      auto state = std::make_shared<PassState>();
      if (create + 1 == merging.end())
        state->decisions = &log;
      passes.addPass((*create)(state));
    }
    ASSERT_TRUE(mlir::succeeded(passes.run(*module)));
  }
  /// The last word on the edge from node `producer` to node `consumer`.
  std::string reason(const std::string &producer, const std::string &consumer) {
    std::string last = "no such edge";
    for (const Decision &decision : log.decisions)
      if (decision.producer == producer && decision.consumer == consumer)
        last = reasonName(decision.reason).str() + ": " + decision.detail;
    return last;
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  DecisionLog log;
};

std::string node(const std::string &name) { return " loc(\"" + name + ":Op\")\n"; }

const std::string t = "tensor<64x64xf32>";
const std::string unary = " : (tensor<64x64xf32>) -> tensor<64x64xf32>";
const std::string binary = " : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>";

/// `count` operators one after the other from %x, each a node n0, n1, ...; the value of the last.
std::string chain(int count, std::string &body) {
  std::string last = "%x";
  for (int i = 0; i < count; ++i) {
    body += "%" + std::to_string(i) + " = tk.abs " + last + unary + node("n" + std::to_string(i));
    last = "%" + std::to_string(i);
  }
  return last;
}

} // namespace

TEST_F(RefusalTest, OutputsTooManyOperators) {
  std::string body;
  const std::string last = chain(256, body);
  run("func.func @main(%x: " + t + ") -> (" + t + ", " + t + ") {\n" + body + "%r = tk.neg " + last + unary +
          node("reader") + "return " + last + ", %r : " + t + ", " + t + "\n}",
      {createMergeOutputsPass});
  EXPECT_EQ(reason("n255", "reader"), "too-many-operators: 257 operators");
}

TEST_F(RefusalTest, OutputsSecondAnchor) {
  run("func.func @main(%x: " + t + ", %w: " + t + ") -> (" + t + ", " + t + ") {\n%0 = tk.matmul %x, %w" +
          binary + node("first") + "%1 = tk.matmul %0, %w" + binary + node("second") +
          "return %0, %1 : " + t + ", " + t + "\n}",
      {createMergeOutputsPass});
  EXPECT_EQ(reason("first", "second"), "second-anchor: ");
}

TEST_F(RefusalTest, OutputsInFrontOfProducts) {
  run("func.func @main(%x: " + t + ", %w: " + t + ") -> (" + t + ", " + t + ") {\n%0 = tk.abs %x" + unary +
          node("front") + "%1 = tk.matmul %0, %w" + binary + node("product") + "return %0, %1 : " + t + ", " +
          t + "\n}",
      {createMergeOutputsPass});
  EXPECT_EQ(reason("front", "product"), "anchor-input: ");
}

TEST_F(RefusalTest, RecomputationTooManyOperators) {
  std::string body;
  const std::string last = chain(256, body);
  run("func.func @main(%x: " + t + ") -> (" + t + ", tensor<64xf32>) {\n" + body + "%r = tk.reduce " + last +
          " {kind = #tk.reduce_kind<max>, axes = array<i64: 0>, keep_dims = false} : (" + t +
          ") -> tensor<64xf32>" + node("reader") + "return " + last + ", %r : " + t + ", tensor<64xf32>\n}",
      {createRecomputeProducersPass});
  EXPECT_EQ(reason("n255", "reader"), "too-many-operators: 257 operators");
}

namespace {
const std::string image = "tensor<1x96x14x14xf32>";
/// A depthwise convolution of `x`.
std::string convolution(const std::string &result, const std::string &x, const std::string &type = image) {
  return result + " = tk.conv " + x +
         ", %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, "
         "pads_high = array<i64: 1, 1>, group = 96 : i64} : (" +
         type + ", tensor<96x1x3x3xf32>) -> " + type;
}
const std::string weights = "%w = tk.constant dense<0.5> : tensor<96x1x3x3xf32>\n";
std::string sum(const std::string &x, const std::string &type, const std::string &result) {
  return "%s = tk.reduce " + x +
         " {axes = array<i64: 2, 3>, keep_dims = true, kind = #tk.reduce_kind<sum>} : (" + type + ") -> " +
         result;
}
} // namespace

TEST_F(RefusalTest, ChainsWithAnInteriorOutput) {
  run("func.func @main(%x: " + image + ") -> (" + image + ", " + image + ") {\n" + weights +
          convolution("%0", "%x") + node("first") + convolution("%1", "%0") + node("second") +
          "return %0, %1 : " + image + ", " + image + "\n}",
      {createMergeAnchorsPass});
  EXPECT_EQ(reason("first", "second"), "graph-output: first");
}

TEST_F(RefusalTest, NoChainStoresWhatLiesInside) {
  // Behind the pass, which proposes no such group, stands the kernel, which would hold none either.
  for (bool isVisible : {false, true}) {
    const std::string results = isVisible ? "%0, %1" : "%1", types = isVisible ? image + ", " + image : image;
    module = mlir::parseSourceString<mlir::ModuleOp>(
        "func.func @main(%x: " + image + ") -> (" + types + ") {\n" + weights +
            "%p = tk.constant dense<0.25> : tensor<96x96x1x1xf32>\n%0 = tk.conv %x, %p {strides = array<i64: "
            "1, "
            "1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, "
            "group "
            "= 1 : i64} : (" +
            image + ", tensor<96x96x1x1xf32>) -> " + image + "\n" + convolution("%1", "%0") + "\nreturn " +
            results + " : " + types + "\n}",
        &context);
    ASSERT_TRUE(module);
    llvm::SmallVector<mlir::Operation *> convolutions;
    module->walk([&](tk::ConvOp conv) { convolutions.push_back(conv); });
    codegen::KernelEstimate kernel = codegen::estimateKernel(
        fusion::Candidate(convolutions).group(), llvm::cantFail(TargetDescription::forCpu("x86-64-v3")));
    EXPECT_EQ(kernel.isTiled(), !isVisible) << kernel.kind;
  }
}

TEST_F(RefusalTest, ChainsWithAnotherReader) {
  run("func.func @main(%x: " + image + ") -> (" + image + ", " + image + ") {\n" + weights +
          convolution("%0", "%x") + node("first") + convolution("%1", "%0") + node("second") +
          convolution("%2", "%0") + node("third") + "return %1, %2 : " + image + ", " + image + "\n}",
      {createMergeAnchorsPass});
  EXPECT_EQ(reason("first", "second"), "read-elsewhere: by third");
  EXPECT_EQ(reason("first", "third"), "read-elsewhere: by second");
}

TEST_F(RefusalTest, SumsOfNarrowElements) {
  const std::string narrow = "tensor<1x96x14x14xf16>", result = "tensor<1x96x1x1xf16>";
  run("func.func @main(%x: " + image + ") -> " + result + " {\n" + weights + convolution("%0", "%x") +
          node("conv") + "%1 = tk.cast %0 {to = f16} : (" + image + ") -> " + narrow + node("cast") +
          sum("%1", narrow, result) + node("sum") + "return %s : " + result + "\n}",
      {createSplitReductionsPass});
  EXPECT_EQ(reason("cast", "sum"), "cannot-emit: bands of float32 only are added up");
}

TEST_F(RefusalTest, SumsOfNoElements) {
  const std::string empty = "tensor<0x96x14x14xf32>", result = "tensor<0x96x1x1xf32>";
  run("func.func @main(%x: " + empty + ") -> " + result + " {\n" + weights + convolution("%0", "%x", empty) +
          node("conv") + sum("%0", empty, result) + node("sum") + "return %s : " + result + "\n}",
      {createSplitReductionsPass});
  EXPECT_EQ(reason("conv", "sum"), "cannot-emit: of no elements");
}

TEST_F(RefusalTest, KindsOnThePath) {
  // The addition is in the product's group by the time that the way from abs leads through it.
  run("func.func @main(%x: " + t + ", %w: " + t + ") -> " + t + " {\n%0 = tk.matmul %w, %w" + binary +
          node("product") + "%1 = tk.abs %x" + unary + node("abs") + "%2 = tk.add %0, %1" + binary +
          node("add") + "%3 = tk.sub %2, %1" + binary + node("sub") + "return %3 : " + t + "\n}",
      {});
  EXPECT_EQ(reason("abs", "add"), "kind-on-path: add is in a group that is anchor");
}
