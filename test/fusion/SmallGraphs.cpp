//===- SmallGraphs.cpp - random graphs that an exact search can partition ------------------------------===//
#include "SmallGraphs.h"
#include <algorithm>
#include <array>
#include <random>
#include <vector>

using namespace tokamak;

namespace {

/// Values of one type, each operator reading some of those before it.
class GraphWriter {
public:
  explicit GraphWriter(uint64_t seed) : random(seed) {}

protected:
  int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); }
  std::string recent() {
    const int last = static_cast<int>(values.size()) - 1;
    return values[pick(std::max(0, last - 2), last)];
  }
  std::string unary(const std::string &name, const std::string &operation, const std::string &x) const {
    return name + " = " + operation + " " + x + " : (" + type + ") -> " + type + "\n";
  }
  std::string binary(const std::string &name, const std::string &operation, const std::string &x,
                     const std::string &y, const std::string &typeOfY) const {
    return name + " = " + operation + " " + x + ", " + y + " : (" + type + ", " + typeOfY + ") -> " + type +
           "\n";
  }

  std::mt19937_64 random;
  std::string type;
  std::vector<std::string> values;
};

class RowGraph : GraphWriter {
public:
  using GraphWriter::GraphWriter;

  std::string function() {
    const int rows = 1 << pick(4, 12);
    type = "tensor<" + std::to_string(rows) + "x256xf32>";
    column = "tensor<" + std::to_string(rows) + "x1xf32>";
    std::string text = "func.func @main(%v0: " + type + ") -> " + type + " {\n";
    if (pick(0, 1))
      text += "%w = tk.constant dense<0.5> : tensor<256x256xf32>\n" +
              binary("%m", "tk.matmul", "%v0", "%w", "tensor<256x256xf32>"),
          values.push_back("%m");
    else
      values.push_back("%v0");
    const int operators = pick(3, 5);
    for (int i = 0; i < operators; ++i)
      text += operation(i);
    return text + "return " + values.back() + " : " + type + "\n}";
  }

private:
  std::string operation(int number) {
    const std::string name = "%o" + std::to_string(number), x = recent(), y = values.back();
    values.push_back(name);
    switch (pick(0, 4)) {
    case 0:
      return unary(name, "tk.exp", y);
    case 1:
      return unary(name, "tk.abs", y);
    case 2: {
      const std::string sum = name + "s";
      return sum + " = tk.reduce " + y +
             " {axes = array<i64: 1>, keep_dims = true, kind = #tk.reduce_kind<sum>} : (" + type + ") -> " +
             column + "\n" + binary(name, "tk.sub", y, sum, column);
    }
    default:
      return binary(name, "tk.add", x, y, type);
    }
  }

  std::string column;
};

/// Elementwise work on tensors of one type, some of it on two halves that are put together again.
class PartsGraph : GraphWriter {
public:
  using GraphWriter::GraphWriter;

  std::string function() {
    const int64_t rows = int64_t(1) << pick(0, 10), columns = int64_t(1) << pick(1, 9);
    alongRows = pick(0, 1);
    type = tensor(rows * 2, columns * 2);
    half = alongRows ? tensor(rows, columns * 2) : tensor(rows * 2, columns);
    last = tensor(columns * 4, rows);
    firsts = {0, alongRows ? rows : 0, alongRows ? 0 : columns};
    sizes = alongRows ? std::to_string(rows) + ", " + std::to_string(columns * 2)
                      : std::to_string(rows * 2) + ", " + std::to_string(columns);
    std::string text = "func.func @main(%v0: " + type + ", %h: " + half + ") -> ";
    values.push_back("%v0");
    std::string body;
    const int before = pick(0, 1), behind = pick(0, 2);
    for (int i = 0; i < before; ++i)
      body += elementwise(i);
    body += parts();
    for (int i = 0; i < behind; ++i)
      body += elementwise(before + i);
    if (pick(0, 2))
      return text + type + " {\n" + body + "return " + values.back() + " : " + type + "\n}";
    return text + last + " {\n" + body + "%r = tk.reshape " + values.back() +
           " {shape = array<i64: " + std::to_string(columns * 4) + ", " + std::to_string(rows) + ">} : (" +
           type + ") -> " + last + "\nreturn %r : " + last + "\n}";
  }

private:
  static std::string tensor(int64_t rows, int64_t columns) {
    return "tensor<" + std::to_string(rows) + "x" + std::to_string(columns) + "xf32>";
  }

  std::string elementwise(int number) {
    const std::string name = "%o" + std::to_string(number), x = recent(), y = values.back();
    values.push_back(name);
    const int which = pick(0, 3);
    return which < 2 ? unary(name, which ? "tk.exp" : "tk.abs", y) : binary(name, "tk.add", x, y, type);
  }

  /// A half of what there is and one of its own, both computed, side by side.
  std::string parts() {
    const std::string x = values.back(), arrow = " : (" + half + ") -> " + half + "\n";
    values.push_back("%c");
    const bool isSecond = pick(0, 1);
    return "%s = tk.slice " + x + " {starts = array<i64: " + std::to_string(isSecond ? firsts[1] : 0) + ", " +
           std::to_string(isSecond ? firsts[2] : 0) +
           ">, steps = array<i64: 1, 1>, sizes = array<i64: " + sizes + ">} : (" + type + ") -> " + half +
           "\n%p = " + (pick(0, 1) ? "tk.exp" : "tk.neg") + " %s" + arrow +
           "%q = " + (pick(0, 1) ? "tk.tanh" : "tk.abs") + " %h" + arrow +
           "%c = tk.concat %p, %q {axis = " + (alongRows ? "0" : "1") + " : i64} : (" + half + ", " + half +
           ") -> " + type + "\n";
  }

  bool alongRows = false;
  std::string half, last, sizes;
  std::array<int64_t, 3> firsts = {};
};

class AnchorGraph : GraphWriter {
public:
  AnchorGraph(uint64_t seed, bool isImage) : GraphWriter(seed), isImage(isImage) {}

  std::string function() {
    const std::string channels = std::to_string(16 << pick(0, isImage ? 2 : 4));
    if (isImage) {
      const std::string extent = std::to_string(7 << pick(0, 4));
      type = "tensor<1x" + channels + "x" + extent + "x" + extent + "xf32>";
      weights = {"tensor<" + channels + "x" + channels + "x1x1xf32>", "tensor<" + channels + "x1x3x3xf32>"};
      scale = "tensor<1x" + channels + "x1x1xf32>";
      attributes[0] = convolutionAttributes("0", "1");
      attributes[1] = convolutionAttributes("1", channels);
    } else {
      type = "tensor<" + std::to_string(1 << pick(4, 12)) + "x" + channels + "xf32>";
      weights = {"tensor<" + channels + "x" + channels + "xf32>"};
      scale = "tensor<" + channels + "xf32>";
    }
    std::string text = "func.func @main(%v0: " + type + ", %s: " + scale + ") -> " + type + " {\n";
    for (size_t i = 0; i < weights.size(); ++i)
      text += "%w" + std::to_string(i) + " = tk.constant dense<0.5> : " + weights[i] + "\n";
    values.push_back("%v0");
    const int operators = pick(4, 6);
    const int first = pick(0, operators - 1), second = pick(0, 2 * operators);
    for (int i = 0; i < operators; ++i)
      text += i == first || i == second ? anchor(i) : elementwise(i);
    return text + "return " + values.back() + " : " + type + "\n}";
  }

private:
  static std::string convolutionAttributes(const std::string &pad, const std::string &groups) {
    const std::string pads = "array<i64: " + pad + ", " + pad + ">";
    return " {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = " + pads +
           ", pads_high = " + pads + ", group = " + groups + " : i64}";
  }

  std::string anchor(int number) {
    const std::string name = "%o" + std::to_string(number), x = recent();
    values.push_back(name);
    const int which = pick(0, static_cast<int>(weights.size()) - 1);
    return binary(name, isImage ? "tk.conv" : "tk.matmul", x,
                  "%w" + std::to_string(which) + attributes[which], weights[which]);
  }

  std::string elementwise(int number) {
    const std::string name = "%o" + std::to_string(number), x = recent(), y = values.back();
    values.push_back(name);
    switch (pick(0, 5)) {
    case 0:
      return unary(name, "tk.exp", y);
    case 1:
      return unary(name, "tk.abs", y);
    case 2:
      return binary(name, "tk.mul", y, "%s", scale);
    default:
      return binary(name, "tk.add", x, y, type);
    }
  }

  bool isImage;
  std::vector<std::string> weights;
  std::string scale, attributes[2];
};

} // namespace

std::string fusion::rowGraph(uint64_t seed) { return RowGraph(seed).function(); }
std::string fusion::partsGraph(uint64_t seed) { return PartsGraph(seed).function(); }
std::string fusion::productGraph(uint64_t seed) { return AnchorGraph(seed, false).function(); }
std::string fusion::convolutionGraph(uint64_t seed) { return AnchorGraph(seed, true).function(); }
