//===- InferenceTest.cpp - operations created from input: checked, never aborting ----------===//
#include "ir/Tk.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "gtest/gtest.h"

using namespace tokamak;

namespace {

class InferenceTest : public testing::Test {
protected:
  InferenceTest() : builder(&context) {
    context.loadDialect<tk::TkDialect>();
    module = mlir::ModuleOp::create(builder.getUnknownLoc());
    builder.setInsertionPointToStart(module->getBody());
  }

  mlir::Value value(llvm::ArrayRef<int64_t> shape, DataType type = DataType::Float32) {
    return builder.create<tk::ConstantOp>(builder.getUnknownLoc(), Tensor(type, shape).toAttr(&context));
  }
  mlir::NamedAttribute attr(llvm::StringRef name, mlir::Attribute a) { return builder.getNamedAttr(name, a); }

  /// The result types as text, or "error: " and the reason.
  std::string create(llvm::StringRef name, mlir::ValueRange operands,
                     llvm::ArrayRef<mlir::NamedAttribute> attributes = {}) {
    std::string text;
    mlir::ScopedDiagnosticHandler handler(&context,
                                          [&](mlir::Diagnostic &d) { text += "error: " + d.str(); });
    auto op = tk::createChecked(builder, builder.getUnknownLoc(), name, operands, attributes);
    if (mlir::succeeded(op))
      llvm::raw_string_ostream(text) << (*op)->getResultTypes();
    return text;
  }

  mlir::MLIRContext context;
  mlir::OpBuilder builder;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

} // namespace

TEST_F(InferenceTest, NamesWithAndWithoutDialect) {
  EXPECT_EQ(create("add", {value({2, 1}), value({3})}), "tensor<2x3xf32>");
  EXPECT_EQ(create("tk.add", {value({2, 1}), value({3})}), "tensor<2x3xf32>");
  EXPECT_EQ(create("nothing", {}), "error: there is no operator tk.nothing");
  EXPECT_EQ(create("composite", {}), "error: tk.composite does not infer its result types");
}

TEST_F(InferenceTest, FaultsAreErrors) {
  EXPECT_EQ(create("add", {value({2}), value({3})}), "error: shapes [2] and [3] do not broadcast");
  EXPECT_EQ(create("add", {value({2}), value({2}, DataType::Int8)}),
            "error: operands have different element types: float32[2] and int8[2]");
  EXPECT_EQ(create("add", {value({2})}), "error: tk.add does not take 1 operands");
  EXPECT_EQ(create("add", {value({2}), mlir::Value()}), "error: operand 1 of tk.add is missing");
  EXPECT_EQ(create("conv", {value({2})}), "error: tk.conv does not take 1 operands");
  EXPECT_EQ(create("concat", {}, {attr("axis", builder.getI64IntegerAttr(0))}),
            "error: concatenation of nothing");
  EXPECT_NE(create("exp", {value({2}, DataType::Int8)}).find("operand #0 must be"), std::string::npos);
  EXPECT_NE(create("slice", {value({2})}).find("requires attribute 'sizes'"), std::string::npos);
  EXPECT_NE(create("concat", {value({2})}, {attr("axis", builder.getUnitAttr())}).find("'axis'"),
            std::string::npos);
}

TEST_F(InferenceTest, NothingStaysBehindAFault) {
  create("exp", {value({2}, DataType::Int8)});
  for (mlir::Operation &op : *module->getBody())
    EXPECT_EQ(op.getName().getStringRef(), "tk.constant");
}

TEST_F(InferenceTest, DefaultsApply) {
  EXPECT_EQ(create("matmul", {value({5, 2, 3}), value({3, 4})}), "tensor<5x2x4xf32>");
  EXPECT_EQ(create("matmul", {value({3, 2}), value({4, 3})},
                   {attr("transpose_lhs", builder.getBoolAttr(true)),
                    attr("transpose_rhs", builder.getBoolAttr(true))}),
            "tensor<2x4xf32>");
}

TEST_F(InferenceTest, HugeResultsAreRefused) {
  mlir::Value one = value({1, 1});
  const int64_t huge = int64_t(1) << 30;
  EXPECT_NE(
      create("broadcast", {one}, {attr("shape", builder.getDenseI64ArrayAttr({huge, huge}))}).find("2^40"),
      std::string::npos);
  EXPECT_NE(
      create("reshape", {one}, {attr("shape", builder.getDenseI64ArrayAttr({-1, -1}))}).find("negative"),
      std::string::npos);
  EXPECT_NE(create("iota", {},
                   {attr("shape", builder.getDenseI64ArrayAttr({huge, 0, huge})),
                    attr("axis", builder.getI64IntegerAttr(0)),
                    attr("to", mlir::TypeAttr::get(builder.getI64Type()))})
                .find("2^40"),
            std::string::npos);
}

TEST_F(InferenceTest, Broadcasting) {
  using Shape = llvm::SmallVector<int64_t>;
  auto broadcast = [](const Shape &a, const Shape &b) { return *tk::broadcastShapes(a, b); };
  EXPECT_EQ(broadcast({}, {}), Shape{});
  EXPECT_EQ(broadcast({}, {2, 0}), (Shape{2, 0}));
  EXPECT_EQ(broadcast({1}, {0}), Shape{0});
  EXPECT_EQ(broadcast({4, 1, 3}, {5, 1}), (Shape{4, 5, 3}));
  EXPECT_TRUE(mlir::failed(tk::broadcastShapes({2}, {0})));
}

TEST_F(InferenceTest, Locations) {
  mlir::Location a = tk::onnxLocation(&context, "block/conv:0", "Conv");
  mlir::Location b = tk::onnxLocation(&context, "", "Relu");
  EXPECT_EQ(tk::onnxNode(a).name, "block/conv:0");
  EXPECT_EQ(tk::onnxNode(a).opType, "Conv");
  mlir::Location fused = builder.getFusedLoc({a, b, builder.getUnknownLoc(), a});
  llvm::SmallVector<tk::OnnxNode> nodes = tk::onnxNodes(fused);
  ASSERT_EQ(nodes.size(), 2u);
  EXPECT_EQ(nodes[0].opType, "Conv");
  EXPECT_EQ(nodes[1].opType, "Relu");
  EXPECT_EQ(tk::onnxNode(builder.getUnknownLoc()).opType, "");
  EXPECT_TRUE(tk::onnxNodes(mlir::NameLoc::get(builder.getStringAttr("plain"))).empty());
}

TEST_F(InferenceTest, LibraryParameters) {
  auto ints = [&](llvm::ArrayRef<int64_t> v) { return builder.getDenseI64ArrayAttr(v); };
  auto op =
      tk::createChecked(builder, builder.getUnknownLoc(), "max_pool_indices", {value({1, 2, 5, 7})},
                        {attr("kernel", ints({2, 3})), attr("strides", ints({1, 2})),
                         attr("dilations", ints({1, 1})), attr("pads_low", ints({0, 1})),
                         attr("pads_high", ints({0, 2})), attr("column_major", builder.getBoolAttr(true))});
  ASSERT_TRUE(mlir::succeeded(op));
  auto call = llvm::cast<tk::LibraryCallInterface>(**op);
  llvm::SmallVector<int64_t> parameters;
  llvm::SmallVector<double> floats;
  call.getLibraryParameters(parameters, floats);
  EXPECT_EQ(call.getLibrarySymbol(), "tk_lib_max_pool_indices");
  EXPECT_EQ(parameters, (llvm::SmallVector<int64_t>{2, 2, 3, 1, 2, 1, 1, 0, 1, 0, 2, 1}));
  EXPECT_TRUE(floats.empty());
  EXPECT_EQ(tk::tensorType((*op)->getResult(1)).getShape(), llvm::ArrayRef<int64_t>({1, 2, 4, 4}));
}
