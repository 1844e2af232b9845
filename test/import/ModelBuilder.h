//===- ModelBuilder.h - ONNX models for tests, and what the importer makes of them -----------===//
#pragma once
#include "import/Import.h"
#include "ir/Tensor.h"
#include "onnx/onnx_pb.h"
#include "llvm/ADT/StringRef.h"
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace tokamak::test {

/// A dimension: a number, or a symbol.
using Dim = std::variant<int64_t, std::string>;
using Dims = std::vector<Dim>;
using Names = std::vector<std::string>;

/// A graph being filled.
class GraphBuilder {
public:
  explicit GraphBuilder(onnx::GraphProto &graph) : graph(graph) {}
  onnx::GraphProto &graph;

  GraphBuilder &input(const std::string &name, const Dims &shape = {}, DataType type = DataType::Float32);
  GraphBuilder &output(const std::string &name);
  /// Raw data.
  GraphBuilder &initializer(const std::string &name, const Tensor &tensor);
  onnx::NodeProto &node(const std::string &opType, const Names &inputs, const Names &outputs,
                        const std::string &name = "");
};

/// A model of operator set 17 and IR version 8, whose graph is `main`.
class ModelBuilder : public GraphBuilder {
public:
  explicit ModelBuilder(int64_t opset = 17);
  ModelBuilder(const ModelBuilder &) = delete;
  onnx::ModelProto &proto() { return *model; }
  onnx::FunctionProto &function(const std::string &domain, const std::string &name, const Names &inputs,
                                const Names &outputs);
  std::string bytes() const { return model->SerializeAsString(); }

private:
  explicit ModelBuilder(std::shared_ptr<onnx::ModelProto> model);
  std::shared_ptr<onnx::ModelProto> model;
};

onnx::NodeProto &addNode(onnx::FunctionProto &function, const std::string &opType, const Names &inputs,
                         const Names &outputs);

// Attributes.
onnx::AttributeProto &addAttr(onnx::NodeProto &node, const std::string &name, int64_t value);
onnx::AttributeProto &addAttr(onnx::NodeProto &node, const std::string &name, double value);
onnx::AttributeProto &addAttr(onnx::NodeProto &node, const std::string &name, const std::string &value);
onnx::AttributeProto &addAttr(onnx::NodeProto &node, const std::string &name,
                              const std::vector<int64_t> &values);
onnx::AttributeProto &addAttr(onnx::NodeProto &node, const std::string &name,
                              const std::vector<double> &values);
onnx::AttributeProto &addAttr(onnx::NodeProto &node, const std::string &name, const Names &values);
onnx::AttributeProto &addAttr(onnx::NodeProto &node, const std::string &name, const Tensor &value);
GraphBuilder addGraph(onnx::NodeProto &node, const std::string &name);
/// `name` refers to the attribute `source` of the enclosing function.
void addReference(onnx::NodeProto &node, const std::string &name, const std::string &source,
                  onnx::AttributeProto::AttributeType type);

void fill(onnx::TensorProto &proto, const Tensor &tensor);
Tensor floats(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<double> values,
              DataType type = DataType::Float32);
Tensor ints(llvm::ArrayRef<int64_t> values);
Tensor boolean(bool value);

/// The error of loading, or of importing under `options`; "" where both succeed. Fails the test where the
/// error is not one line.
std::string importError(const std::string &bytes, const import::ImportOptions &options = {});
std::string importError(const ModelBuilder &model, const import::ImportOptions &options = {});

using Inputs = std::map<std::string, Tensor>;
/// Imports with the shapes of `inputs` and evaluates; fails the test on an error. `hinted`: their values are
/// hints too.
std::vector<Tensor> evaluate(const ModelBuilder &model, const Inputs &inputs, bool hinted = false);
/// The imported module as text.
std::string importedText(const ModelBuilder &model, const import::ImportOptions &options = {});
/// How many operations named `name` (`tk.add`) the text holds.
int64_t count(const std::string &text, const std::string &name);

/// Shape and values.
void expectTensor(const Tensor &tensor, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<double> values,
                  double tolerance = 1e-5);

} // namespace tokamak::test
