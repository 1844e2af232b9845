//===- ExplainDot.cpp - an explanation as a drawing ----------------------------------------------===//
#include "ExplainDot.h"
#include "ExplainFormats.h"
#include "WriteText.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include <fmt/format.h>
#include <map>

namespace tokamak::tool {

using driver::Explanation;
using driver::OperatorEdge;
using driver::OperatorNode;

/// A quoted string that shows as `text`. Graphviz reads backslashes and HTML entities in it, and copies
/// control characters, which XML does not allow, into SVG.
static std::string quoted(const std::string &text) {
  std::string result = "\"";
  for (char c : llvm::json::fixUTF8(text)) {
    if (c == '&')
      result += "&amp;";
    else if (c == '\n')
      result += "\\n";
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      result += "\uFFFD";
    else if (c == '"' || c == '\\')
      result += {'\\', c};
    else
      result += c;
  }
  return result + '"';
}

/// Exporters' names are paths: the end tells most. Cuts between characters of UTF-8.
static std::string shortened(const std::string &name) {
  constexpr size_t longest = 36;
  if (name.size() <= longest)
    return name;
  size_t start = name.size() - longest;
  while (start < name.size() && (static_cast<unsigned char>(name[start]) & 0xC0) == 0x80)
    ++start;
  return "\u2026" + name.substr(start);
}

/// Neighbouring numbers get hues far apart: steps of the golden section around the colour wheel.
static std::string colour(size_t group, double saturation, double value) {
  double hue = 0.618033988749895 * static_cast<double>(group);
  return fmt::format("\"{:.3f} {:.2f} {:.2f}\"", hue - static_cast<double>(static_cast<size_t>(hue)),
                     saturation, value);
}

static std::string nodeLine(const OperatorNode &node, size_t number) {
  if (node.role != OperatorNode::Role::Operator)
    return fmt::format("n{} [shape=ellipse, fillcolor=white, label={}, tooltip={}];\n", number,
                       quoted(shortened(node.name) + "\n" + node.type), quoted(node.name));
  std::string label = node.name == node.op ? node.op : node.op + "\n" + shortened(node.name);
  std::string tooltip =
      fmt::format("{}\n{}, {}, {}, {} flops", node.name, node.op, node.kind, node.type, node.traffic.flops);
  return fmt::format("n{} [fillcolor={}, label={}, tooltip={}];\n", number,
                     node.group ? colour(*node.group, 0.35, 0.95) : "\"#eeeeee\"", quoted(label),
                     quoted(tooltip));
}

static std::string edgeLine(const OperatorEdge &edge, const Explanation &explanation) {
  const std::vector<OperatorNode> &nodes = explanation.graph.nodes;
  std::string tooltip = fmt::format("{}: {}, {}", edge.value, edge.type, bytesText(edge.bytes));
  if (edge.decision) {
    const Decision &decision = explanation.decisions[*edge.decision];
    tooltip += fmt::format("\n{}: {} {}", reasonName(decision.reason).str(),
                           reasonSentence(decision.reason).str(), decision.detail);
  }
  bool fused = nodes[edge.producer].group && nodes[edge.producer].group == nodes[edge.consumer].group;
  std::string look = fused ? "color=\"#2e7d32\", penwidth=2"
                           : fmt::format("color=\"#555555\", label={}", quoted(bytesText(edge.bytes)));
  return fmt::format("  n{} -> n{} [{}, tooltip={}, labeltooltip={}];\n", edge.producer, edge.consumer, look,
                     quoted(tooltip), quoted(tooltip));
}

static std::string beginning(const std::string &title, size_t nodes) {
  std::string dot = fmt::format("digraph tokamak {{\n  label={};\n  labelloc=t;\n", quoted(title));
  dot += "  fontname=\"Helvetica\";\n"
         "  node [shape=box, style=\"filled,rounded\", fontname=\"Helvetica\", fontsize=10];\n"
         "  edge [fontname=\"Helvetica\", fontsize=8];\n";
  // Network simplex and splines take Graphviz minutes beyond this; bounded, seconds.
  if (nodes > 400)
    dot += "  splines=line;\n  nslimit=1;\n  nslimit1=2;\n  mclimit=0.3;\n";
  return dot;
}

static std::string numbersOf(const driver::GroupReport &group) {
  return fmt::format("wave {}; reads {}, writes {}, weights {}", group.wave,
                     bytesText(group.traffic.bytesRead), bytesText(group.traffic.bytesWritten),
                     bytesText(group.traffic.weightBytes));
}

std::string explanationDot(const std::string &model, const Explanation &explanation) {
  const std::vector<OperatorNode> &nodes = explanation.graph.nodes;
  std::string dot = beginning(model, nodes.size());
  std::vector<std::vector<size_t>> members(explanation.groups.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].group)
      members[*nodes[i].group].push_back(i);
    else
      dot += "  " + nodeLine(nodes[i], i);
  }
  for (const driver::GroupReport &group : explanation.groups) {
    size_t id = static_cast<size_t>(group.id);
    if (members[id].empty())
      continue;
    dot += fmt::format("  subgraph cluster_{} {{\n    style=\"filled,rounded\";\n    color={};\n    "
                       "fillcolor={};\n    fontsize=9;\n    label={};\n    tooltip={};\n",
                       id, colour(id, 0.6, 0.6), colour(id, 0.08, 1),
                       quoted(fmt::format("{} {}", id, shortened(group.kernel))), quoted(numbersOf(group)));
    for (size_t member : members[id])
      dot += "    " + nodeLine(nodes[member], member);
    dot += "  }\n";
  }
  for (const OperatorEdge &edge : explanation.graph.edges)
    dot += edgeLine(edge, explanation);
  return dot + "}\n";
}

/// How many ranks the edges of a graph pass when each node stands below all that it reads. Graphviz puts a
/// place of its own into each, and its time grows faster than their number.
static size_t placesOf(const std::map<size_t, std::vector<size_t>> &readers) {
  std::map<size_t, size_t> rank, open; // open: how many of its edges are still to come
  for (const auto &[node, own] : readers)
    for (size_t reader : own)
      ++open[reader];
  std::vector<size_t> ready;
  for (const auto &[node, own] : readers)
    if (!open.contains(node))
      ready.push_back(node);
  for (size_t i = 0; i < ready.size(); ++i)
    if (auto own = readers.find(ready[i]); own != readers.end())
      for (size_t reader : own->second) {
        rank[reader] = std::max(rank[reader], rank[ready[i]] + 1);
        if (--open[reader] == 0)
          ready.push_back(reader);
      }
  size_t places = 0;
  for (const auto &[node, own] : readers)
    for (size_t reader : own)
      places += rank[reader] - std::min(rank[reader], rank[node]);
  return places;
}

namespace {
/// The graph with a node for each group: what is left of one that is too large to draw as it is.
struct GroupDrawing {
  std::string dot;
  size_t nodes = 0;
  size_t places = 0; ///< that the edges take in the ranks of nodes that they pass
};
} // namespace

static GroupDrawing drawGroups(const std::string &model, const Explanation &explanation) {
  const driver::ExplanationGraph &graph = explanation.graph;
  // Operators in no group stand for themselves.
  const size_t groups = explanation.groups.size();
  auto unitOf = [&](size_t node) { return graph.nodes[node].group.value_or(groups + node); };
  std::map<std::pair<size_t, size_t>, int64_t> bytes; // of each edge between units
  std::map<size_t, size_t> sizes;
  for (size_t i = 0; i < graph.nodes.size(); ++i)
    ++sizes[unitOf(i)];
  for (const OperatorEdge &edge : graph.edges)
    if (size_t from = unitOf(edge.producer), to = unitOf(edge.consumer); from != to)
      bytes[{from, to}] += edge.bytes;

  GroupDrawing drawing;
  drawing.nodes = sizes.size();
  drawing.dot = beginning(fmt::format("{}: {} kernels", model, groups), sizes.size());
  for (auto [unit, size] : sizes) {
    if (unit >= groups) {
      drawing.dot += "  " + nodeLine(graph.nodes[unit - groups], unit);
      continue;
    }
    const driver::GroupReport &group = explanation.groups[unit];
    drawing.dot +=
        fmt::format("  n{} [fillcolor={}, label={}, tooltip={}];\n", unit, colour(unit, 0.35, 0.95),
                    quoted(fmt::format("{} {}\n{} operators", unit, shortened(group.kernel), size)),
                    quoted(numbersOf(group)));
  }
  std::map<size_t, std::vector<size_t>> readers;
  for (auto [edge, size] : bytes) {
    readers[edge.first].push_back(edge.second);
    drawing.dot += fmt::format("  n{} -> n{} [color=\"#555555\", tooltip={}];\n", edge.first, edge.second,
                               quoted(bytesText(size)));
  }
  drawing.dot += "}\n";
  drawing.places = placesOf(readers);
  return drawing;
}

/// A new empty file in the system's folder for such.
static Result<std::string> temporaryFile(const char *suffix) {
  llvm::SmallString<128> path;
  if (std::error_code error = llvm::sys::fs::createTemporaryFile("tokamak-explain", suffix, path))
    return Status{StatusCode::InvalidInput, "cannot make a temporary file: " + error.message()};
  return path.str().str();
}

Result<std::string> explanationSvg(const std::string &model, const Explanation &explanation) {
  llvm::ErrorOr<std::string> program = llvm::sys::findProgramByName("dot");
  if (!program)
    return Status{StatusCode::InvalidInput,
                  "explain --format svg needs Graphviz' program 'dot', which is not "
                  "installed: apt-get install graphviz, or use --format html"};
  // Beyond so many operators, groups are drawn as nodes; what passes more ranks takes minutes.
  constexpr size_t mostOperators = 1000, mostPlaces = 10000;
  std::string dot;
  if (explanation.graph.nodes.size() <= mostOperators) {
    dot = explanationDot(model, explanation);
  } else {
    GroupDrawing groups = drawGroups(model, explanation);
    if (groups.nodes + groups.places > mostPlaces)
      return Status{
          StatusCode::InvalidInput,
          fmt::format("Graphviz cannot draw {} nodes in {} kernels in reasonable time; use --format html",
                      explanation.graph.nodes.size(), explanation.groups.size())};
    dot = std::move(groups.dot);
  }
  std::vector<std::string> files; // input, drawing, messages
  auto remove = llvm::make_scope_exit([&] {
    for (const std::string &file : files)
      (void)llvm::sys::fs::remove(file);
  });
  for (const char *suffix : {"dot", "svg", "txt"}) {
    Result<std::string> file = temporaryFile(suffix);
    if (!file)
      return file.status();
    files.push_back(*file);
  }
  if (Status written = writeText(files[0], dot); !written.ok())
    return written;

  constexpr unsigned seconds = 60;
  std::optional<llvm::StringRef> redirects[] = {llvm::StringRef(files[0]), llvm::StringRef(files[1]),
                                                llvm::StringRef(files[2])};
  int status = llvm::sys::ExecuteAndWait(*program, {*program, "-Tsvg"}, std::nullopt, redirects, seconds);
  auto text = [&](size_t file) {
    auto buffer = llvm::MemoryBuffer::getFile(files[file]);
    return buffer ? (*buffer)->getBuffer().str() : std::string();
  };
  if (status == -2)
    return Status{StatusCode::InvalidInput,
                  fmt::format("Graphviz cannot draw {} nodes within {} seconds; use --format html",
                              explanation.graph.nodes.size(), seconds)};
  if (status != 0) {
    std::string message = text(2);
    return Status{StatusCode::Internal,
                  "Graphviz' program 'dot' failed: " + message.substr(0, message.find('\n'))};
  }
  return text(1);
}

} // namespace tokamak::tool
