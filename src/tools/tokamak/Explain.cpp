//===- Explain.cpp - tokamak explain: what was fused, what was not, and why --------------------===//
#include "Commands.h"
#include "ExplainDot.h"
#include "ExplainFormats.h"
#include "ExplainPage.h"
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

static Result<std::string> render(const ExplainOptions &options, const driver::Explanation &explanation) {
  const std::string &model = options.model.model, &fusion = options.model.fusion;
  if (options.format == "json")
    return explanationJson(model, fusion, explanation);
  if (options.format == "html")
    return explanationPage(model, fusion, explanation);
  if (options.format == "dot")
    return explanationDot(model, explanation);
  if (options.format == "svg")
    return explanationSvg(model, explanation);
  return explanationText(model, fusion, explanation);
}

static Status explain(const ExplainOptions &options) {
  auto progress = std::make_unique<Progress>(options.model.model);
  Result<LoadedModel> loaded = loadModel(options.model);
  if (!loaded)
    return loaded.status();
  loaded->options.onStage = [&](const char *stage) { progress->stage(stage); };
  auto explanation = driver::explainModel(*loaded->model, loaded->options);
  if (!explanation)
    return driver::toStatus(explanation.takeError());
  progress.reset();
  Result<std::string> text = render(options, *explanation);
  return text ? writeText(options.output, *text) : text.status();
}

void addExplain(CLI::App &app, int &exitStatus) {
  CLI::App *command = app.add_subcommand("explain", "Show which nodes share a kernel, and why others do not");
  auto options = std::make_shared<ExplainOptions>();
  options->model.addTo(*command);
  command
      ->add_option("--format", options->format,
                   "text, json, html (one page that works offline), dot, or svg (drawn by Graphviz)")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"text", "json", "html", "dot", "svg"}))
      ->capture_default_str();
  command->add_option("-o,--output", options->output, "Write to FILE instead of standard output")
      ->type_name("FILE");
  command->callback(
      [options, &exitStatus] { exitStatus = report(options->model, [&] { return explain(*options); }); });
}

} // namespace tokamak::tool
