//===- Sequence.cpp - sequences and optional values ------------------------------------------===//
// Sequences exist only while importing: their lengths and the positions used must be known then, and what
// remains is tensors.
#include "import/ErrorLine.h"
#include "import/ops/Common.h"
#include "onnx/onnx_pb.h"

namespace tokamak::import {

/// Each part becomes an operation.
static constexpr int64_t maxParts = 1 << 16;

namespace {

Result importSequenceConstruct(NodeContext &n) {
  Values tensors;
  for (int64_t i = 0; i < n.inputCount(); ++i)
    tensors.push_back(n.input(i));
  return Values{makeSequence(n.body(), tensors)};
}

Result importSequenceEmpty(NodeContext &n) { return Values{makeSequence(n.body(), {})}; }

/// The position in input `i`, from the end where negative; `count` positions are allowed.
int64_t positionOf(NodeContext &n, int64_t i, int64_t length, int64_t count) {
  Tensor tensor = n.constantInput(i, "its position");
  if (tensor.size() != 1)
    fault("its position must be one number, not a tensor of shape " + shapeText(tensor.shape()));
  int64_t position = tensor.intAt(0);
  if (position < -length || position >= count)
    fault("its position " + llvm::Twine(position) + " is outside a sequence of " + llvm::Twine(length) +
          " tensors");
  return position < 0 ? position + length : position;
}

Result importSequenceInsert(NodeContext &n) {
  Values tensors = n.sequence(0);
  int64_t length = static_cast<int64_t>(tensors.size());
  int64_t position = n.has(2) ? positionOf(n, 2, length, length + 1) : length;
  tensors.insert(tensors.begin() + position, n.input(1));
  return Values{makeSequence(n.body(), tensors)};
}

Result importSequenceErase(NodeContext &n) {
  Values tensors = n.sequence(0);
  int64_t length = static_cast<int64_t>(tensors.size());
  if (length == 0)
    fault("there is nothing to erase in an empty sequence");
  tensors.erase(tensors.begin() + (n.has(1) ? positionOf(n, 1, length, length) : length - 1));
  return Values{makeSequence(n.body(), tensors)};
}

Result importSequenceAt(NodeContext &n) {
  Values tensors = n.sequence(0);
  int64_t length = static_cast<int64_t>(tensors.size());
  return Values{tensors[positionOf(n, 1, length, length)]};
}

Result importSequenceLength(NodeContext &n) {
  return Values{
      n.body().constant(Tensor::scalarInt(DataType::Int64, static_cast<int64_t>(n.sequence(0).size())))};
}

/// A new axis of extent 1 at `axis`.
Value withAxis(Body &b, Value value, int64_t axis) {
  Ints shape(shapeOf(value));
  shape.insert(shape.begin() + axis, 1);
  return b.reshape(value, shape);
}

Result importConcatFromSequence(NodeContext &n) {
  Body &b = n.body();
  Values tensors = n.sequence(0);
  if (tensors.empty())
    fault("an empty sequence has no concatenation");
  bool newAxis = n.intAttr("new_axis", 0) != 0;
  int64_t axis = normalizeAxis(n.intAttr("axis", 0), rankOf(tensors.front()) + (newAxis ? 1 : 0));
  if (newAxis)
    for (Value &tensor : tensors) {
      if (rankOf(tensor) < axis)
        fault("its tensors have different ranks");
      tensor = withAxis(b, tensor, axis);
    }
  return Values{b.concat(tensors, axis)};
}

Result importSplitToSequence(NodeContext &n) {
  Body &b = n.body();
  Value x = n.input(0);
  int64_t axis = normalizeAxis(n.intAttr("axis", 0), rankOf(x)), extent = shapeOf(x)[axis];
  // Slices of one element, without the axis where keepdims is 0; or chunks of one size; or of given sizes.
  bool dropAxis = !n.has(1) && n.intAttr("keepdims", 1) == 0;
  Ints sizes;
  int64_t chunk = 1;
  if (n.has(1)) {
    Tensor split = n.constantInput(1, "its split sizes");
    if (split.rank() == 1)
      sizes = split.ints();
    else if (split.size() == 1)
      chunk = split.intAt(0);
    if (split.rank() > 1 || chunk < 1)
      fault("its split must be positive numbers: one, or a list");
  }
  if (!n.has(1) || sizes.empty()) {
    if (extent / chunk > maxParts)
      fault("it would give " + llvm::Twine(extent / chunk) + " tensors; split into fewer");
    for (int64_t start = 0; start < extent; start += chunk)
      sizes.push_back(std::min(chunk, extent - start));
  }
  Values parts;
  int64_t start = 0;
  for (int64_t size : sizes) {
    if (size < 0 || size > extent - start)
      fault("its split sizes do not add up to the extent " + llvm::Twine(extent));
    Value part = b.sliceAxis(x, axis, start, size);
    if (dropAxis) {
      Ints shape(shapeOf(part));
      shape.erase(shape.begin() + axis);
      part = b.reshape(part, shape);
    }
    parts.push_back(part);
    start += size;
  }
  if (start != extent)
    fault("its split sizes add up to " + llvm::Twine(start) + ", not to the extent " + llvm::Twine(extent));
  return Values{makeSequence(b, parts)};
}

/// The body once for each element; inputs that are tensors are the same for all.
Result importSequenceMap(NodeContext &n) {
  size_t length = n.sequence(0).size();
  std::vector<Values> outputs(n.outputCount());
  for (size_t element = 0; element < length; ++element) {
    Values arguments;
    for (int64_t i = 0; i < n.inputCount(); ++i) {
      if (isTensor(n.anyInput(i))) {
        arguments.push_back(n.input(i));
        continue;
      }
      Values tensors = n.sequence(i);
      if (tensors.size() != length)
        fault("its sequences have different lengths");
      arguments.push_back(tensors[element]);
    }
    Result results = n.importSubgraph("body", arguments, n.body().builder);
    if (!results)
      return results;
    if (results->size() < outputs.size())
      fault("its body has fewer outputs than the node");
    requireTensors(*results, "the results of its body");
    for (auto [output, result] : llvm::zip(outputs, *results))
      output.push_back(result);
  }
  Values sequences;
  for (const Values &output : outputs)
    sequences.push_back(makeSequence(n.body(), output));
  return sequences;
}

/// Optional values that hold something are that something.
Result importOptional(NodeContext &n) {
  if (!n.has(0))
    return n.error("empty optional values are not supported; use tensors");
  return Values{n.anyInput(0)};
}

Result importOptionalHasElement(NodeContext &n) {
  return Values{n.body().constant(Tensor::scalarInt(DataType::Bool, n.has(0)))};
}

} // namespace

void registerSequence(Registry &registry) {
  registry.add("SequenceConstruct", importSequenceConstruct);
  registry.add("SequenceEmpty", importSequenceEmpty);
  registry.add("SequenceInsert", importSequenceInsert);
  registry.add("SequenceErase", importSequenceErase);
  registry.add("SequenceAt", importSequenceAt);
  registry.add("SequenceLength", importSequenceLength);
  registry.add("SequenceMap", importSequenceMap);
  registry.add("ConcatFromSequence", importConcatFromSequence);
  registry.add("SplitToSequence", importSplitToSequence);
  registry.add("Optional", importOptional);
  registry.add("OptionalGetElement", importOptional);
  registry.add("OptionalHasElement", importOptionalHasElement);
}

} // namespace tokamak::import
