//===- Run.cpp - tokamak run: compile, run once, show the outputs --------------------------===//
#include "Commands.h"
#include "Model.h"
#include "Npy.h"
#include "Options.h"
#include "Summary.h"
#include "WriteText.h"
#include "driver/Fault.h"
#include "driver/Reproducer.h"
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <set>

namespace tokamak::tool {

namespace {
struct RunOptions {
  ModelOptions model;
  InputOptions inputs;
  CacheOptions cache;
  std::string outputDir;
  bool json = false;
};
} // namespace

/// NAME.npy with characters that a file's name should not have as '_'; numbered where two names become one.
static std::string outputFile(const std::string &name, std::set<std::string> &taken) {
  std::string base;
  for (char c : name) {
    bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
                 c == '_' || c == '-';
    base += plain ? c : '_';
  }
  std::string file = base;
  for (int i = 2; !taken.insert(file).second; ++i)
    file = fmt::format("{}_{}", base, i);
  return file + ".npy";
}

/// Writes the outputs and returns their paths, in order.
static Result<std::vector<std::string>> writeOutputs(const std::string &folder,
                                                     const std::vector<NamedTensor> &outputs) {
  std::error_code code;
  std::filesystem::create_directories(folder, code);
  if (code)
    return Status{StatusCode::InvalidInput, "cannot make the folder '" + folder + "': " + code.message()};
  std::vector<std::string> paths;
  std::set<std::string> taken;
  for (const NamedTensor &output : outputs) {
    paths.push_back(std::filesystem::path(folder) / outputFile(output.name, taken));
    if (Status status = writeNpy(paths.back(), output.tensor); !status.ok())
      return status;
  }
  return paths;
}

static nlohmann::ordered_json toJson(const NamedTensor &output) {
  Summary summary = summarize(output.tensor);
  nlohmann::ordered_json json;
  json["name"] = output.name;
  json["type"] = elementTypeName(output.tensor.type);
  json["shape"] = output.tensor.shape;
  if (summary.finite) {
    json["min"] = summary.min;
    json["max"] = summary.max;
    json["mean"] = summary.mean;
  }
  json["nan_count"] = summary.nans;
  json["inf_count"] = summary.infinities;
  // JSON has no NaN and no infinity; they are strings here.
  json["first"] = nlohmann::ordered_json::array();
  for (double value : summary.first) {
    if (std::isfinite(value))
      json["first"].push_back(value);
    else
      json["first"].push_back(fmt::format("{}", value));
  }
  return json;
}

/// Runs once. A crash of the compiled program is a fault of ours like any other: one line, and a reproducer.
static Result<std::vector<NamedTensor>> runOnce(LoadedRun &run, const ModelOptions &options) {
  Result<std::vector<NamedTensor>> outputs = Status{StatusCode::Internal, "the compiled program crashed"};
  if (driver::runContained([&] { outputs = run.session->run(run.inputs); }))
    return outputs;
  Status status = outputs.status();
  if (Result<LoadedModel> loaded = loadModel(options)) {
    auto imported = driver::importModel(*loaded->model, loaded->options);
    if (!imported)
      return driver::toStatus(imported.takeError());
    std::string path = driver::writeReproducer(*imported->imported, loaded->options, status.message);
    if (!path.empty())
      status.message += "; this is a fault in Tokamak, " + path + " reproduces it";
  }
  return status;
}

static Status run(const RunOptions &options) {
  Result<LoadedRun> loaded = prepareRun(options.model, options.inputs, options.cache);
  if (!loaded)
    return loaded.status();
  auto start = std::chrono::steady_clock::now();
  Result<std::vector<NamedTensor>> outputs = runOnce(*loaded, options.model);
  if (!outputs)
    return outputs.status();
  std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
  std::vector<std::string> files;
  if (!options.outputDir.empty()) {
    auto written = writeOutputs(options.outputDir, *outputs);
    if (!written)
      return written.status();
    files = std::move(*written);
  }

  const ProgramInfo &program = loaded->program;
  if (options.json) {
    nlohmann::ordered_json json;
    json["model"] = options.model.model;
    json["fusion"] = options.model.fusion;
    json["nodes"] = program.nodes;
    json["kernels"] = program.kernels;
    json["compile_ms"] = program.compileMs;
    json["cached"] = program.cached;
    json["run_ms"] = elapsed.count();
    json["outputs"] = nlohmann::ordered_json::array();
    for (size_t i = 0; i < outputs->size(); ++i) {
      json["outputs"].push_back(toJson((*outputs)[i]));
      if (!files.empty())
        json["outputs"].back()["file"] = files[i];
    }
    return writeText("", json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  }
  std::string text = fmt::format("{}: {} nodes as {} kernels, {}, run in {:.3f} ms\n", options.model.model,
                                 program.nodes, program.kernels, compileText(program), elapsed.count());
  for (const NamedTensor &output : *outputs)
    text += describe(output.name, output.tensor) + "\n";
  for (const std::string &file : files)
    text += "wrote " + file + "\n";
  return writeText("", text);
}

void addRun(CLI::App &app, int &exitStatus) {
  CLI::App *command = app.add_subcommand("run", "Compile a model, run it once and show its outputs");
  auto options = std::make_shared<RunOptions>();
  options->model.addTo(*command);
  options->inputs.addTo(*command);
  options->cache.addTo(*command);
  command
      ->add_option("--output-dir", options->outputDir,
                   "Write each output to DIR/NAME.npy (bfloat16 as '<V2')")
      ->type_name("DIR");
  command->add_flag("--json", options->json, "Print one JSON object");
  command->callback(
      [options, &exitStatus] { exitStatus = report(options->model, [&] { return run(*options); }); });
}

} // namespace tokamak::tool
