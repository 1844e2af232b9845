//===- ExplainFormats.cpp - an explanation as text and as JSON ---------------------------------===//
#include "ExplainFormats.h"
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <nlohmann/json.hpp>

namespace tokamak::tool {

using analysis::LevelTraffic;
using analysis::Traffic;
using driver::Explanation;
using driver::GroupReport;

static constexpr struct {
  const char *key, *text;
} levelNames[memoryLevels] = {{"l1", "L1"}, {"l2", "L2"}, {"l3", "L3"}, {"memory", "memory"}};

std::string bytesText(int64_t count) {
  double value = static_cast<double>(count);
  if (count < 10000)
    return fmt::format("{} B", count);
  if (value < 1e6)
    return fmt::format("{:.1f} kB", value / 1e3);
  return value < 1e9 ? fmt::format("{:.1f} MB", value / 1e6) : fmt::format("{:.2f} GB", value / 1e9);
}

static std::string totalsLine(const char *title, const Traffic &traffic) {
  return fmt::format("  {:<10}{:>8}{:>12}{:>12}{:>12}{:>12.3f}\n", title, traffic.kernels,
                     bytesText(traffic.bytesRead), bytesText(traffic.bytesWritten),
                     bytesText(traffic.weightBytes), static_cast<double>(traffic.flops) / 1e9);
}

/// "L2 1.2 MB, memory 3.4 MB": where bytes come from, the levels that matter.
static std::string levelsText(const LevelTraffic &levels) {
  std::string text;
  for (size_t level = 0; level < memoryLevels; ++level)
    if (int64_t bytes = levels.at(static_cast<MemoryLevel>(level)); bytes > 0)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", levelNames[level].text, bytesText(bytes));
  return text.empty() ? "nothing" : text;
}

static std::string levelTotals(const char *title, const LevelTraffic &levels, double seconds) {
  std::string text = fmt::format("  {:<10}", title);
  for (size_t level = 0; level < memoryLevels; ++level)
    text += fmt::format("{:>12}", bytesText(levels.at(static_cast<MemoryLevel>(level))));
  const int64_t weights = levels.weights[static_cast<size_t>(MemoryLevel::Memory)];
  return text + fmt::format("{:>15}{:>13.3f}\n", bytesText(weights), seconds * 1e3);
}

/// Groups that run at the same time as `group`; they stand side by side.
static std::vector<int64_t> besides(const GroupReport &group, const std::vector<GroupReport> &groups) {
  std::vector<int64_t> others;
  auto inWave = [&](const GroupReport &other) { return other.wave == group.wave; };
  auto self = groups.begin() + group.id;
  auto first = std::find_if_not(std::make_reverse_iterator(self), groups.rend(), inWave).base();
  auto end = std::find_if_not(self, groups.end(), inWave);
  for (auto other = first; other != end; ++other)
    if (other != self)
      others.push_back(other->id);
  return others;
}

/// No state is modelled for steps that are forced.
static bool isForced(const SearchReport &search) { return search.explored == 0; }

static std::string searchText(const SearchReport &search) {
  std::string steps = fmt::format("{}", fmt::join(search.steps, ", "));
  if (isForced(search))
    return fmt::format("  forced: {}\n", steps);
  if (steps.empty())
    steps = search.secondsChanged > 0
                ? fmt::format("nothing taken, too small a share of the {:.1f} us that change",
                              search.secondsChanged * 1e6)
                : "nothing taken";
  return fmt::format("  around {}: {:.1f} us -> {:.1f} us modelled, {} of at most {} states: {}\n", search.at,
                     search.secondsBefore * 1e6, search.secondsAfter * 1e6, search.explored, search.bound,
                     steps);
}

std::string explanationText(const std::string &model, const std::string &fusion,
                            const Explanation &explanation) {
  std::string text =
      fmt::format("{}: {} nodes as {} kernels in {} dispatch{} (fusion {})\n\n", model, explanation.onnxNodes,
                  explanation.groups.size(), explanation.waves, explanation.waves == 1 ? "" : "es", fusion);
  text += fmt::format("  {:<10}{:>8}{:>12}{:>12}{:>12}{:>12}\n", "", "kernels", "read", "written", "weights",
                      "GFLOP");
  text += totalsLine("unfused", explanation.unfused) + totalsLine("fused", explanation.fused);

  text += fmt::format("\n  bytes by the level that they come from or go to, on {} ({})\n",
                      explanation.target.cpu, explanation.target.source);
  text += fmt::format("  {:<10}{:>12}{:>12}{:>12}{:>12}{:>15}{:>13}\n", "", "L1", "L2", "L3", "memory",
                      "weights of it", "modelled ms");
  text += levelTotals("unfused", explanation.unfusedLevels, explanation.unfusedSeconds) +
          levelTotals("fused", explanation.fusedLevels, explanation.fusedSeconds);

  text += "\nGroups\n";
  for (const GroupReport &group : explanation.groups) {
    text += fmt::format("  {:>4}  {} ({}): {}\n", group.id, group.kernel, group.kind,
                        fmt::join(group.nodes, ", "));
    text += fmt::format("        {} -> {}; reads {}, writes {}, weights {}\n", fmt::join(group.inputs, ", "),
                        fmt::join(group.outputs, ", "), bytesText(group.traffic.bytesRead),
                        bytesText(group.traffic.bytesWritten), bytesText(group.traffic.weightBytes));
    if (group.winograd)
      text += fmt::format("        by minimal filtering, tiles of {0}x{0} results\n", group.winograd);
    if (std::vector<int64_t> others = besides(group, explanation.groups); !others.empty())
      text += fmt::format("        in one wave with {}\n", fmt::join(others, ", "));
    text += fmt::format("        modelled {:.1f} us; {}; apart {}\n", group.cost.seconds() * 1e6,
                        levelsText(group.levels), levelsText(group.apartLevels));
  }

  if (!explanation.searches.empty())
    text += "\nRewrites forced and found by search\n";
  for (const SearchReport &search : explanation.searches)
    text += searchText(search);

  std::map<std::string, std::string> legend;
  text += "\nDecisions that kept operators apart\n";
  for (const Decision &decision : explanation.decisions) {
    if (decision.fused)
      continue;
    legend[reasonName(decision.reason).str()] = reasonSentence(decision.reason).str();
    text += fmt::format("  {} -> {}: {}{} ({})\n", decision.producer, decision.consumer,
                        reasonName(decision.reason).str(),
                        decision.detail.empty() ? "" : ", " + decision.detail, bytesText(decision.edgeBytes));
  }
  if (legend.empty())
    text += "  none\n";
  for (const auto &[name, sentence] : legend)
    text += fmt::format("  {}: {}\n", name, sentence);

  if (!explanation.removed.empty())
    text += "\nNodes in no kernel\n";
  for (const auto &[node, reason] : explanation.removed)
    text += fmt::format("  {}: {}\n", node, reason);
  return text;
}

static nlohmann::ordered_json totalsJson(const Traffic &traffic) {
  return {{"kernels", traffic.kernels},
          {"bytes_read", traffic.bytesRead},
          {"bytes_written", traffic.bytesWritten},
          {"weight_bytes", traffic.weightBytes},
          {"flops", traffic.flops}};
}

using nlohmann::ordered_json;

static ordered_json levelsJson(const LevelTraffic &levels) {
  ordered_json json;
  for (size_t level = 0; level < memoryLevels; ++level)
    json[levelNames[level].key] = {
        {"read", levels.read[level]}, {"weights", levels.weights[level]}, {"written", levels.written[level]}};
  return json;
}

/// Microseconds.
static ordered_json costJson(const fusion::GroupCost &cost) {
  return {{"anchor_us", cost.anchor * 1e6}, {"elementwise_us", cost.elementwise * 1e6},
          {"memory_us", cost.memory * 1e6}, {"dispatch_us", (cost.call + cost.dispatch) * 1e6},
          {"threads", cost.parallelism},    {"recomputation", cost.recomputation},
          {"us", cost.seconds() * 1e6}};
}

/// Indices of nodes and edges are places in their arrays; null where there is none.
static ordered_json graphJson(const driver::ExplanationGraph &graph) {
  auto optional = [](std::optional<size_t> index) { return index ? ordered_json(*index) : ordered_json(); };
  ordered_json json = {{"nodes", ordered_json::array()}, {"edges", ordered_json::array()}};
  for (const driver::OperatorNode &node : graph.nodes) {
    using Role = driver::OperatorNode::Role;
    const char *role = node.role == Role::Input ? "input" : node.role == Role::Output ? "output" : "operator";
    json["nodes"].push_back({{"role", role},
                             {"name", node.name},
                             {"operator", node.op},
                             {"kind", node.kind},
                             {"type", node.type},
                             {"group", optional(node.group)},
                             {"inside", optional(node.inside)},
                             {"post_dominator", optional(node.postDominator)},
                             {"bytes_read", node.traffic.bytesRead},
                             {"bytes_written", node.traffic.bytesWritten},
                             {"weight_bytes", node.traffic.weightBytes},
                             {"flops", node.traffic.flops},
                             {"levels", levelsJson(node.levels)}});
  }
  for (const driver::OperatorEdge &edge : graph.edges) {
    json["edges"].push_back({{"producer", edge.producer},
                             {"consumer", edge.consumer},
                             {"value", edge.value},
                             {"type", edge.type},
                             {"bytes", edge.bytes},
                             {"decision", optional(edge.decision)}});
  }
  return json;
}

std::string explanationJson(const std::string &model, const std::string &fusion,
                            const Explanation &explanation, JsonLayout layout) {
  ordered_json json;
  json["model"] = model;
  json["fusion"] = fusion;
  json["nodes"] = explanation.onnxNodes;
  json["waves"] = explanation.waves;
  json["groups"] = ordered_json::array();
  for (const GroupReport &group : explanation.groups) {
    json["groups"].push_back({{"id", group.id},
                              {"kernel", group.kernel},
                              {"kind", group.kind},
                              {"wave", group.wave},
                              {"winograd", group.winograd},
                              {"nodes", group.nodes},
                              {"inputs", group.inputs},
                              {"outputs", group.outputs},
                              {"bytes_read", group.traffic.bytesRead},
                              {"bytes_written", group.traffic.bytesWritten},
                              {"weight_bytes", group.traffic.weightBytes},
                              {"flops", group.traffic.flops},
                              {"apart", totalsJson(group.apart)},
                              {"levels", levelsJson(group.levels)},
                              {"apart_levels", levelsJson(group.apartLevels)},
                              {"modelled", costJson(group.cost)}});
  }
  json["searches"] = ordered_json::array();
  for (const SearchReport &search : explanation.searches) {
    json["searches"].push_back({{"at", search.at},
                                {"forced", isForced(search)},
                                {"bound", search.bound},
                                {"explored", search.explored},
                                {"seconds_before", search.secondsBefore},
                                {"seconds_after", search.secondsAfter},
                                {"seconds_changed", search.secondsChanged},
                                {"steps", search.steps}});
  }
  json["decisions"] = ordered_json::array();
  for (const Decision &decision : explanation.decisions) {
    json["decisions"].push_back({{"producer", decision.producer},
                                 {"consumer", decision.consumer},
                                 {"fused", decision.fused},
                                 {"reason", reasonName(decision.reason).str()},
                                 {"sentence", reasonSentence(decision.reason).str()},
                                 {"detail", decision.detail},
                                 {"edge_bytes", decision.edgeBytes}});
  }
  json["removed"] = ordered_json::object();
  for (const auto &[node, reason] : explanation.removed)
    json["removed"][node] = reason;
  json["totals"] = {{"unfused", totalsJson(explanation.unfused)}, {"fused", totalsJson(explanation.fused)}};
  json["levels"] = {{"unfused", levelsJson(explanation.unfusedLevels)},
                    {"fused", levelsJson(explanation.fusedLevels)}};
  json["modelled_ms"] = {{"unfused", explanation.unfusedSeconds * 1e3},
                         {"fused", explanation.fusedSeconds * 1e3}};
  json["target"] = {{"cpu", explanation.target.cpu}, {"source", explanation.target.source}};
  json["graph"] = graphJson(explanation.graph);
  int indent = layout == JsonLayout::Indented ? 2 : -1;
  return json.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

} // namespace tokamak::tool
