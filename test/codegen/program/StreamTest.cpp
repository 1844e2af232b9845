//===- StreamTest.cpp - attention that sees its keys block by block -------------------------------------===//
// Groups written by hand, of enough keys for several blocks: their scores rise and fall from block to block,
// and special values are where only one block sees them.
#include "ProgramHarness.h"
#include "codegen/kernel/StreamedProducts.h"
#include "fusion/KernelDialects.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"
#include <limits>

using namespace tokamak;
using namespace tokamak::test;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity(),
                nan = std::numeric_limits<float>::quiet_NaN();

/// `%r` = softmax(f(`%q` `%k`)) `%v` as one group; types are of float32 unless said.
struct Attention {
  std::string batch = "2x"; ///< of all but what is given apart
  int64_t queries = 37, keys = 1100, depth = 24, width = 20;
  std::string element = "f32";
  std::string queryType, keyType, valueType; ///< nothing: [batch, queries, depth], [batch, keys, ...]
  std::string before;                        ///< computes `%q`, `%k`, `%v` from the arguments `%a0` to `%a2`
  std::string flags = "{transpose_rhs = true}";
  std::string maskType;                       ///< of the argument `%m`, if any
  std::string scores;                         ///< computes `%x` of `!s` from `%s`
  std::string also;                           ///< another value that the group yields, of `!s`
  std::string weights;                        ///< computes `%p` of `!s`; nothing: softmax of the last axis
  std::string keysOfProduct, valuesOfProduct; ///< their types where `before` makes them

  std::string type(const std::string &extents) const { return "tensor<" + extents + element + ">"; }
  std::string text() const {
    std::string m = std::to_string(queries), s = std::to_string(keys), d = std::to_string(depth),
                n = std::to_string(width);
    std::string q = type(batch + m + "x" + d + "x"), k = type(batch + s + "x" + d + "x"),
                v = type(batch + s + "x" + n + "x"), scoreType = type(batch + m + "x" + s + "x"),
                row = type(batch + m + "x1x"), r = type(batch + m + "x" + n + "x");
    const std::string axis = std::to_string(llvm::count(batch, 'x') + 1);
    std::vector<std::string> types{queryType.empty() ? q : queryType, keyType.empty() ? k : keyType,
                                   valueType.empty() ? v : valueType};
    if (!maskType.empty())
      types.push_back(maskType);
    auto list = [&](const char *prefix, bool typed) {
      std::vector<std::string> parts;
      for (size_t i = 0; i < types.size(); ++i)
        parts.push_back(prefix + std::to_string(i) + (typed ? ": " + types[i] : ""));
      return llvm::join(parts, ", ");
    };
    auto reduce = [&](const char *result, const char *of, const char *kind) {
      return llvm::formatv("{0} = tk.reduce {1} {{axes = array<i64: {2}>, keep_dims = true, kind = "
                           "#tk.reduce_kind<{3}>} : ({4}) -> {5}\n",
                           result, of, axis, kind, scoreType, row)
          .str();
    };
    std::string body = before;
    auto alias = [&](const char *name, const char *argument) {
      return before.find(std::string(name) + " =") == std::string::npos ? argument : name;
    };
    const std::string usedKeys = keysOfProduct.empty() ? types[1] : keysOfProduct,
                      usedValues = valuesOfProduct.empty() ? types[2] : valuesOfProduct;
    body += llvm::formatv("%s = tk.matmul {0}, {1} {2} : ({3}, {4}) -> {5}\n", alias("%q", "%a0"),
                          alias("%k", "%a1"), flags, q, usedKeys, scoreType);
    body += scores;
    const std::string x = scores.empty() ? "%s" : "%x";
    body +=
        weights.empty()
            ? reduce("%max", x.c_str(), "max") +
                  llvm::formatv("%d = tk.sub {0}, %max : ({1}, {2}) -> {1}\n%e = tk.exp %d : ({1}) -> {1}\n",
                                x, scoreType, row)
                      .str() +
                  reduce("%sum", "%e", "sum") +
                  llvm::formatv("%p = tk.div %e, %sum : ({0}, {1}) -> {0}\n", scoreType, row).str()
            : weights;
    body += llvm::formatv("%r = tk.matmul %p, {0} : ({1}, {2}) -> {3}\n", alias("%v", "%a2"), scoreType,
                          usedValues, r);
    std::string all =
        llvm::formatv("!s = {0}\nfunc.func @main({1}) -> ({2}) {{\n%g{3} = tk.fusion({4}) "
                      "{{\n^bb0({5}):\n{6}tk.yield %r{7} : {2}\n}"
                      " : ({8}) -> ({2})\nreturn %g{9} : {2}\n}\n",
                      scoreType, list("%o", true), also.empty() ? r : r + ", !s", also.empty() ? "" : ":2",
                      list("%o", false), list("%a", true), body, also.empty() ? "" : ", " + also,
                      llvm::join(types, ", "), also.empty() ? "" : "#0, %g#1");
    return all;
  }
};

/// What the emitter says of the one group.
std::string streamOf(const std::string &text, const char *cpu = "native") {
  auto context = makeContext();
  mlir::DialectRegistry registry;
  fusion::registerKernelDialects(registry);
  context->appendDialectRegistry(registry);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, context.get());
  if (!module)
    return "does not parse: " + text;
  auto target = TargetDescription::forCpu(cpu);
  EXPECT_TRUE(static_cast<bool>(target));
  std::string stream;
  module->walk([&](tk::FusionOp group) { stream = codegen::describeStream(group, *target); });
  return stream;
}

/// One kernel that streams, and the evaluator's numbers, for both vector lengths.
void expectStream(const Attention &attention, const std::vector<Tensor> &inputs = {}) {
  const std::string text = attention.text();
  for (const char *cpu : {"native", "x86-64-v3"}) {
    EXPECT_TRUE(llvm::StringRef(streamOf(text, cpu)).starts_with("keys in blocks of"))
        << streamOf(text, cpu) << text;
    EXPECT_EQ(differenceFromReference({.text = text, .cpu = cpu, .inputs = inputs}), "") << cpu << "\n"
                                                                                         << text;
  }
}

/// The value at [matrix, row, column] of a tensor.
using Values = llvm::function_ref<float(int64_t, int64_t, int64_t)>;
Tensor filled(const std::vector<int64_t> &extents, Values value) {
  Tensor tensor(DataType::Float32, extents);
  auto *to = reinterpret_cast<float *>(tensor.mutableBytes());
  const int64_t columns = extents.back(), rows = extents[extents.size() - 2];
  for (int64_t i = 0; i < tensor.size(); ++i)
    to[i] = value(i / columns / rows, i / columns % rows, i % columns);
  return tensor;
}

float small(int64_t matrix, int64_t row, int64_t column) {
  return static_cast<float>((matrix * 5 + row * 7 + column * 3) % 11 - 5) / 4;
}

/// Adds a mask of [queries, keys], which the tests choose.
Attention masked() {
  Attention attention;
  attention.maskType = "tensor<37x1100xf32>";
  attention.scores = "%scale = tk.constant dense<0.25> : tensor<f32>\n"
                     "%y = tk.mul %s, %scale : (!s, tensor<f32>) -> !s\n"
                     "%x = tk.add %y, %a3 : (!s, tensor<37x1100xf32>) -> !s\n";
  return attention;
}

void expectMask(Values mask, Values values = small, Values queries = small, Values keys = small) {
  Attention a = masked();
  expectStream(a, {filled({2, a.queries, a.depth}, queries), filled({2, a.keys, a.depth}, keys),
                   filled({2, a.keys, a.width}, values), filled({a.queries, a.keys}, mask)});
}

TEST(Stream, ManyShapes) {
  for (int64_t keys : {1, 2, 16, 65, 512, 513, 1100})
    for (int64_t queries : {1, 37}) {
      Attention attention;
      attention.keys = keys, attention.queries = queries;
      expectStream(attention);
    }
  for (auto [depth, width] : {std::pair<int64_t, int64_t>{1, 1}, {3, 33}, {64, 64}, {130, 7}}) {
    Attention attention;
    attention.depth = depth, attention.width = width, attention.keys = 600;
    expectStream(attention);
    attention.batch = "";
    expectStream(attention);
  }
}

TEST(Stream, ManyRows) { // several tasks a matrix, the last one smaller
  Attention attention;
  attention.queries = 301, attention.keys = 530;
  expectStream(attention);
}

TEST(Stream, MaximaThatRiseAndFall) {
  expectMask([](int64_t, int64_t, int64_t key) { return static_cast<float>(key) / 16; });
  expectMask([](int64_t, int64_t, int64_t key) { return static_cast<float>(-key) / 16; });
  expectMask(
      [](int64_t, int64_t row, int64_t key) { return static_cast<float>((row * 131 + key * 37) % 257) / 4; });
  expectMask([](int64_t, int64_t, int64_t key) { return key == 1099 ? 200.0F : 0; });
}

TEST(Stream, MasksOfInfinities) {
  expectMask([](int64_t, int64_t row, int64_t key) { return key > row * 30 ? -infinity : 0; });
  expectMask(
      [](int64_t, int64_t row, int64_t key) { return key < 1100 - row ? -infinity : 0; }); // whole blocks
  expectMask([](int64_t, int64_t row, int64_t) { return row == 5 ? -infinity : 0; });
  expectMask([](int64_t, int64_t, int64_t) { return -infinity; });
  for (int64_t at : {7, 600, 1099})
    for (float special : {infinity, nan})
      expectMask([&](int64_t, int64_t row, int64_t key) { return row == 5 && key == at ? special : 0; });
  expectMask([](int64_t, int64_t row, int64_t key) { return row == 5 && key == 600 ? infinity : -infinity; });
}

TEST(Stream, SpecialQueriesAndKeys) {
  auto none = [](int64_t, int64_t, int64_t) { return 0.0F; };
  for (float special : {infinity, -infinity, nan}) {
    auto with = [&](int64_t matrix, int64_t row, int64_t column) {
      return row == 17 && column == 2 ? special : small(matrix, row, column);
    };
    expectMask(none, small, with);
    expectMask(none, small, small, with);
  }
}

// Whether infinity counts depends on the weight that it has in the end, not on what it had in its block.
TEST(Stream, InfiniteValues) {
  auto zero = [](int64_t, int64_t, int64_t) { return 0.0F; };
  for (float special : {-infinity, nan})
    for (int64_t at : {3, 1090}) {
      auto values = [&](int64_t matrix, int64_t row, int64_t column) {
        return row == at && column == 4 ? special : small(matrix, row, column);
      };
      for (float weight : {-60.0F, -200.0F}) {
        expectMask([&](int64_t, int64_t, int64_t key) { return key == at ? weight : 0; }, values, zero);
        // All keys of its block are as far below the others.
        expectMask(
            [&](int64_t, int64_t, int64_t key) { return (at < 500 ? key < 400 : key > 700) ? weight : 0; },
            values, zero);
      }
      // In steps: none of them underflows, all together do.
      expectMask(
          [&](int64_t, int64_t, int64_t key) {
            const int64_t step = key / 367;
            return static_cast<float>(60 * step);
          },
          values, zero);
    }
}

TEST(Stream, ValuesThatWouldOverflow) {
  // The mean of large numbers is a large number; their sum is none.
  expectMask([](int64_t, int64_t, int64_t) { return 0.0F; }, [](int64_t, int64_t, int64_t) { return 2e38F; });
}

TEST(Stream, BroadcastMasks) {
  for (const char *type :
       {"tensor<1100xf32>", "tensor<37x1xf32>", "tensor<2x1x1100xf32>", "tensor<2x37x1100xf32>"}) {
    Attention attention = masked();
    attention.maskType = type;
    attention.scores = llvm::formatv("%x = tk.add %s, %a3 : (!s, {0}) -> !s\n", type);
    expectStream(attention);
  }
}

TEST(Stream, CausalFromPositions) {
  Attention attention;
  attention.queries = 600, attention.keys = 600, attention.depth = attention.width = 8;
  attention.scores =
      "%i = tk.iota {shape = array<i64: 600, 1>, axis = 0 : i64, to = i64} : () -> tensor<600x1xi64>\n"
      "%j = tk.iota {shape = array<i64: 1, 600>, axis = 1 : i64, to = i64} : () -> tensor<1x600xi64>\n"
      "%c = tk.compare %j, %i {predicate = #tk.predicate<gt>} : (tensor<1x600xi64>, "
      "tensor<600x1xi64>) -> tensor<600x600xi1>\n"
      "%n = tk.constant dense<0xFF800000> : tensor<f32>\n"
      "%x = tk.select %c, %n, %s : (tensor<600x600xi1>, tensor<f32>, !s) -> !s\n";
  expectStream(attention);
}

TEST(Stream, KeysInColumns) {
  Attention attention;
  attention.keyType = "tensor<2x24x1100xf32>";
  attention.flags = "";
  expectStream(attention);
}

TEST(Stream, OneMatrixOfKeysAndValuesForAll) {
  Attention attention;
  attention.batch = "3x2x";
  attention.keyType = "tensor<3x1x1100x24xf32>", attention.valueType = "tensor<3x1x1100x20xf32>";
  expectStream(attention);
  attention.keyType = "tensor<1100x24xf32>", attention.valueType = "tensor<1100x20xf32>";
  expectStream(attention);
}

TEST(Stream, HeadsThatLieSideBySide) {
  Attention attention;
  attention.batch = "2x3x";
  attention.queryType = "tensor<2x37x3x24xf32>";
  attention.keyType = "tensor<2x1100x3x24xf32>";
  attention.valueType = "tensor<2x1100x3x20xf32>";
  attention.before =
      "%scale = tk.constant dense<0.5> : tensor<f32>\n"
      "%h = tk.mul %a0, %scale : (tensor<2x37x3x24xf32>, tensor<f32>) -> tensor<2x37x3x24xf32>\n"
      "%q = tk.transpose %h {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x37x3x24xf32>) -> "
      "tensor<2x3x37x24xf32>\n"
      "%k = tk.transpose %a1 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x1100x3x24xf32>) -> "
      "tensor<2x3x1100x24xf32>\n"
      "%v = tk.transpose %a2 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x1100x3x20xf32>) -> "
      "tensor<2x3x1100x20xf32>\n";
  attention.keysOfProduct = "tensor<2x3x1100x24xf32>", attention.valuesOfProduct = "tensor<2x3x1100x20xf32>";
  expectStream(attention);
}

TEST(Stream, Refusals) {
  Attention attention;
  attention.element = "f16";
  EXPECT_EQ(streamOf(attention.text()),
            "no stream of keys: each tensor of the softmax rounds to its own type");
  for (const char *value : {"%s", "%e", "%p"}) {
    Attention read;
    read.also = value;
    EXPECT_EQ(streamOf(read.text()), "no stream of keys: scores or weights are needed elsewhere") << value;
    EXPECT_EQ(differenceFromReference({.text = read.text()}), "") << value;
  }
  Attention none;
  none.keys = 0;
  EXPECT_EQ(streamOf(none.text()), "no stream of keys: there are no keys");
  EXPECT_EQ(differenceFromReference({.text = none.text()}), "");
  Attention other; // the maximum of columns
  other.queries = other.keys = 90;
  other.weights =
      "%max = tk.reduce %s {axes = array<i64: 1>, keep_dims = true, kind = #tk.reduce_kind<max>} : (!s) -> "
      "tensor<2x1x90xf32>\n"
      "%d = tk.sub %s, %max : (!s, tensor<2x1x90xf32>) -> !s\n%e = tk.exp %d : (!s) -> !s\n"
      "%sum = tk.reduce %e {axes = array<i64: 2>, keep_dims = true, kind = #tk.reduce_kind<sum>} : (!s) -> "
      "tensor<2x90x1xf32>\n%p = tk.div %e, %sum : (!s, tensor<2x90x1xf32>) -> !s\n";
  EXPECT_EQ(streamOf(other.text()),
            "no stream of keys: no softmax over the rows that the second product reads");
  EXPECT_EQ(differenceFromReference({.text = other.text()}), "");
  Attention turned; // sums of other rows
  turned.queries = turned.keys = 90;
  turned.weights =
      "%max = tk.reduce %s {axes = array<i64: 2>, keep_dims = true, kind = #tk.reduce_kind<max>} : (!s) -> "
      "tensor<2x90x1xf32>\n"
      "%d = tk.sub %s, %max : (!s, tensor<2x90x1xf32>) -> !s\n%e = tk.exp %d : (!s) -> !s\n"
      "%sum = tk.reduce %e {axes = array<i64: 2>, keep_dims = false, kind = #tk.reduce_kind<sum>} : (!s) -> "
      "tensor<2x90xf32>\n%t = tk.reshape %sum {shape = array<i64: 2, 1, 90>} : (tensor<2x90xf32>) -> "
      "tensor<2x1x90xf32>\n"
      "%p = tk.div %e, %t : (!s, tensor<2x1x90xf32>) -> !s\n";
  EXPECT_EQ(streamOf(turned.text()),
            "no stream of keys: the softmax is not over the rows that the second product reads");
  EXPECT_EQ(differenceFromReference({.text = turned.text()}), "");
}

} // namespace
