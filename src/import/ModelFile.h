//===- ModelFile.h - a loaded and checked ONNX file ------------------------------------------===//
#pragma once
#include "import/Import.h"
#include "onnx/onnx_pb.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include <memory>

namespace tokamak::import {

/// Graphs in graphs and functions in functions: real models have a handful, and each takes stack.
constexpr int maxNesting = 200;
constexpr const char *tooMuchNesting =
    "its graphs and functions are nested too deeply; make the model flatter";

/// Versions of the operator sets, by domain ("" is ai.onnx).
using Opsets = llvm::StringMap<int64_t>;

/// A file whose structure holds: names are defined once and before use (after `orderOf`), subgraphs and
/// functions included. Tensors in `weights` no longer hold their bytes in the message.
struct ModelFile {
  onnx::ModelProto proto;
  std::string name;     ///< as messages call it
  std::string folder;   ///< of external data, empty for a model in memory
  size_t byteCount = 0; ///< of the file, without external data
  Opsets opsets;
  int64_t nodeCount = 0; ///< of the graph and its subgraphs, Constant nodes not
  /// Names of nodes: their own, or OpType_INDEX; where another node has it, NAME#2 and so on. The index is
  /// the place in the main graph; nodes of subgraphs and functions are numbered on, in file order.
  llvm::DenseMap<const onnx::NodeProto *, std::string> nodeNames;
  /// The order in which nodes can run, only for graphs and functions (by their address) that are not in
  /// order.
  llvm::DenseMap<const void *, std::vector<int>> orders;
  llvm::DenseMap<const onnx::TensorProto *, Tensor> weights; ///< initializers, decoded
  llvm::DenseMap<const onnx::SparseTensorProto *, Tensor> sparseWeights;
  /// Initializers that cannot be compiled (strings, ...) and why; an error only where they are used.
  llvm::DenseMap<const onnx::TensorProto *, std::string> refusedWeights;
  llvm::StringMap<const onnx::FunctionProto *> functions; ///< key: `functionKey`

  std::string placeOf(const onnx::NodeProto &node) const;
};

std::string functionKey(llvm::StringRef domain, llvm::StringRef name, llvm::StringRef overload);
/// Fields of later IR versions, which the message classes keep as unknown fields: the overload of a function
/// or of the function that a node calls, and the attributes of a function that have a default.
std::string overloadOf(const onnx::NodeProto &node);
std::string overloadOf(const onnx::FunctionProto &function);
std::vector<onnx::AttributeProto> defaultAttributesOf(const onnx::FunctionProto &function);

/// Parses, reads the weights and checks the structure.
llvm::Expected<std::unique_ptr<ModelFile>> loadModelFile(llvm::StringRef bytes, llvm::StringRef name,
                                                         std::string folder);

/// See Model::digest (Digest.cpp).
std::optional<Digest> digestOf(const ModelFile &file);

/// Names every node, checks that names are defined once and that whatever is used is defined, and finds the
/// order of graphs that are not sorted (GraphCheck.cpp).
llvm::Error checkStructure(ModelFile &file);

/// What the file declares of inputs and outputs (Signature.cpp).
llvm::Expected<ModelSignature> readSignature(const ModelFile &file);

/// Concrete shapes of the inputs, in the order of `signature.inputs`, bound inputs included; behind them
/// those of the optional inputs that are bound.
struct InputShapes {
  std::vector<std::vector<int64_t>> shapes;
  std::string assumed; ///< what to say where the shapes turn out not to fit: which dimensions were taken as 1
};
llvm::Expected<InputShapes> bindShapes(const ModelFile &file, const ModelSignature &signature,
                                       const ImportOptions &options); // Signature.cpp

} // namespace tokamak::import
