//===- VerifyReport.cpp - what a verification found, as text and as JSON -----------------------===//
#include "VerifyReport.h"
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace tokamak::tool {

using driver::Deviation;

static std::string line(const Deviation &deviation, bool hasRun, const std::string &name) {
  const char *verdict = !hasRun ? "not run" : deviation.isSame() ? "ok" : "WRONG";
  std::string text = fmt::format("  {:<7}  {:>9.2e}  {:>9.2e}  {}\n", verdict, deviation.maxAbsolute,
                                 deviation.maxRelative, name);
  if (deviation.open > 0)
    text += fmt::format("           {} of {} elements as minimal filtering and long sums leave them open\n",
                        deviation.open, deviation.elements);
  if (deviation.unstable > 0)
    text += fmt::format("           {} of {} elements follow the last places of the inputs\n",
                        deviation.unstable, deviation.elements);
  if (!deviation.isSame())
    text += fmt::format("           {} of {} elements beyond the tolerance; {}\n", deviation.wrong,
                        deviation.elements, deviation.firstWrong);
  return text;
}

static std::string bisectionText(const driver::Bisection &bisection) {
  std::string text;
  if (bisection.first == 0)
    text = "wrong without any rewrite or merge: a kernel or the import is at fault";
  else if (bisection.first > bisection.applications)
    text = "right when run again: the fault does not repeat itself";
  else
    text = fmt::format("right with {} rewrites and merges, wrong with {} of {}: {}", bisection.first - 1,
                       bisection.first, bisection.applications,
                       bisection.application.empty() ? "the passes fail" : bisection.application);
  if (!bisection.fault.empty())
    text += "\n  then " + bisection.fault;
  return fmt::format("bisect ({} runs): {}\n", bisection.runs, text);
}

std::string verifyText(const VerifyReport &report) {
  std::string text;
  if (report.verification) {
    const driver::Verification &found = *report.verification;
    text = fmt::format("{}: {} kernels (fusion {}), {} outputs; evaluator {:.1f} s\n", report.model,
                       found.kernels.size(), report.fusion, found.outputs.size(), found.evaluatorSeconds);
    text += fmt::format("  {:<7}  {:>9}  {:>9}  {}\n", "", "absolute", "relative", "kernel (nodes)");
    for (const driver::VerifiedKernel &kernel : found.kernels)
      text += line(kernel.deviation, kernel.runs > 0,
                   fmt::format("{} ({})", kernel.step.kernel, fmt::join(kernel.step.nodes, ", ")));
    for (const driver::VerifiedOutput &output : found.outputs)
      text += line(output.deviation, true, "output '" + output.name + "'");
    text += found.isSame() ? "the same\n" : "not the same: " + found.firstFault() + "\n";
  }
  if (report.bisection)
    text += bisectionText(*report.bisection);
  return text;
}

static nlohmann::ordered_json toJson(const Deviation &deviation) {
  nlohmann::ordered_json json;
  json["same"] = deviation.isSame();
  json["elements"] = deviation.elements;
  json["wrong"] = deviation.wrong;
  json["filtered"] = deviation.open;
  json["unstable"] = deviation.unstable;
  json["max_absolute"] = deviation.maxAbsolute;
  json["max_relative"] = deviation.maxRelative;
  if (!deviation.isSame())
    json["first_wrong"] = deviation.firstWrong;
  return json;
}

std::string verifyJson(const VerifyReport &report) {
  nlohmann::ordered_json json;
  json["model"] = report.model;
  json["fusion"] = report.fusion;
  json["same"] = report.verification && report.verification->isSame();
  if (report.verification) {
    const driver::Verification &found = *report.verification;
    if (!found.isSame())
      json["fault"] = found.firstFault();
    json["evaluator_seconds"] = found.evaluatorSeconds;
    json["applications"] = found.applications;
    json["kernels"] = nlohmann::ordered_json::array();
    for (const driver::VerifiedKernel &kernel : found.kernels) {
      nlohmann::ordered_json entry = toJson(kernel.deviation);
      entry["kernel"] = kernel.step.kernel;
      entry["kind"] = kernel.step.kind;
      entry["nodes"] = kernel.step.nodes;
      entry["runs"] = kernel.runs;
      json["kernels"].push_back(entry);
    }
    json["outputs"] = nlohmann::ordered_json::array();
    for (const driver::VerifiedOutput &output : found.outputs) {
      nlohmann::ordered_json entry = toJson(output.deviation);
      entry["name"] = output.name;
      json["outputs"].push_back(entry);
    }
  }
  if (report.bisection)
    json["bisect"] = {{"first", report.bisection->first},
                      {"applications", report.bisection->applications},
                      {"application", report.bisection->application},
                      {"fault", report.bisection->fault},
                      {"runs", report.bisection->runs}};
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

} // namespace tokamak::tool
