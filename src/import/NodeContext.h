//===- NodeContext.h - what an import entry sees of one ONNX node -------------------------===//
// An entry turns one ONNX node into tk operations:
//
//   static Result importRelu(NodeContext &n) {
//     return n.composite({n.input(0)}, [&](Body &b, ValueRange x) { return b.max(x[0], b.scalarLike(x[0],
//     0)); });
//   }
//   registry.add("Relu", importRelu);            // all opsets in one entry; n.opset() tells which
//
#pragma once
#include "ir/Tk.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace onnx {
class AttributeProto;
class GraphProto;
class NodeProto;
} // namespace onnx

namespace tokamak::import {

using mlir::Value;
using mlir::ValueRange;
using Values = llvm::SmallVector<Value, 4>;
/// One value an output of the node, or the reason why not (made by `NodeContext::error`).
using Result = llvm::Expected<Values>;

/// What one import may still spend, so that a small file cannot ask for hours or for all memory.
struct ImportBudget {
  int64_t foldingFlops = int64_t(1) << 31;  ///< what does not fold stays an operation
  int64_t constantBytes = int64_t(1) << 30; ///< of tables that entries make; beyond it the node is refused
};

/// Builds tk operations. Constant operands fold at once (through the evaluator) when the result is small or
/// all operands are splats, so shape arithmetic never reaches the graph. Operators broadcast and check as the
/// dialect does; a shape fault throws `ImportFault`, which the node loop turns into the node's error line.
class Body {
public:
  Body(mlir::OpBuilder &builder, mlir::Location loc, ImportBudget *budget = nullptr)
      : builder(builder), loc(loc), budget(budget) {}
  mlir::OpBuilder &builder;
  mlir::Location loc;
  ImportBudget *budget;

  /// Any tk operator by name, one result.
  Value op(llvm::StringRef name, ValueRange operands, llvm::ArrayRef<mlir::NamedAttribute> attributes = {});
  Values ops(llvm::StringRef name, ValueRange operands, llvm::ArrayRef<mlir::NamedAttribute> attributes = {});
  mlir::NamedAttribute attr(llvm::StringRef name, int64_t value); ///< i64
  mlir::NamedAttribute attr(llvm::StringRef name, int value) {
    return attr(name, static_cast<int64_t>(value));
  }
  mlir::NamedAttribute attr(llvm::StringRef name, bool value);
  mlir::NamedAttribute attr(llvm::StringRef name, double value);                  ///< f64
  mlir::NamedAttribute attr(llvm::StringRef name, llvm::ArrayRef<int64_t> value); ///< DenseI64Array
  mlir::NamedAttribute attr(llvm::StringRef name, DataType value);                ///< TypeAttr
  mlir::NamedAttribute attr(llvm::StringRef name, mlir::Attribute value) {
    return {mlir::StringAttr::get(builder.getContext(), name), value};
  }

  Value constant(const Tensor &tensor);
  Value scalar(DataType type, double value);  ///< rank 0
  Value scalarLike(Value like, double value); ///< rank 0, element type of `like`

  Value add(Value a, Value b) { return op("add", {a, b}); }
  Value sub(Value a, Value b) { return op("sub", {a, b}); }
  Value mul(Value a, Value b) { return op("mul", {a, b}); }
  Value div(Value a, Value b) { return op("div", {a, b}); }
  Value max(Value a, Value b) { return op("max", {a, b}); }
  Value min(Value a, Value b) { return op("min", {a, b}); }
  Value pow(Value a, Value b) { return op("pow", {a, b}); }
  Value unary(llvm::StringRef name, Value x) { return op(name, {x}); }
  Value compare(tk::Predicate predicate, Value a, Value b);
  Value select(Value condition, Value a, Value b) { return op("select", {condition, a, b}); }
  Value cast(Value x, DataType to, bool saturate = false); ///< no operation where the type is the same
  Value reshape(Value x, llvm::ArrayRef<int64_t> shape);
  Value transpose(Value x, llvm::ArrayRef<int64_t> permutation);
  Value broadcast(Value x, llvm::ArrayRef<int64_t> shape);
  Value slice(Value x, llvm::ArrayRef<int64_t> starts, llvm::ArrayRef<int64_t> sizes,
              llvm::ArrayRef<int64_t> steps);
  Value sliceAxis(Value x, int64_t axis, int64_t start, int64_t size, int64_t step = 1);
  Value concat(ValueRange xs, int64_t axis);
  Value gather(Value x, Value indices, int64_t axis);
  Value iota(llvm::ArrayRef<int64_t> shape, int64_t axis, DataType type);
  Value reduce(tk::ReduceKind kind, Value x, llvm::ArrayRef<int64_t> axes, bool keepDims);
  Value mean(Value x, llvm::ArrayRef<int64_t> axes, bool keepDims); ///< sum times 1/n; integers divide
  Value matmul(Value a, Value b, bool transposeA = false, bool transposeB = false);
};

/// While importing, a sequence of tensors is one value of tuple type, which knows its elements. None is left
/// when the import ends.
Value makeSequence(Body &b, ValueRange tensors);
inline bool isTensor(Value value) { return llvm::isa<mlir::RankedTensorType>(value.getType()); }
/// Throws ImportFault where one of `values` is a sequence; `what` names them.
void requireTensors(ValueRange values, llvm::StringRef what);

llvm::ArrayRef<int64_t> shapeOf(Value value);
DataType typeOf(Value value);
inline int64_t rankOf(Value value) { return static_cast<int64_t>(shapeOf(value).size()); }

/// Fails, by `refuse`, where a tensor of this type is too large to compute with.
llvm::Error checkTensorSize(mlir::RankedTensorType type,
                            llvm::function_ref<llvm::Error(const llvm::Twine &)> refuse);

/// An operand whose element type the operator does not take, and those it takes: "int32 or int64". The
/// operand may be gone by the time that this is read.
struct ElementTypeFault {
  Value operand;
  llvm::SmallVector<int64_t> shape;
  DataType type;
  std::string taken;
  DataType usual; ///< the most usual of them
};

/// Thrown by Body where operands do not fit; never crosses `Model::import`.
struct ImportFault {
  std::string reason;
  std::optional<ElementTypeFault> elementType = std::nullopt; ///< says more than `reason`
};

class NodeContext {
public:
  virtual ~NodeContext() = default;

  const onnx::NodeProto &node() const { return proto; }
  llvm::StringRef opType() const;
  int64_t opset() const { return opsetVersion; } ///< of the node's domain
  Body &body() { return graph; }                 ///< builds straight into the graph, at the node's location

  // Inputs and outputs. An omitted optional input is absent.
  int64_t inputCount() const { return static_cast<int64_t>(inputs.size()); }
  /// Throws ImportFault where there are more than the operator takes: the file means something else by it.
  void takesInputs(int64_t most) const;
  bool has(int64_t i) const { return i < inputCount() && inputs[i]; }
  Value input(int64_t i) const; ///< a tensor; throws ImportFault where it is absent or a sequence
  /// The tensors of a sequence; throws ImportFault where it is absent or a tensor.
  Values sequence(int64_t i) const;
  Value anyInput(int64_t i) const; ///< a tensor or a sequence; throws ImportFault where absent
  int64_t outputCount() const;
  bool wantsOutput(int64_t i) const; ///< listed and not the empty name

  // Attributes, with the standard's default.
  bool hasAttr(llvm::StringRef name) const;
  int64_t intAttr(llvm::StringRef name, int64_t fallback) const;
  /// An attribute that picks one of two meanings, 0 (the default) or 1; anything else is a fault.
  bool choiceAttr(llvm::StringRef name) const;
  double floatAttr(llvm::StringRef name, double fallback) const;
  std::string stringAttr(llvm::StringRef name, llvm::StringRef fallback) const;
  std::optional<llvm::SmallVector<int64_t>> intsAttr(llvm::StringRef name) const;
  std::optional<llvm::SmallVector<double>> floatsAttr(llvm::StringRef name) const;
  std::optional<std::vector<std::string>> stringsAttr(llvm::StringRef name) const;
  virtual std::optional<Tensor> tensorAttr(llvm::StringRef name) const = 0;

  /// The value of input `i` when it must be known while compiling (a target shape, axes, ...): a constant, or
  /// computed from hinted inputs (the model is then specialised on them). Throws an ImportFault that names
  /// the inputs it depends on and says `bind it with --bind NAME=FILE.npy`.
  virtual Tensor constantInput(int64_t i, llvm::StringRef what) = 0;
  /// The same for any value of the graph.
  virtual Tensor constantOf(Value value, llvm::StringRef what) = 0;
  llvm::SmallVector<int64_t> constantInts(int64_t i, llvm::StringRef what) {
    return constantInput(i, what).ints();
  }
  /// The value if it is already a constant (no specialisation), else nothing.
  std::optional<Tensor> ifConstant(int64_t i) const {
    return has(i) ? tk::constantValue(inputs[i]) : std::nullopt;
  }

  /// The refusal or fault as one line (file, node, operator, reason, what to do).
  virtual llvm::Error error(const llvm::Twine &reason) const = 0;
  /// The text of an error of a node in a subgraph, to stand inside an error of this one: without the file.
  virtual std::string innerText(llvm::Error error) const = 0;

  /// Builds the node as one tk.composite named after the operator: `build` sees the block arguments of
  /// `operands` and returns the results. Falls back to the plain operations where the body is a single
  /// operation, or constant, or breaks the composite's rules (two anchors, an opaque operator). Constant
  /// operands of one element move inside.
  Result composite(ValueRange operands, llvm::function_ref<Values(Body &, ValueRange)> build);
  Result composite1(ValueRange operands, llvm::function_ref<Value(Body &, ValueRange)> build) {
    return composite(operands, [&](Body &b, ValueRange x) { return Values{build(b, x)}; });
  }

  /// The graph in an attribute; throws an ImportFault where there is none.
  virtual const onnx::GraphProto &subgraph(llvm::StringRef attribute) const = 0;
  /// To be called before operations that `importSubgraph` made are erased.
  virtual void forgetValues() = 0;

  // Subgraphs (If, Loop, Scan): imports the graph of an attribute into `block` with `arguments` for its
  // inputs; outer names stay visible. Returns its outputs, tensors or sequences.
  virtual Result importSubgraph(llvm::StringRef attribute, ValueRange arguments, mlir::OpBuilder &at) = 0;

protected:
  NodeContext(const onnx::NodeProto &proto, int64_t opset, Values inputs, Body body)
      : proto(proto), opsetVersion(opset), inputs(std::move(inputs)), graph(body) {}
  const onnx::NodeProto &proto;
  int64_t opsetVersion;
  Values inputs;
  Body graph;
};

using ImportFn = std::function<Result(NodeContext &)>;

/// ONNX operator -> entry, one a name and domain ("" is ai.onnx).
class Registry {
public:
  void add(llvm::StringRef opType, ImportFn fn, llvm::StringRef domain = "");
  /// An operator that is known and refused: the reason goes into the error line.
  void refuse(llvm::StringRef opType, llvm::StringRef reason, llvm::StringRef domain = "");
  const ImportFn *find(llvm::StringRef opType, llvm::StringRef domain) const;
  static const Registry &get(); ///< all entries of src/import/ops/*.cpp

private:
  llvm::StringMap<ImportFn> entries; ///< key "domain::OpType"
};

// One function a file in src/import/ops/.
void registerElementwise(Registry &); // ops/Elementwise.cpp: arithmetic, comparisons, logic, casts
void registerActivation(Registry &);  // ops/Activation.cpp: Relu, Sigmoid, Gelu, Clip, ...
void registerQuantization(
    Registry &);                    // ops/Quantization.cpp: QuantizeLinear, MatMulInteger, QLinearConv, ...
void registerShape(Registry &);     // ops/Shape.cpp: Reshape, Transpose, Expand, Tile, Concat, Split, ...
void registerSlicing(Registry &);   // ops/Slicing.cpp: Slice, Pad, Trilu, CenterCropPad, ...
void registerReduction(Registry &); // ops/Reduction.cpp: Reduce*, ArgMax, Softmax family
void registerLosses(Registry &);    // ops/Losses.cpp: NegativeLogLikelihoodLoss, SoftmaxCrossEntropyLoss
void registerNormalization(
    Registry &); // ops/Normalization.cpp: BatchNormalization, LayerNormalization, LRN, MVN, ...
void registerLinear(Registry &);      // ops/Linear.cpp: MatMul, Gemm, Det
void registerConvolution(Registry &); // ops/Convolution.cpp: Conv, ConvTranspose, Col2Im
void registerPooling(Registry &);     // ops/Pooling.cpp: MaxPool, AveragePool, LpPool, Global*, MaxUnpool
void registerEinsum(Registry &);      // ops/Einsum.cpp
void registerSignal(Registry &);      // ops/Signal.cpp: DFT, STFT, windows, MelWeightMatrix
void registerResize(Registry &);      // ops/Resize.cpp: Resize, Upsample
void registerSampling(Registry &);    // ops/Sampling.cpp: GridSample, RoiAlign, AffineGrid
void registerIndexing(
    Registry &); // ops/Indexing.cpp: Gather*, Scatter*, TopK, CumSum, OneHot, ReverseSequence
void registerDataDependent(Registry &); // ops/DataDependent.cpp: NonZero, Unique, Compress, NonMaxSuppression
void registerNGrams(Registry &);        // ops/NGrams.cpp: TfIdfVectorizer
void registerRefused(Registry &);   // ops/Refused.cpp: known operators that are not compiled, a reason each
void registerControl(Registry &);   // ops/Control.cpp: Constant, Identity, If
void registerLoop(Registry &);      // ops/Loop.cpp
void registerScan(Registry &);      // ops/Scan.cpp
void registerSequence(Registry &);  // ops/Sequence.cpp: sequences and optional values
void registerRecurrent(Registry &); // ops/Recurrent.cpp: LSTM, GRU, RNN

} // namespace tokamak::import
