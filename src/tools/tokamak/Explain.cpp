//===- Explain.cpp - tokamak explain: what was fused, what was not, and why --------------------===//
#include "Commands.h"
#include "ExplainFormats.h"
#include "Model.h"
#include "Progress.h"
#include "WriteText.h"
#include "driver/Fault.h"

namespace tokamak::tool {

namespace {
struct ExplainOptions {
  ModelOptions model;
  std::string format = "text";
  std::string output;
};
} // namespace

static Status explain(const ExplainOptions &options) {
  if (options.format != "text" && options.format != "json")
    return {StatusCode::Misuse, "explain --format " + options.format + " is not there yet; use text or json"};
  auto progress = std::make_unique<Progress>(options.model.model);
  Result<LoadedModel> loaded = loadModel(options.model);
  if (!loaded)
    return loaded.status();
  loaded->options.onStage = [&](const char *stage) { progress->stage(stage); };
  auto explanation = driver::explainModel(*loaded->model, loaded->options);
  if (!explanation)
    return driver::toStatus(explanation.takeError());
  progress.reset();
  auto write = options.format == "json" ? explanationJson : explanationText;
  return writeText(options.output, write(options.model.model, options.model.fusion, *explanation));
}

void addExplain(CLI::App &app, int &exitStatus) {
  CLI::App *command = app.add_subcommand("explain", "Show which nodes share a kernel, and why others do not");
  auto options = std::make_shared<ExplainOptions>();
  options->model.addTo(*command);
  command->add_option("--format", options->format, "text or json (html, dot and svg are planned)")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"text", "json", "html", "dot", "svg"}))
      ->capture_default_str();
  command->add_option("-o,--output", options->output, "Write to FILE instead of standard output")
      ->type_name("FILE");
  command->callback([options, &exitStatus] { exitStatus = report(explain(*options)); });
}

} // namespace tokamak::tool
