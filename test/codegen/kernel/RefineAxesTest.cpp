//===- RefineAxesTest.cpp - axes cut wherever a reshape of the group cuts them ----------------------===//
#include "codegen/kernel/RefineAxes.h"
#include "ir/Tk.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "reference/Evaluate.h"
#include "gtest/gtest.h"

namespace {

using namespace mlir;
using namespace tokamak;

class RefineAxesTest : public testing::Test {
protected:
  RefineAxesTest() {
    DialectRegistry registry;
    registry.insert<tk::TkDialect, func::FuncDialect>();
    reference::registerReferenceModels(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  static Tensor counting(RankedTensorType type) {
    Tensor tensor(DataType::Float32, type.getShape());
    for (int64_t i = 0; i < tensor.size(); ++i)
      tensor.setInt(i, i * 7 % 11);
    return tensor;
  }

  /// The shapes that the operators of a function of this body have once refined. Its results, in row-major
  /// order, must stay what they are.
  std::vector<std::vector<int64_t>> refine(const std::string &arguments, const std::string &body,
                                           const std::string &result) {
    std::string text =
        "func.func @f(" + arguments + ") -> " + result.substr(result.find("tensor")) + " {\n" + body;
    text += "return " + result + "\n}\n";
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module) << text;
    auto function = *module->getOps<func::FuncOp>().begin();
    llvm::SmallVector<Tensor> inputs;
    for (Type type : function.getArgumentTypes())
      inputs.push_back(counting(cast<RankedTensorType>(type)));
    auto before = reference::evaluateFunction(function, inputs);

    codegen::refineAxes(function.getBody().front());
    Operation *end = function.getBody().front().getTerminator();
    function.setFunctionType(
        FunctionType::get(&context, function.getArgumentTypes(), end->getOperandTypes()));
    EXPECT_TRUE(succeeded(verify(*module)));
    auto after = reference::evaluateFunction(function, inputs);
    EXPECT_TRUE(succeeded(before) && succeeded(after));
    for (int64_t i = 0; i < (*before)[0].size(); ++i)
      EXPECT_EQ((*before)[0].doubleAt(i), (*after)[0].doubleAt(i));

    std::vector<std::vector<int64_t>> shapes;
    for (Operation &op : function.getBody().front().without_terminator())
      shapes.push_back(tk::tensorType(op.getResult(0)).getShape().vec());
    return shapes;
  }

  using Shapes = std::vector<std::vector<int64_t>>;
  MLIRContext context;
};

TEST_F(RefineAxesTest, GroupsOfChannels) {
  std::string body = R"(
    %f = tk.reshape %x {shape = array<i64: 2, 3, 8>} : (tensor<2x6x2x2xf32>) -> tensor<2x3x8xf32>
    %s = tk.reduce %f {kind = #tk.reduce_kind<sum>, axes = array<i64: 2>, keep_dims = true} : (tensor<2x3x8xf32>) -> tensor<2x3x1xf32>
    %d = tk.sub %f, %s : (tensor<2x3x8xf32>, tensor<2x3x1xf32>) -> tensor<2x3x8xf32>
    %b = tk.reshape %d {shape = array<i64: 2, 6, 2, 2>} : (tensor<2x3x8xf32>) -> tensor<2x6x2x2xf32>
    %r = tk.mul %b, %g : (tensor<2x6x2x2xf32>, tensor<6x1x1xf32>) -> tensor<2x6x2x2xf32>
  )";
  EXPECT_EQ(refine("%x: tensor<2x6x2x2xf32>, %g: tensor<6x1x1xf32>", body, "%r : tensor<2x6x2x2xf32>"),
            (Shapes{{2, 3, 2, 2, 2}, {3, 2, 1, 1}, {2, 3, 1, 1, 1}, {2, 3, 2, 2, 2}, {2, 3, 2, 2, 2}}));
}

TEST_F(RefineAxesTest, DroppedAxesAndScalars) {
  std::string body = R"(
    %c = tk.constant dense<2.0> : tensor<1x1xf32>
    %f = tk.reshape %x {shape = array<i64: 3, 8>} : (tensor<3x2x4xf32>) -> tensor<3x8xf32>
    %s = tk.reduce %f {kind = #tk.reduce_kind<max>, axes = array<i64: 1>, keep_dims = false} : (tensor<3x8xf32>) -> tensor<3xf32>
    %k = tk.reshape %s {shape = array<i64: 3, 1>} : (tensor<3xf32>) -> tensor<3x1xf32>
    %d = tk.sub %f, %k : (tensor<3x8xf32>, tensor<3x1xf32>) -> tensor<3x8xf32>
    %e = tk.mul %d, %c : (tensor<3x8xf32>, tensor<1x1xf32>) -> tensor<3x8xf32>
    %r = tk.reshape %e {shape = array<i64: 3, 2, 4>} : (tensor<3x8xf32>) -> tensor<3x2x4xf32>
  )";
  EXPECT_EQ(refine("%x: tensor<3x2x4xf32>", body, "%r : tensor<3x2x4xf32>"),
            (Shapes{{1, 1, 1}, {3}, {3, 1, 1}, {3, 2, 4}, {3, 2, 4}}));
}

TEST_F(RefineAxesTest, CutsThatDoNotFit) {
  std::string body = R"(
    %f = tk.reshape %x {shape = array<i64: 8, 3>} : (tensor<6x4xf32>) -> tensor<8x3xf32>
    %r = tk.reduce %f {kind = #tk.reduce_kind<sum>, axes = array<i64: 1>, keep_dims = true} : (tensor<8x3xf32>) -> tensor<8x1xf32>
  )";
  EXPECT_EQ(refine("%x: tensor<6x4xf32>", body, "%r : tensor<8x1xf32>"), (Shapes{{8, 3}, {8, 1}}));
}

TEST_F(RefineAxesTest, AnOperatorThatNeedsItsAxesWhole) {
  std::string body = R"(
    %t = tk.transpose %x {permutation = array<i64: 1, 0>} : (tensor<4x6xf32>) -> tensor<6x4xf32>
    %f = tk.reshape %t {shape = array<i64: 3, 8>} : (tensor<6x4xf32>) -> tensor<3x8xf32>
    %r = tk.reduce %f {kind = #tk.reduce_kind<sum>, axes = array<i64: 1>, keep_dims = true} : (tensor<3x8xf32>) -> tensor<3x1xf32>
  )";
  EXPECT_EQ(refine("%x: tensor<4x6xf32>", body, "%r : tensor<3x1xf32>"), (Shapes{{6, 4}, {3, 8}, {3, 1}}));
}

TEST_F(RefineAxesTest, NoElements) {
  std::string body = R"(
    %f = tk.reshape %x {shape = array<i64: 0, 8>} : (tensor<0x2x4xf32>) -> tensor<0x8xf32>
    %r = tk.reduce %f {kind = #tk.reduce_kind<sum>, axes = array<i64: 1>, keep_dims = true} : (tensor<0x8xf32>) -> tensor<0x1xf32>
  )";
  EXPECT_EQ(refine("%x: tensor<0x2x4xf32>", body, "%r : tensor<0x1xf32>"), (Shapes{{0, 8}, {0, 1}}));
}

} // namespace
