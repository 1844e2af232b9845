//===- DecisionTest.cpp - why edges are fused or not ----------------------------------------------------===//
#include "fusion/Decision.h"
#include "fusion/EmissionLimits.h"
#include "ir/Tk.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "rewrite/Passes.h"
#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"

using namespace tokamak;

namespace {

class DecisionTest : public testing::Test {
protected:
  DecisionTest() { context.loadDialect<tk::TkDialect, mlir::func::FuncDialect>(); }

  void partition(const std::string &arguments, const std::string &body, const std::string &results,
                 int64_t fuel = -1,
                 std::unique_ptr<mlir::Pass> (*create)(PassStatePtr) = createPartitionDominatorPass) {
    parse(arguments, body, results);
    auto state = std::make_shared<PassState>();
    state->fuel = Fuel(fuel);
    log.decisions.clear();
    state->decisions = &log;
    mlir::PassManager passes(&context);
    passes.addPass(create(state));
    ASSERT_TRUE(mlir::succeeded(passes.run(*module)));
  }
  void parse(const std::string &arguments, const std::string &body, const std::string &results) {
    module = mlir::parseSourceString<mlir::ModuleOp>(
        "func.func @main(" + arguments + ") -> (" + results + ") {\n" + body + "\n}", &context);
    ASSERT_TRUE(module);
  }
  /// The reason of the edge from node `producer` to node `consumer`.
  std::string reason(const std::string &producer, const std::string &consumer) {
    for (const Decision &decision : log.decisions) {
      if (decision.producer == producer && decision.consumer == consumer) {
        EXPECT_EQ(decision.fused, decision.reason == Reason::Fused);
        return reasonName(decision.reason).str();
      }
    }
    return "no such edge";
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  DecisionLog log;
};

const std::string t = "tensor<4x4xf32>";
const std::string unary = " : (tensor<4x4xf32>) -> tensor<4x4xf32>";
const std::string binary = " : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>";
std::string node(const std::string &name) { return " loc(\"" + name + ":Op\")\n"; }

} // namespace

TEST_F(DecisionTest, EveryEdgeHasOne) {
  partition("%x: " + t + ", %w: " + t,
            "%0 = tk.exp %x" + unary + node("exp") + "%1 = tk.matmul %0, %w" + binary + node("matmul") +
                "%2 = tk.add %1, %x" + binary + node("add") +
                "%3 = tk.transpose %2 {permutation = array<i64: 1, 0>}" + unary + node("transpose") +
                "%4 = tk.tanh %3" + unary + node("tanh") +
                "%5 = tk.cumsum %4 {axis = 0 : i64, exclusive = false, reverse = false}" + unary +
                node("cumsum") + "%6 = tk.neg %5" + unary + node("neg") + "%7 = tk.abs %6" + unary +
                node("abs") + "return %6, %7 : " + t + ", " + t,
            t + ", " + t);
  EXPECT_EQ(log.decisions.size(), 7u);
  EXPECT_EQ(reason("exp", "matmul"), "anchor-input");
  EXPECT_EQ(reason("matmul", "add"), "fused");
  EXPECT_EQ(reason("add", "transpose"), "anchor-not-in-place");
  EXPECT_EQ(reason("transpose", "tanh"), "fused");
  EXPECT_EQ(reason("tanh", "cumsum"), "opaque-consumer");
  EXPECT_EQ(reason("cumsum", "neg"), "opaque-producer");
  EXPECT_EQ(reason("neg", "abs"), "graph-output");
  EXPECT_EQ(log.decisions.front().edgeBytes, 64);
}

TEST_F(DecisionTest, KindsAndPaths) {
  const std::string row = "tensor<4xf32>";
  partition(
      "%x: " + t + ", %w: " + t,
      "%0 = tk.exp %x" + unary + node("exp") + "%1 = tk.matmul %x, %w" + binary + node("product") +
          "%2 = tk.add %1, %0" + binary + node("add") +
          "%3 = tk.transpose %x {permutation = array<i64: 1, 0>}" + unary + node("transpose") +
          "%4 = tk.mul %2, %3" + binary + node("mul") +
          "%5 = tk.reduce %4 {axes = array<i64: 1>, keep_dims = false, kind = #tk.reduce_kind<sum>} : (" + t +
          ") -> " + row + node("sum") + "%6 = tk.exp %5 : (" + row + ") -> " + row + node("after") +
          "return %6 : " + row,
      row);
  EXPECT_EQ(reason("exp", "add"), "fused");
  EXPECT_EQ(reason("transpose", "mul"), "kind-of-sink"); // the product's group
  EXPECT_EQ(reason("mul", "sum"), "anchor-not-in-place");

  EXPECT_EQ(reason("sum", "after"), "reduction-starts");
}

TEST_F(DecisionTest, WorkAroundAnchors) {
  partition("%x: " + t + ", %w: " + t,
            "%0 = tk.matmul %x, %w" + binary + node("first") + "%1 = tk.matmul %0, %w" + binary +
                node("second") + "%2 = tk.transpose %x {permutation = array<i64: 1, 0>}" + unary +
                node("transpose") + "%3 = tk.matmul %2, %1" + binary + node("third") + "%4 = tk.exp %3" +
                unary + node("exp") + "%5 = tk.matmul %4, %w" + binary + node("fourth") +
                "%6 = tk.add %5, %4" + binary + node("add") + "return %6 : " + t,
            t);
  EXPECT_EQ(reason("first", "second"), "second-anchor");
  EXPECT_EQ(reason("transpose", "third"), "anchor-input");
  EXPECT_EQ(reason("exp", "fourth"), "second-anchor"); // exp is in the third product's group
  EXPECT_EQ(reason("exp", "add"), "second-anchor");
  EXPECT_EQ(reason("fourth", "add"), "fused");
}

TEST_F(DecisionTest, PathsThatNeverMeetAndFuel) {
  const std::string body = "%0 = tk.exp %x" + unary + node("exp") + "%1 = tk.neg %0" + unary + node("neg") +
                           "%2 = tk.tanh %0" + unary + node("tanh") + "%3 = tk.abs %2" + unary + node("abs") +
                           "return %1, %3 : " + t + ", " + t;
  partition("%x: " + t, body, t + ", " + t);
  EXPECT_EQ(reason("exp", "neg"), "no-post-dominator");
  EXPECT_EQ(reason("exp", "tanh"), "no-post-dominator");
  EXPECT_EQ(reason("tanh", "abs"), "fused");
  partition("%x: " + t, body, t + ", " + t, /*fuel=*/0);
  EXPECT_EQ(reason("tanh", "abs"), "out-of-fuel");
  partition("%x: " + t, body, t + ", " + t, -1, createPartitionNonePass);
  EXPECT_EQ(reason("tanh", "abs"), "fusion-off");
  EXPECT_EQ(log.decisions.size(), 3u);
}

TEST_F(DecisionTest, TooManyOperatorsNamesTheNumbers) {
  std::string body, last = "%x";
  for (int i = 0; i < 257; ++i) {
    body += "%" + std::to_string(i) + " = tk.exp " + last + unary + node("n" + std::to_string(i));
    last = "%" + std::to_string(i);
  }
  partition("%x: " + t, body + "return " + last + " : " + t, t);
  EXPECT_EQ(reason("n254", "n255"), "fused");
  EXPECT_EQ(reason("n255", "n256"), "too-many-operators");
  EXPECT_EQ(log.decisions.back().detail, "257 operators, the limit is 256");
}

TEST_F(DecisionTest, OneOfThousandsOfReadersMerges) {
  const std::string x = "tensor<64x64xf32>", column = "tensor<64x1xf32>";
  std::string
      body = "%s = tk.reduce %x {kind = #tk.reduce_kind<sum>, axes = array<i64: 1>, keep_dims = true} : (" +
             x + ") -> " + column + node("sum"),
      values, types;
  for (int i = 0; i < 2100; ++i) {
    const std::string value = "%y" + std::to_string(i);
    body +=
        value + " = tk.mul %x, %s : (" + x + ", " + column + ") -> " + x + node("reader" + std::to_string(i));
    values += (i ? ", " : "") + value;
    types += (i ? ", " : "") + x;
  }
  partition("%x: " + x, body + "return " + values + " : " + types, types, -1, createMergeRowsPass);
  EXPECT_EQ(reason("sum", "reader0"), "fused");
}

TEST_F(DecisionTest, RowsNameTheNumbers) {
  auto reduce = [](const std::string &result, const std::string &x, int axis, const std::string &type) {
    return result + " = tk.reduce " + x +
           " {kind = #tk.reduce_kind<sum>, axes = array<i64: " + std::to_string(axis) +
           ">, keep_dims = true} : (tensor<40x64xf32>) -> " + type;
  };
  const std::string x = "tensor<40x64xf32>", column = "tensor<40x1xf32>", row = "tensor<1x64xf32>";
  const std::string scaled = " : (" + x + ", " + column + ") -> " + x;
  auto detail = [&](const std::string &producer) {
    for (const Decision &decision : log.decisions)
      if (decision.producer == producer)
        return decision.detail;
    return std::string("no such edge");
  };
  partition("%x: " + x,
            reduce("%s", "%x", 1, column) + node("sum") + "%d = tk.mul %x, %s" + scaled + node("mul") +
                reduce("%r", "%d", 0, row) + node("other") + "return %r : " + row,
            row, -1, createMergeRowsPass);
  EXPECT_EQ(reason("sum", "mul"), "fused");
  EXPECT_EQ(detail("sum"), "40 rows, 64 bytes of scratch");
  EXPECT_EQ(reason("mul", "other"), "too-few-rows");
  EXPECT_TRUE(llvm::StringRef(detail("mul")).starts_with("1 rows, at least ")); // of the other, in vectors

  partition("%x: " + x,
            reduce("%s", "%x", 1, column) + node("sum") +
                "%c = tk.cumsum %s {axis = 0 : i64, exclusive = false, reverse = false} : (" + column +
                ") -> " + column + node("cumsum") + "%a = tk.add %s, %c : (" + column + ", " + column +
                ") -> " + column + node("add") + "return %a : " + column,
            column, -1, createMergeRowsPass);
  EXPECT_EQ(reason("sum", "add"), "cycle");

  std::string chain, last = "%x";
  for (int i = 0; i < 33; ++i) {
    const std::string number = std::to_string(i);
    chain += reduce("%s" + number, last, 1, column) + node("sum" + number) + "%d" + number + " = tk.sub " +
             last + ", %s" + number + scaled + node("sub" + number);
    last = "%d" + number;
  }
  partition("%x: " + x, chain + "return " + last + " : " + x, x, -1, createMergeRowsPass);
  EXPECT_EQ(reason("sum31", "sub31"), "fused");
  EXPECT_EQ(reason("sub31", "sum32"), "too-many-operators");
  EXPECT_EQ(detail("sub31"), "65 operators, the limit is 64");
}

TEST_F(DecisionTest, ReasonsHaveNamesAndSentences) {
  for (int i = 0; i <= static_cast<int>(Reason::OtherMerge); ++i) {
    EXPECT_FALSE(reasonName(static_cast<Reason>(i)).empty());
    EXPECT_TRUE(reasonSentence(static_cast<Reason>(i)).ends_with("."));
  }
}

TEST_F(DecisionTest, EmissionLimits) {
  auto why = [&](const std::string &body) {
    parse("%x: " + t + ", %w: " + t, body + "return %w : " + t, t);
    mlir::Block &block = (*module->getOps<mlir::func::FuncOp>().begin()).getBody().front();
    std::vector<mlir::Operation *> group;
    for (mlir::Operation &op : block.without_terminator())
      group.push_back(&op);
    std::string reason = "emitted";
    EXPECT_EQ(fusion::canEmit(group, &reason), reason == "emitted");
    return reason;
  };
  const std::string product = "%0 = tk.matmul %x, %w" + binary + "\n";
  const std::string apart = "tk.transpose reads the result of tk.matmul at another index than it writes";
  EXPECT_EQ(why("%0 = tk.transpose %x {permutation = array<i64: 1, 0>}" + unary + "\n"), "emitted");
  EXPECT_EQ(why(product + "%1 = tk.exp %0" + unary + "\n%2 = tk.add %1, %w" + binary + "\n"), "emitted");
  EXPECT_EQ(why(product + "%1 = tk.exp %0" + unary +
                "\n%2 = tk.transpose %1 {permutation = array<i64: 1, 0>}" + unary + "\n"),
            apart);
  // An operand of the epilogue may be read anywhere.
  EXPECT_EQ(why(product + "%1 = tk.transpose %w {permutation = array<i64: 1, 0>}" + unary +
                "\n%2 = tk.add %0, %1" + binary + "\n"),
            "emitted");
  EXPECT_EQ(why(product + "%1 = tk.reshape %0 {shape = array<i64: 1, 4, 1, 4>} : (" + t +
                ") -> tensor<1x4x1x4xf32>\n%2 = tk.exp %1 : (tensor<1x4x1x4xf32>) -> tensor<1x4x1x4xf32>\n"),
            "emitted");
  EXPECT_EQ(why(product + "%1 = tk.reshape %0 {shape = array<i64: 16>} : (" + t + ") -> tensor<16xf32>\n"),
            "tk.reshape reads the result of tk.matmul at another index than it writes");
  // A gate, whose elements the accumulators would be asked for many times.
  EXPECT_EQ(
      why("%0 = tk.matmul %x, %x" + binary + "\n%g = tk.reshape %0 {shape = array<i64: 4, 4, 1>} : (" + t +
          ") -> tensor<4x4x1xf32>\n%y = tk.constant dense<1.0> : tensor<4x4x8xf32>\n%1 = tk.mul %y, %g : "
          "(tensor<4x4x8xf32>, tensor<4x4x1xf32>) -> tensor<4x4x8xf32>\n"),
      "tk.mul reads the result of tk.matmul at another index than it writes");
  EXPECT_EQ(why(product + "%1 = tk.matmul %0, %w" + binary + "\n"),
            "two convolutions, matrix products or windows in one kernel");
}
