//===- KindTest.cpp - pattern kinds and arithmetic of operators -----------------------------===//
#include "ir/Tk.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"
#include <fstream>
#include <sstream>

using namespace tokamak;

namespace {

class KindTest : public testing::Test {
protected:
  KindTest() { context.loadDialect<tk::TkDialect, mlir::func::FuncDialect>(); }

  /// The operation that `text` writes last, in a function of these arguments.
  mlir::Operation *parse(const std::string &arguments, const std::string &text) {
    module = mlir::parseSourceString<mlir::ModuleOp>(
        "func.func @f(" + arguments + ") {\n" + text + "\nreturn\n}", &context);
    if (!module)
      return nullptr;
    auto func = *module->getOps<mlir::func::FuncOp>().begin();
    return func.getBody().front().getTerminator()->getPrevNode();
  }
  std::string kind(const std::string &arguments, const std::string &text) {
    auto op = llvm::dyn_cast_or_null<tk::FusionKindInterface>(parse(arguments, text));
    return op ? stringifyFusionKind(op.getFusionKind()).str() : "none";
  }
  int64_t flops(const std::string &arguments, const std::string &text) {
    auto op = llvm::dyn_cast_or_null<tk::TrafficInterface>(parse(arguments, text));
    return op ? op.getFlops() : -1;
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

} // namespace

TEST_F(KindTest, ElementwiseWhereOneOperandHasTheResultShape) {
  EXPECT_EQ(kind("%a: tensor<1x4x8xf32>, %b: tensor<4x1xf32>",
                 "%0 = tk.add %a, %b : (tensor<1x4x8xf32>, tensor<4x1xf32>) -> tensor<1x4x8xf32>"),
            "elementwise");
  EXPECT_EQ(kind("%a: tensor<8x1xf32>, %b: tensor<1x8xf32>",
                 "%0 = tk.add %a, %b : (tensor<8x1xf32>, tensor<1x8xf32>) -> tensor<8x8xf32>"),
            "broadcast");
  EXPECT_EQ(kind("%a: tensor<f32>", "%0 = tk.cast %a {to = i64} : (tensor<f32>) -> tensor<i64>"),
            "elementwise");
}

TEST_F(KindTest, ReshapeOfUnitExtentsIsBroadcast) {
  EXPECT_EQ(
      kind("%a: tensor<1x4x1x2xf32>",
           "%0 = tk.reshape %a {shape = array<i64: 4, 2, 1>} : (tensor<1x4x1x2xf32>) -> tensor<4x2x1xf32>"),
      "broadcast");
  EXPECT_EQ(kind("%a: tensor<4x2xf32>",
                 "%0 = tk.reshape %a {shape = array<i64: 2, 4>} : (tensor<4x2xf32>) -> tensor<2x4xf32>"),
            "injective");
}

TEST_F(KindTest, CompositesFollowTheirBodies) {
  auto composite = [&](const std::string &body) {
    return kind("%x: tensor<2x3xf32>", "%0 = tk.composite \"C\"(%x) {\n^bb0(%a: tensor<2x3xf32>):\n" + body +
                                           "\n} : (tensor<2x3xf32>) -> tensor<2x1xf32>");
  };
  const std::string max =
      "%m = tk.reduce %a {axes = array<i64: 1>, keep_dims = true, kind = #tk.reduce_kind<max>} : "
      "(tensor<2x3xf32>) -> tensor<2x1xf32>\n";
  EXPECT_EQ(composite(max + "tk.yield %m : tensor<2x1xf32>"), "reduction");
  EXPECT_EQ(composite("%c = tk.constant dense<1.0> : tensor<f32>\n" + max + "tk.yield %m : tensor<2x1xf32>"),
            "reduction");
  EXPECT_EQ(
      composite(max + "%e = tk.exp %m : (tensor<2x1xf32>) -> tensor<2x1xf32>\ntk.yield %e : tensor<2x1xf32>"),
      "anchor");
  EXPECT_EQ(
      composite(
          "%s = tk.slice %a {starts = array<i64: 0, 0>, sizes = array<i64: 2, 1>, steps = array<i64: 1, 1>} "
          ": "
          "(tensor<2x3xf32>) -> tensor<2x1xf32>\n%e = tk.exp %s : (tensor<2x1xf32>) -> tensor<2x1xf32>\n"
          "tk.yield %e : tensor<2x1xf32>"),
      "injective");
}

TEST_F(KindTest, MultiplyAddsCountTwice) {
  EXPECT_EQ(flops("%a: tensor<5x2x3xf32>, %b: tensor<4x3xf32>",
                  "%0 = tk.matmul %a, %b {transpose_rhs = true} : (tensor<5x2x3xf32>, tensor<4x3xf32>) -> "
                  "tensor<5x2x4xf32>"),
            2 * 5 * 2 * 3 * 4);
  const std::string spatial =
      "strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, "
      "pads_high = array<i64: 1, 1>, group = 2 : i64";
  EXPECT_EQ(flops("%x: tensor<1x4x5x5xf32>, %w: tensor<6x2x3x3xf32>, %b: tensor<6xf32>",
                  "%0 = tk.conv %x, %w, %b {" + spatial +
                      "} : (tensor<1x4x5x5xf32>, tensor<6x2x3x3xf32>, tensor<6xf32>) -> tensor<1x6x5x5xf32>"),
            2 * 6 * 25 * 2 * 9 + 6 * 25);
  EXPECT_EQ(flops("%x: tensor<1x4x5x5xf32>, %w: tensor<4x3x3x3xf32>",
                  "%0 = tk.conv_transpose %x, %w {output_padding = array<i64: 0, 0>, " + spatial +
                      "} : (tensor<1x4x5x5xf32>, tensor<4x3x3x3xf32>) -> tensor<1x6x5x5xf32>"),
            2 * 4 * 25 * 3 * 9);
  EXPECT_EQ(flops("%a: tensor<2x3xf32>", "%0 = tk.reduce %a {axes = array<i64: 1>, keep_dims = true, kind = "
                                         "#tk.reduce_kind<sum>} : (tensor<2x3xf32>) -> tensor<2x1xf32>"),
            6);
  EXPECT_EQ(flops("%a: tensor<2x3xf32>", "%0 = tk.exp %a : (tensor<2x3xf32>) -> tensor<2x3xf32>"), 6);
  EXPECT_EQ(flops("%x: tensor<2x3xf32>",
                  "%0 = tk.fusion(%x) {\n^bb0(%a: tensor<2x3xf32>):\n"
                  "%1 = tk.exp %a : (tensor<2x3xf32>) -> tensor<2x3xf32>\n"
                  "%2 = tk.neg %1 : (tensor<2x3xf32>) -> tensor<2x3xf32>\n"
                  "tk.yield %2 : tensor<2x3xf32>\n} : (tensor<2x3xf32>) -> tensor<2x3xf32>"),
            12);
}

TEST_F(KindTest, EveryOperatorHasAKindAndARoundTrip) {
  std::ifstream file(std::string(TEST_SOURCE_DIR) + "/roundtrip.mlir");
  std::stringstream text;
  text << file.rdbuf();
  int64_t operators = 0;
  for (mlir::RegisteredOperationName op : context.getRegisteredOperations()) {
    if (op.getDialectNamespace() != "tk")
      continue;
    ++operators;
    EXPECT_NE(text.str().find("CHECK: " + op.getStringRef().str() + " "), std::string::npos)
        << op.getStringRef().str();
    EXPECT_TRUE(op.hasInterface<tk::FusionKindInterface>() || op.getStringRef() == "tk.yield" ||
                op.getStringRef() == "tk.fusion")
        << op.getStringRef().str();
  }
  EXPECT_GT(operators, 70);
}
