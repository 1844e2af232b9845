//===- Testing.cpp - operators on literal tensors ----------------------------------------===//
#include "Testing.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "reference/Evaluate.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

namespace tokamak::reference::test {
namespace {

mlir::MLIRContext &context() {
  static mlir::MLIRContext *instance = [] {
    mlir::DialectRegistry registry;
    registry.insert<mlir::func::FuncDialect, tk::TkDialect>();
    registerReferenceModels(registry);
    auto *created = new mlir::MLIRContext(registry);
    created->loadAllAvailableDialects();
    return created;
  }();
  return *instance;
}

std::string print(mlir::Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

std::string print(const Tensor &tensor) {
  std::string text = typeOf(tensor) + " [";
  for (int64_t i = 0; i < tensor.size(); ++i)
    text += (i ? ", " : "") + (isFloat(tensor.type()) ? std::to_string(tensor.doubleAt(i))
                               : isUnsigned(tensor.type())
                                   ? std::to_string(static_cast<uint64_t>(tensor.intAt(i)))
                                   : std::to_string(tensor.intAt(i)));
  return text + "]";
}

bool agree(double a, double b, double tolerance) {
  if (std::isnan(a) || std::isnan(b))
    return std::isnan(a) && std::isnan(b);
  if (a == b)
    return tolerance > 0 || std::signbit(a) == std::signbit(b);
  return std::fabs(a - b) <= tolerance;
}

} // namespace

Tensor make(DataType type, const Shape &shape, const std::vector<double> &values) {
  Tensor tensor(type, shape);
  EXPECT_EQ(tensor.size(), static_cast<int64_t>(values.size()));
  for (int64_t i = 0; i < tensor.size(); ++i)
    tensor.setDouble(i, values[static_cast<size_t>(i)]);
  return tensor;
}

Tensor ints(DataType type, const Shape &shape, const std::vector<int64_t> &values) {
  Tensor tensor(type, shape);
  EXPECT_EQ(tensor.size(), static_cast<int64_t>(values.size()));
  for (int64_t i = 0; i < tensor.size(); ++i)
    tensor.setInt(i, values[static_cast<size_t>(i)]);
  return tensor;
}

std::string typeOf(const Tensor &tensor) { return print(tensor.mlirType(&context())); }

std::string elementTypeOf(DataType type) { return print(toMlir(type, &context())); }

Outcome evaluateText(const std::string &source, const std::vector<Tensor> &arguments) {
  Outcome outcome;
  mlir::ScopedDiagnosticHandler handler(&context(), [&](mlir::Diagnostic &diagnostic) {
    outcome.error += diagnostic.str();
    return mlir::success();
  });
  auto module = mlir::parseSourceString<mlir::ModuleOp>(source, &context());
  if (!module) {
    ADD_FAILURE() << "does not parse: " << outcome.error << "\n" << source;
    return outcome;
  }
  auto results = evaluateFunction(*module->getOps<mlir::func::FuncOp>().begin(), arguments);
  EXPECT_EQ(mlir::failed(results), !outcome.error.empty());
  if (mlir::succeeded(results))
    outcome.results.assign(results->begin(), results->end());
  return outcome;
}

Outcome evaluateOp(const std::string &op, const std::vector<Tensor> &operands, const std::string &types,
                   const std::string &attributes) {
  std::vector<std::string> names, operandTypes, arguments, results;
  for (size_t i = 0; i < operands.size(); ++i) {
    names.push_back("%a" + std::to_string(i));
    operandTypes.push_back(typeOf(operands[i]));
    arguments.push_back(names.back() + ": " + operandTypes.back());
  }
  const size_t count = llvm::StringRef(types).count("tensor<");
  for (size_t i = 0; i < count; ++i)
    results.push_back("%r" + std::to_string(i));
  return evaluateText("func.func @f(" + llvm::join(arguments, ", ") + ") -> (" + types + ") {\n" +
                          llvm::join(results, ", ") + " = tk." + op + " " + llvm::join(names, ", ") + " {" +
                          attributes + "} : (" + llvm::join(operandTypes, ", ") + ") -> (" + types +
                          ")\nreturn " + llvm::join(results, ", ") + " : " + types + "\n}",
                      operands);
}

Tensor apply(const std::string &op, const std::vector<Tensor> &operands, const std::string &types,
             const std::string &attributes) {
  Outcome outcome = evaluateOp(op, operands, types, attributes);
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.results.size(), 1U);
  return outcome.results.empty() ? Tensor() : outcome.results.front();
}

Tensor applySame(const std::string &op, const std::vector<Tensor> &operands, const std::string &attributes) {
  return apply(op, operands, typeOf(operands.front()), attributes);
}

testing::AssertionResult same(const Tensor &actual, const Tensor &expected, double tolerance) {
  bool equal = actual.type() == expected.type() && actual.shape() == expected.shape();
  for (int64_t i = 0; equal && i < actual.size(); ++i)
    equal = isFloat(actual.type()) ? agree(actual.doubleAt(i), expected.doubleAt(i), tolerance)
                                   : actual.intAt(i) == expected.intAt(i);
  if (equal)
    return testing::AssertionSuccess();
  return testing::AssertionFailure() << "is " << print(actual) << ", should be " << print(expected);
}

} // namespace tokamak::reference::test
