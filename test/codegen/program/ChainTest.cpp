//===- ChainTest.cpp - products whose rows another product reads from scratch ---------------------------===//
// Groups written by hand: what one kernel can hold does not depend on what pays.
#include "ProgramHarness.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"
#include <limits>

using namespace tokamak;
using namespace tokamak::test;

namespace {

using Extents = std::vector<int64_t>;

std::string tensor(const Extents &extents) {
  std::string type = "tensor<";
  for (int64_t n : extents)
    type += std::to_string(n) + "x";
  return type + "f32>";
}

/// A function that is one group: arguments `%a0`, ... and `body`, which computes `%r`.
std::string oneGroup(const std::vector<Extents> &arguments, const std::string &body, const Extents &result) {
  std::vector<std::string> outer, inner, names, types;
  for (size_t i = 0; i < arguments.size(); ++i) {
    std::string name = "%a" + std::to_string(i), type = tensor(arguments[i]);
    outer.push_back("%x" + std::to_string(i) + ": " + type);
    inner.push_back(name + ": " + type);
    names.push_back("%x" + std::to_string(i));
    types.push_back(type);
  }
  std::string out = tensor(result);
  return llvm::formatv(
      "func.func @main({0}) -> {1} {{\n%g = tk.fusion({2}) {{\n^bb0({3}):\n{4}tk.yield %r : {1}\n}"
      " : ({5}) -> {1}\nreturn %g : {1}\n}\n",
      llvm::join(outer, ", "), out, llvm::join(names, ", "), llvm::join(inner, ", "), body,
      llvm::join(types, ", "));
}

std::string operation(const std::string &result, const std::string &name,
                      const std::vector<std::string> &operands, const std::vector<Extents> &operandTypes,
                      const Extents &type, const std::string &attributes = "") {
  std::vector<std::string> types;
  for (const Extents &extents : operandTypes)
    types.push_back(tensor(extents));
  return result + " = tk." + name + " " + llvm::join(operands, ", ") +
         (attributes.empty() ? "" : " {" + attributes + "}") + " : (" + llvm::join(types, ", ") + ") -> " +
         tensor(type) + "\n";
}

/// A constant whose elements differ.
std::string constant(const Extents &extents) {
  int64_t seed = 0;
  std::function<std::string(size_t)> list = [&](size_t axis) {
    if (axis == extents.size())
      return std::string(llvm::formatv("{0:F3}", static_cast<double>(seed++ * 37 % 101 - 50) / 128));
    std::vector<std::string> parts;
    for (int64_t i = 0; i < extents[axis]; ++i)
      parts.push_back(list(axis + 1));
    return "[" + llvm::join(parts, ", ") + "]";
  };
  return "dense<" + list(0) + "> : " + tensor(extents);
}

/// `%p` = softmax of `scores` over axis `axis`.
std::string softmax(const std::string &scores, const Extents &type, size_t axis) {
  Extents kept = type;
  kept[axis] = 1;
  auto reduce = [&](const char *result, const std::string &of, const char *kind) {
    return operation(
        result, "reduce", {of}, {type}, kept,
        llvm::formatv("axes = array<i64: {0}>, keep_dims = true, kind = #tk.reduce_kind<{1}>", axis, kind));
  };
  return reduce("%max", scores, "max") + operation("%shifted", "sub", {scores, "%max"}, {type, kept}, type) +
         operation("%e", "exp", {"%shifted"}, {type}, type) + reduce("%sum", "%e", "sum") +
         operation("%p", "div", {"%e", "%sum"}, {type, kept}, type);
}

struct Attention {
  int64_t batch = 2, heads = 3, queries = 37, keys = 41, width = 24, valueWidth = 24;
  Extents mask;              ///< empty: none
  int64_t keyHeads = 0;      ///< 1: one for all heads; 0: as many as heads
  bool transposeKeys = true; ///< by the product's flag; otherwise they lie [width, keys]

  std::string text() const {
    int64_t k = keyHeads ? keyHeads : heads;
    Extents q{batch, heads, queries, width}, keysType{batch, k, keys, width}, v{batch, k, keys, valueWidth},
        s{batch, heads, queries, keys}, r{batch, heads, queries, valueWidth};
    if (!transposeKeys)
      std::swap(keysType[2], keysType[3]);
    std::string body = operation("%s", "matmul", {"%a0", "%a1"}, {q, keysType}, s,
                                 transposeKeys ? "transpose_rhs = true" : "");
    body += "%scale = tk.constant dense<0.25> : tensor<f32>\n";
    body += operation("%scaled", "mul", {"%s", "%scale"}, {s, {}}, s);
    std::vector<Extents> arguments{q, keysType, v};
    std::string scores = "%scaled";
    if (!mask.empty()) {
      arguments.push_back(mask);
      body += operation("%masked", "add", {"%scaled", "%a3"}, {s, mask}, s);
      scores = "%masked";
    }
    body += softmax(scores, s, 3) + operation("%r", "matmul", {"%p", "%a2"}, {s, v}, r);
    return oneGroup(arguments, body, r);
  }
};

/// One kernel of kind matmul, and the evaluator's numbers, for both vector lengths.
void expectChain(ProgramCase test, const char *kind = "matmul") {
  auto context = makeContext();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(test.text, context.get());
  ASSERT_TRUE(module) << test.text;
  for (const char *cpu : {"native", "x86-64-v3"}) {
    test.cpu = cpu;
    auto program = TestProgram::compile(*module, FusionMode::None, cpu);
    ASSERT_TRUE(static_cast<bool>(program)) << llvm::toString(program.takeError());
    ASSERT_EQ((*program)->code().steps.size(), 1u);
    EXPECT_EQ((*program)->code().steps[0].kind, kind);
    EXPECT_EQ(differenceFromReference(test), "") << cpu << "\n" << test.text;
  }
}

TEST(Chain, AttentionOfManyShapes) {
  for (auto [queries, keys, width] : {std::tuple<int64_t, int64_t, int64_t>{37, 41, 24},
                                      {1, 1, 64},
                                      {1, 50, 33},
                                      {50, 1, 3},
                                      {5, 7, 33},
                                      {197, 197, 64},
                                      {14, 16, 16},
                                      {129, 200, 3}}) {
    Attention attention;
    attention.queries = queries, attention.keys = keys, attention.width = attention.valueWidth = width;
    expectChain({.text = attention.text()});
    attention.batch = attention.heads = 1, attention.transposeKeys = false, attention.valueWidth = 20;
    expectChain({.text = attention.text()});
  }
}

TEST(Chain, MasksThatBroadcast) {
  for (const Extents &mask :
       {Extents{2, 3, 37, 41}, {1, 1, 37, 41}, {2, 1, 1, 41}, {37, 41}, {2, 3, 37, 1}, {41}}) {
    Attention attention;
    attention.mask = mask;
    expectChain({.text = attention.text()});
  }
}

TEST(Chain, KeysOfSeveralHeadsTogether) {
  Attention attention;
  attention.keyHeads = 1;
  expectChain({.text = attention.text()});
}

/// relu(x w + b) v, over all rows of all batches together.
std::string perceptron(const Extents &x, int64_t hidden, int64_t out) {
  Extents h = x, r = x;
  h.back() = hidden, r.back() = out;
  return oneGroup({x, {x.back(), hidden}, {hidden}, {hidden, out}},
                  "%zero = tk.constant dense<0.0> : tensor<f32>\n" +
                      operation("%h", "matmul", {"%a0", "%a1"}, {x, {x.back(), hidden}}, h) +
                      operation("%b", "add", {"%h", "%a2"}, {h, {hidden}}, h) +
                      operation("%u", "max", {"%b", "%zero"}, {h, {}}, h) +
                      operation("%r", "matmul", {"%u", "%a3"}, {h, {hidden, out}}, r),
                  r);
}

TEST(Chain, PerceptronsAreExactOnIntegers) {
  for (const Extents &x : {Extents{1, 24}, {5, 7, 20}, {2, 3, 50, 16}, {197, 33}})
    for (int64_t hidden : {1, 5, 64, 150})
      expectChain({.text = perceptron(x, hidden, 21), .exact = true});
}

TEST(Chain, RowsFromMemory) {
  for (auto [rows, columns] : {std::pair<int64_t, int64_t>{37, 41}, {1, 1}, {1, 60}, {60, 1}}) {
    Extents s{2, rows, columns}, v{2, columns, 20}, r{2, rows, 20};
    expectChain({.text = oneGroup(
                     {s, v}, softmax("%a0", s, 2) + operation("%r", "matmul", {"%p", "%a1"}, {s, v}, r), r)});
  }
}

TEST(Chain, HeadsSideBySide) {
  for (auto [heads, rows, width] :
       {std::tuple<int64_t, int64_t, int64_t>{3, 37, 24}, {1, 5, 64}, {4, 1, 33}, {2, 50, 3}}) {
    Extents s{2, heads, rows, 20}, v{2, heads, 20, width}, h{2, heads, rows, width}, t{2, rows, heads, width},
        r{2, rows, heads * width};
    std::string body = operation("%h", "matmul", {"%a0", "%a1"}, {s, v}, h) +
                       operation("%t", "transpose", {"%h"}, {h}, t, "permutation = array<i64: 0, 2, 1, 3>") +
                       operation("%m", "reshape", {"%t"}, {t}, r,
                                 llvm::formatv("shape = array<i64: 2, {0}, {1}>", rows, heads * width)) +
                       operation("%r", "add", {"%m", "%a2"}, {r, r}, r);
    expectChain({.text = oneGroup({s, v, r}, body, r), .exact = true});
  }
}

TEST(Chain, WritesColumnsOnlyThroughOtherKernels) {
  Extents s{30, 20}, v{20, 40}, h{30, 40}, r{40, 30};
  expectChain(
      {.text = oneGroup({s, v},
                        operation("%h", "matmul", {"%a0", "%a1"}, {s, v}, h) +
                            operation("%r", "transpose", {"%h"}, {h}, r, "permutation = array<i64: 1, 0>"),
                        r),
       .exact = true},
      "rows");
}

TEST(Chain, SoftmaxOverQueries) {
  for (int64_t keys : {1, 17, 41}) {
    Extents s{2, 37, keys}, v{2, keys, 20}, r{2, 37, 20};
    expectChain({.text = oneGroup(
                     {s, v}, softmax("%a0", s, 1) + operation("%r", "matmul", {"%p", "%a1"}, {s, v}, r), r)},
                "rows");
  }
}

TEST(Chain, MaskReadAtAnotherIndexThanItIsWritten) {
  Extents q{3, 29, 16}, k{3, 29, 16}, s{3, 29, 29}, v{3, 29, 20}, r{3, 29, 20};
  std::string body = operation("%s", "matmul", {"%a0", "%a1"}, {q, k}, s, "transpose_rhs = true") +
                     operation("%m", "transpose", {"%a3"}, {s}, s, "permutation = array<i64: 0, 2, 1>") +
                     operation("%masked", "add", {"%s", "%m"}, {s, s}, s) + softmax("%masked", s, 2) +
                     operation("%r", "matmul", {"%p", "%a2"}, {s, v}, r);
  expectChain({.text = oneGroup({q, k, v, s}, body, r)});
}

/// Queries, keys and values that are small numbers, and a mask.
std::vector<Tensor> withMask(const Attention &attention, llvm::function_ref<float(int64_t, int64_t)> mask) {
  std::vector<Tensor> inputs;
  for (int64_t rows : {attention.queries, attention.keys, attention.keys}) {
    Tensor tensor(DataType::Float32, {attention.batch, attention.heads, rows, attention.width});
    auto *to = reinterpret_cast<float *>(tensor.mutableBytes());
    for (int64_t i = 0; i < tensor.size(); ++i)
      to[i] = static_cast<float>((i * 7 + rows) % 11 - 5) / 4;
    inputs.push_back(std::move(tensor));
  }
  Tensor tensor(DataType::Float32, {attention.queries, attention.keys});
  auto *to = reinterpret_cast<float *>(tensor.mutableBytes());
  for (int64_t row = 0; row < attention.queries; ++row)
    for (int64_t column = 0; column < attention.keys; ++column)
      *to++ = mask(row, column);
  inputs.push_back(std::move(tensor));
  return inputs;
}

TEST(Chain, MasksOfInfinities) {
  constexpr float infinity = std::numeric_limits<float>::infinity(),
                  nan = std::numeric_limits<float>::quiet_NaN();
  Attention attention;
  attention.mask = {attention.queries, attention.keys};
  auto expectMask = [&](llvm::function_ref<float(int64_t, int64_t)> mask) {
    expectChain({.text = attention.text(), .inputs = withMask(attention, mask)});
  };
  expectMask([&](int64_t row, int64_t column) { return column > row ? -infinity : 0; }); // causal
  expectMask([&](int64_t row, int64_t) { return row == 5 ? -infinity : 0; }); // nothing to attend to
  expectMask([&](int64_t row, int64_t column) { return row == 5 && column == 7 ? infinity : 0; });
  expectMask([&](int64_t row, int64_t column) { return row == 5 && column == 7 ? nan : 0; });
}

TEST(Chain, ScoresThatOthersRead) {
  Extents q{2, 19, 16}, s{2, 19, 19}, r{2, 19, 16};
  std::string type = tensor(q), scores = tensor(s);
  std::string body = operation("%s", "matmul", {"%q", "%q"}, {q, q}, s, "transpose_rhs = true") +
                     softmax("%s", s, 2) + operation("%r", "matmul", {"%p", "%q"}, {s, q}, r);
  for (const char *kept : {"%s", "%p", "%e"}) {
    std::string text =
        llvm::formatv("func.func @main(%x: {0}) -> ({0}, {1}) {{\n%g:2 = tk.fusion(%x) {{\n^bb0(%q: {0}):\n"
                      "{2}tk.yield %r, {3} : {0}, {1}\n} : ({0}) -> ({0}, {1})\nreturn %g#0, %g#1 : {0}, "
                      "{1}\n}\n",
                      type, scores, body, kept);
    EXPECT_EQ(differenceFromReference({.text = text}), "") << text;
  }
}

/// An LSTM cell: (x w + h r + b) in four gates; its state and its output. `transposed`: weights are stored by
/// outputs, as PyTorch has them. `joined`: one product of input and state side by side, as Keras has it.
std::string longShortTermMemory(int64_t rows, int64_t inputs, int64_t hidden, bool transposed,
                                bool joined = false) {
  Extents x{rows, inputs}, h{rows, hidden}, g{rows, 4 * hidden}, ofInput{inputs, 4 * hidden},
      ofState{hidden, 4 * hidden};
  if (transposed)
    std::swap(ofInput[0], ofInput[1]), std::swap(ofState[0], ofState[1]);
  std::string w = tensor(ofInput), r = tensor(ofState), b = tensor({4 * hidden}), state = tensor(h);
  const std::string order = transposed ? "transpose_rhs = true" : "";
  if (joined)
    ofInput[transposed ? 1 : 0] += hidden, w = tensor(ofInput);
  const Extents both{rows, inputs + hidden};
  std::string body = joined ? operation("%xh", "concat", {"%x", "%h"}, {x, h}, both, "axis = 1 : i64") +
                                  operation("%s", "matmul", {"%xh", "%w"}, {both, ofInput}, g, order)
                            : operation("%xw", "matmul", {"%x", "%w"}, {x, ofInput}, g, order) +
                                  operation("%hr", "matmul", {"%h", "%r"}, {h, ofState}, g, order) +
                                  operation("%s", "add", {"%xw", "%hr"}, {g, g}, g);
  body += operation("%g", "add", {"%s", "%b"}, {g, {4 * hidden}}, g);
  for (int64_t gate = 0; gate < 4; ++gate)
    body += operation(
        llvm::formatv("%g{0}", gate), "slice", {"%g"}, {g}, h,
        llvm::formatv("starts = array<i64: 0, {0}>, steps = array<i64: 1, 1>, sizes = array<i64: {1}, {2}>",
                      gate * hidden, rows, hidden));
  body += "%one = tk.constant dense<1.0> : tensor<f32>\n";
  for (auto [gate, name] : {std::pair{"%g0", "i"}, {"%g1", "f"}, {"%g2", "o"}}) {
    std::string n = std::string("%n") + name, e = std::string("%e") + name, d = std::string("%d") + name;
    body += operation(n, "neg", {gate}, {h}, h) + operation(e, "exp", {n}, {h}, h) +
            operation(d, "add", {e, "%one"}, {h, {}}, h) +
            operation(std::string("%") + name, "div", {"%one", d}, {{}, h}, h);
  }
  body += operation("%t", "tanh", {"%g3"}, {h}, h) + operation("%kept", "mul", {"%f", "%c"}, {h, h}, h) +
          operation("%new", "mul", {"%i", "%t"}, {h, h}, h) +
          operation("%state", "add", {"%kept", "%new"}, {h, h}, h) +
          operation("%ts", "tanh", {"%state"}, {h}, h) + operation("%out", "mul", {"%o", "%ts"}, {h, h}, h);
  return llvm::formatv(
      "func.func @main(%x0: {0}, %h0: {1}, %c0: {1}) -> ({1}, {1}) {{\n%w0 = tk.constant {2}\n"
      "%r0 = tk.constant {3}\n%b0 = tk.constant {4}\n"
      "%res:2 = tk.fusion(%x0, %h0, %c0, %w0, %r0, %b0) {{\n^bb0(%x: {0}, %h: {1}, %c: {1}, %w: {5}, %r: "
      "{6}, "
      "%b: {7}):\n{8}tk.yield %state, %out : {1}, {1}\n} : ({0}, {1}, {1}, {5}, {6}, {7}) -> ({1}, {1})\n"
      "return %res#0, %res#1 : {1}, {1}\n}\n",
      tensor(x), state, constant(ofInput), constant(ofState), constant({4 * hidden}), w, r, b, body);
}

TEST(Chain, GatesOfOneCell) {
  for (auto [rows, inputs, hidden] :
       {std::tuple<int64_t, int64_t, int64_t>{1, 64, 128}, {1, 3, 33}, {5, 20, 7}, {64, 40, 48}, {17, 1, 2}})
    for (bool transposed : {false, true})
      for (bool joined : {false, true})
        expectChain({.text = longShortTermMemory(rows, inputs, hidden, transposed, joined)});
}

/// Attention of the heads of one wide product, as exporters write it; `transposesKeys` by an operator.
std::string selfAttention(int64_t batch, int64_t rows, int64_t heads, int64_t width, bool transposesKeys) {
  const int64_t all = heads * width;
  Extents x{batch, rows, all}, wide{batch, rows, 3 * all}, cut{batch, rows, heads, width},
      head{batch, heads, rows, width}, keys{batch, heads, width, rows}, s{batch, heads, rows, rows};
  std::string body = operation("%xw", "matmul", {"%x", "%w"}, {x, {all, 3 * all}}, wide) +
                     operation("%g", "add", {"%xw", "%b"}, {wide, {3 * all}}, wide);
  for (int64_t part = 0; part < 3; ++part) {
    std::string n = std::to_string(part);
    const bool isKeys = transposesKeys && part == 1;
    body +=
        operation(
            "%s" + n, "slice", {"%g"}, {wide}, x,
            llvm::formatv("starts = array<i64: 0, 0, {0}>, steps = array<i64: 1, 1, 1>, sizes = array<i64: "
                          "{1}, {2}, {3}>",
                          part * all, batch, rows, all)) +
        operation("%c" + n, "reshape", {"%s" + n}, {x}, cut,
                  llvm::formatv("shape = array<i64: {0}, {1}, {2}, {3}>", batch, rows, heads, width)) +
        operation("%h" + n, "transpose", {"%c" + n}, {cut}, isKeys ? keys : head,
                  isKeys ? "permutation = array<i64: 0, 2, 3, 1>" : "permutation = array<i64: 0, 2, 1, 3>");
  }
  body += operation("%p0", "matmul", {"%h0", "%h1"}, {head, transposesKeys ? keys : head}, s,
                    transposesKeys ? "" : "transpose_rhs = true");
  body += softmax("%p0", s, 3) + operation("%o", "matmul", {"%p", "%h2"}, {s, head}, head) +
          operation("%t", "transpose", {"%o"}, {head}, cut, "permutation = array<i64: 0, 2, 1, 3>") +
          operation("%r", "reshape", {"%t"}, {cut}, x,
                    llvm::formatv("shape = array<i64: {0}, {1}, {2}>", batch, rows, all));
  return llvm::formatv(
      "func.func @main(%x0: {0}) -> {0} {{\n%w0 = tk.constant {1}\n%b0 = tk.constant {2}\n"
      "%res = tk.fusion(%x0, %w0, %b0) {{\n^bb0(%x: {0}, %w: {3}, %b: {4}):\n{5}tk.yield %r : {0}\n} : "
      "({0}, {3}, {4}) -> {0}\nreturn %res : {0}\n}\n",
      tensor(x), constant({all, 3 * all}), constant({3 * all}), tensor({all, 3 * all}), tensor({3 * all}),
      body);
}

TEST(Chain, HeadsOfOneProduct) {
  for (bool transposesKeys : {false, true})
    for (auto [batch, rows, heads, width] : {std::tuple<int64_t, int64_t, int64_t, int64_t>{1, 1, 4, 16},
                                             {1, 37, 3, 20},
                                             {3, 17, 2, 5},
                                             {2, 1, 1, 33}})
      expectChain({.text = selfAttention(batch, rows, heads, width, transposesKeys)});
}

TEST(Chain, BatchesReshapedBetweenProducts) {
  for (auto [batch, heads] : {std::pair<int64_t, int64_t>{2, 3}, {1, 4}, {1, 1}}) {
    const int64_t all = batch * heads, queries = 37, keys = 29, width = 12;
    Extents q{all, queries, width}, k{all, keys, width}, flat{all, queries, keys},
        s{batch, heads, queries, keys}, mask{batch, 1, queries, keys}, v{all, keys, width},
        r{all, queries, width};
    std::string body =
        operation("%s", "matmul", {"%a0", "%a1"}, {q, k}, flat, "transpose_rhs = true") +
        operation("%h", "reshape", {"%s"}, {flat}, s,
                  llvm::formatv("shape = array<i64: {0}, {1}, {2}, {3}>", batch, heads, queries, keys)) +
        operation("%m", "add", {"%h", "%a3"}, {s, mask}, s) + softmax("%m", s, 3) +
        operation("%f", "reshape", {"%p"}, {s}, flat,
                  llvm::formatv("shape = array<i64: {0}, {1}, {2}>", all, queries, keys)) +
        operation("%r", "matmul", {"%f", "%a2"}, {flat, v}, r);
    expectChain({.text = oneGroup({q, k, v, mask}, body, r)});
  }
}

TEST(Chain, RowsBeyondTheCache) {
  // A few rows of 200,000 elements are more than the second level holds: no register tiles then.
  Extents s{2, 200000}, v{200000, 3}, r{2, 3};
  expectChain({.text = oneGroup(
                   {s, v}, softmax("%a0", s, 1) + operation("%r", "matmul", {"%p", "%a1"}, {s, v}, r), r)},
              "rows");
}

TEST(Chain, NoBatch) {
  Attention attention;
  attention.batch = 0;
  expectChain({.text = attention.text()}, "reduction");
}

} // namespace
