//===- Import.cpp - the importer's front -----------------------------------------------------===//
#include "import/Import.h"
#include "import/ErrorLine.h"
#include "import/Importer.h"
#include "import/ModelFile.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "reference/Evaluate.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

namespace tokamak::import {

/// Adds the names that `graph` uses, whether it defines them or not: a name has one meaning in nested graphs.
static void addUses(const onnx::GraphProto &graph, std::vector<std::string> &names) {
  for (const onnx::ValueInfoProto &output : graph.output())
    names.push_back(output.name());
  for (const onnx::NodeProto &node : graph.node()) {
    names.insert(names.end(), node.input().begin(), node.input().end());
    for (const onnx::AttributeProto &attribute : node.attribute()) {
      if (attribute.has_g())
        addUses(attribute.g(), names);
    }
  }
}

namespace {

class LoadedModel final : public Model {
public:
  LoadedModel(std::unique_ptr<ModelFile> file, ModelSignature signature)
      : file(std::move(file)), declared(std::move(signature)) {}

  llvm::StringRef name() const override { return file->name; }
  const ModelSignature &signature() const override { return declared; }

  std::vector<ModelNode> nodes() const override {
    std::vector<ModelNode> result;
    addNodes(file->proto.graph(), "", result);
    return result;
  }

  std::optional<Digest> digest() const override { return digestOf(*file); }

  llvm::Expected<ImportedModel> import(mlir::MLIRContext &context,
                                       const ImportOptions &options) const override {
    mlir::DialectRegistry registry;
    registry.insert<mlir::func::FuncDialect, tk::TkDialect>();
    // Folding evaluates operations.
    reference::registerReferenceModels(registry);
    context.appendDialectRegistry(registry);
    context.loadDialect<mlir::func::FuncDialect, tk::TkDialect>();
    try {
      return Importer(*file, declared, context, options).run();
    } catch (const std::exception &) { // bad_alloc, or length_error of a container
      return errorLine(file->name, "", "needs more memory than there is; use smaller shapes");
    }
  }

private:
  void addNodes(const onnx::GraphProto &graph, const std::string &path, std::vector<ModelNode> &nodes) const {
    for (const onnx::NodeProto &node : graph.node()) {
      auto name = file->nodeNames.find(&node);
      ModelNode entry{
          path, name == file->nodeNames.end() ? node.name() : name->second, node.op_type(), {}, {}};
      entry.inputs.assign(node.input().begin(), node.input().end());
      entry.outputs.assign(node.output().begin(), node.output().end());
      for (const onnx::AttributeProto &attribute : node.attribute()) {
        if (attribute.has_g())
          addUses(attribute.g(), entry.inputs);
      }
      std::string inside = path + entry.name + ".";
      nodes.push_back(std::move(entry));
      for (const onnx::AttributeProto &attribute : node.attribute()) {
        if (attribute.has_g())
          addNodes(attribute.g(), inside + attribute.name() + "/", nodes);
      }
    }
  }

  std::unique_ptr<ModelFile> file;
  ModelSignature declared;
};

llvm::Expected<std::unique_ptr<Model>> load(llvm::StringRef bytes, llvm::StringRef name, std::string folder) {
  try {
    llvm::Expected<std::unique_ptr<ModelFile>> file = loadModelFile(bytes, name, std::move(folder));
    if (!file)
      return file.takeError();
    llvm::Expected<ModelSignature> signature = readSignature(**file);
    if (!signature)
      return signature.takeError();
    return std::make_unique<LoadedModel>(std::move(*file), std::move(*signature));
  } catch (const std::bad_alloc &) {
    return errorLine(oneLine(name), "", "needs more memory than there is");
  }
}

} // namespace

llvm::Expected<std::unique_ptr<Model>> Model::fromFile(const std::string &path) {
  namespace fs = llvm::sys::fs;
  fs::file_status status;
  if (std::error_code code = fs::status(path, status))
    return errorLine(oneLine(path), "", "cannot be read (" + code.message() + ")");
  // Devices and pipes have no end, or none that comes soon.
  if (status.type() != fs::file_type::regular_file)
    return errorLine(oneLine(path), "", "is not a regular file; give an ONNX model");
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return errorLine(oneLine(path), "", "cannot be read (" + buffer.getError().message() + ")");
  llvm::StringRef folder = llvm::sys::path::parent_path(path);
  return load((*buffer)->getBuffer(), path, folder.empty() ? "." : folder.str());
}

llvm::Expected<std::unique_ptr<Model>> Model::fromMemory(const void *data, size_t size,
                                                         const std::string &name) {
  return load(llvm::StringRef(static_cast<const char *>(data), size), name, "");
}

} // namespace tokamak::import
