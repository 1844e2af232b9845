//===- ModelMutator.h - changes models where bytes alone rarely would -------------------------===//
#pragma once
#include "onnx/onnx_pb.h"
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace tokamak::import {

/// Most changes of bytes give a file that no longer parses. These keep the file a model and change what it
/// says: shapes, types, attributes, operators, versions, nesting, and which value goes where. The result may
/// be wrong in any way, but has to be refused for what it says.
class ModelMutator {
public:
  ModelMutator(onnx::ModelProto &model, unsigned seed) : model(model), random(seed) {}

  /// One random change.
  void mutate();
  /// Adds the graph of `other`, under new names, and feeds it some values of this one.
  void append(const onnx::ModelProto &other);

private:
  using Graph = onnx::GraphProto;

  // One kind of change each.
  void changeNode(Graph &graph);
  void changeAttribute(Graph &graph);
  void changeOperand(Graph &graph);
  void changeShape(Graph &graph);
  void changeInitializer(Graph &graph);
  void bindInput(Graph &graph);
  void changeOutput(Graph &graph);
  void changeVersion(Graph &graph);
  void nest(Graph &graph);
  void outline(Graph &graph);

  void changeTensor(onnx::TensorProto &tensor);
  void changeValue(onnx::AttributeProto &attribute);

  // Choices.
  int below(int count) { return static_cast<int>(random() % static_cast<unsigned>(count)); }
  bool chance(int oneIn) { return below(oneIn) == 0; }
  int64_t number();
  float real();
  int elementType();
  std::string freshName() { return "new" + std::to_string(random()); }
  Graph &anyGraph(Graph &graph);
  onnx::NodeProto *anyNode(Graph &graph);
  std::string anyValue(const Graph &graph);
  template <class Map>
  const auto &anyOf(const Map &map) {
    return *std::next(map.begin(), below(static_cast<int>(map.size())));
  }

  void remember(const Graph &graph);
  /// What the models so far used; changed nodes take it from here.
  struct Seen {
    std::map<std::string, onnx::NodeProto> nodes;           ///< one of each operator
    std::map<std::string, onnx::AttributeProto> attributes; ///< one of each name
    std::set<std::string> strings{"", "\xff\n", "linear"};
  };
  static Seen &seen();

  onnx::ModelProto &model;
  std::mt19937 random;
};

} // namespace tokamak::import
