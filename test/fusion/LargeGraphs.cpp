//===- LargeGraphs.cpp - graphs of many operators, as text -----------------------------------------===//
#include "LargeGraphs.h"
#include <initializer_list>
#include <vector>

namespace tokamak::test {

namespace {

using Extents = std::vector<int>;

std::string tensor(const Extents &extents, const std::string &element = "f32") {
  std::string text = "tensor<";
  for (int extent : extents)
    text += std::to_string(extent) + "x";
  return text + element + ">";
}

std::string list(const Extents &numbers) {
  std::string text = "array<i64: ";
  for (size_t i = 0; i < numbers.size(); ++i)
    text += (i ? ", " : "") + std::to_string(numbers[i]);
  return text + ">";
}

struct Value {
  std::string name;
  Extents extents;
  std::string element = "f32";
  std::string type() const { return tensor(extents, element); }
};

/// Writes the operators of @main, line by line.
class Writer {
public:
  Value input(const Extents &extents) {
    Value value{"%arg" + std::to_string(inputs++), extents};
    arguments += (arguments.empty() ? "" : ", ") + value.name + ": " + value.type();
    return value;
  }
  Value constant(double number, const Extents &extents = {}) {
    Value value = next(extents);
    body += value.name + " = tk.constant dense<" + std::to_string(number) + "> : " + value.type() + "\n";
    return value;
  }
  Value add(const std::string &op, std::initializer_list<Value> operands, const Extents &extents,
            const std::string &attributes = "", const std::string &element = "f32") {
    return add(op, std::vector<Value>(operands), extents, attributes, element);
  }
  Value add(const std::string &op, const std::vector<Value> &operands, const Extents &extents,
            const std::string &attributes = "", const std::string &element = "f32") {
    std::string names, types;
    for (const Value &operand : operands) {
      names += (names.empty() ? " " : ", ") + operand.name;
      types += (types.empty() ? "" : ", ") + operand.type();
    }
    Value value = next(extents, element);
    body += value.name + " = tk." + op + names + (attributes.empty() ? "" : " {" + attributes + "}") +
            " : (" + types + ") -> " + value.type() + "\n";
    ++count;
    return value;
  }
  /// Elementwise: the shape of the first operand.
  Value map(const std::string &op, std::initializer_list<Value> operands) {
    return add(op, operands, operands.begin()->extents);
  }
  Value reduce(const std::string &kind, const Value &x, int axis) {
    Extents extents = x.extents;
    extents[static_cast<size_t>(axis)] = 1;
    return add("reduce", {x}, extents,
               "kind = #tk.reduce_kind<" + kind + ">, axes = array<i64: " + std::to_string(axis) +
                   ">, keep_dims = true");
  }
  Value reshape(const Value &x, const Extents &extents) {
    return add("reshape", {x}, extents, "shape = " + list(extents));
  }
  Value transpose(const Value &x, const Extents &permutation) {
    Extents extents;
    for (int axis : permutation)
      extents.push_back(x.extents[static_cast<size_t>(axis)]);
    return add("transpose", {x}, extents, "permutation = " + list(permutation));
  }
  Value slice(const Value &x, const Extents &starts, const Extents &sizes) {
    return add("slice", {x}, sizes,
               "starts = " + list(starts) + ", sizes = " + list(sizes) +
                   ", steps = " + list(Extents(sizes.size(), 1)));
  }
  Value concat(const std::vector<Value> &parts, int axis) {
    Extents extents = parts.front().extents;
    extents[static_cast<size_t>(axis)] = 0;
    for (const Value &part : parts)
      extents[static_cast<size_t>(axis)] += part.extents[static_cast<size_t>(axis)];
    return add("concat", parts, extents, "axis = " + std::to_string(axis) + " : i64");
  }
  std::string finish(const std::vector<Value> &results) const {
    std::string names, types;
    for (const Value &result : results) {
      names += (names.empty() ? "" : ", ") + result.name;
      types += (types.empty() ? "" : ", ") + result.type();
    }
    return "func.func @main(" + arguments + ") -> (" + types + ") {\n" + body + "return " + names + " : " +
           types + "\n}";
  }
  int operators() const { return count; }

private:
  Value next(const Extents &extents, const std::string &element = "f32") {
    return {"%" + std::to_string(values++), extents, element};
  }
  std::string arguments, body;
  int inputs = 0, values = 0, count = 0;
};

/// Mean and variance of the last axis in pieces.
Value norm(Writer &writer, const Value &x) {
  const int axis = static_cast<int>(x.extents.size()) - 1;
  Value count = writer.constant(x.extents.back());
  Value mean = writer.map("div", {writer.reduce("sum", x, axis), count});
  Value centred = writer.map("sub", {x, mean});
  Value squares = writer.reduce("sum", writer.map("mul", {centred, centred}), axis);
  return writer.map("div", {centred, writer.map("sqrt", {squares})});
}

Value product(Writer &writer, const Value &x, const Value &weight) {
  Extents extents = x.extents;
  extents.back() = weight.extents.back();
  return writer.add("matmul", {x, weight}, extents);
}

std::string chain(int operators) {
  Writer writer;
  Value x = writer.input({32, 64});
  while (writer.operators() < operators)
    x = writer.map(writer.operators() % 2 ? "tanh" : "neg", {x});
  return writer.finish({x});
}

std::string transposes(int operators) {
  Writer writer;
  Value x = writer.input({4, 8, 16});
  while (writer.operators() < operators)
    x = writer.transpose(x, {1, 2, 0});
  return writer.finish({x});
}

std::string blocks(int operators) {
  Writer writer;
  Value x = writer.input({32, 64}), weight = writer.input({64, 64});
  Value mask = writer.map("exp", {x}), sum = writer.map("neg", {x});
  while (writer.operators() < operators) {
    Value a = writer.map("add", {product(writer, norm(writer, x), weight), x});
    x = writer.map("tanh", {writer.map("mul", {a, mask})});
    sum = writer.map("add", {sum, a});
  }
  return writer.finish({x, sum});
}

std::string wide(int operators) {
  Writer writer;
  Value x = writer.input({1, 8, 6, 6}), zero = writer.constant(0);
  std::vector<Value> sums;
  while (writer.operators() < operators) {
    Value pair[2];
    for (int i = 0; i < 2; ++i) {
      Value weight = writer.constant(writer.operators() + 1, {8, 8, 1, 1});
      Value y =
          writer.add("conv", {x, weight}, {1, 8, 6, 6},
                     "strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, "
                     "0>, pads_high = array<i64: 0, 0>, group = 1 : i64");
      pair[i] = writer.map("max", {y, zero});
    }
    sums.push_back(writer.map("add", {pair[0], pair[1]}));
  }
  return writer.finish({writer.concat(sums, 1)});
}

std::string ssd(int operators) {
  Writer writer;
  const int boxes = 64;
  Value scores = writer.input({1, operators, boxes}), corners = writer.input({1, boxes, 4});
  Value threshold = writer.constant(0.3), zero = writer.constant(0);
  std::vector<Value> kept;
  for (int which = 0; writer.operators() < operators; ++which) {
    Value score = writer.slice(scores, {0, which, 0}, {1, 1, boxes});
    Value isGood =
        writer.add("compare", {score, threshold}, score.extents, "predicate = #tk.predicate<gt>", "i1");
    Value masked = writer.add("select", {isGood, score, zero}, score.extents);
    Value low = writer.slice(corners, {0, 0, 0}, {1, boxes, 2}),
          high = writer.slice(corners, {0, 0, 2}, {1, boxes, 2});
    Value sides = writer.map("max", {writer.map("sub", {high, low}), zero});
    Value width = writer.slice(sides, {0, 0, 0}, {1, boxes, 1}),
          height = writer.slice(sides, {0, 0, 1}, {1, boxes, 1});
    Value area = writer.reshape(writer.map("mul", {width, height}), {1, 1, boxes});
    Value best = writer.reduce("max", masked, 2);
    Value share = writer.map("div", {writer.map("mul", {masked, area}), best});
    kept.push_back(writer.concat({share, masked}, 1));
  }
  return writer.finish({writer.concat(kept, 1)});
}

std::string swin(int operators) {
  Writer writer;
  const int side = 8, window = 4, channels = 32, heads = 2, head = channels / heads, count = side / window;
  const int rows = window * window;
  Value x = writer.input({1, side, side, channels});
  Value project = writer.input({channels, channels}), widen = writer.input({channels, 2 * channels}),
        narrow = writer.input({2 * channels, channels}), scale = writer.constant(0.25),
        half = writer.constant(0.5), one = writer.constant(1);
  auto roll = [&](const Value &value, int by) {
    Extents first = value.extents, second = value.extents, start(4, 0), none(4, 0);
    first[1] = by, second[1] = side - by, start[1] = by;
    return writer.concat({writer.slice(value, start, second), writer.slice(value, none, first)}, 1);
  };
  while (writer.operators() < operators) {
    Value windows =
        writer.reshape(roll(norm(writer, x), window / 2), {count, window, count, window, channels});
    windows = writer.reshape(writer.transpose(windows, {0, 2, 1, 3, 4}), {count * count, rows, channels});
    auto split = [&](const Extents &order) {
      Value value = writer.reshape(product(writer, windows, project), {count * count, rows, heads, head});
      return writer.transpose(value, order);
    };
    Value query = split({0, 2, 1, 3}), key = split({0, 2, 3, 1}), values = split({0, 2, 1, 3});
    Value attention = writer.map("mul", {product(writer, query, key), scale});
    Value shifted = writer.map("exp", {writer.map("sub", {attention, writer.reduce("max", attention, 3)})});
    Value mixed = product(writer, writer.map("div", {shifted, writer.reduce("sum", shifted, 3)}), values);
    mixed = writer.reshape(writer.transpose(mixed, {0, 2, 1, 3}), {count * count, rows, channels});
    mixed = writer.reshape(product(writer, mixed, project), {count, count, window, window, channels});
    mixed = writer.reshape(writer.transpose(mixed, {0, 2, 1, 3, 4}), {1, side, side, channels});
    x = writer.map("add", {x, roll(mixed, side - window / 2)});
    Value wide = product(writer, norm(writer, x), widen);
    Value gate = writer.map("mul", {writer.map("add", {writer.map("erf", {wide}), one}), half});
    x = writer.map("add", {x, product(writer, writer.map("mul", {wide, gate}), narrow)});
  }
  return writer.finish({x});
}

constexpr GraphFamily families[] = {{"chain", chain},   {"transposes", transposes},
                                    {"blocks", blocks}, {"wide", wide},
                                    {"ssd", ssd},       {"swin", swin}};

} // namespace

llvm::ArrayRef<GraphFamily> graphFamilies() { return families; }

} // namespace tokamak::test
