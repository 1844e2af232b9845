//===- Import.h - ONNX models to the tk dialect ----------------------------------------===//
#pragma once
#include "ir/Tk.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/Error.h"
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace tokamak::import {

struct ImportOptions {
  /// Concrete shapes of inputs by name (`--shape`); the rank must fit. Symbolic dimensions that stay unbound
  /// take 1.
  std::map<std::string, std::vector<int64_t>> shapes;
  /// Inputs made constants (`--bind`), optional ones among them: they leave the signature.
  std::map<std::string, Tensor> bound;
  /// Values of inputs that stay in the signature, used only where the graph's structure depends on a value (a
  /// Reshape whose target is an input): the result is then specialised on it, see `specialized`.
  std::map<std::string, Tensor> hints;
  /// Inputs whose entry of `shapes` has 1 for symbolic dimensions that nobody gave: errors of nodes say so.
  std::set<std::string> assumed;
};

struct ImportedModel {
  /// One func.func @main; arguments and results carry `tk.name` (the ONNX value name) as attributes.
  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// Inputs whose hinted value the structure depends on: a run with another value needs another import.
  std::vector<std::string> specialized;
  int64_t onnxNodes = 0; ///< nodes of the file, subgraphs included, Constant nodes not
};

/// What a model declares, before any shape is bound. A dimension is a number >= 0, or -1 with its symbol's
/// name.
struct ModelSignature {
  struct Value {
    std::string name;
    DataType type;
    std::vector<int64_t> shape;
    std::vector<std::string> symbols; ///< as long as `shape`; empty string where the dimension is a number
    bool ranked = true;               ///< false where the file declares no shape at all
    bool typed = true;                ///< false where the file declares no element type (of an output)
  };
  std::vector<Value> inputs, outputs; ///< inputs without those that are initializers
  /// Inputs that are initializers as well, which are their default values: a value bound to one overrides it.
  std::vector<Value> optionalInputs;
};

/// A node as the file has it, for reports.
struct ModelNode {
  std::string graph; ///< empty for the main graph; of a subgraph "NODE.ATTRIBUTE/" behind that of the node it
                     ///< belongs to
  std::string name;  ///< its own, or OpType_INDEX; with #2, #3, ... where others have the same
  std::string opType;
  std::vector<std::string> inputs; ///< value names, those that its subgraphs capture included
  std::vector<std::string> outputs;
};

using Digest = llvm::BLAKE3Result<>;

/// Reads a model from a file (external data is looked up beside it) or from memory. The error is one line
/// that names the file, node, operator, reason and what to do. Memory and time stay in proportion to the
/// bytes given.
class Model {
public:
  static llvm::Expected<std::unique_ptr<Model>> fromFile(const std::string &path);
  static llvm::Expected<std::unique_ptr<Model>> fromMemory(const void *data, size_t size,
                                                           const std::string &name = "<memory>");
  virtual ~Model() = default;
  virtual llvm::StringRef name() const = 0; ///< as messages call it
  virtual const ModelSignature &signature() const = 0;
  /// The nodes of the main graph and its subgraphs in the order of the file, a subgraph's behind the node it
  /// belongs to.
  virtual std::vector<ModelNode> nodes() const = 0;
  /// The same for models that import alike: a hash of the graph and all weights, external data included.
  /// None where that is not known before the import (attributes with external data).
  virtual std::optional<Digest> digest() const = 0;
  /// Imports under concrete shapes. May be called several times.
  virtual llvm::Expected<ImportedModel> import(mlir::MLIRContext &context,
                                               const ImportOptions &options) const = 0;
};

} // namespace tokamak::import
