//===- PassTest.cpp - a graph before and after a pass, by value --------------------------------===//
#include "PassTest.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "reference/Evaluate.h"
#include "reference/RandomTensor.h"
#include <cmath>
#include <limits>

using namespace tokamak;

PassTest::PassTest() {
  mlir::DialectRegistry registry;
  registry.insert<tk::TkDialect, mlir::func::FuncDialect>();
  reference::registerReferenceModels(registry);
  context.appendDialectRegistry(registry);
  context.loadAllAvailableDialects();
}

void PassTest::rewrite(const std::string &text, std::initializer_list<Create> passes) {
  before = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  ASSERT_TRUE(before);
  after = before->clone();
  mlir::PassManager manager(&context);
  for (Create create : passes)
    manager.addPass(create(nullptr));
  ASSERT_TRUE(mlir::succeeded(manager.run(*after)));
}

void PassTest::rewriteTyped(std::string text, llvm::StringRef element, std::initializer_list<Create> passes) {
  const std::pair<std::string, std::string> names[] = {{"$T", ("tensor<2x3x4x" + element + ">").str()},
                                                       {"$S", ("tensor<" + element + ">").str()}};
  for (const auto &[name, type] : names)
    for (size_t at = 0; (at = text.find(name, at)) != std::string::npos; at += type.size())
      text.replace(at, name.size(), type);
  rewrite(text, passes);
}

int64_t PassTest::count(llvm::StringRef op) {
  int64_t found = 0;
  after->walk([&](mlir::Operation *each) {
    if (llvm::isa<tk::TkDialect>(each->getDialect()) && !llvm::isa<tk::ConstantOp>(each))
      found += op.empty() || each->getName().stripDialect() == op;
  });
  return found;
}

std::vector<Tensor>
PassTest::inputs(llvm::function_ref<Tensor(DataType, llvm::ArrayRef<int64_t>, uint64_t)> make,
                 uint64_t seed) {
  std::vector<Tensor> values;
  auto func = *before->getOps<mlir::func::FuncOp>().begin();
  for (mlir::Value argument : func.getArguments()) {
    mlir::RankedTensorType type = tk::tensorType(argument);
    values.push_back(make(*fromMlir(type.getElementType()), type.getShape(), seed++));
  }
  return values;
}

std::vector<Tensor> PassTest::evaluate(mlir::ModuleOp module, llvm::ArrayRef<Tensor> inputs) {
  auto results = reference::evaluateFunction(*module.getOps<mlir::func::FuncOp>().begin(), inputs);
  EXPECT_TRUE(mlir::succeeded(results));
  return mlir::succeeded(results) ? std::vector<Tensor>(results->begin(), results->end())
                                  : std::vector<Tensor>();
}

void PassTest::expectEqualOnIntegers() {
  for (uint64_t seed : {1, 20, 300}) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const std::vector<Tensor> values = inputs(
        [](DataType type, llvm::ArrayRef<int64_t> shape, uint64_t seed) {
          return reference::randomTensor(type, shape, seed, reference::RandomValues::SmallIntegers);
        },
        seed);
    const std::vector<Tensor> a = evaluate(*before, values), b = evaluate(*after, values);
    ASSERT_EQ(a.size(), b.size());
    for (size_t r = 0; r < a.size(); ++r) {
      ASSERT_EQ(a[r].type(), b[r].type());
      ASSERT_EQ(a[r].shape(), b[r].shape());
      for (int64_t i = 0; i < a[r].size(); ++i)
        ASSERT_EQ(a[r].doubleAt(i), b[r].doubleAt(i)) << "result " << r << ", element " << i;
    }
  }
}

void PassTest::expectEqualOnWrappingIntegers() {
  const std::vector<Tensor> values = inputs(
      [](DataType type, llvm::ArrayRef<int64_t> shape, uint64_t seed) {
        Tensor tensor(type, shape);
        for (int64_t i = 0; i < tensor.size(); ++i)
          tensor.setInt(i, static_cast<int64_t>((seed + static_cast<uint64_t>(i) + 1) * 0x9e3779b97f4a7c15u));
        return tensor;
      },
      1);
  const std::vector<Tensor> a = evaluate(*before, values), b = evaluate(*after, values);
  for (size_t r = 0; r < a.size(); ++r)
    for (int64_t i = 0; i < a[r].size(); ++i)
      ASSERT_EQ(a[r].intAt(i), b[r].intAt(i)) << "result " << r << ", element " << i;
}

void PassTest::expectClose(double tolerance) {
  const std::vector<Tensor> values =
      inputs([](DataType type, llvm::ArrayRef<int64_t> shape,
                uint64_t seed) { return reference::randomTensor(type, shape, seed); },
             5);
  const std::vector<Tensor> a = evaluate(*before, values), b = evaluate(*after, values);
  for (size_t r = 0; r < a.size(); ++r) {
    double scale = 1;
    for (int64_t i = 0; i < a[r].size(); ++i)
      scale = std::max(scale, std::abs(a[r].doubleAt(i)));
    for (int64_t i = 0; i < a[r].size(); ++i)
      ASSERT_NEAR(a[r].doubleAt(i), b[r].doubleAt(i), tolerance * scale)
          << "result " << r << ", element " << i;
  }
}

/// The class of both is one, the sign of zeros included, and numbers are within 4 ulp of float32, or are both
/// next to nothing, where the one may have lost what the other kept.
static testing::AssertionResult areAlike(double a, double b) {
  const double least = 0x1p-120, slack = 4 * 0x1p-23 * std::abs(a) + least;
  const bool alike = std::isnan(a) || std::isnan(b)   ? std::isnan(a) && std::isnan(b)
                     : std::isinf(a) || std::isinf(b) ? a == b
                     : a == 0 && b == 0               ? std::signbit(a) == std::signbit(b)
                                                      : std::abs(a - b) <= slack;
  return alike ? testing::AssertionSuccess() : testing::AssertionFailure() << a << " became " << b;
}

void PassTest::expectSameOnSpecialValues(Largest largest) {
  using Limits = std::numeric_limits<float>;
  std::vector<double> specials = {
      Limits::quiet_NaN(),  Limits::infinity(), -Limits::infinity(),  0.0, -0.0, 1.0, -1.0, -3.0, 0.5,
      Limits::denorm_min(), Limits::min(),      -Limits::denorm_min()};
  if (largest == Largest::Included)
    specials.insert(specials.end(), {Limits::max(), -Limits::max(), 0x1p126});
  // Steps through the list that differ by input, so that each value meets each other one.
  for (uint64_t round = 0; round < specials.size(); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const std::vector<Tensor> values = inputs(
        [&](DataType type, llvm::ArrayRef<int64_t> shape, uint64_t seed) {
          Tensor tensor(type, shape);
          for (int64_t i = 0; i < tensor.size(); ++i)
            tensor.setDouble(i, specials[(static_cast<uint64_t>(i) + seed * round) % specials.size()]);
          return tensor;
        },
        1);
    const std::vector<Tensor> a = evaluate(*before, values), b = evaluate(*after, values);
    for (size_t r = 0; r < a.size(); ++r)
      for (int64_t i = 0; i < a[r].size(); ++i)
        ASSERT_TRUE(areAlike(a[r].doubleAt(i), b[r].doubleAt(i))) << "result " << r << ", element " << i;
  }
}
