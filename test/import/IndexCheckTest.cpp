//===- IndexCheckTest.cpp - which indices gathers and scatters accept
//-------------------------------------===//
#include "import/IndexCheck.h"
#include "ir/Tk.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace tokamak;

namespace {

using Range = std::optional<std::pair<int64_t, int64_t>>;

/// What is accepted of %i, which `body` reads, beside %x.
Range accepted(const std::string &typeOfIndices, const std::string &body) {
  mlir::MLIRContext context;
  context.loadDialect<tk::TkDialect, mlir::func::FuncDialect>();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(
      "func.func @main(%x: tensor<3x7xf32>, %i: " + typeOfIndices + ") {\n" + body + "\nreturn\n}", &context);
  EXPECT_TRUE(module);
  return module ? import::acceptedIndices(module->getBody()->front().getRegion(0).getArgument(1)) : Range();
}

std::string gather(const std::string &indices, int axis, const std::string &type = "tensor<2xi64>") {
  return "tk.gather %x, " + indices + " {axis = " + std::to_string(axis) + " : i64} : (tensor<3x7xf32>, " +
         type + ") -> " + (axis == 0 ? "tensor<2x7xf32>" : "tensor<3x2xf32>") + "\n";
}

} // namespace

TEST(AcceptedIndices, OfAnAxis) {
  EXPECT_EQ(accepted("tensor<2xi64>", "%0 = " + gather("%i", 0)), Range({-3, 2}));
  EXPECT_EQ(accepted("tensor<2xi64>", "%0 = " + gather("%i", 1)), Range({-7, 6}));
  EXPECT_EQ(accepted("tensor<2xi64>", "%0 = " + gather("%i", 1) + "%1 = " + gather("%i", 0)), Range({-3, 2}));
}

TEST(AcceptedIndices, ReshapedAndCast) {
  EXPECT_EQ(accepted("tensor<2x1xi32>",
                     "%r = tk.reshape %i {shape = array<i64: 2>} : (tensor<2x1xi32>) -> tensor<2xi32>\n"
                     "%c = tk.cast %r {to = i64} : (tensor<2xi32>) -> tensor<2xi64>\n%0 = " +
                         gather("%c", 0)),
            Range({-3, 2}));
}

TEST(AcceptedIndices, OfTuples) {
  EXPECT_EQ(accepted("tensor<5x2xi64>", "%0 = tk.gather_nd %x, %i {batch_dims = 0 : i64} : (tensor<3x7xf32>, "
                                        "tensor<5x2xi64>) -> tensor<5xf32>"),
            Range({-3, 2}));
}

TEST(AcceptedIndices, ElsewhereAnything) {
  EXPECT_EQ(accepted("tensor<2xi64>", "%0 = tk.neg %i : (tensor<2xi64>) -> tensor<2xi64>"), Range());
  // As what is gathered from, not as indices.
  EXPECT_EQ(accepted("tensor<2xi64>",
                     "%c = tk.constant dense<0> : tensor<1xi64>\n%0 = tk.gather %i, %c {axis = 0 "
                     ": i64} : (tensor<2xi64>, tensor<1xi64>) -> tensor<1xi64>"),
            Range());
}
