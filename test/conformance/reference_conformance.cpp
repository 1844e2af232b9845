//===- reference_conformance.cpp - import and evaluator against the ONNX backend tests -----===//
// Imports each case with its inputs as hints, evaluates @main with the reference evaluator, compares the
// outputs. What fails here is a fault of the importer or of the evaluator: no code is generated.
#include "Runner.h"
#include "import/Import.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "reference/Evaluate.h"

namespace tokamak::conformance {

/// The error line without the path of the file, which differs between machines.
static std::string reasonOf(llvm::Error error, const TestCase &test) {
  std::string line = llvm::toString(std::move(error));
  if (llvm::StringRef(line).starts_with(test.model() + ": "))
    line = line.substr(test.model().size() + 2);
  return line;
}

/// Which inputs are given how: as hints (they stay inputs) or bound (they become constants).
enum class Inputs { Hinted, Bound };

/// Imports the model for one data set, evaluates and compares.
static Outcome evaluate(const TestCase &test, const import::Model &model, const DataSet &data, Inputs how) {
  mlir::DialectRegistry registry;
  registry.insert<tk::TkDialect, mlir::func::FuncDialect>();
  reference::registerReferenceModels(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  std::string diagnostics;
  context.getDiagEngine().registerHandler([&](mlir::Diagnostic &d) {
    diagnostics += d.str() + " ";
    return mlir::success();
  });

  const import::ModelSignature &signature = model.signature();
  import::ImportOptions options;
  llvm::SmallVector<Tensor> arguments, expected;
  for (size_t i = 0; i < std::min(data.inputs.size(), signature.inputs.size()); ++i) {
    const import::ModelSignature::Value &input = signature.inputs[i];
    Tensor value = asDeclared(data.inputs[i], input.type);
    options.shapes[input.name].assign(value.shape().begin(), value.shape().end());
    (how == Inputs::Bound ? options.bound : options.hints)[input.name] = value;
    if (how == Inputs::Hinted)
      arguments.push_back(value);
  }
  for (size_t i = 0; i < data.outputs.size(); ++i)
    expected.push_back(i < signature.outputs.size() ? asDeclared(data.outputs[i], signature.outputs[i].type)
                                                    : data.outputs[i]);
  llvm::Expected<import::ImportedModel> imported = model.import(context, options);
  if (!imported)
    return Outcome::refused(reasonOf(imported.takeError(), test));
  if (data.inputs.size() != signature.inputs.size())
    return Outcome::failed(std::to_string(signature.inputs.size()) + " inputs, the data have " +
                           std::to_string(data.inputs.size()));
  auto main = imported->module->lookupSymbol<mlir::func::FuncOp>("main");
  mlir::FailureOr<llvm::SmallVector<Tensor>> outputs = reference::evaluateFunction(main, arguments);
  if (mlir::failed(outputs))
    return Outcome::failed("evaluation: " + diagnostics);
  std::string reason = difference(*outputs, expected);
  return reason.empty() ? Outcome::passed() : Outcome::failed(reason);
}

static Outcome evaluateCase(const TestCase &test) {
  llvm::Expected<std::unique_ptr<import::Model>> model = import::Model::fromFile(test.model());
  if (!model)
    return Outcome::refused(reasonOf(model.takeError(), test));
  llvm::Expected<std::vector<DataSet>> sets = readDataSets(test);
  if (!sets) { // such as sequences, which the import must refuse too
    std::string unreadable = llvm::toString(sets.takeError());
    Outcome outcome = evaluate(test, **model, DataSet(), Inputs::Hinted);
    return outcome.kind == Outcome::Refused ? outcome : Outcome::failed(unreadable);
  }
  for (const DataSet &set : *sets) {
    Outcome outcome = evaluate(test, **model, set, Inputs::Hinted);
    if (outcome.kind == Outcome::Refused) {
      // What depends on the data is computed when the data are bound; then it must be right.
      Outcome bound = evaluate(test, **model, set, Inputs::Bound);
      return bound.kind == Outcome::Failed ? Outcome::failed("with bound inputs: " + bound.detail) : outcome;
    }
    if (outcome.kind == Outcome::Failed)
      return outcome;
  }
  return Outcome::passed();
}

} // namespace tokamak::conformance

int main(int argc, char **argv) {
  return tokamak::conformance::runConformance(argc, argv, tokamak::conformance::evaluateCase);
}
