//===- Loop.cpp - ONNX Loop ----------------------------------------------------------------===//
#include "import/ErrorLine.h"
#include "import/Weights.h"
#include "import/ops/Common.h"
#include "import/ops/LoopBuilder.h"
#include "onnx/onnx_pb.h"

namespace tokamak::import {

/// Loops of up to so many iterations, and so many nodes when unrolled, are unrolled: the iteration number is
/// then a constant and iterations fuse with what surrounds them.
static constexpr int64_t preferredTrips = 16, preferredNodes = 2048;
/// Where only unrolling gives fixed shapes, so many iterations are.
static constexpr int64_t maxTrips = 1 << 16;

/// Nodes of a graph and its subgraphs.
static int64_t nodeCount(const onnx::GraphProto &graph) {
  int64_t count = graph.node_size();
  for (const onnx::NodeProto &node : graph.node())
    for (const onnx::AttributeProto &attribute : node.attribute())
      count += attribute.has_g() ? nodeCount(attribute.g()) : 0;
  return count;
}

/// True where the condition that a loop's body gives is the one that it gets.
static bool handsConditionOn(const onnx::GraphProto &body) {
  llvm::StringRef given = body.output(0).name();
  for (int i = body.node_size() - 1; i >= 0; --i) {
    const onnx::NodeProto &node = body.node(i);
    if (node.output_size() == 1 && node.output(0) == given && node.op_type() == "Identity" &&
        node.input_size() == 1)
      given = node.input(0);
  }
  return given == body.input(1).name();
}

/// The declared type of a slice, 0 for extents that are not; nothing where it has no rank.
static std::optional<SliceType> declaredSlice(const onnx::ValueInfoProto &output) {
  const onnx::TypeProto::Tensor &tensor = output.type().tensor_type();
  std::optional<DataType> type = dataTypeOf(tensor.elem_type());
  if (!type || !tensor.has_shape())
    return std::nullopt;
  SliceType declared{*type, {}};
  for (const onnx::TensorShapeProto::Dimension &dim : tensor.shape().dim())
    declared.shape.push_back(std::max<int64_t>(dim.dim_value(), 0));
  return declared;
}

/// What two iterations' slices share: the extents that differ are those of `declared`, else 0. Nothing where
/// not even the ranks are the same and none is declared.
static std::optional<SliceType> sharedSlice(SliceType a, const SliceType &b,
                                            const std::optional<SliceType> &declared) {
  if (a.type != b.type || a.shape.size() != b.shape.size())
    return declared;
  const bool fits = declared && declared->shape.size() == a.shape.size();
  for (auto [axis, extent] : llvm::enumerate(a.shape))
    if (extent != b.shape[axis])
      extent = fits ? declared->shape[axis] : 0;
  return a;
}

namespace {

/// One ONNX Loop node. There are three ways: unrolled because it is small, a tk.loop, or unrolled because a
/// tk.loop cannot hold it (carried values that change their shape, an early exit with scan outputs, shapes
/// that depend on the iteration number).
class LoopNode {
public:
  explicit LoopNode(NodeContext &n) : n(n), b(n.body()), graph(n.subgraph("body")) {
    for (int64_t i = 2; i < n.inputCount(); ++i)
      initial.push_back(n.anyInput(i));
    if (graph.input_size() != static_cast<int>(initial.size()) + 2 ||
        graph.output_size() <= static_cast<int>(initial.size()))
      fault("its body has " + llvm::Twine(graph.input_size()) + " inputs and " +
            llvm::Twine(graph.output_size()) + " outputs, which do not fit " + llvm::Twine(initial.size()) +
            " carried values; the file is damaged");
    hasScans = graph.output_size() > static_cast<int>(initial.size()) + 1;
    goesOn = handsConditionOn(graph);
    if (n.has(0)) {
      checkSingle(n.input(0), DataType::Int64, "its trip count");
      if (std::optional<Tensor> known = n.ifConstant(0))
        limit = known->intAt(0);
    }
    if (n.has(1))
      checkSingle(n.input(1), DataType::Bool, "its condition");
    condition = n.has(1) ? n.ifConstant(1) : Tensor::scalarInt(DataType::Bool, 1);
  }

  Result import() {
    // The extent of a scan output is the number of iterations.
    if (hasScans && n.has(0) && !limit)
      limit = n.constantInput(0, "its trip count (an extent of its outputs)").intAt(0);
    const int64_t trips = std::max<int64_t>(limit.value_or(1), 0);
    if (isKnown() && trips <= preferredTrips && trips * nodeCount(graph) <= preferredNodes) {
      llvm::Expected<std::optional<Values>> unrolled = unroll(preferredTrips, /*evaluate=*/false, "");
      if (!unrolled)
        return unrolled.takeError();
      if (*unrolled)
        return **unrolled;
    }

    std::string obstacle;
    try {
      Result kept = keep();
      if (kept)
        return kept;
      obstacle = " (" + n.innerText(kept.takeError()) + ")";
    } catch (const ImportFault &fault) {
      obstacle = " (" + fault.reason + ")";
    }
    n.forgetValues();
    if (n.has(0) && !limit)
      limit = n.constantInput(0, "its trip count" + obstacle).intAt(0);
    if (!condition)
      condition = n.constantInput(1, "its condition" + obstacle);
    auto refuse = [&] {
      return n.error("runs more than " + llvm::Twine(maxTrips) + " iterations" + obstacle +
                     "; make the loop shorter");
    };
    // Unrolling as far as that would only tell the same, later.
    if (goesOn && condition->intAt(0) != 0 && (!limit || *limit > maxTrips))
      return refuse();
    llvm::Expected<std::optional<Values>> unrolled =
        unroll(maxTrips, /*evaluate=*/true, "its condition after an iteration" + obstacle);
    if (!unrolled)
      return unrolled.takeError();
    if (!*unrolled)
      return refuse();
    return **unrolled;
  }

private:
  NodeContext &n;
  Body &b;
  const onnx::GraphProto &graph;
  Values initial;
  bool hasScans = false;
  std::optional<int64_t> limit;    ///< where known; none as well where there is no limit
  std::optional<Tensor> condition; ///< of the first iteration, where known
  /// The body hands its condition on, or makes it true, so that only the trip count ends the loop.
  bool goesOn = false;

  bool isKnown() const { return condition && (limit || !n.has(0)); }

  static void checkSingle(Value value, DataType type, llvm::StringRef what) {
    requireTensors(value, what);
    if (typeOf(value) != type || tk::tensorType(value).getNumElements() != 1)
      fault(what + " must be one " + name(type) + ", not " + name(typeOf(value)) + shapeText(shapeOf(value)));
  }

  /// The body's outputs for one iteration. Some exporters declare the first two inputs as [1], not as
  /// scalars.
  Result importBody(Body &at, Value iteration, Value running, ValueRange carried) {
    Values arguments{iteration, running};
    for (int i = 0; i < 2; ++i)
      if (graph.input(i).type().tensor_type().shape().dim_size() == 1)
        arguments[i] = at.reshape(arguments[i], {1});
    llvm::append_range(arguments, carried);
    Result outputs = n.importSubgraph("body", arguments, at.builder);
    if (outputs)
      requireTensors(scansOf(*outputs), "the slices that its body gives");
    if (outputs)
      checkSingle(outputs->front(), DataType::Bool, "the condition that its body gives");
    return outputs;
  }

  Values carriedOf(const Values &outputs) const {
    return Values(llvm::ArrayRef(outputs).slice(1, initial.size()));
  }
  Values scansOf(const Values &outputs) const {
    return Values(llvm::ArrayRef(outputs).drop_front(1 + initial.size()));
  }
  size_t sliceCount() const { return graph.output_size() - 1 - initial.size(); }

  /// As a tk.loop; throws an ImportFault where that cannot be.
  Result keep() {
    requireTensors(initial, "values that it carries");
    LoopBody loop(b, initial);
    Result outputs = importBody(loop.body, loop.iteration, loop.condition, loop.carried);
    if (!outputs)
      return outputs;
    Iteration next{outputs->front(), carriedOf(*outputs), scansOf(*outputs)};
    std::optional<Tensor> constant = tk::constantValue(next.condition);
    goesOn |= next.condition == loop.condition || (constant && constant->intAt(0) != 0);
    bool always = goesOn && condition && condition->intAt(0) != 0;
    if (hasScans && (!always || !limit))
      fault("its outputs have as many slices as iterations run, which its condition decides");
    if (always && !n.has(0))
      fault("it has no trip count and its condition never changes, so it does not end");
    Value limitValue = limit      ? b.constant(Tensor::scalarInt(DataType::Int64, *limit))
                       : n.has(0) ? n.input(0)
                                  : Value();
    return closeLoop(b, std::move(loop), limitValue, always || !n.has(1) ? Value() : n.input(1), initial,
                     next, std::max<int64_t>(limit.value_or(0), 0));
  }

  /// The iterations one after the other; nothing where there are more than `most`, or where a condition is
  /// not a constant and may not be evaluated.
  llvm::Expected<std::optional<Values>> unroll(int64_t most, bool evaluate, llvm::StringRef what) {
    // Apart from the graph until it is complete.
    mlir::Region region;
    mlir::OpBuilder at = openBlock(b.builder.getContext(), region);
    Body inner(at, b.loc, b.budget);
    Values carried = initial;
    std::vector<Values> scans(sliceCount());
    Tensor running = condition->reshaped({});
    for (int64_t i = 0; running.intAt(0) != 0 && (!limit || i < *limit); ++i) {
      if (i == most) {
        n.forgetValues();
        return std::nullopt;
      }
      Result outputs = importBody(inner, inner.constant(Tensor::scalarInt(DataType::Int64, i)),
                                  inner.constant(running), carried);
      if (!outputs)
        return outputs.takeError();
      carried = carriedOf(*outputs);
      for (auto [slices, slice] : llvm::zip(scans, scansOf(*outputs)))
        slices.push_back(slice);
      if (limit && i + 1 == *limit)
        break;
      std::optional<Tensor> next = tk::constantValue(outputs->front());
      if (!next && !evaluate) {
        n.forgetValues();
        return std::nullopt;
      }
      running = (next ? *next : n.constantOf(outputs->front(), what)).reshaped({});
    }
    Values results = carried;
    if (!scans.empty() && scans.front().empty()) {
      llvm::Expected<SliceTypes> types = slicesOfNoIteration();
      if (!types)
        return types.takeError();
      llvm::append_range(results, emptyScans(inner, *types));
    } else {
      for (const Values &slices : scans)
        results.push_back(stack(inner, slices));
    }
    auto &into = b.builder.getInsertionBlock()->getOperations();
    into.splice(b.builder.getInsertionPoint(), region.front().getOperations());
    return results;
  }

  /// The types of the slices that the body would give: in iteration number `iteration` with what is constant
  /// of the initial values, or, without a number, whatever the number and the values are. Nothing is left of
  /// the body.
  llvm::Expected<SliceTypes> probe(std::optional<int64_t> iteration) {
    LoopBody unused(b, initial);
    Body &at = unused.body;
    Value number = unused.iteration, running = unused.condition;
    if (iteration) {
      number = at.constant(Tensor::scalarInt(DataType::Int64, *iteration));
      running = at.constant(Tensor::scalarInt(DataType::Bool, 1));
      // Not those that come from inputs: the model would be specialised on them for iterations that never
      // run.
      for (auto [value, start] : llvm::zip(unused.carried, initial))
        if (!isTensor(start) || tk::constantValue(start))
          value = start;
    }
    Result outputs = importBody(at, number, running, unused.carried);
    n.forgetValues();
    if (!outputs)
      return outputs.takeError();
    return typesOf(scansOf(*outputs));
  }

  /// The types of the slices of a loop that runs no iteration. Where they depend on the iteration number, an
  /// extent is the one that the first two iterations share, else the declared one, else 0.
  llvm::Expected<SliceTypes> slicesOfNoIteration() {
    llvm::Expected<SliceTypes> always = probe(std::nullopt);
    if (always)
      return always;
    std::optional<SliceTypes> first = llvm::expectedToOptional(probe(0));
    std::optional<SliceTypes> second = llvm::expectedToOptional(probe(1));
    SliceTypes types;
    for (size_t i = 0; i < sliceCount(); ++i) {
      std::optional<SliceType> type = declaredSlice(graph.output(static_cast<int>(1 + initial.size() + i)));
      if (first || second)
        type = sharedSlice((first ? first : second)->at(i), (second ? second : first)->at(i), type);
      // An error that says what the shapes depend on.
      if (!type)
        return always;
      types.push_back(*type);
    }
    llvm::consumeError(always.takeError());
    return types;
  }

  /// Along a new leading axis.
  static Value stack(Body &at, const Values &slices) {
    Values rows;
    for (Value slice : slices) {
      llvm::SmallVector<int64_t> shape{1};
      llvm::append_range(shape, shapeOf(slice));
      rows.push_back(at.reshape(slice, shape));
    }
    return at.concat(rows, 0);
  }
};

} // namespace

void registerLoop(Registry &registry) {
  registry.add("Loop", [](NodeContext &n) { return LoopNode(n).import(); });
}

} // namespace tokamak::import
