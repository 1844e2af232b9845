//===- Recurrent.cpp - RNN, GRU, LSTM ---------------------------------------------------------===//
// The products of all inputs with W are one matrix product before the loop over time; inside remain the
// product of the state with R and the gates. https://onnx.ai/onnx/operators/onnx__LSTM.html (and GRU, RNN)
// name the equations.
#include "import/ErrorLine.h"
#include "import/ops/Common.h"
#include "import/ops/LoopBuilder.h"
#include "import/ops/RecurrentActivation.h"

namespace tokamak::import {

namespace {

enum class Cell { Rnn, Gru, Lstm };

/// Operands of one direction: w [G*H, I], r [G*H, H], wb and rb [G*H] or null, p [3*H] or null, h and c [B,
/// H].
struct Direction {
  bool reverse = false;
  Value w, r, wb, rb, p, h, c;
  llvm::SmallVector<RecurrentActivation> activations;
};

/// What one direction gives: y [T, B, H], final h and c [B, H].
struct DirectionResult {
  Value y, h, c;
};

class RecurrentNode {
public:
  RecurrentNode(NodeContext &n, Cell cell)
      : n(n), b(n.body()), cell(cell), gates(cell == Cell::Rnn   ? 1
                                             : cell == Cell::Gru ? 3
                                                                 : 4),
        states(cell == Cell::Lstm ? 2 : 1) {}

  Result import() {
    readShapes();
    readAttributes();
    DataType outer = typeOf(n.input(0));
    Value x = wide(0);
    if (batchFirst)
      x = b.transpose(x, {1, 0, 2});
    readLengths();

    std::vector<DirectionResult> results;
    results.reserve(directions);
    for (int64_t d = 0; d < directions; ++d)
      results.push_back(run(x, directionOf(d)));

    // [T, B, H] and [B, H] of each direction become [T, D, B, H] and [D, B, H].
    Values y, h, c;
    for (const DirectionResult &result : results) {
      y.push_back(b.reshape(result.y, {steps, 1, batch, hidden}));
      h.push_back(b.reshape(result.h, {1, batch, hidden}));
      if (result.c)
        c.push_back(b.reshape(result.c, {1, batch, hidden}));
    }
    Values outputs{b.concat(y, 1), b.concat(h, 0)};
    if (cell == Cell::Lstm)
      outputs.push_back(b.concat(c, 0));
    if (batchFirst) {
      outputs[0] = b.transpose(outputs[0], {2, 0, 1, 3});
      for (size_t i = 1; i < outputs.size(); ++i)
        outputs[i] = b.transpose(outputs[i], {1, 0, 2});
    }
    for (Value &output : outputs)
      output = b.cast(output, outer);
    return outputs;
  }

private:
  NodeContext &n;
  Body &b;
  Cell cell;
  int64_t gates, states;
  bool batchFirst = false, linearBeforeReset = false, inputForget = false;
  int64_t steps = 0, batch = 0, inputSize = 0, hidden = 0, directions = 0;
  std::string direction;
  double clip = 0; ///< 0: none
  llvm::SmallVector<RecurrentActivation> activations;
  Value lengths; ///< [B] int64, null where every sequence is full

  Value wide(int64_t i) { return widen(b, n.input(i)); }

  void expectShape(int64_t i, IntsRef expected, const char *what) {
    if (n.has(i) && shapeOf(n.input(i)) != expected)
      fault(llvm::Twine("its input ") + what + " has the shape " + shapeText(shapeOf(n.input(i))) +
            " instead of " + shapeText(expected));
  }

  void readShapes() {
    batchFirst = n.choiceAttr("layout");
    direction = n.stringAttr("direction", "forward");
    if (direction != "forward" && direction != "reverse" && direction != "bidirectional")
      fault("attribute direction is '" + oneLine(direction, 40) +
            "'; it must be forward, reverse or bidirectional");
    directions = direction == "bidirectional" ? 2 : 1;
    IntsRef x = shapeOf(n.input(0)), r = shapeOf(n.input(2));
    if (x.size() != 3 || r.size() != 3)
      fault("its inputs X and R must have rank 3, not the shapes " + shapeText(x) + " and " + shapeText(r));
    steps = x[batchFirst ? 1 : 0];
    batch = x[batchFirst ? 0 : 1];
    inputSize = x[2];
    hidden = n.intAttr("hidden_size", r[2]);
    if (hidden < 1 || hidden > (int64_t(1) << 32))
      fault("attribute hidden_size is " + llvm::Twine(hidden));
    expectShape(1, {directions, gates * hidden, inputSize}, "W");
    expectShape(2, {directions, gates * hidden, hidden}, "R");
    expectShape(3, {directions, 2 * gates * hidden}, "B");
    expectShape(4, {batch}, "sequence_lens");
    Ints state = batchFirst ? Ints{batch, directions, hidden} : Ints{directions, batch, hidden};
    expectShape(5, state, "initial_h");
    if (cell == Cell::Lstm) {
      expectShape(6, state, "initial_c");
      expectShape(7, {directions, 3 * hidden}, "P");
    }
  }

  void readAttributes() {
    std::vector<std::string> defaults{"Tanh"};
    if (cell == Cell::Gru)
      defaults = {"Sigmoid", "Tanh"};
    if (cell == Cell::Lstm)
      defaults = {"Sigmoid", "Tanh", "Tanh"};
    activations = recurrentActivations(n, defaults, directions);
    clip = n.floatAttr("clip", 0);
    if (n.hasAttr("clip") && !(clip > 0))
      fault("attribute clip must be positive");
    linearBeforeReset = n.intAttr("linear_before_reset", 0) != 0;
    inputForget = n.intAttr("input_forget", 0) != 0;
  }

  void readLengths() {
    if (!n.has(4))
      return;
    if (std::optional<Tensor> known = n.ifConstant(4);
        known && llvm::all_of(known->ints(), [&](int64_t length) { return length >= steps; }))
      return;
    lengths = b.cast(n.input(4), DataType::Int64);
  }

  /// Row d of input `i` ([D, ...]) without the leading axis.
  Value rowOf(Value value, int64_t d) {
    return b.reshape(b.sliceAxis(value, 0, d, 1), shapeOf(value).drop_front());
  }

  Value stateOf(int64_t i, int64_t d) {
    if (!n.has(i))
      return filled(b, wideType(typeOf(n.input(0))), {batch, hidden}, 0);
    Value state = wide(i);
    return rowOf(batchFirst ? b.transpose(state, {1, 0, 2}) : state, d);
  }

  Direction directionOf(int64_t d) {
    Direction one;
    one.reverse = direction == "reverse" || d == 1;
    one.w = rowOf(wide(1), d);
    one.r = rowOf(wide(2), d);
    if (n.has(3)) {
      Value bias = rowOf(wide(3), d);
      one.wb = b.sliceAxis(bias, 0, 0, gates * hidden);
      one.rb = b.sliceAxis(bias, 0, gates * hidden, gates * hidden);
    }
    one.h = stateOf(5, d);
    if (cell == Cell::Lstm) {
      one.c = stateOf(6, d);
      if (n.has(7))
        one.p = rowOf(wide(7), d);
    }
    size_t perDirection = activations.size() / directions;
    one.activations.assign(activations.begin() + d * perDirection,
                           activations.begin() + (d + 1) * perDirection);
    return one;
  }

  /// Biases that are added to the products with W; the one of a GRU's hidden gate with linear_before_reset
  /// stays with the product with R.
  Value inputBias(const Direction &one) {
    if (!one.wb)
      return Value();
    if (!(cell == Cell::Gru && linearBeforeReset))
      return b.add(one.wb, one.rb);
    Value both = b.add(b.sliceAxis(one.wb, 0, 0, 2 * hidden), b.sliceAxis(one.rb, 0, 0, 2 * hidden));
    return b.concat({both, b.sliceAxis(one.wb, 0, 2 * hidden, hidden)}, 0);
  }

  DirectionResult run(Value x, const Direction &one) {
    Value rows = b.reshape(x, {steps * batch, inputSize});
    Value products = b.matmul(rows, one.w, /*transposeA=*/false, /*transposeB=*/true);
    if (Value bias = inputBias(one))
      products = b.add(products, bias);
    products = b.reshape(products, {steps, batch, gates * hidden});

    Values initial{one.h};
    if (one.c)
      initial.push_back(one.c);
    if (steps == 0)
      return {filled(b, typeOf(one.h), {0, batch, hidden}, 0), one.h, one.c};
    if (steps == 1) {
      Value time = b.scalar(DataType::Int64, 0);
      Values next = step(b, one, b.reshape(products, {batch, gates * hidden}), time, initial);
      return {b.reshape(next.back(), {1, batch, hidden}), next[0], one.c ? next[1] : Value()};
    }
    LoopBody loop(b, initial);
    Value time = loop.iteration;
    if (one.reverse)
      time = loop.body.sub(loop.body.scalar(DataType::Int64, static_cast<double>(steps - 1)), time);
    Values next = step(loop.body, one, loop.body.gather(products, time, 0), time, loop.carried);
    Iteration iteration;
    iteration.carried.assign(next.begin(), next.begin() + states);
    iteration.scans = {next.back()};
    Value limit = b.constant(Tensor::scalarInt(DataType::Int64, steps));
    Values results = closeLoop(b, std::move(loop), limit, Value(), initial, iteration, steps);
    Value y = results.back();
    if (one.reverse)
      y = b.sliceAxis(y, 0, steps - 1, steps, -1);
    return {y, results[0], one.c ? results[1] : Value()};
  }

  /// One time step: the new states, then the output. A sequence that has ended keeps its states and gives
  /// zeros.
  Values step(Body &s, const Direction &one, Value x, Value time, ValueRange before) {
    Values after = cell == Cell::Lstm  ? lstm(s, one, x, before[0], before[1])
                   : cell == Cell::Gru ? Values{gru(s, one, x, before[0])}
                                       : Values{rnn(s, one, x, before[0])};
    Value output = after[0];
    if (lengths) {
      Value running = s.reshape(s.compare(tk::Predicate::Less, time, lengths), {batch, 1});
      output = s.select(running, output, s.scalarLike(output, 0));
      for (auto [value, old] : llvm::zip(after, before))
        value = s.select(running, value, old);
    }
    after.push_back(output);
    return after;
  }

  Value activate(Body &s, const RecurrentActivation &activation, Value x) {
    if (clip > 0)
      x = s.min(s.max(x, s.scalarLike(x, -clip)), s.scalarLike(x, clip));
    return activation.apply(s, x);
  }

  Value gate(Body &s, Value all, int64_t i) { return s.sliceAxis(all, 1, i * hidden, hidden); }

  Value rnn(Body &s, const Direction &one, Value x, Value h) {
    return activate(s, one.activations[0], s.add(x, s.matmul(h, one.r, false, true)));
  }

  Value gru(Body &s, const Direction &one, Value x, Value h) {
    const RecurrentActivation &f = one.activations[0], &g = one.activations[1];
    Value z, r, candidate;
    if (linearBeforeReset) {
      Value recurrent = s.matmul(h, one.r, false, true);
      z = activate(s, f, s.add(gate(s, x, 0), gate(s, recurrent, 0)));
      r = activate(s, f, s.add(gate(s, x, 1), gate(s, recurrent, 1)));
      Value inner = gate(s, recurrent, 2);
      if (one.rb)
        inner = s.add(inner, b.sliceAxis(one.rb, 0, 2 * hidden, hidden));
      candidate = activate(s, g, s.add(gate(s, x, 2), s.mul(r, inner)));
    } else {
      // The hidden gate multiplies the reset state, so its product comes after the other two.
      Value recurrent = s.matmul(h, b.sliceAxis(one.r, 0, 0, 2 * hidden), false, true);
      z = activate(s, f, s.add(gate(s, x, 0), gate(s, recurrent, 0)));
      r = activate(s, f, s.add(gate(s, x, 1), gate(s, recurrent, 1)));
      Value inner = s.matmul(s.mul(r, h), b.sliceAxis(one.r, 0, 2 * hidden, hidden), false, true);
      candidate = activate(s, g, s.add(gate(s, x, 2), inner));
    }
    // (1 - z) * candidate + z * h
    return s.add(s.mul(s.sub(s.scalarLike(z, 1), z), candidate), s.mul(z, h));
  }

  Values lstm(Body &s, const Direction &one, Value x, Value h, Value c) {
    const RecurrentActivation &f = one.activations[0], &g = one.activations[1], &last = one.activations[2];
    Value all = s.add(x, s.matmul(h, one.r, false, true));
    // Gates in the order i, o, f, c; peepholes in the order i, o, f.
    auto peep = [&](Value value, int64_t i, Value cell) {
      return one.p ? s.add(value, s.mul(b.sliceAxis(one.p, 0, i * hidden, hidden), cell)) : value;
    };
    Value input = activate(s, f, peep(gate(s, all, 0), 0, c));
    Value forget =
        inputForget ? s.sub(s.scalarLike(input, 1), input) : activate(s, f, peep(gate(s, all, 2), 2, c));
    Value candidate = activate(s, g, gate(s, all, 3));
    Value cellState = s.add(s.mul(forget, c), s.mul(input, candidate));
    Value output = activate(s, f, peep(gate(s, all, 1), 1, cellState));
    // The clip is of the gates' inputs; the cell state keeps its range.
    return {s.mul(output, last.apply(s, cellState)), cellState};
  }
};

} // namespace

void registerRecurrent(Registry &registry) {
  registry.add("RNN", [](NodeContext &n) { return RecurrentNode(n, Cell::Rnn).import(); });
  registry.add("GRU", [](NodeContext &n) { return RecurrentNode(n, Cell::Gru).import(); });
  registry.add("LSTM", [](NodeContext &n) { return RecurrentNode(n, Cell::Lstm).import(); });
}

} // namespace tokamak::import
