//===- compiled_conformance.cpp - compiled code against the ONNX backend tests ------------------===//
// Each case goes through tokamak::Session: imported, fused, compiled to machine code, run, compared. Options
// before the runner's own: --fusion none|dominator|full, --target-cpu CPU.
#include "Runner.h"
#include "import/Import.h"
#include "tokamak/Session.h"
#include "llvm/ADT/StringRef.h"
#include <cstdio>
#include <cstring>

namespace tokamak::conformance {

static SessionOptions sessionOptions;

static HostTensor toHost(const Tensor &tensor) {
  HostTensor host(static_cast<ElementType>(tensor.type()),
                  Shape(tensor.shape().begin(), tensor.shape().end()));
  if (tensor.byteCount() > 0)
    std::memcpy(host.bytes.data(), tensor.bytes(), tensor.byteCount());
  return host;
}

static Tensor fromHost(const HostTensor &host) {
  Tensor tensor(static_cast<DataType>(host.type), host.shape);
  if (tensor.byteCount() > 0)
    std::memcpy(tensor.mutableBytes(), host.bytes.data(), tensor.byteCount());
  return tensor;
}

/// The user's input is at fault: a refusal. Anything else is a failure of ours.
static Outcome outcomeOf(const Status &status, const TestCase &test) {
  std::string message = status.message;
  if (llvm::StringRef(message).starts_with(test.model() + ": "))
    message = message.substr(test.model().size() + 2);
  return status.code == StatusCode::InvalidInput ? Outcome::refused(message) : Outcome::failed(message);
}

static Outcome runSet(const TestCase &test, Session &session, const DataSet &data) {
  if (data.inputs.size() != session.inputs().size())
    return Outcome::failed(std::to_string(session.inputs().size()) + " inputs, the data have " +
                           std::to_string(data.inputs.size()));
  std::vector<NamedTensor> inputs;
  for (size_t i = 0; i < data.inputs.size(); ++i) {
    auto declared = static_cast<DataType>(session.inputs()[i].type);
    inputs.push_back({session.inputs()[i].name, toHost(asDeclared(data.inputs[i], declared))});
  }
  auto outputs = session.run(inputs);
  if (!outputs)
    return outcomeOf(outputs.status(), test);
  llvm::SmallVector<Tensor> actual, expected;
  for (const NamedTensor &output : *outputs)
    actual.push_back(fromHost(output.tensor));
  for (size_t i = 0; i < data.outputs.size(); ++i)
    expected.push_back(i < actual.size() ? asDeclared(data.outputs[i], actual[i].type()) : data.outputs[i]);
  std::string reason = difference(actual, expected);
  return reason.empty() ? Outcome::passed() : Outcome::failed(reason);
}

static Outcome runCase(const TestCase &test) {
  auto session = Session::fromFile(test.model(), sessionOptions);
  if (!session)
    return outcomeOf(session.status(), test);
  llvm::Expected<std::vector<DataSet>> sets = readDataSets(test);
  if (!sets) { // such as sequences, which the import must refuse too
    std::string unreadable = llvm::toString(sets.takeError());
    auto info = (*session)->prepare();
    return info ? Outcome::failed(unreadable) : outcomeOf(info.status(), test);
  }
  for (const DataSet &set : *sets) {
    Outcome outcome = runSet(test, **session, set);
    if (outcome.kind != Outcome::Passed)
      return outcome;
  }
  return Outcome::passed();
}

} // namespace tokamak::conformance

int main(int argc, char **argv) {
  using namespace tokamak;
  SessionOptions &options = conformance::sessionOptions;
  options.threads = 1;
  std::vector<char *> rest{argv[0]};
  for (int i = 1; i < argc; ++i) {
    llvm::StringRef argument = argv[i];
    if (argument == "--target-cpu" && i + 1 < argc) {
      options.targetCpu = argv[++i];
    } else if (argument == "--fusion" && i + 1 < argc) {
      llvm::StringRef mode = argv[++i];
      options.fusion = mode == "none" ? Fusion::None : mode == "dominator" ? Fusion::Dominator : Fusion::Full;
    } else {
      rest.push_back(argv[i]);
    }
  }
  return conformance::runConformance(static_cast<int>(rest.size()), rest.data(), conformance::runCase);
}
