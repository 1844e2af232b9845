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

TEST(Chain, NoBatch) {
  Attention attention;
  attention.batch = 0;
  expectChain({.text = attention.text()}, "reduction");
}

} // namespace
