//===- SumErrorTest.cpp - how far long sums are off, and what verify takes for it --------------------===//
#include "driver/SumError.h"
#include "TestModels.h"
#include "driver/Program.h"
#include "driver/Verify.h"
#include "driver/VerifyKernels.h"
#include "ir/Tk.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "reference/Evaluate.h"
#include <gtest/gtest.h>

using namespace tokamak;
using namespace tokamak::driver;

namespace {

constexpr int64_t rows = 50000, columns = 16;

Tensor filled(llvm::function_ref<double(int64_t)> value) {
  Tensor tensor(DataType::Float32, {rows, columns});
  for (int64_t i = 0; i < tensor.size(); ++i)
    tensor.setDouble(i, value(i));
  return tensor;
}

struct SumError : testing::Test {
  /// Verifies the model `column_sums`, the sums of the columns.
  Verification verify(const Tensor &x) {
    const std::string bytes = test::testModel("column_sums");
    auto model = llvm::cantFail(import::Model::fromMemory(bytes.data(), bytes.size()));
    CompileOptions options;
    options.import.shapes["x"] = {rows, columns};
    return llvm::cantFail(Verifier(*model, options, {{"x", x}}, {}).run());
  }
  /// What the sums of the columns may be off by.
  static std::vector<double> errorsOf(const Tensor &x) {
    mlir::MLIRContext context;
    context.loadDialect<mlir::func::FuncDialect, tk::TkDialect>();
    mlir::DialectRegistry registry;
    reference::registerReferenceModels(registry);
    context.appendDialectRegistry(registry);
    auto module = mlir::parseSourceString<mlir::ModuleOp>(R"(
      func.func @main(%x: tensor<50000x16xf32>) -> tensor<16xf32> {
        %s = tk.reduce %x {kind = #tk.reduce_kind<sum>, axes = array<i64: 0>, keep_dims = false} : (tensor<50000x16xf32>) -> tensor<16xf32>
        return %s : tensor<16xf32>
      })",
                                                          &context);
    std::vector<double> found;
    module->walk([&](tk::ReduceOp sum) { found = sumError(sum, x, (*reference::evaluate(sum, x))[0]); });
    return found;
  }
};

// Single precision rounds each partial sum of equal terms to the same side, so the result is as far off as
// that of any program that adds them up one by one.
TEST_F(SumError, EqualTermsAreRight) {
  for (double value : {0.1, 0.7, -3.3}) {
    const Verification result = verify(filled([&](int64_t) { return value; }));
    EXPECT_TRUE(result.isSame()) << value << ": " << result.firstFault();
  }
}

// What a sum may be off by does not grow with the tolerance asked for: the module is changed after the code
// was made, so that all sums are half of what they should be.
TEST_F(SumError, HalfASumIsWrongWhateverTheTolerance) {
  Tensor x = filled([](int64_t) { return 0.1; });
  for (double relative : {2e-5, 1e-2, 0.3}) {
    const std::string bytes = test::testModel("column_sums");
    auto model = llvm::cantFail(import::Model::fromMemory(bytes.data(), bytes.size()));
    CompileOptions options;
    options.import.shapes["x"] = {rows, columns};
    options.observed = true;
    auto partitioned = llvm::cantFail(partitionModel(*model, options));
    auto compiled = llvm::cantFail(generateModel(partitioned, options));
    partitioned.module->walk([](tk::ReduceOp sum) {
      mlir::OpBuilder b(sum);
      sum->setOperand(
          0, b.create<tk::AddOp>(sum.getLoc(), sum.getInput().getType(), sum.getInput(), sum.getInput()));
    });
    KernelCheck check(
        compiled.program.observed, compiled.program.steps, [&](DataType) { return Tolerance{relative, 0}; },
        nullptr);
    auto program = llvm::cantFail(Program::load(std::move(compiled), nullptr, false, check.symbols()));
    Tensor y(DataType::Float32, {1, columns});
    void *in[] = {x.mutableBytes()}, *out[] = {y.mutableBytes()};
    ASSERT_EQ(program->run(in, out), 0);
    EXPECT_EQ(check.kernels().back().deviation.wrong, columns) << relative;
  }
}

TEST_F(SumError, AllowsWhatASumOfSinglesIsOffBy) {
  const Tensor x = filled([](int64_t i) { return 0.1 + 1e-6 * static_cast<double>(i % columns); });
  const std::vector<double> errors = errorsOf(x);
  for (int64_t column = 0; column < columns; ++column) {
    float single = 0;
    double sum = 0;
    for (int64_t row = 0; row < rows; ++row) {
      single += static_cast<float>(x.doubleAt(row * columns + column));
      sum += x.doubleAt(row * columns + column);
    }
    EXPECT_LE(std::abs(single - sum), errors[static_cast<size_t>(column)]);
    // Not ten times as much: one term in a hundred that is left out is wrong.
    EXPECT_LT(errors[static_cast<size_t>(column)], 0.01 * sum);
  }
}

TEST_F(SumError, NothingMoreForTermsOfEitherSign) {
  for (double error : errorsOf(filled([](int64_t i) { return i / columns % 2 ? 1 : -0.9; })))
    EXPECT_EQ(error, 0);
}

} // namespace
