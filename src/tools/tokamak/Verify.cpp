//===- Verify.cpp - tokamak verify: the compiled model against the reference evaluator ---------===//
#include "Commands.h"
#include "Model.h"
#include "Progress.h"
#include "VerifyReport.h"
#include "WriteText.h"
#include "driver/Fault.h"
#include "driver/Reproducer.h"
#include "driver/Shapes.h"
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

namespace tokamak::tool {

namespace {
struct VerifyCommand {
  ModelOptions model;
  InputOptions inputs;
  double relative = -1, absolute = -1; ///< negative: the defaults
  bool bisect = false;
  bool json = false;
};

/// Says once where no terminal shows the progress that the evaluator needs its time.
class SlowNote {
public:
  void tell(size_t kernel, size_t kernels) {
    auto elapsed = std::chrono::steady_clock::now() - start;
    if (isTold || kernels == 0 || elapsed < std::chrono::seconds(20) || isatty(STDERR_FILENO))
      return;
    isTold = true;
    std::fprintf(stderr,
                 "tokamak: note: the evaluator computes in plain loops; kernel %zu of %zu after 20 s\n",
                 kernel + 1, kernels);
  }

private:
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
  bool isTold = false;
};
} // namespace

/// All unbound inputs: as given, else random as `run` makes them.
static Result<driver::InputTensors> inputTensors(const LoadedModel &loaded, uint64_t seed) {
  driver::InputTensors tensors;
  const driver::CompileOptions &options = loaded.options;
  const std::vector<ValueInfo> inputs =
      driver::publicValues(loaded.model->signature().inputs, options.import.bound);
  std::map<std::string, std::pair<int64_t, int64_t>> indexInputs;
  if (std::any_of(inputs.begin(), inputs.end(), [](const ValueInfo &info) {
        return info.type == ElementType::Int32 || info.type == ElementType::Int64;
      })) {
    if (auto imported = driver::importModel(*loaded.model, options))
      indexInputs = driver::indexInputs(*imported->imported);
    else
      llvm::consumeError(imported.takeError()); // the verifier meets it again
  }
  for (const ValueInfo &info : inputs) {
    auto given = std::find_if(loaded.values.begin(), loaded.values.end(),
                              [&](const NamedTensor &value) { return value.name == info.name; });
    if (given != loaded.values.end()) {
      tensors.emplace_back(info.name,
                           driver::toTensor(info.type, given->tensor.shape, given->tensor.bytes.data()));
      continue;
    }
    auto indices = indexInputs.find(info.name);
    Result<Tensor> values = randomInput(
        info.name, static_cast<DataType>(info.type), options.import.shapes.at(info.name),
        seed + tensors.size(), indices == indexInputs.end() ? std::nullopt : std::optional(indices->second));
    if (!values)
      return driver::inModel(loaded.model->name(), values.status());
    tensors.emplace_back(info.name, std::move(*values));
  }
  return tensors;
}

static bool hasWrongOutput(const driver::Verification &verification) {
  return std::any_of(verification.outputs.begin(), verification.outputs.end(),
                     [](const auto &output) { return !output.deviation.isSame(); });
}

/// Who is at fault. Rules of the user change what the outputs are, never whether a kernel computes its
/// operators; and what none of them is the first to break is no fault of theirs.
static std::string culprit(const std::vector<std::string> &rules, const VerifyReport &report) {
  const char *ours = "this is a fault in Tokamak";
  if (rules.empty() || (report.verification && !hasWrongOutput(*report.verification)))
    return ours;
  if (report.bisection && report.bisection->first <= report.bisection->applications)
    return report.bisection->rule.empty()
               ? ours
               : "this is a fault in the rule " + report.bisection->rule + ", or in Tokamak";
  return fmt::format("{} or in a rule of {}", ours, fmt::join(rules, ", "));
}

/// The fault as a status with a file that reproduces it.
static Status faultOf(const LoadedModel &loaded, const std::string &message, const std::string &culprit) {
  std::string path;
  if (auto imported = driver::importModel(*loaded.model, loaded.options))
    path = driver::writeReproducer(*imported->imported, loaded.options, message);
  else
    llvm::consumeError(imported.takeError());
  return {StatusCode::Internal,
          message + "; " + culprit + (path.empty() ? "" : "; " + path + " reproduces it")};
}

/// A run in which a crash of the compiled program is a fault like any other.
static Result<driver::Verification> runOnce(driver::Verifier &verifier, bool &crashed) {
  Result<driver::Verification> result = Status{StatusCode::Internal, "the compiled program crashed"};
  crashed = !driver::runContained([&] {
    auto verification = verifier.run();
    if (verification)
      result = std::move(*verification);
    else
      result = driver::toStatus(verification.takeError());
  });
  return result;
}

static Status verify(const VerifyCommand &command) {
  auto progress = std::make_unique<Progress>(command.model.model);
  Result<LoadedModel> loaded = loadModel(command.model, command.inputs.files);
  if (!loaded)
    return loaded.status();
  loaded->options.onStage = [&](const char *stage) { progress->stage(stage); };
  driver::VerifyOptions options;
  if (command.relative >= 0)
    options.relative = command.relative;
  if (command.absolute >= 0)
    options.absolute = command.absolute;
  options.threads = command.inputs.threads;
  SlowNote slow;
  options.onProgress = [&](size_t kernel, size_t kernels) {
    slow.tell(kernel, kernels);
    progress->stage(kernels == 0 ? "the evaluator computes the graph, in plain loops"
                                 : fmt::format("comparing kernel {} of {}", kernel + 1, kernels));
  };
  Result<driver::InputTensors> inputs = inputTensors(*loaded, command.inputs.seed);
  if (!inputs)
    return inputs.status();
  driver::Verifier verifier(*loaded->model, loaded->options, std::move(*inputs), options);
  VerifyReport report;
  report.model = command.model.model;
  report.fusion = command.model.fusion;
  bool crashed = false;
  Result<driver::Verification> result = runOnce(verifier, crashed);
  Status fault = result.status();
  if (result) {
    report.verification = *result;
    if (std::string first = result->firstFault(); !first.empty())
      fault = {StatusCode::Internal, command.model.model + ": " + first};
  } else if (fault.code != StatusCode::Internal) {
    return fault;
  }
  // After a crash nothing can be run again, and where the passes failed nobody knows how far they would go.
  if (!fault.ok() && command.bisect && !crashed && verifier.applications()) {
    bool outputsAreWrong = !result || hasWrongOutput(*result);
    auto bisection =
        driver::bisect(verifier, *verifier.applications(), !outputsAreWrong, [&](int64_t good, int64_t bad) {
          progress->stage(fmt::format("bisecting between {} and {} rewrites and merges", good, bad));
        });
    if (!bisection)
      return driver::toStatus(bisection.takeError());
    report.bisection = *bisection;
  }
  progress.reset();
  loaded->options.onStage = nullptr;
  std::string text = command.json ? verifyJson(report) : verifyText(report);
  if (Status status = writeText("", text); !status.ok())
    return status;
  // A fault while compiling has left its file already.
  if (!result && !crashed)
    return fault;
  return fault.ok() ? fault : faultOf(*loaded, fault.message, culprit(loaded->options.rules, report));
}

/// CLI11's own check lets NaN through, which compares with nothing.
static std::string checkTolerance(const std::string &text) {
  double value = 0;
  return CLI::detail::lexical_cast(text, value) && std::isfinite(value) && value >= 0
             ? ""
             : "'" + text + "' is no tolerance; give a finite number from 0 on";
}

void addVerify(CLI::App &app, int &exitStatus) {
  CLI::App *command = app.add_subcommand(
      "verify", "Compare each kernel and the outputs of a compiled model with the reference evaluator");
  auto options = std::make_shared<VerifyCommand>();
  options->model.addTo(*command);
  options->inputs.addTo(*command);
  command
      ->add_option(
          "--rtol", options->relative,
          "Relative tolerance of floats, kernels and outputs alike; by default it depends on the type")
      ->type_name("R")
      ->check(checkTolerance);
  command->add_option("--atol", options->absolute, "Absolute tolerance of floats")
      ->type_name("A")
      ->check(checkTolerance);
  command->add_flag("--bisect", options->bisect,
                    "Where something is wrong, find the first rewrite or merge that makes it so");
  command->add_flag("--json", options->json, "Print one JSON object");
  command->footer(
      "An element is right where |got - expected| <= A + R * max(|expected|, root mean square).\n"
      "R is 2e-5 for float32, 4e-3 for float16, 3e-2 for bfloat16, 1e-12 for float64, A a twentieth\n"
      "of it, outputs have ten times that; integers must be equal, NaN equals NaN.\n"
      "What convolutions by minimal filtering leave open (docs/winograd.md) is right as well;\n"
      "with --exact there are none. So is what rounding partial sums may put a sum off by, half a unit\n"
      "of each. Neither depends on A and R.\n"
      "Exit status 0: the same, 3: not the same.");
  command->callback(
      [options, &exitStatus] { exitStatus = report(options->model, [&] { return verify(*options); }); });
}

} // namespace tokamak::tool
