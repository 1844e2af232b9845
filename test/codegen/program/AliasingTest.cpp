//===- AliasingTest.cpp - no buffer is written while somebody still needs what is in it ------------===//
// Intermediate values share one arena, concatenations are computed in place, slices are read where they lie,
// and carried values of a loop live in its results. Each case keeps a value over steps that would like its
// memory, and reads it late. The arena is tight: each case also says that memory was in fact used anew.
#include "ProgramHarness.h"
#include "ir/Tk.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace tokamak;
using namespace tokamak::test;

namespace {

/// Lines of text that make @main(%x) step by step. A running sum is opaque, so each value is a buffer in
/// every mode of fusion.
class Steps {
public:
  explicit Steps(const std::string &type = "tensor<8x16xi32>") : type(type) {}
  /// A value of the type of all that depends on every element of `from` before it.
  std::string sum(const std::string &from) {
    return line("tk.cumsum " + from + " {axis = 0 : i64, exclusive = false, reverse = false} : (" + type +
                ") -> " + type);
  }
  /// As many sums in a row: buffers that come and go.
  std::string sums(std::string from, int count) {
    for (int i = 0; i < count; ++i)
      from = sum(from);
    return from;
  }
  std::string binary(const std::string &op, const std::string &a, const std::string &b) {
    return line("tk." + op + " " + a + ", " + b + " : (" + type + ", " + type + ") -> " + type);
  }
  std::string line(const std::string &operation) {
    std::string name = "%v" + std::to_string(count++);
    body += "  " + name + " = " + operation + "\n";
    return name;
  }
  void raw(const std::string &text) { body += text; }
  std::string program(const std::string &results, const std::string &types = "") const {
    const std::string list = types.empty() ? type : types;
    return "func.func @main(%x: " + type + ") -> (" + list + ") {\n" + body + "  return " + results + " : " +
           list + "\n}";
  }
  int values() const { return count; }

private:
  std::string type, body;
  int count = 0;
};

/// The same as the evaluator, whatever fuses, on one thread and on two.
void expectSame(const std::string &text) {
  for (FusionMode fusion : {FusionMode::None, FusionMode::Dominator, FusionMode::Full})
    EXPECT_EQ(differenceFromReference({.text = text, .exact = true, .fusion = fusion}), "")
        << static_cast<int>(fusion) << "\n"
        << text;
}

/// Bytes of the arena without fusion.
int64_t arenaBytes(const std::string &text) {
  auto context = makeContext();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, context.get());
  auto program = TestProgram::compile(*module, FusionMode::None, "native");
  EXPECT_TRUE(static_cast<bool>(program));
  return program ? (*program)->code().arenaBytes : 0;
}

constexpr int64_t valueBytes = 8 * 16 * 4;

TEST(Aliasing, ResidualReadAfterManySteps) {
  Steps steps;
  std::string kept = steps.sum("%x"), last = steps.sums(kept, 6);
  std::string text = steps.program(steps.sum(steps.binary("add", last, kept)));
  expectSame(text);
  EXPECT_LE(arenaBytes(text), 4 * valueBytes) << "memory is used anew, or this proves nothing";
}

TEST(Aliasing, ResidualReadThroughAReshape) {
  // Only the reshape of the value is read late, as it is shaped.
  Steps steps;
  const std::string flat = "tensor<128xi32>";
  auto flattened = [&](const std::string &value) {
    return steps.line("tk.reshape " + value + " {shape = array<i64: 128>} : (tensor<8x16xi32>) -> " + flat);
  };
  std::string kept = steps.sum("%x"), keptFlat = flattened(kept), last = flattened(steps.sums(kept, 6));
  std::string total =
      steps.line("tk.sub " + last + ", " + keptFlat + " : (" + flat + ", " + flat + ") -> " + flat);
  std::string text = steps.program(total, flat);
  expectSame(text);
  EXPECT_LE(arenaBytes(text), 4 * valueBytes);
}

TEST(Aliasing, SliceReadWhereItLies) {
  // Rows 2 to 6 are a view; nothing else reads the whole any more.
  Steps steps;
  std::string kept = steps.sum("%x");
  std::string rows = steps.line("tk.slice " + kept +
                                " {starts = array<i64: 2, 0>, sizes = array<i64: 4, 16>, steps = array<i64: "
                                "1, 1>} : (tensor<8x16xi32>) -> tensor<4x16xi32>");
  std::string last = steps.sums("%x", 6);
  std::string head = steps.line("tk.slice " + last +
                                " {starts = array<i64: 0, 0>, sizes = array<i64: 4, 16>, steps = array<i64: "
                                "1, 1>} : (tensor<8x16xi32>) -> tensor<4x16xi32>");
  std::string total = steps.line("tk.add " + rows + ", " + head +
                                 " : (tensor<4x16xi32>, tensor<4x16xi32>) -> tensor<4x16xi32>");
  std::string text = steps.program(total, "tensor<4x16xi32>");
  expectSame(text);
  EXPECT_LE(arenaBytes(text), 4 * valueBytes);
}

TEST(Aliasing, PartsOfAConcatenationAreComputedEarly) {
  // The first part stands in the result's memory long before the last one, and is read once more afterwards.
  Steps steps;
  std::string first = steps.sum("%x"), last = steps.sums("%x", 6);
  std::string whole =
      steps.line("tk.concat " + first + ", " + last +
                 " {axis = 0 : i64} : (tensor<8x16xi32>, tensor<8x16xi32>) -> tensor<16x16xi32>");
  std::string all = steps.line(
      "tk.cumsum " + whole +
      " {axis = 0 : i64, exclusive = false, reverse = false} : (tensor<16x16xi32>) -> tensor<16x16xi32>");
  std::string later = steps.sums(last, 4);
  std::string total = steps.binary("add", first, later);
  std::string text = steps.program(all + ", " + total, "tensor<16x16xi32>, tensor<8x16xi32>");
  expectSame(text);
  EXPECT_LE(arenaBytes(text), 6 * valueBytes);
}

TEST(Aliasing, ConcatenationOutlivedByItsPart) {
  // Nobody reads the whole after its sum, but its second part is read at the very end.
  Steps steps;
  std::string first = steps.sums("%x", 2), second = steps.sum(first);
  std::string whole =
      steps.line("tk.concat " + first + ", " + second +
                 " {axis = 0 : i64} : (tensor<8x16xi32>, tensor<8x16xi32>) -> tensor<16x16xi32>");
  std::string all = steps.line(
      "tk.cumsum " + whole +
      " {axis = 0 : i64, exclusive = true, reverse = false} : (tensor<16x16xi32>) -> tensor<16x16xi32>");
  std::string head = steps.line("tk.slice " + all +
                                " {starts = array<i64: 8, 0>, sizes = array<i64: 8, 16>, steps = array<i64: "
                                "1, 1>} : (tensor<16x16xi32>) -> tensor<8x16xi32>");
  std::string last = steps.sums(head, 6);
  std::string text = steps.program(steps.sum(steps.binary("sub", last, second)));
  expectSame(text);
  EXPECT_LE(arenaBytes(text), 6 * valueBytes);
}

TEST(Aliasing, OutputReadAfterwards) {
  // A result of the program is a residual of a later one; the third is the second again.
  Steps steps;
  std::string first = steps.sum("%x"), last = steps.sums(first, 3);
  std::string second = steps.sum(steps.binary("add", last, first));
  const std::string type = "tensor<8x16xi32>";
  expectSame(steps.program(first + ", " + second + ", " + second + ", %x",
                           type + ", " + type + ", " + type + ", " + type));
}

/// Four iterations over two carried values, %a and %b in `body`, which computes what is carried on.
std::string loop(const std::string &body, const std::string &next, const std::string &typeOfB) {
  const std::string type = "tensor<8x16xi32>", types = type + ", " + typeOfB;
  return "func.func @main(%x: " + type + ", %y: " + typeOfB + ") -> (" + types + R"() {
  %limit = tk.constant dense<4> : tensor<i64>
  %kept = tk.cumsum %x {axis = 1 : i64, exclusive = false, reverse = false} : (tensor<8x16xi32>) -> tensor<8x16xi32>
  %r:2 = tk.loop limit(%limit : tensor<i64>) carry(%x, %y) trips 0 {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %a: )" +
         type + ", %b: " + typeOfB + "):\n" + body + "    tk.yield %go, " + next + " : tensor<i1>, " + types +
         "\n  } : (" + types + ") -> (" + types + ")\n  return %r#0, %r#1 : " + types + "\n}";
}

TEST(Aliasing, CarriedValuesChangePlaces) {
  expectSame(loop("", "%b, %a", "tensor<8x16xi32>"));
  expectSame(loop(R"(
    %s = tk.cumsum %b {axis = 0 : i64, exclusive = false, reverse = false} : (tensor<8x16xi32>) -> tensor<8x16xi32>
)",
                  "%s, %a", "tensor<8x16xi32>"));
}

TEST(Aliasing, ConditionThatIsWhatACarriedValueWas) {
  // The second iteration is the last: its condition is false. Before it, %done was overwritten.
  expectSame(R"(
    func.func @main(%x: tensor<4xi32>) -> (tensor<i1>, tensor<i1>) {
      %limit = tk.constant dense<5> : tensor<i64>
      %yes = tk.constant dense<true> : tensor<i1>
      %zero = tk.constant dense<0> : tensor<4xi32>
      %differs = tk.compare %x, %x {predicate = #tk.predicate<lt>} : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
      %first = tk.slice %differs {starts = array<i64: 0>, sizes = array<i64: 1>, steps = array<i64: 1>} : (tensor<4xi1>) -> tensor<1xi1>
      %no = tk.reshape %first {shape = array<i64>} : (tensor<1xi1>) -> tensor<i1>
      %r:2 = tk.loop limit(%limit : tensor<i64>) carry(%yes, %yes) trips 0 {
      ^bb0(%i: tensor<i64>, %go: tensor<i1>, %done: tensor<i1>, %before: tensor<i1>):
        tk.yield %done, %no, %done : tensor<i1>, tensor<i1>, tensor<i1>
      } : (tensor<i1>, tensor<i1>) -> (tensor<i1>, tensor<i1>)
      return %r#0, %r#1 : tensor<i1>, tensor<i1>
    })");
}

TEST(Aliasing, CarriedValueThatIsAPartOfAnother) {
  // What %b becomes is read before %a is overwritten.
  expectSame(loop(R"(
    %s = tk.cumsum %a {axis = 0 : i64, exclusive = false, reverse = false} : (tensor<8x16xi32>) -> tensor<8x16xi32>
    %p = tk.slice %a {starts = array<i64: 4, 0>, sizes = array<i64: 4, 16>, steps = array<i64: 1, 1>} : (tensor<8x16xi32>) -> tensor<4x16xi32>
)",
                  "%s, %p", "tensor<4x16xi32>"));
}

TEST(Aliasing, OuterValueReadInEveryIteration) {
  // The steps behind its only reader must not take its memory: the next iteration reads it again.
  expectSame(loop(R"(
    %m = tk.add %a, %kept : (tensor<8x16xi32>, tensor<8x16xi32>) -> tensor<8x16xi32>
    %s = tk.cumsum %m {axis = 0 : i64, exclusive = false, reverse = false} : (tensor<8x16xi32>) -> tensor<8x16xi32>
    %t = tk.cumsum %s {axis = 1 : i64, exclusive = true, reverse = false} : (tensor<8x16xi32>) -> tensor<8x16xi32>
    %u = tk.cumsum %t {axis = 0 : i64, exclusive = false, reverse = true} : (tensor<8x16xi32>) -> tensor<8x16xi32>
)",
                  "%u, %s", "tensor<8x16xi32>"));
}

TEST(Aliasing, ResidualOfConvolutionsInBlockedMemory) {
  // Two residuals in flight: the block input, and the part of a concatenation that is computed in place.
  const std::string geometry =
      "{strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, "
      "pads_high = array<i64: 1, 1>, group = 1 : i64}";
  std::string body, last = "%x",
                    types = "(tensor<1x16x9x9xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x9x9xf32>";
  for (int i = 0; i < 6; ++i) {
    const std::string name = "%c" + std::to_string(i);
    body += name + " = tk.conv " + last + ", %w " + geometry + " : " + types + "\n";
    last = name;
  }
  std::string text =
      "func.func @main(%x: tensor<1x16x9x9xf32>) -> tensor<1x16x9x9xf32> {\n%w = tk.constant dense<1.0> : "
      "tensor<16x16x3x3xf32>\n" +
      body + R"(
  %j = tk.concat %c0, %c4 {axis = 1 : i64} : (tensor<1x16x9x9xf32>, tensor<1x16x9x9xf32>) -> tensor<1x32x9x9xf32>
  %v = tk.constant dense<1.0> : tensor<16x32x1x1xf32>
  %k = tk.conv %j, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x32x9x9xf32>, tensor<16x32x1x1xf32>) -> tensor<1x16x9x9xf32>
  %m = tk.add %c5, %k : (tensor<1x16x9x9xf32>, tensor<1x16x9x9xf32>) -> tensor<1x16x9x9xf32>
  %r = tk.add %m, %c1 : (tensor<1x16x9x9xf32>, tensor<1x16x9x9xf32>) -> tensor<1x16x9x9xf32>
  return %r : tensor<1x16x9x9xf32>
})";
  for (FusionMode fusion : {FusionMode::None, FusionMode::Dominator, FusionMode::Full})
    EXPECT_EQ(differenceFromReference({.text = text, .fusion = fusion}), "") << static_cast<int>(fusion);
}

} // namespace
