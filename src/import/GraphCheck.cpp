//===- GraphCheck.cpp - names, definitions and order of an ONNX graph -----------------------===//
#include "import/ErrorLine.h"
#include "import/ModelFile.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringMap.h"
#include <queue>

namespace tokamak::import {

namespace {

using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

/// Names that a graph uses but does not define, each with a node that uses it (null: an output of the graph
/// itself).
using FreeNames = llvm::MapVector<llvm::StringRef, const onnx::NodeProto *>;

class Checker {
public:
  explicit Checker(ModelFile &file) : file(file) {}

  llvm::Error run() {
    const onnx::GraphProto &graph = file.proto.graph();
    nextIndex = graph.node_size();
    // Names of the file's own come first: they stay as they are.
    for (bool named : {true, false})
      for (int i = 0; i < graph.node_size(); ++i)
        if (graph.node(i).name().empty() != named)
          nameNode(graph.node(i), i, names);
    if (graph.output_size() == 0)
      return errorLine(file.name, "", "the graph has no outputs, so there is nothing to compute; mark some");
    FreeNames free;
    if (llvm::Error error = checkGraph(graph, free, /*counted=*/true))
      return error;
    if (!free.empty())
      return undefined(free, "the graph");
    for (const onnx::FunctionProto &function : file.proto.functions())
      if (llvm::Error error = checkFunction(function))
        return error;
    return llvm::Error::success();
  }

private:
  ModelFile &file;
  int64_t nextIndex = 0;
  int nesting = 1; ///< of the graph or function that is being checked
  /// Names in use, each with the number that the next node of that name gets.
  using Names = llvm::StringMap<int64_t>;
  Names names;

  /// Reports tell nodes apart by name: the second of one name is NAME#2.
  void nameNode(const onnx::NodeProto &node, int64_t index, Names &taken) {
    const std::string wanted =
        node.name().empty() ? node.op_type() + "_" + std::to_string(index) : node.name();
    std::string name = wanted;
    while (!taken.try_emplace(name, 2).second)
      name = wanted + "#" + std::to_string(taken[wanted]++);
    file.nodeNames[&node] = std::move(name);
  }

  llvm::Error undefined(const FreeNames &free, const llvm::Twine &where) {
    auto [name, node] = free.front();
    std::string reason = ("uses the value '" + oneLine(name, 120) + "', which nothing in " + where +
                          " defines; the file is damaged or was cut from a larger model")
                             .str();
    return node ? errorLine(file.name, file.placeOf(*node), reason)
                : errorLine(file.name, "an output", reason);
  }

  llvm::Error twice(llvm::StringRef name, const llvm::Twine &where) {
    return errorLine(file.name, where,
                     "defines the value '" + oneLine(name, 120) +
                         "', which is already defined; every value must have one definition");
  }

  llvm::Error checkFunction(const onnx::FunctionProto &function) {
    std::string place = "function '" + oneLine(function.name(), 120) + "'";
    llvm::StringMap<int> definer;
    for (const std::string &input : function.input())
      if (!input.empty() && !definer.try_emplace(input, -1).second)
        return twice(input, place);
    Names own; // reports put the caller's name in front
    for (const onnx::NodeProto &node : function.node())
      nameNode(node, nextIndex++, own);
    FreeNames free;
    if (llvm::Error error = checkNodes(function.node(), definer, &function, free, /*counted=*/false))
      return error;
    for (const std::string &output : function.output())
      if (!definer.count(output))
        free.insert({output, nullptr});
    if (!free.empty())
      return undefined(free, place);
    return llvm::Error::success();
  }

  /// Checks a graph and its subgraphs; `counted` where its nodes count as nodes of the file.
  llvm::Error checkGraph(const onnx::GraphProto &graph, FreeNames &free, bool counted) {
    // Who defines a name: the number of a node, or -1 for inputs and initializers.
    llvm::StringMap<int> definer;
    llvm::StringMap<bool> initializers;
    for (const onnx::ValueInfoProto &input : graph.input()) {
      if (input.name().empty())
        return errorLine(file.name, "an input", "has no name; the file is damaged");
      if (!definer.try_emplace(input.name(), -1).second)
        return twice(input.name(), "an input");
    }
    auto define = [&](const std::string &name) {
      definer.try_emplace(name, -1);
      return initializers.try_emplace(name, true).second;
    };
    for (const onnx::TensorProto &initializer : graph.initializer())
      if (!define(initializer.name()))
        return twice(initializer.name(), "an initializer");
    for (const onnx::SparseTensorProto &initializer : graph.sparse_initializer())
      if (!define(initializer.values().name()))
        return twice(initializer.values().name(), "an initializer");
    if (llvm::Error error = checkNodes(graph.node(), definer, &graph, free, counted))
      return error;
    for (const onnx::ValueInfoProto &output : graph.output())
      if (!definer.count(output.name()))
        free.insert({output.name(), nullptr});
    return llvm::Error::success();
  }

  /// Adds the names that `node` uses: its inputs, and what its subgraphs take from outside.
  llvm::Error usedNames(const onnx::NodeProto &node, FreeNames &used, bool counted) {
    for (const std::string &input : node.input())
      if (!input.empty())
        used.insert({input, &node});
    for (const onnx::AttributeProto &attribute : node.attribute()) {
      auto add = [&](const onnx::GraphProto &graph) -> llvm::Error {
        if (++nesting > maxNesting)
          return errorLine(file.name, "", tooMuchNesting);
        auto leave = llvm::make_scope_exit([this] { --nesting; });
        for (const onnx::NodeProto &inner : graph.node())
          nameNode(inner, nextIndex++, names);
        FreeNames inner;
        if (llvm::Error error = checkGraph(graph, inner, counted))
          return error;
        for (auto [name, user] : inner)
          used.insert({name, user ? user : &node});
        return llvm::Error::success();
      };
      if (attribute.has_g())
        if (llvm::Error error = add(attribute.g()))
          return error;
      for (const onnx::GraphProto &graph : attribute.graphs())
        if (llvm::Error error = add(graph))
          return error;
    }
    return llvm::Error::success();
  }

  llvm::Error checkNodes(const Nodes &nodes, llvm::StringMap<int> &definer, const void *owner,
                         FreeNames &free, bool counted) {
    for (int i = 0; i < nodes.size(); ++i)
      for (const std::string &output : nodes[i].output())
        if (!output.empty() && !definer.try_emplace(output, i).second)
          return twice(output, file.placeOf(nodes[i]));

    std::vector<std::vector<int>> users(nodes.size());
    std::vector<int> waiting(nodes.size(), 0);
    bool sorted = true;
    for (int i = 0; i < nodes.size(); ++i) {
      file.nodeCount += counted && nodes[i].op_type() != "Constant";
      FreeNames used;
      if (llvm::Error error = usedNames(nodes[i], used, counted))
        return error;
      for (auto [name, user] : used) {
        auto it = definer.find(name);
        if (it == definer.end()) {
          free.insert({name, user});
        } else if (it->second >= 0) {
          users[it->second].push_back(i);
          ++waiting[i];
          sorted &= it->second < i;
        }
      }
    }
    return sorted ? llvm::Error::success() : sort(nodes, users, waiting, owner);
  }

  /// Orders the nodes, of the ready ones always the first in the file, which keeps a sorted file as it is.
  llvm::Error sort(const Nodes &nodes, const std::vector<std::vector<int>> &users, std::vector<int> waiting,
                   const void *owner) {
    std::priority_queue<int, std::vector<int>, std::greater<>> ready;
    for (int i = 0; i < nodes.size(); ++i)
      if (waiting[i] == 0)
        ready.push(i);
    std::vector<int> order;
    while (!ready.empty()) {
      int node = ready.top();
      ready.pop();
      order.push_back(node);
      for (int user : users[node])
        if (--waiting[user] == 0)
          ready.push(user);
    }
    if (order.size() == static_cast<size_t>(nodes.size())) {
      file.orders[owner] = std::move(order);
      return llvm::Error::success();
    }
    int stuck =
        static_cast<int>(llvm::find_if(waiting, [](int count) { return count > 0; }) - waiting.begin());
    return errorLine(file.name, file.placeOf(nodes[nodeOfCycle(users, waiting, stuck)]),
                     "depends on its own result; break the cycle");
  }

  /// A node on a cycle: stuck nodes that only follow a cycle are not the fault.
  int nodeOfCycle(const std::vector<std::vector<int>> &users, const std::vector<int> &waiting, int stuck) {
    // Every stuck node has a stuck producer: walking producers must meet a node again.
    std::vector<int> producer(users.size(), -1);
    for (size_t i = 0; i < users.size(); ++i)
      if (waiting[i] > 0)
        for (int user : users[i])
          producer[user] = static_cast<int>(i);
    std::vector<bool> seen(users.size(), false);
    while (!seen[stuck]) {
      seen[stuck] = true;
      stuck = producer[stuck];
    }
    return stuck;
  }
};

} // namespace

llvm::Error checkStructure(ModelFile &file) { return Checker(file).run(); }

} // namespace tokamak::import
