//===- Scan.cpp - ONNX Scan ----------------------------------------------------------------===//
#include "import/ErrorLine.h"
#include "import/ops/Common.h"
#include "import/ops/LoopBuilder.h"
#include "onnx/onnx_pb.h"

namespace tokamak::import {

namespace {

/// One sequence: every iteration takes a slice of each input along its axis and adds one to each scan output.
struct ScanPlan {
  int64_t states = 0;
  Ints inputAxes, outputAxes;       ///< not negative
  Ints inputReverse, outputReverse; ///< 1: from the end
};

/// Runs the body over `trips` slices. Returns the states, then the scan outputs.
Result scan(NodeContext &n, const ScanPlan &plan, ValueRange states, ValueRange inputs, int64_t trips) {
  Body &b = n.body();
  LoopBody loop(b, states);
  Values arguments = loop.carried;
  for (auto [i, input] : llvm::enumerate(inputs)) {
    Value index = loop.iteration;
    if (plan.inputReverse[i])
      index = loop.body.sub(loop.body.scalar(DataType::Int64, static_cast<double>(trips - 1)), index);
    // Of an empty sequence there is no slice; the body only tells the shapes.
    Value source = input;
    if (trips == 0) {
      Ints shape(shapeOf(input));
      shape[plan.inputAxes[i]] = 1;
      source = filled(loop.body, typeOf(input), shape, 0);
    }
    arguments.push_back(loop.body.gather(source, index, plan.inputAxes[i]));
  }
  Result outputs = n.importSubgraph("body", arguments, loop.builder);
  if (!outputs)
    return outputs;
  Iteration next;
  next.carried.assign(outputs->begin(), outputs->begin() + plan.states);
  next.scans.assign(outputs->begin() + plan.states, outputs->end());

  Values results;
  if (trips == 0) {
    results = Values(states);
    llvm::append_range(results, emptyScans(b, typesOf(next.scans)));
    n.forgetValues();
  } else {
    Value limit = b.constant(Tensor::scalarInt(DataType::Int64, trips));
    results = closeLoop(b, std::move(loop), limit, Value(), states, next, trips);
  }
  for (int64_t i = plan.states; i < static_cast<int64_t>(results.size()); ++i) {
    int64_t k = i - plan.states, rank = rankOf(results[i]);
    if (plan.outputReverse[k] && trips > 0)
      results[i] = b.sliceAxis(results[i], 0, trips - 1, trips, -1);
    // The slices lie along axis 0.
    Ints permutation;
    for (int64_t axis = 1; axis < rank; ++axis)
      permutation.push_back(axis);
    permutation.insert(permutation.begin() + normalizeAxis(plan.outputAxes[k], rank), 0);
    results[i] = b.transpose(results[i], permutation);
  }
  return results;
}

/// An attribute of one number an input or output, all 0 where it is absent.
Ints listAttr(NodeContext &n, llvm::StringRef name, int64_t count) {
  Ints values = n.intsAttr(name).value_or(Ints(count, 0));
  if (static_cast<int64_t>(values.size()) != count)
    fault("attribute '" + name + "' must have " + llvm::Twine(count) + " entries, not " +
          llvm::Twine(values.size()));
  return values;
}

/// The plan, and the number of scan inputs; `first` inputs stand before the states.
ScanPlan planOf(NodeContext &n, int64_t first, const char *inputDirections) {
  const onnx::GraphProto &graph = n.subgraph("body");
  int64_t inputs = n.intAttr("num_scan_inputs", 0);
  ScanPlan plan;
  plan.states = n.inputCount() - first - inputs;
  int64_t outputs = graph.output_size() - plan.states;
  if (inputs < 1 || plan.states < 0 || outputs < 0 || graph.input_size() != n.inputCount() - first)
    fault("attribute num_scan_inputs is " + llvm::Twine(inputs) +
          ", which does not fit its inputs and its body; the file is damaged");
  plan.inputReverse = listAttr(n, inputDirections, inputs);
  plan.outputReverse = Ints(outputs, 0);
  plan.inputAxes = Ints(inputs, 0);
  plan.outputAxes = Ints(outputs, 0);
  return plan;
}

/// The common extent of the scan inputs along `axes`.
int64_t tripsOf(ValueRange inputs, IntsRef axes) {
  int64_t trips = shapeOf(inputs.front())[axes.front()];
  for (auto [input, axis] : llvm::zip(inputs, axes))
    if (shapeOf(input)[axis] != trips)
      fault("its scan inputs have different lengths: " + llvm::Twine(trips) + " and " +
            llvm::Twine(shapeOf(input)[axis]));
  return trips;
}

Result importScan9(NodeContext &n) {
  ScanPlan plan = planOf(n, 0, "scan_input_directions");
  Values states, inputs;
  for (int64_t i = 0; i < n.inputCount(); ++i)
    (i < plan.states ? states : inputs).push_back(n.input(i));
  plan.inputAxes = listAttr(n, "scan_input_axes", static_cast<int64_t>(inputs.size()));
  for (auto [axis, input] : llvm::zip(plan.inputAxes, inputs))
    axis = normalizeAxis(axis, rankOf(input));
  int64_t outputs = static_cast<int64_t>(plan.outputAxes.size());
  plan.outputAxes = listAttr(n, "scan_output_axes", outputs);
  plan.outputReverse = listAttr(n, "scan_output_directions", outputs);
  return scan(n, plan, states, inputs, tripsOf(inputs, plan.inputAxes));
}

/// Operator set 8: a leading batch axis everywhere, the sequence along axis 1, and optional lengths. One scan
/// a row of the batch; outputs behind the end of a row are zeros.
Result importScan8(NodeContext &n) {
  Body &b = n.body();
  ScanPlan plan = planOf(n, 1, "directions");
  Values states, inputs;
  for (int64_t i = 1; i < n.inputCount(); ++i) {
    (i <= plan.states ? states : inputs).push_back(n.input(i));
    if (rankOf(n.input(i)) < (i <= plan.states ? 1 : 2))
      fault("its input " + llvm::Twine(i) + " has no batch and sequence axes");
  }
  int64_t batch = shapeOf(inputs.front())[0];
  int64_t length = tripsOf(inputs, Ints(inputs.size(), 1));
  std::optional<Ints> lengths;
  if (n.has(0))
    lengths = n.constantInts(0, "its input sequence_lens");
  // Every row is a loop of its own.
  if (batch > 4096)
    fault("its batch size is " + llvm::Twine(batch) + "; at most 4096 rows can be scanned");
  if (batch < 1 || (lengths && static_cast<int64_t>(lengths->size()) != batch))
    fault("its input sequence_lens must have " + llvm::Twine(batch) + " entries");

  llvm::SmallVector<Values> columns;
  for (int64_t row = 0; row < batch; ++row) {
    int64_t trips = lengths ? (*lengths)[row] : length;
    if (trips < 0 || trips > length)
      fault("its input sequence_lens holds " + llvm::Twine(trips) + ", but the sequences have length " +
            llvm::Twine(length));
    auto rowOf = [&](Value value, int64_t extent) {
      if (shapeOf(value)[0] != batch)
        fault("its inputs have different batch sizes");
      Value slice = b.sliceAxis(value, 0, row, 1);
      slice = b.reshape(slice, shapeOf(value).drop_front());
      return extent < 0 ? slice : b.sliceAxis(slice, 0, 0, extent);
    };
    Values rowStates, rowInputs;
    for (Value state : states)
      rowStates.push_back(rowOf(state, -1));
    for (Value input : inputs)
      rowInputs.push_back(rowOf(input, trips));
    Result results = scan(n, plan, rowStates, rowInputs, trips);
    if (!results)
      return results;
    columns.resize(results->size());
    for (auto [i, result] : llvm::enumerate(*results)) {
      Value value = result;
      if (static_cast<int64_t>(i) >= plan.states && trips < length) {
        Ints low(rankOf(value), 0), high(rankOf(value), 0);
        high[0] = length - trips;
        value = b.op("pad", {value, b.scalarLike(value, 0)}, {b.attr("low", low), b.attr("high", high)});
      }
      Ints shape{1};
      llvm::append_range(shape, shapeOf(value));
      columns[i].push_back(b.reshape(value, shape));
    }
  }
  Values results;
  for (const Values &rows : columns)
    results.push_back(b.concat(rows, 0));
  return results;
}

} // namespace

void registerScan(Registry &registry) {
  registry.add("Scan", [](NodeContext &n) { return n.opset() < 9 ? importScan8(n) : importScan9(n); });
}

} // namespace tokamak::import
