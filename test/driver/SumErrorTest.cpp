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
#include <random>

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

// Their partial sums are not small, and single precision is as far off as for terms of one sign.
TEST_F(SumError, ManyMoreOfOneSignAreRight) {
  auto value = [](int64_t i) { return i / columns % 10 < 7 ? 0.1 : -0.1; };
  const Verification result = verify(filled(value));
  EXPECT_TRUE(result.isSame()) << result.firstFault();
  const Verification rising = verify(filled(
      [](int64_t i) { return 2 * static_cast<double>(i / columns) / static_cast<double>(rows - 1) - 1; }));
  EXPECT_TRUE(rising.isSame()) << rising.firstFault();
}

// A random walk of n steps is 0.53 times the root of n away from 0 on average, while a sum of normals is off
// by the root of n roundings of that: 300 times less. A term that is left out is still found.
TEST_F(SumError, NormalsOfMeanZero) {
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  const Tensor x = filled([&](int64_t) { return normal(random); });
  const Sums found = columnSums(x);
  double mean = 0, off = 0;
  for (int64_t column = 0; column < columns; ++column) {
    const double single = singles(rows, [&](int64_t row) { return x.doubleAt(row * columns + column); });
    mean += found.errors[static_cast<size_t>(column)] / columns;
    off = std::max(off, std::abs(single - found.result.doubleAt(column)));
  }
  const double walk = 0.53 * 0x1p-24 * std::pow(rows, 1.5);
  EXPECT_NEAR(mean, walk, 0.4 * walk);
  EXPECT_LT(mean, 0.5);
  EXPECT_LT(mean / std::sqrt(rows), 2.5e-3) << "of the root mean square of such sums";
  EXPECT_GT(off, mean / 1000);
  EXPECT_LT(off, mean / 50);
  RecordProperty("allowed on average", std::to_string(mean));
  RecordProperty("the furthest off in single precision", std::to_string(off));
}

/// An operator that adds up all elements of a vector; its last result is the sum.
struct Adding {
  const char *name;
  SumError::Sums (*sums)(const Tensor &terms);
  bool isRunning; ///< its partial sums are known
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
     true},
    {"matmul",
     [](const Tensor &terms) {
       const std::string n = std::to_string(terms.size());
       return SumError::sums("tk.matmul %0, %1 : (tensor<1x" + n + "xf32>, tensor<" + n +
                                 "x1xf32>) -> tensor<1x1xf32>",
                             {terms.reshaped({1, terms.size()}), ones({terms.size(), 1})});
     },
     true},
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
     true},
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

// Where partial sums are not known, nothing follows from terms of which more cancel.
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
      // Lanes of vectors may have terms of one sign each.
      const double ofLanes = boundOfEqualTerms(terms.size(), 0.1 * static_cast<double>(terms.size())) / 16;
      EXPECT_LE(found.errors.back(), 1.01 * std::max(boundOfEqualTerms(terms.size(), sum), ofLanes));
    }
}

// As in lanes of vectors: each has terms of one sign, though the next one is of the other.
TEST(SumErrors, TermsOfAlternatingSign) {
  constexpr int64_t lanes = 16, count = 50000;
  auto term = [](int64_t i) { return i % 2 ? -0.0999 : 0.1; };
  Tensor terms(DataType::Float32, {count});
  for (int64_t i = 0; i < count; ++i)
    terms.setDouble(i, term(i));
  float sum = 0;
  for (int64_t lane = 0; lane < lanes; ++lane)
    sum += singles(count / lanes, [&](int64_t i) { return term(i * lanes + lane); });
  for (const Adding &addition : {additions[0], additions[1]}) {
    const SumError::Sums found = addition.sums(terms);
    EXPECT_GE(found.errors[0], std::abs(sum - found.result.doubleAt(0))) << addition.name;
    EXPECT_LE(found.errors[0], 1.01 * boundOfEqualTerms(count, 0.1 * count) / lanes) << addition.name;
  }
}

TEST(SumErrors, EarlyRunningSumsAreOffByLess) {
  const SumError::Sums found = additions[3].sums(termsOfEitherSign(50000, 1, 0.1));
  EXPECT_LE(found.errors[0], 0x1p-24 * 0.11);
  EXPECT_LE(found.errors[99], 1.1 * boundOfEqualTerms(100, 10));
}

/// As the sum of the vector of its terms.
void expectErrors(double error, const std::vector<double> &values) {
  Tensor terms(DataType::Float32, {static_cast<int64_t>(values.size())});
  for (auto [i, value] : llvm::enumerate(values))
    terms.setDouble(static_cast<int64_t>(i), value);
  const double expected = additions[0].sums(terms).errors[0];
  EXPECT_NEAR(error, expected, 1e-9 * expected);
}

TEST(SumErrors, SumsOverSeveralAxes) {
  const Tensor x = termsOfEitherSign(5 * 3 * 70, 0.3, 0.7).reshaped({5, 3, 70});
  const SumError::Sums found =
      SumError::sums("tk.reduce %0 {kind = #tk.reduce_kind<sum>, axes = array<i64: 0, "
                     "2>, keep_dims = true} : (tensor<5x3x70xf32>) -> tensor<1x3x1xf32>",
                     {x});
  for (int64_t row = 0; row < 3; ++row) {
    std::vector<double> terms;
    for (int64_t i = 0; i < 5 * 70; ++i)
      terms.push_back(x.doubleAt((i / 70 * 3 + row) * 70 + i % 70));
    expectErrors(found.errors[static_cast<size_t>(row)], terms);
  }
}

// Powers of two as factors, so that products are exact.
TEST(SumErrors, ProductsOfTransposedMatrices) {
  constexpr int64_t m = 3, n = 4, depth = 130;
  for (bool left : {false, true})
    for (bool right : {false, true}) {
      const Tensor x =
          termsOfEitherSign(2 * m * depth, 0.4, 0.7).reshaped({2, left ? depth : m, left ? m : depth});
      Tensor w(DataType::Float32,
               right ? std::initializer_list<int64_t>{n, depth} : std::initializer_list<int64_t>{depth, n});
      for (int64_t i = 0; i < w.size(); ++i)
        w.setDouble(i, std::ldexp(i % 7 ? 1 : -1, static_cast<int>(i % 5)));
      const std::string text = std::string("tk.matmul %0, %1 {transpose_lhs = ") + (left ? "true" : "false") +
                               ", transpose_rhs = " + (right ? "true" : "false") + "} : (tensor<2x" +
                               (left ? "130x3" : "3x130") + "xf32>, tensor<" + (right ? "4x130" : "130x4") +
                               "xf32>) -> tensor<2x3x4xf32>";
      const SumError::Sums found = SumError::sums(text, {x, w});
      for (int64_t at = 0; at < 2 * m * n; ++at) {
        const int64_t image = at / (m * n), row = at / n % m, column = at % n;
        std::vector<double> terms;
        for (int64_t k = 0; k < depth; ++k)
          terms.push_back(x.doubleAt(image * m * depth + (left ? k * m + row : row * depth + k)) *
                          w.doubleAt(right ? column * depth + k : k * n + column));
        expectErrors(found.errors[static_cast<size_t>(at)], terms);
      }
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
