//===- Importer.h - one import of a model at concrete shapes ---------------------------------===//
#pragma once
#include "import/ModelFile.h"
#include "import/NodeContext.h"
#include "import/Specializer.h"

namespace tokamak::import {

/// Names visible to the nodes of one graph. An omitted optional input of a function is a name with no value.
struct Scope {
  explicit Scope(const Scope *outer = nullptr) : outer(outer) {}
  const Scope *outer;
  llvm::StringMap<Value> values;
  llvm::StringMap<std::string> refused; ///< initializers that cannot be compiled, and why

  /// The value of a name, null for an omitted input; throws an ImportFault where there is none.
  Value lookup(llvm::StringRef name) const;
};

/// Whose nodes are being imported: the model's (no caller), or those of a function that a node calls.
struct Frame {
  const Opsets *opsets = nullptr;
  std::string prefix; ///< of node names: "CALLER/" in a function
  const Frame *caller = nullptr;
  const onnx::FunctionProto *function = nullptr;
  llvm::StringMap<onnx::AttributeProto> attributes; ///< of the call, with the function's defaults
};

class Importer {
public:
  Importer(const ModelFile &file, const ModelSignature &signature, mlir::MLIRContext &context,
           const ImportOptions &options)
      : file(file), signature(signature), context(context), options(options), specializer(options) {}

  /// The whole model.
  llvm::Expected<ImportedModel> run();

  /// The nodes of `graph` at `at`, its inputs being `arguments`; returns its outputs.
  Result importGraph(const onnx::GraphProto &graph, ValueRange arguments, mlir::OpBuilder &at,
                     const Scope *outer, const Frame &frame);

private:
  friend class ImportedNode;
  using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

  llvm::Error importNodes(const Nodes &nodes, const void *owner, mlir::OpBuilder &at, Scope &scope,
                          const Frame &frame);
  Result importNode(const onnx::NodeProto &node, mlir::OpBuilder &at, const Scope &scope, const Frame &frame);
  Result importCall(const onnx::NodeProto &node, const onnx::FunctionProto &function, Values inputs,
                    mlir::OpBuilder &at, const Frame &frame);
  void addInitializers(const onnx::GraphProto &graph, mlir::OpBuilder &at, Scope &scope);
  Value constant(const void *key, const Tensor &tensor, mlir::OpBuilder &at);

  const ModelFile &file;
  const ModelSignature &signature;
  mlir::MLIRContext &context;
  const ImportOptions &options;
  Specializer specializer;
  ImportBudget budget;
  std::string assumed;   ///< see InputShapes
  int depth = 0;         ///< of graphs in graphs and functions in functions
  int64_t nodesLeft = 0; ///< unrolled loops and functions in functions must end
  /// Attributes of initializers: a subgraph that is imported several times shares them.
  llvm::DenseMap<const void *, mlir::ElementsAttr> constants;
};

} // namespace tokamak::import
