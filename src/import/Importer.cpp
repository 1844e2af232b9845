//===- Importer.cpp - one import of a model at concrete shapes -------------------------------===//
#include "import/Importer.h"
#include "import/ElementTypeFault.h"
#include "import/ErrorLine.h"
#include "import/Weights.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/ScopeExit.h"

namespace tokamak::import {

/// Nodes that one import may visit: each node of the file this many times, and a free allowance.
static constexpr int64_t maxVisitsPerNode = 64;
static constexpr int64_t freeVisits = 100'000;
/// Of one node. The code of its kernel nests as deep as a sum has terms.
static constexpr int maxInputs = 1024;

Value Scope::lookup(llvm::StringRef name) const {
  for (const Scope *scope = this; scope; scope = scope->outer) {
    if (auto it = scope->values.find(name); it != scope->values.end())
      return it->second;
    if (auto it = scope->refused.find(name); it != scope->refused.end())
      throw ImportFault{it->second};
  }
  throw ImportFault{"uses the value '" + oneLine(name, 120) +
                    "', which nothing defines; the file is damaged"};
}

//===----------------------------------------------------------------------------------------------------===//
// One node
//===----------------------------------------------------------------------------------------------------===//

/// The node as its entry sees it.
class ImportedNode final : public NodeContext {
public:
  ImportedNode(Importer &importer, const onnx::NodeProto &original, const onnx::NodeProto &resolved,
               std::string place, int64_t opset, Values inputs, Body body, const Scope &scope,
               const Frame &frame)
      : NodeContext(resolved, opset, std::move(inputs), body), importer(importer), original(original),
        place(std::move(place)), scope(scope), frame(frame) {}

  std::optional<Tensor> tensorAttr(llvm::StringRef name) const override {
    for (const onnx::AttributeProto &attribute : proto.attribute()) {
      if (attribute.name() != name)
        continue;
      if (!attribute.has_t() && !attribute.has_sparse_tensor())
        throw ImportFault{("attribute '" + name + "' must be a tensor").str()};
      llvm::Expected<Tensor> tensor = attribute.has_t()
                                          ? decodeTensor(attribute.t(), importer.file.folder)
                                          : decodeSparse(attribute.sparse_tensor(), importer.file.folder);
      if (!tensor)
        throw ImportFault{("attribute '" + name + "' " + llvm::toString(tensor.takeError())).str()};
      return *tensor;
    }
    return std::nullopt;
  }

  Tensor constantInput(int64_t i, llvm::StringRef what) override { return constantOf(input(i), what); }

  Tensor constantOf(Value value, llvm::StringRef what) override {
    if (std::optional<Tensor> constant = tk::constantValue(value))
      return *constant;
    return importer.specializer.evaluate(value, what);
  }

  void forgetValues() override { importer.specializer.forget(); }

  llvm::Error error(const llvm::Twine &reason) const override {
    return errorLine(importer.file.name, place, reason);
  }

  std::string innerText(llvm::Error error) const override {
    std::string text = llvm::toString(std::move(error));
    llvm::StringRef rest = text;
    return rest.consume_front(importer.file.name + ": ") ? rest.str() : text;
  }

  const onnx::GraphProto &subgraph(llvm::StringRef attribute) const override {
    for (const onnx::AttributeProto &candidate : original.attribute())
      if (candidate.name() == attribute && candidate.has_g())
        return candidate.g();
    throw ImportFault{("attribute '" + attribute + "' must be a graph").str()};
  }

  Result importSubgraph(llvm::StringRef attribute, ValueRange arguments, mlir::OpBuilder &at) override {
    const onnx::GraphProto &graph = subgraph(attribute);
    if (graph.input_size() != static_cast<int>(arguments.size()))
      throw ImportFault{("its graph '" + attribute + "' has " + llvm::Twine(graph.input_size()) +
                         " inputs, but " + llvm::Twine(arguments.size()) + " are needed; the file is damaged")
                            .str()};
    return importer.importGraph(graph, arguments, at, &scope, frame);
  }

private:
  Importer &importer;
  const onnx::NodeProto &original;
  std::string place;
  const Scope &scope;
  const Frame &frame;
};

/// The node with the attributes of the enclosing function call in place of references to them. Graphs stay
/// behind: their nodes are resolved when they are imported.
static onnx::NodeProto resolveAttributes(const onnx::NodeProto &node, const Frame &frame) {
  onnx::NodeProto resolved;
  resolved.set_op_type(node.op_type());
  resolved.set_domain(node.domain());
  resolved.set_name(node.name());
  *resolved.mutable_input() = node.input();
  *resolved.mutable_output() = node.output();
  for (const onnx::AttributeProto &attribute : node.attribute()) {
    if (attribute.has_g() || attribute.graphs_size() > 0)
      continue;
    if (attribute.ref_attr_name().empty()) {
      *resolved.add_attribute() = attribute;
      continue;
    }
    // A reference to an attribute that the call leaves out leaves this one out as well.
    auto given = frame.attributes.find(attribute.ref_attr_name());
    if (given == frame.attributes.end())
      continue;
    onnx::AttributeProto &copy = *resolved.add_attribute();
    copy = given->second;
    copy.set_name(attribute.name());
  }
  return resolved;
}

Result Importer::importNode(const onnx::NodeProto &node, mlir::OpBuilder &at, const Scope &scope,
                            const Frame &frame) {
  auto name = file.nodeNames.find(&node);
  std::string nodeName = frame.prefix + (name == file.nodeNames.end() ? node.name() : name->second);
  std::string place = nodePlace(nodeName, node.op_type());
  auto fail = [&](const llvm::Twine &reason) { return errorLine(file.name, place, reason); };
  if (nodesLeft-- <= 0)
    return fail("loops and functions unfold into too many nodes; make the model smaller");
  if (node.input_size() > maxInputs)
    return fail("it has " + llvm::Twine(node.input_size()) + " inputs, but " + llvm::Twine(maxInputs) +
                " are the most; split it into several nodes");
  Values inputs;
  try {
    bool refers = llvm::any_of(node.attribute(), [](const auto &a) { return !a.ref_attr_name().empty(); });
    onnx::NodeProto copy;
    if (refers)
      copy = resolveAttributes(node, frame);
    const onnx::NodeProto &resolved = refers ? copy : node;

    for (const std::string &input : node.input())
      inputs.push_back(input.empty() ? Value() : scope.lookup(input));

    mlir::Location loc = tk::onnxLocation(&context, nodeName, node.op_type());
    Body body(at, loc, &budget);
    llvm::StringRef domain = node.domain() == "ai.onnx" ? "" : llvm::StringRef(node.domain());
    if (auto it = file.functions.find(functionKey(domain, node.op_type(), overloadOf(node)));
        it != file.functions.end()) {
      Frame inner;
      inner.prefix = nodeName + "/";
      inner.caller = &frame;
      inner.function = it->second;
      for (const onnx::AttributeProto &attribute : defaultAttributesOf(*it->second))
        inner.attributes[attribute.name()] = attribute;
      for (const onnx::AttributeProto &attribute : resolved.attribute())
        inner.attributes[attribute.name()] = attribute;
      return importCall(node, *it->second, inputs, at, inner);
    }
    auto opset = frame.opsets->find(domain);
    const ImportFn *entry = Registry::get().find(node.op_type(), domain);
    if (!entry && !domain.empty())
      return fail("the domain '" + oneLine(domain, 60) +
                  "' is not known; export the model with standard operators");
    if (!entry)
      return fail("this operator is not supported; replace it by others");
    if (opset == frame.opsets->end())
      return fail("the model does not say which version of domain '" + oneLine(domain, 60) +
                  "' it uses; export the model again");
    ImportedNode context(*this, node, resolved, place, opset->second, inputs, body, scope, frame);
    Result results = (*entry)(context);
    if (!results)
      return results;
    for (int i = 0; i < node.output_size(); ++i)
      if (context.wantsOutput(i) && (i >= static_cast<int>(results->size()) || !(*results)[i]))
        return fail("its output " + llvm::Twine(i) + " ('" + oneLine(node.output(i), 60) +
                    "') is not supported; leave it out");
    return results;
  } catch (const ImportFault &fault) {
    return fail(reasonOf(fault, node, inputs) + assumed);
  }
}

//===----------------------------------------------------------------------------------------------------===//
// Graphs and functions
//===----------------------------------------------------------------------------------------------------===//

llvm::Error Importer::importNodes(const Nodes &nodes, const void *owner, mlir::OpBuilder &at, Scope &scope,
                                  const Frame &frame) {
  if (++depth > maxNesting)
    throw ImportFault{tooMuchNesting};
  auto leave = llvm::make_scope_exit([this] { --depth; });
  auto order = file.orders.find(owner);
  for (int i = 0; i < nodes.size(); ++i) {
    const onnx::NodeProto &node = nodes[order == file.orders.end() ? i : order->second[i]];
    Result results = importNode(node, at, scope, frame);
    if (!results)
      return results.takeError();
    for (int j = 0; j < node.output_size(); ++j)
      if (!node.output(j).empty())
        scope.values[node.output(j)] = (*results)[j];
  }
  return llvm::Error::success();
}

Value Importer::constant(const void *key, const Tensor &tensor, mlir::OpBuilder &at) {
  mlir::ElementsAttr &attr = constants[key];
  if (!attr)
    attr = tensor.toAttr(&context);
  return at.create<tk::ConstantOp>(mlir::UnknownLoc::get(&context), tensor.mlirType(&context), attr);
}

void Importer::addInitializers(const onnx::GraphProto &graph, mlir::OpBuilder &at, Scope &scope) {
  for (const onnx::TensorProto &initializer : graph.initializer()) {
    if (auto it = file.weights.find(&initializer); it != file.weights.end())
      scope.values[initializer.name()] = constant(&initializer, it->second, at);
    else
      scope.refused[initializer.name()] = file.refusedWeights.lookup(&initializer);
  }
  for (const onnx::SparseTensorProto &initializer : graph.sparse_initializer())
    scope.values[initializer.values().name()] =
        constant(&initializer, file.sparseWeights.lookup(&initializer), at);
}

Result Importer::importGraph(const onnx::GraphProto &graph, ValueRange arguments, mlir::OpBuilder &at,
                             const Scope *outer, const Frame &frame) {
  Scope scope(outer);
  addInitializers(graph, at, scope);
  // In a subgraph, an input with an initializer takes the argument: the initializer is only its default.
  for (auto [input, argument] : llvm::zip(graph.input(), arguments))
    scope.values[input.name()] = argument;
  if (llvm::Error error = importNodes(graph.node(), &graph, at, scope, frame))
    return std::move(error);
  Values results;
  for (const onnx::ValueInfoProto &output : graph.output()) {
    Value value = scope.lookup(output.name());
    if (!value)
      throw ImportFault{"the output '" + oneLine(output.name(), 120) + "' of its graph is an omitted input"};
    results.push_back(value);
  }
  return results;
}

Result Importer::importCall(const onnx::NodeProto &node, const onnx::FunctionProto &function, Values inputs,
                            mlir::OpBuilder &at, const Frame &frame) {
  for (const Frame *caller = frame.caller; caller; caller = caller->caller)
    if (caller->function == &function)
      throw ImportFault{"its function calls itself; functions must not be recursive"};
  if (static_cast<int>(inputs.size()) > function.input_size())
    throw ImportFault{"it has " + std::to_string(inputs.size()) + " inputs, but its function takes " +
                      std::to_string(function.input_size())};
  Scope scope;
  for (int i = 0; i < function.input_size(); ++i)
    scope.values[function.input(i)] = i < static_cast<int>(inputs.size()) ? inputs[i] : Value();

  // Domains that the function does not mention have the version of the model.
  Opsets opsets = file.opsets;
  for (const onnx::OperatorSetIdProto &entry : function.opset_import())
    opsets[entry.domain() == "ai.onnx" ? "" : entry.domain()] = entry.version();
  Frame inner = frame;
  inner.opsets = &opsets;
  if (llvm::Error error = importNodes(function.node(), &function, at, scope, inner))
    return std::move(error);
  Values results;
  for (int i = 0; i < node.output_size(); ++i) {
    if (i >= function.output_size())
      throw ImportFault{"it has " + std::to_string(node.output_size()) + " outputs, but its function gives " +
                        std::to_string(function.output_size())};
    results.push_back(scope.lookup(function.output(i)));
  }
  return results;
}

//===----------------------------------------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------------------------------------===//

/// Removes what no output needs, the last operation first so that chains disappear in one go.
static void eraseDead(mlir::Block &block) {
  for (mlir::Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
    if (op.hasTrait<mlir::OpTrait::IsTerminator>())
      continue;
    if (op.use_empty()) {
      op.erase();
      continue;
    }
    for (mlir::Region &region : op.getRegions())
      for (mlir::Block &inner : region)
        eraseDead(inner);
  }
}

/// Throws an ImportFault where an output has another element type or rank than the file declares: one of the
/// two is wrong. Extents are hints, which exporters get wrong and other runtimes pass over as well.
static void checkDeclared(const ModelSignature::Value &output, Value value) {
  std::string place = "'" + oneLine(output.name, 120) + "' is declared as ";
  if (output.typed && typeOf(value) != output.type)
    throw ImportFault{place + name(output.type).str() + ", but the graph computes " +
                      name(typeOf(value)).str() + "; export the model again"};
  // No extents at all may mean that the exporter did not know any.
  if (!output.shape.empty() && rankOf(value) != static_cast<int64_t>(output.shape.size()))
    throw ImportFault{place + "a tensor of rank " + std::to_string(output.shape.size()) +
                      ", but the graph computes shape " + shapeText(shapeOf(value)) +
                      "; export the model again"};
}

llvm::Expected<ImportedModel> Importer::run() {
  llvm::Expected<InputShapes> shapes = bindShapes(file, signature, options);
  if (!shapes)
    return shapes.takeError();
  assumed = shapes->assumed;
  budget.constantBytes += 4 * static_cast<int64_t>(file.byteCount);
  nodesLeft = freeVisits + maxVisitsPerNode * static_cast<int64_t>(file.nodeNames.size());

  mlir::Location unknown = mlir::UnknownLoc::get(&context);
  ImportedModel imported;
  imported.module = mlir::ModuleOp::create(unknown);
  imported.onnxNodes = file.nodeCount;
  mlir::OpBuilder builder = mlir::OpBuilder::atBlockEnd(imported.module->getBody());
  auto func = builder.create<mlir::func::FuncOp>(unknown, "main", builder.getFunctionType({}, {}));
  mlir::Block &entry = *func.addEntryBlock();
  builder.setInsertionPointToEnd(&entry);

  Scope scope;
  llvm::SmallVector<llvm::StringRef> argumentNames;
  addInitializers(file.proto.graph(), builder, scope);
  llvm::ArrayRef<std::vector<int64_t>> optionalShapes =
      llvm::ArrayRef(shapes->shapes).drop_front(signature.inputs.size());
  for (const ModelSignature::Value &input : signature.optionalInputs)
    if (auto it = options.bound.find(input.name); it != options.bound.end()) {
      scope.values[input.name] = Body(builder, unknown).constant(it->second.reshaped(optionalShapes.front()));
      optionalShapes = optionalShapes.drop_front();
    }
  for (auto [input, shape] : llvm::zip(signature.inputs, shapes->shapes)) {
    if (auto it = options.bound.find(input.name); it != options.bound.end()) {
      scope.values[input.name] = Body(builder, unknown).constant(it->second.reshaped(shape));
      continue;
    }
    auto type = mlir::RankedTensorType::get(shape, toMlir(input.type, &context));
    if (llvm::Error error = checkTensorSize(type, [&](const llvm::Twine &reason) {
          return errorLine(file.name, "input '" + oneLine(input.name, 120) + "'", reason);
        }))
      return std::move(error);
    Value argument = entry.addArgument(type, unknown);
    specializer.addArgument(argument, input.name);
    scope.values[input.name] = argument;
    argumentNames.push_back(input.name);
  }

  Frame frame;
  frame.opsets = &file.opsets;
  Values results;
  try {
    if (llvm::Error error =
            importNodes(file.proto.graph().node(), &file.proto.graph(), builder, scope, frame))
      return std::move(error);
    for (const ModelSignature::Value &output : signature.outputs)
      results.push_back(scope.lookup(output.name));
    requireTensors(results, "the outputs of the model");
    for (auto [output, result] : llvm::zip(signature.outputs, results))
      checkDeclared(output, result);
  } catch (const ImportFault &fault) {
    return errorLine(file.name, "an output", fault.reason);
  }
  builder.create<mlir::func::ReturnOp>(unknown, results);
  func.setType(builder.getFunctionType(entry.getArgumentTypes(), ValueRange(results).getTypes()));
  for (auto [i, argument] : llvm::enumerate(argumentNames))
    func.setArgAttr(i, "tk.name", builder.getStringAttr(argument));
  for (auto [i, output] : llvm::enumerate(signature.outputs))
    func.setResultAttr(i, "tk.name", builder.getStringAttr(output.name));
  eraseDead(entry);
  imported.specialized.assign(specializer.usedInputs().begin(), specializer.usedInputs().end());
  return imported;
}

} // namespace tokamak::import
