//===- ConvolutionChainCase.h - chains of convolutions as text -------------------------------------===//
#pragma once
#include "ProgramHarness.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"
#include <array>
#include <cstring>
#include <random>

namespace tokamak::test {

struct Layer {
  int64_t out;        ///< channels
  int64_t kernel = 1; ///< rows and columns
  int64_t stride = 1, dilation = 1;
  std::array<int64_t, 4> pads = {0, 0, 0, 0}; ///< low rows, low columns, high rows, high columns
  bool depthwise = false;
  std::string act = ""; ///< "relu6", "shift" (x + 3), "gate" (x * tanh(x))
};

inline Layer pointwise(int64_t out, std::string act = "") { return {.out = out, .act = std::move(act)}; }
inline Layer depthwise(int64_t channels, int64_t kernel, int64_t stride = 1, std::string act = "") {
  int64_t pad = kernel / 2;
  return {channels, kernel, stride, 1, {pad, pad, pad, pad}, true, std::move(act)};
}
inline Layer dense(int64_t out, int64_t kernel, int64_t stride = 1, std::string act = "") {
  int64_t pad = kernel / 2;
  return {out, kernel, stride, 1, {pad, pad, pad, pad}, false, std::move(act)};
}

/// A function of one convolution after the other.
class Chain {
public:
  explicit Chain(std::array<int64_t, 4> input) : shape(input), text("%x: " + type()), name("%x") {}

  Chain &add(const Layer &layer) {
    reduced.clear();
    int64_t group = layer.depthwise ? shape[1] : 1;
    std::array<int64_t, 4> weight{layer.out, shape[1] / group, layer.kernel, layer.kernel};
    std::string before = type(), number = std::to_string(layers++), w = "%w" + number, b = "%b" + number;
    auto extent = [&](int axis) {
      return (shape[axis] + layer.pads[axis - 2] + layer.pads[axis] - (layer.kernel - 1) * layer.dilation -
              1) /
                 layer.stride +
             1;
    };
    shape = {shape[0], layer.out, extent(2), extent(3)};
    body += constant(w, {weight.begin(), weight.end()}) + constant(b, {layer.out});
    body += llvm::formatv(
        "%c{0} = tk.conv {1}, {2}, {3} {{strides = array<i64: {4}, {4}>, dilations = "
        "array<i64: {5}, {5}>, pads_low = array<i64: {6}, {7}>, pads_high = array<i64: {8}, "
        "{9}>, group = {10} : i64} : ({11}, {12}, tensor<{13}xf32>) -> {14}\n",
        number, name, w, b, layer.stride, layer.dilation, layer.pads[0], layer.pads[1], layer.pads[2],
        layer.pads[3], group, before, typeOf({weight.begin(), weight.end()}), layer.out, type());
    name = "%c" + number;
    if (!layer.act.empty())
      activate(layer.act);
    return *this;
  }
  /// An elementwise operation on the value in hand.
  Chain &activate(const std::string &act) {
    std::string number = std::to_string(layers++);
    auto binary = [&](const std::string &op, const std::string &a, const std::string &b, bool isScalar) {
      std::string result = "%" + op + number;
      body += result + " = tk." + op + " " + a + ", " + b + " : (" + type() + ", " +
              (isScalar ? "tensor<f32>" : type()) + ") -> " + type() + "\n";
      return result;
    };
    auto scalar = [&](const std::string &constant, const char *value) {
      body += constant + " = tk.constant dense<" + std::string(value) + "> : tensor<f32>\n";
      return constant;
    };
    if (act == "relu6") {
      name = binary("max", name, scalar("%zero" + number, "0.0"), true);
      name = binary("min", name, scalar("%six" + number, "6.0"), true);
    } else if (act == "shift") {
      name = binary("add", name, scalar("%three" + number, "3.0"), true);
    } else {
      body += "%s" + number + " = tk.tanh " + name + " : (" + type() + ") -> " + type() + "\n";
      name = binary("mul", name, "%s" + number, false);
    }
    return *this;
  }
  /// A transposed convolution.
  Chain &transposed(int64_t out, int64_t kernel, int64_t stride, int64_t pad, bool depthwise = false) {
    std::string before = type(), number = std::to_string(layers++), w = "%w" + number;
    int64_t group = depthwise ? shape[1] : 1;
    std::vector<int64_t> weight{shape[1], out / group, kernel, kernel};
    body += constant(w, weight);
    shape = {shape[0], out, (shape[2] - 1) * stride + kernel - 2 * pad,
             (shape[3] - 1) * stride + kernel - 2 * pad};
    body +=
        llvm::formatv("%c{0} = tk.conv_transpose {1}, {2} {{strides = array<i64: {3}, {3}>, dilations = "
                      "array<i64: 1, 1>, pads_low = array<i64: {4}, {4}>, pads_high = array<i64: {4}, {4}>, "
                      "output_padding = array<i64: 0, 0>, group = {5} : i64} : ({6}, {7}) -> {8}\n",
                      number, name, w, stride, pad, group, before, typeOf(weight), type());
    name = "%c" + number;
    return *this;
  }
  /// A window, "max" or "sum", over the value in hand.
  Chain &pool(const std::string &kind, int64_t kernel, int64_t stride, int64_t low, int64_t high) {
    std::string before = type(), number = std::to_string(layers++);
    for (int axis : {2, 3})
      shape[axis] = (shape[axis] + low + high - kernel) / stride + 1;
    body +=
        llvm::formatv("%p{0} = tk.window {1} {{kind = #tk.reduce_kind<{2}>, kernel = array<i64: {3}, {3}>, "
                      "strides = array<i64: {4}, {4}>, dilations = array<i64: 1, 1>, pads_low = array<i64: "
                      "{5}, {5}>, pads_high = array<i64: {6}, {6}>} : ({7}) -> {8}\n",
                      number, name, kind, kernel, stride, low, high, before, type());
    name = "%p" + number;
    return *this;
  }
  Chain &addInput() {
    body += "%sum = tk.add " + name + ", %x : (" + type() + ", " + type() + ") -> " + type() + "\n";
    name = "%sum";
    return *this;
  }
  /// "sum", "max" or "mean" over rows and columns of a value, the one in hand if none is named.
  Chain &reduce(const std::string &kind, const std::string &of = "", bool keepsAxes = true) {
    std::string number = std::to_string(layers++), before = type();
    shape = {shape[0], shape[1], 1, 1};
    std::string after = keepsAxes ? type() : typeOf({shape[0], shape[1]});
    body += llvm::formatv("%r{0} = tk.reduce {1} {{axes = array<i64: 2, 3>, keep_dims = {2}, kind = "
                          "#tk.reduce_kind<{3}>} : ({4}) -> {5}\n",
                          number, of.empty() ? name : of, keepsAxes, kind == "max" ? "max" : "sum", before,
                          after);
    reduced = after;
    name = "%r" + number;
    if (kind != "mean")
      return *this;
    body += llvm::formatv("%s{0} = tk.constant dense<0.125> : tensor<f32>\n%m{0} = tk.mul %r{0}, %s{0} : "
                          "({1}, tensor<f32>) -> {1}\n",
                          number, after);
    name = "%m" + number;
    return *this;
  }
  std::string value() const { return name; }
  /// Of a value that was reduced, and may have fewer axes than the chain counts with.
  std::string valueType() const { return reduced.empty() ? type() : reduced; }
  std::string type() const { return typeOf({shape.begin(), shape.end()}); }

  /// The function, with `more` behind it, that returns values of these types.
  std::string function(const std::string &more = "", const std::string &results = "",
                       const std::string &types = "") const {
    std::string given = results.empty() ? name : results, as = types.empty() ? type() : types;
    return "func.func @main(" + text + ") -> (" + as + ") {\n" + body + more + "return " + given + " : " +
           as + "\n}";
  }

private:
  static std::string typeOf(const std::vector<int64_t> &extents) {
    std::string result = "tensor<";
    for (int64_t extent : extents)
      result += std::to_string(extent) + "x";
    return result + "f32>";
  }
  /// Small integers, mostly different from their neighbours.
  std::string constant(const std::string &name, const std::vector<int64_t> &extents) {
    int64_t count = 1;
    for (int64_t extent : extents)
      count *= extent;
    std::string hex;
    for (int64_t i = 0; i < count; ++i) {
      auto value = static_cast<float>(static_cast<int64_t>(random() % 5) - 2);
      uint32_t bits;
      std::memcpy(&bits, &value, sizeof bits);
      for (int byte = 0; byte < 4; ++byte)
        hex += llvm::formatv("{0:X-2}", (bits >> (8 * byte)) & 0xff).str();
    }
    return name + " = tk.constant dense<\"0x" + hex + "\"> : " + typeOf(extents) + "\n";
  }

  std::array<int64_t, 4> shape;
  std::string text, body, name, reduced;
  int layers = 0;
  std::mt19937 random{7};
};

/// Equal on small integers where `exact`, and close on reals, for both vector lengths, in so many kernels if
/// a number is given. Calls are modelled as dear. Without inputs: random ones.
inline void expectSame(const std::string &text, std::optional<size_t> kernels = 1, bool exact = true,
                       const std::vector<Tensor> &inputs = {}) {
  for (const char *cpu : {"native", "x86-64-v3"})
    for (bool integers : {true, false}) {
      ProgramCase test;
      test.text = text;
      test.cpu = cpu;
      test.exact = integers && exact;
      test.fusion = FusionMode::Full;
      test.dearCalls = true;
      test.kernels = kernels;
      test.inputs = inputs;
      EXPECT_EQ(differenceFromReference(test), "") << cpu << (integers ? ", integers" : ", reals") << "\n"
                                                   << text;
    }
}

} // namespace tokamak::test
