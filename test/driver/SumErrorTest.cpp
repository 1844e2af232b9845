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
#include <numeric>

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

/// Added up in single precision, one by one.
float singles(int64_t count, llvm::function_ref<double(int64_t)> value) {
  float sum = 0;
  for (int64_t i = 0; i < count; ++i)
    sum += static_cast<float>(value(i));
  return sum;
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
  /// What an operator makes of its operands, and what that may be off by.
  struct Sums {
    Tensor result;
    std::vector<double> errors;
  };
  /// `text`: the operator in its generic form without a result, its operands being %0, %1, ...
  static Sums sums(const std::string &text, const std::vector<Tensor> &operands) {
    mlir::MLIRContext context;
    context.loadDialect<mlir::func::FuncDialect, tk::TkDialect>();
    mlir::DialectRegistry registry;
    reference::registerReferenceModels(registry);
    context.appendDialectRegistry(registry);
    std::string arguments;
    for (auto [i, operand] : llvm::enumerate(operands)) {
      llvm::raw_string_ostream out(arguments);
      out << (i ? ", %" : "%") << i << ": " << operand.mlirType(&context);
    }
    const std::string result = text.substr(text.rfind("->") + 2);
    auto module =
        mlir::parseSourceString<mlir::ModuleOp>("func.func @main(" + arguments + ") ->" + result +
                                                    " {\n  %r = " + text + "\n  return %r :" + result + "\n}",
                                                &context);
    mlir::Operation *op = &llvm::cast<mlir::func::FuncOp>(module->getBody()->front()).front().front();
    Sums found{(*reference::evaluate(op, operands))[0], {}};
    found.errors = sumError(op, operands, found.result);
    return found;
  }
  static Sums columnSums(const Tensor &x) {
    return sums("tk.reduce %0 {kind = #tk.reduce_kind<sum>, axes = array<i64: 0>, keep_dims = false} : "
                "(tensor<50000x16xf32>) -> tensor<16xf32>",
                {x});
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
  const std::vector<double> errors = columnSums(x).errors;
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
  for (double error : columnSums(filled([](int64_t i) { return i / columns % 2 ? 1 : -0.9; })).errors)
    EXPECT_EQ(error, 0);
}

/// An operator that adds up all elements of a vector; its last result is the sum.
struct Adding {
  const char *name;
  SumError::Sums (*sums)(const Tensor &terms);
  bool isRunning; ///< a kernel adds up the terms in their order, and what follows from that is known
};

std::string vectorType(const Tensor &terms) { return "tensor<" + std::to_string(terms.size()) + "xf32>"; }

Tensor ones(llvm::ArrayRef<int64_t> shape) {
  Tensor tensor(DataType::Float32, shape);
  for (int64_t i = 0; i < tensor.size(); ++i)
    tensor.setDouble(i, 1);
  return tensor;
}

const Adding additions[] = {
    {"reduce",
     [](const Tensor &terms) {
       return SumError::sums("tk.reduce %0 {kind = #tk.reduce_kind<sum>, axes = array<i64: 0>, keep_dims = "
                             "false} : (" +
                                 vectorType(terms) + ") -> tensor<f32>",
                             {terms});
     },
     false},
    {"matmul",
     [](const Tensor &terms) {
       const std::string n = std::to_string(terms.size());
       return SumError::sums("tk.matmul %0, %1 : (tensor<1x" + n + "xf32>, tensor<" + n +
                                 "x1xf32>) -> tensor<1x1xf32>",
                             {terms.reshaped({1, terms.size()}), ones({terms.size(), 1})});
     },
     false},
    {"conv",
     [](const Tensor &terms) {
       const llvm::SmallVector<int64_t> shape = {1, terms.size(), 1, 1};
       const std::string type = "tensor<1x" + std::to_string(terms.size()) + "x1x1xf32>";
       return SumError::sums(
           "tk.conv %0, %1 {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, "
           "pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (" +
               type + ", " + type + ") -> tensor<1x1x1x1xf32>",
           {terms.reshaped(shape), ones(shape)});
     },
     false},
    {"cumsum",
     [](const Tensor &terms) {
       const std::string type = vectorType(terms);
       return SumError::sums("tk.cumsum %0 {axis = 0 : i64, exclusive = false, reverse = false} : (" + type +
                                 ") -> " + type,
                             {terms});
     },
     false},
    {"scatter_nd",
     [](const Tensor &terms) {
       return SumError::sums(
           "tk.scatter_nd %0, %1, %2 {reduction = #tk.scatter_reduction<add>} : (tensor<1xf32>, tensor<" +
               std::to_string(terms.size()) + "x1xi64>, " + vectorType(terms) + ") -> tensor<1xf32>",
           {Tensor(DataType::Float32, {1}), Tensor(DataType::Int64, {terms.size(), 1}), terms});
     },
     true}};

/// Terms of one magnitude; `share` of it is left of their sum, whose sign is that of `size`.
Tensor termsOfEitherSign(int64_t count, double share, double size) {
  Tensor terms(DataType::Float32, {count});
  const double positive = (1 + share) / 2;
  for (int64_t i = 0; i < count; ++i) {
    const auto at = static_cast<double>(i);
    terms.setDouble(i, std::floor((at + 1) * positive) > std::floor(at * positive) ? size : -size);
  }
  return terms;
}

/// n/2 times half a unit of the sum.
double boundOfEqualTerms(int64_t terms, double sum) {
  return static_cast<double>(terms) / 2 * 0x1p-24 * std::abs(sum);
}

TEST(SumErrors, TermsMostlyOfOneSign) {
  for (const Adding &addition : additions)
    for (double size : {0.1, -0.7})
      for (double share : {1.0, 0.9, 0.7, 0.55, 0.51}) {
        SCOPED_TRACE(addition.name + std::string(" of ") + std::to_string(size) + ", share " +
                     std::to_string(share));
        const Tensor terms = termsOfEitherSign(50000, share, size);
        const SumError::Sums found = addition.sums(terms);
        const double sum = found.result.doubleAt(found.result.size() - 1);
        const double single = singles(terms.size(), [&](int64_t i) { return terms.doubleAt(i); });
        ASSERT_EQ(found.errors.size(), static_cast<size_t>(found.result.size()));
        EXPECT_NEAR(sum / size, share * 50000, 2);
        EXPECT_GE(found.errors.back(), std::abs(single - sum));
        EXPECT_LE(found.errors.back(), 1.01 * boundOfEqualTerms(terms.size(), sum));
        EXPECT_GE(found.errors.back(), 0.99 * boundOfEqualTerms(terms.size(), sum));
      }
}

// Where the order is not known, nothing follows from terms of which more cancel.
TEST(SumErrors, TermsOfEitherSign) {
  for (const Adding &addition : additions)
    for (double share : {0.49, 0.3, 0.0}) {
      SCOPED_TRACE(addition.name + std::string(", share ") + std::to_string(share));
      const Tensor terms = termsOfEitherSign(50000, share, 0.1);
      const SumError::Sums found = addition.sums(terms);
      const double sum = found.result.doubleAt(found.result.size() - 1);
      const double single = singles(terms.size(), [&](int64_t i) { return terms.doubleAt(i); });
      if (!addition.isRunning) {
        EXPECT_EQ(found.errors.back(), 0);
        continue;
      }
      EXPECT_GE(found.errors.back(), std::abs(single - sum));
      EXPECT_LE(found.errors.back(), 1.01 * boundOfEqualTerms(terms.size(), sum) + 1e-3);
    }
}

/// As many updates of 0.1 to each element of zeros; elements are counted from the end.
SumError::Sums updatesOf(const std::vector<int64_t> &counts, const char *reduction) {
  const auto elements = static_cast<int64_t>(counts.size());
  int64_t all = std::accumulate(counts.begin(), counts.end(), int64_t{0}), at = 0;
  Tensor indices(DataType::Int64, {all, 1}), updates(DataType::Float32, {all});
  for (int64_t i = 0; i < elements; ++i)
    for (int64_t k = 0; k < counts[static_cast<size_t>(i)]; ++k, ++at) {
      indices.setInt(at, i - elements);
      updates.setDouble(at, 0.1);
    }
  const std::string n = std::to_string(all), x = "tensor<" + std::to_string(elements) + "xf32>";
  return SumError::sums(std::string("tk.scatter_nd %0, %1, %2 {reduction = #tk.scatter_reduction<") +
                            reduction + ">} : (" + x + ", tensor<" + n + "x1xi64>, tensor<" + n +
                            "xf32>) -> " + x,
                        {Tensor(DataType::Float32, {elements}), indices, updates});
}

// Updates that fall on one element are as many terms of it.
TEST_F(SumError, UpdatesOfOneElement) {
  const Sums found = updatesOf({50000, 0, 1, 500}, "add");
  ASSERT_EQ(found.errors.size(), 4u);
  EXPECT_GE(found.errors[0],
            std::abs(singles(50000, [](int64_t) { return 0.1; }) - found.result.doubleAt(0)));
  EXPECT_LT(found.errors[0], 0.002 * found.result.doubleAt(0));
  EXPECT_EQ(found.errors[1], 0);
  EXPECT_LE(found.errors[2], 0x1p-24 * 0.11);
  EXPECT_LT(found.errors[3], 2e-5 * found.result.doubleAt(3));
  for (const char *reduction : {"none", "mul", "max"})
    EXPECT_TRUE(updatesOf({500, 2}, reduction).errors.empty()) << reduction;
}

} // namespace
