//===- RecurrentTest.cpp - RNN, GRU, LSTM against plain loops ------------------------------------===//
#include "ModelBuilder.h"
#include <cmath>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>

using namespace tokamak;
using namespace tokamak::test;
using testing::HasSubstr;

namespace {

using Function = std::function<double(double)>;
double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double hyperbolic(double x) { return std::tanh(x); }

/// A case, and its expected results by the equations of the standard.
struct Recurrent {
  std::string op = "LSTM";
  std::string direction = "forward";
  int64_t steps = 4, batch = 3, in = 2, hidden = 3;
  bool bias = true, lengths = false, initial = true, peepholes = false;
  bool linearBeforeReset = false, inputForget = false, batchFirst = false;
  double clip = 0;
  std::vector<Function> functions; ///< for one direction; empty: the defaults
  std::vector<std::string> names;  ///< of `functions`
  std::vector<double> alphas;
  unsigned seed = 7;

  int64_t directions() const { return direction == "bidirectional" ? 2 : 1; }
  int64_t gates() const { return op == "RNN" ? 1 : op == "GRU" ? 3 : 4; }
};

Tensor random(std::mt19937 &generator, const std::vector<int64_t> &shape) {
  Tensor tensor(DataType::Float32, shape);
  std::uniform_real_distribution<double> value(-1, 1);
  for (int64_t i = 0; i < tensor.size(); ++i)
    tensor.setDouble(i, value(generator));
  return tensor;
}

struct Operands {
  Tensor x, w, r, b, lengths, h, c, p;
};

Operands operandsOf(const Recurrent &k) {
  std::mt19937 generator(k.seed);
  int64_t d = k.directions(), g = k.gates();
  Operands o;
  o.x = random(generator, {k.steps, k.batch, k.in});
  o.w = random(generator, {d, g * k.hidden, k.in});
  o.r = random(generator, {d, g * k.hidden, k.hidden});
  o.b = k.bias ? random(generator, {d, 2 * g * k.hidden}) : Tensor(DataType::Float32, {d, 2 * g * k.hidden});
  o.h = k.initial ? random(generator, {d, k.batch, k.hidden})
                  : Tensor(DataType::Float32, {d, k.batch, k.hidden});
  o.c = k.initial ? random(generator, {d, k.batch, k.hidden})
                  : Tensor(DataType::Float32, {d, k.batch, k.hidden});
  o.p = k.peepholes ? random(generator, {d, 3 * k.hidden}) : Tensor(DataType::Float32, {d, 3 * k.hidden});
  o.lengths = Tensor(DataType::Int32, {k.batch});
  for (int64_t i = 0; i < k.batch; ++i)
    o.lengths.setInt(i, k.lengths ? i % (k.steps + 1) : k.steps);
  return o;
}

struct Expected {
  std::vector<double> y, h, c; ///< [T, D, B, H], [D, B, H], [D, B, H]
};

Expected expectedOf(const Recurrent &k, const Operands &o) {
  int64_t H = k.hidden, G = k.gates(), D = k.directions();
  std::vector<Function> f = k.functions;
  if (f.empty())
    f = k.op == "RNN" ? std::vector<Function>{hyperbolic}
                      : std::vector<Function>{sigmoid, hyperbolic, hyperbolic};
  auto clipped = [&](double v) { return k.clip > 0 ? std::min(std::max(v, -k.clip), k.clip) : v; };
  Expected e;
  e.y.assign(k.steps * D * k.batch * H, 0);
  e.h.assign(D * k.batch * H, 0);
  e.c.assign(D * k.batch * H, 0);
  for (int64_t d = 0; d < D; ++d)
    for (int64_t n = 0; n < k.batch; ++n) {
      std::vector<double> h(H), c(H);
      for (int64_t j = 0; j < H; ++j) {
        h[j] = o.h.doubleAt((d * k.batch + n) * H + j);
        c[j] = o.c.doubleAt((d * k.batch + n) * H + j);
      }
      int64_t length = o.lengths.intAt(n);
      bool reverse = k.direction == "reverse" || d == 1;
      for (int64_t s = 0; s < length; ++s) {
        int64_t t = reverse ? length - 1 - s : s;
        auto input = [&](int64_t row) {
          double sum = o.b.doubleAt(d * 2 * G * H + row);
          for (int64_t i = 0; i < k.in; ++i)
            sum += o.x.doubleAt((t * k.batch + n) * k.in + i) * o.w.doubleAt((d * G * H + row) * k.in + i);
          return sum;
        };
        auto recurrent = [&](int64_t row, const std::vector<double> &state) {
          double sum = o.b.doubleAt(d * 2 * G * H + G * H + row);
          for (int64_t i = 0; i < H; ++i)
            sum += state[i] * o.r.doubleAt((d * G * H + row) * H + i);
          return sum;
        };
        auto peep = [&](int64_t gate, int64_t j) { return o.p.doubleAt(d * 3 * H + gate * H + j); };
        std::vector<double> next(H), cell(H);
        if (k.op == "GRU") {
          std::vector<double> z(H), r(H), reset(H);
          for (int64_t j = 0; j < H; ++j) {
            z[j] = f[0](clipped(input(j) + recurrent(j, h)));
            r[j] = f[0](clipped(input(H + j) + recurrent(H + j, h)));
            reset[j] = r[j] * h[j];
          }
          for (int64_t j = 0; j < H; ++j) {
            double inner = k.linearBeforeReset ? r[j] * recurrent(2 * H + j, h) : recurrent(2 * H + j, reset);
            next[j] = (1 - z[j]) * f[1](clipped(input(2 * H + j) + inner)) + z[j] * h[j];
          }
        } else {
          for (int64_t j = 0; j < H; ++j) {
            if (k.op == "RNN") {
              next[j] = f[0](clipped(input(j) + recurrent(j, h)));
              continue;
            }
            auto gate = [&](int64_t g) { return input(g * H + j) + recurrent(g * H + j, h); };
            double i = f[0](clipped(gate(0) + peep(0, j) * c[j]));
            double forget = k.inputForget ? 1 - i : f[0](clipped(gate(2) + peep(2, j) * c[j]));
            cell[j] = forget * c[j] + i * f[1](clipped(gate(3)));
            double out = f[0](clipped(gate(1) + peep(1, j) * cell[j]));
            next[j] = out * f[2](cell[j]);
          }
        }
        h = next;
        c = cell;
        for (int64_t j = 0; j < H; ++j)
          e.y[((t * D + d) * k.batch + n) * H + j] = h[j];
      }
      for (int64_t j = 0; j < H; ++j) {
        e.h[(d * k.batch + n) * H + j] = h[j];
        e.c[(d * k.batch + n) * H + j] = c[j];
      }
    }
  return e;
}

/// Swaps the first two axes of [A, B, ...], or moves the third to the front of [T, D, B, H].
Tensor moved(const Tensor &tensor, std::vector<int64_t> permutation) {
  std::vector<int64_t> shape;
  for (int64_t axis : permutation)
    shape.push_back(tensor.shape()[axis]);
  Tensor result(tensor.type(), shape);
  for (int64_t i = 0; i < result.size(); ++i) {
    int64_t rest = i, source = 0;
    std::vector<int64_t> index(shape.size());
    for (int64_t axis = static_cast<int64_t>(shape.size()) - 1; axis >= 0; --axis) {
      index[permutation[axis]] = rest % shape[axis];
      rest /= shape[axis];
    }
    for (size_t axis = 0; axis < index.size(); ++axis)
      source = source * tensor.shape()[axis] + index[axis];
    result.setDouble(i, tensor.doubleAt(source));
  }
  return result;
}

void check(const Recurrent &k) {
  Operands o = operandsOf(k);
  Expected e = expectedOf(k, o);
  bool isLstm = k.op == "LSTM";
  ModelBuilder m;
  Tensor x = k.batchFirst ? moved(o.x, {1, 0, 2}) : o.x;
  m.input("x", {x.shape()[0], x.shape()[1], x.shape()[2]}).initializer("w", o.w).initializer("r", o.r);
  m.initializer("b", o.b).initializer("n", o.lengths).initializer("p", o.p);
  m.initializer("h", k.batchFirst ? moved(o.h, {1, 0, 2}) : o.h);
  m.initializer("c", k.batchFirst ? moved(o.c, {1, 0, 2}) : o.c);
  Names inputs{"x", "w", "r", k.bias ? "b" : "", k.lengths ? "n" : "", k.initial ? "h" : ""};
  if (isLstm) {
    inputs.push_back(k.initial ? "c" : "");
    inputs.push_back(k.peepholes ? "p" : "");
  }
  m.output("y").output("yh");
  onnx::NodeProto &node = m.node(k.op, inputs, isLstm ? Names{"y", "yh", "yc"} : Names{"y", "yh"});
  if (isLstm)
    m.output("yc");
  addAttr(node, "hidden_size", k.hidden);
  addAttr(node, "direction", k.direction);
  if (k.clip > 0)
    addAttr(node, "clip", k.clip);
  if (k.linearBeforeReset)
    addAttr(node, "linear_before_reset", int64_t(1));
  if (k.inputForget)
    addAttr(node, "input_forget", int64_t(1));
  if (k.batchFirst)
    addAttr(node, "layout", int64_t(1));
  if (!k.names.empty())
    addAttr(node, "activations", k.names);
  if (!k.alphas.empty())
    addAttr(node, "activation_alpha", k.alphas);

  std::vector<Tensor> results = evaluate(m, {{"x", x}});
  ASSERT_EQ(results.size(), isLstm ? 3u : 2u);
  if (k.batchFirst) {
    results[0] = moved(results[0], {1, 2, 0, 3});
    for (size_t i = 1; i < results.size(); ++i)
      results[i] = moved(results[i], {1, 0, 2});
  }
  int64_t D = k.directions();
  expectTensor(results[0], {k.steps, D, k.batch, k.hidden}, e.y);
  expectTensor(results[1], {D, k.batch, k.hidden}, e.h);
  if (isLstm)
    expectTensor(results[2], {D, k.batch, k.hidden}, e.c);
}

} // namespace

TEST(Recurrent, Directions) {
  for (const char *op : {"RNN", "GRU", "LSTM"})
    for (const char *direction : {"forward", "reverse", "bidirectional"})
      for (bool lengths : {false, true}) {
        SCOPED_TRACE(std::string(op) + " " + direction + (lengths ? " lengths" : ""));
        Recurrent k;
        k.op = op;
        k.direction = direction;
        k.lengths = lengths;
        check(k);
      }
}

TEST(Recurrent, Layouts) {
  for (const char *op : {"RNN", "GRU", "LSTM"}) {
    SCOPED_TRACE(op);
    Recurrent k;
    k.op = op;
    k.direction = "bidirectional";
    k.batchFirst = true;
    check(k);
  }
}

TEST(Recurrent, OptionalInputs) {
  for (const char *op : {"RNN", "GRU", "LSTM"})
    for (int mask = 0; mask < 4; ++mask) {
      SCOPED_TRACE(std::string(op) + " " + std::to_string(mask));
      Recurrent k;
      k.op = op;
      k.bias = mask & 1;
      k.initial = mask & 2;
      check(k);
    }
}

TEST(Recurrent, FewSteps) {
  for (const char *op : {"RNN", "GRU", "LSTM"})
    for (int64_t steps : {0, 1, 2})
      for (const char *direction : {"forward", "bidirectional"}) {
        SCOPED_TRACE(std::string(op) + " " + std::to_string(steps));
        Recurrent k;
        k.op = op;
        k.steps = steps;
        k.direction = direction;
        check(k);
      }
}

TEST(Recurrent, OneStepNeedsNoLoop) {
  ModelBuilder m;
  m.input("x", {1, 1, 2}).initializer("w", floats({1, 3, 2}, {1, 2, 3, 4, 5, 6}));
  m.initializer("r", floats({1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9})).output("y");
  addAttr(m.node("RNN", {"x", "w", "r"}, {"y"}), "hidden_size", int64_t(3));
  EXPECT_EQ(count(importedText(m), "tk.loop"), 0);
  m.graph.mutable_input(0)
      ->mutable_type()
      ->mutable_tensor_type()
      ->mutable_shape()
      ->mutable_dim(0)
      ->set_dim_value(9);
  EXPECT_EQ(count(importedText(m), "tk.loop"), 1);
}

TEST(Recurrent, LinearBeforeReset) {
  for (bool bias : {false, true}) {
    Recurrent k;
    k.op = "GRU";
    k.linearBeforeReset = true;
    k.bias = bias;
    check(k);
  }
}

TEST(Recurrent, PeepholesInputForgetClip) {
  Recurrent k;
  k.peepholes = true;
  k.direction = "bidirectional";
  check(k);
  k.inputForget = true;
  check(k);
  k.clip = 0.4;
  check(k);
  k.op = "GRU";
  check(k);
  k.op = "RNN";
  check(k);
}

TEST(Recurrent, Activations) {
  auto one = [](const char *name, Function function, std::vector<double> alphas = {}) {
    SCOPED_TRACE(name);
    Recurrent k;
    k.op = "RNN";
    k.names = {name};
    k.functions = {std::move(function)};
    k.alphas = std::move(alphas);
    check(k);
  };
  one("Relu", [](double x) { return std::max(x, 0.0); });
  one("Sigmoid", sigmoid);
  one("tanh", hyperbolic);
  one("Affine", [](double x) { return 0.5 * x; }, {0.5});
  one("LeakyRelu", [](double x) { return x < 0 ? 0.01 * x : x; });
  one("LeakyRelu", [](double x) { return x < 0 ? 0.3 * x : x; }, {0.3});
  one("ThresholdedRelu", [](double x) { return x > 0.2 ? x : 0; }, {0.2});
  one("ScaledTanh", [](double x) { return 0.7 * std::tanh(x); }, {0.7});
  one("HardSigmoid", [](double x) { return std::min(std::max(0.2 * x + 0.5, 0.0), 1.0); });
  one("Elu", [](double x) { return x < 0 ? std::exp(x) - 1 : x; });
  one("Softsign", [](double x) { return x / (1 + std::abs(x)); });
  one("Softplus", [](double x) { return std::log1p(std::exp(x)); });

  // Parameters go to those functions that have one, in order.
  Recurrent k;
  k.names = {"Sigmoid", "LeakyRelu", "Elu"};
  k.functions = {sigmoid, [](double x) { return x < 0 ? 0.3 * x : x; },
                 [](double x) { return x < 0 ? 2 * (std::exp(x) - 1) : x; }};
  k.alphas = {0.3, 2};
  check(k);
}

TEST(Recurrent, Faults) {
  auto error = [](auto change) {
    ModelBuilder m;
    m.input("x", {4, 1, 2}).initializer("w", floats({1, 3, 2}, {1, 2, 3, 4, 5, 6}));
    m.initializer("r", floats({1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9})).output("y");
    change(m.node("RNN", {"x", "w", "r"}, {"y"}));
    return importError(m);
  };
  EXPECT_EQ(error([](auto &) {}), "");
  EXPECT_THAT(error([](auto &n) { addAttr(n, "direction", std::string("up")); }),
              HasSubstr("direction is 'up'"));
  EXPECT_THAT(error([](auto &n) { addAttr(n, "hidden_size", int64_t(5)); }),
              HasSubstr("its input W has the shape"));
  EXPECT_THAT(error([](auto &n) { addAttr(n, "hidden_size", int64_t(-1)); }), HasSubstr("hidden_size is -1"));
  EXPECT_THAT(error([](auto &n) { addAttr(n, "activations", Names{"Wiggle"}); }), HasSubstr("'Wiggle'"));
  EXPECT_THAT(error([](auto &n) { addAttr(n, "activations", Names{"Tanh", "Tanh"}); }),
              HasSubstr("must name 1"));
  EXPECT_THAT(error([](auto &n) { addAttr(n, "clip", -1.0); }), HasSubstr("clip must be positive"));
  EXPECT_THAT(error([](auto &n) { addAttr(n, "layout", int64_t(2)); }),
              HasSubstr("attribute layout is 2; it must be 0 or 1"));
  EXPECT_THAT(error([](auto &n) { n.set_input(0, "w"), n.set_input(2, "x"); }), HasSubstr("has the shape"));
}
