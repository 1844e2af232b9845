//===- PartsTest.cpp - kernels whose results are put together from parts ---------------------------===//
// Loops over what is concatenated or padded are cut at the places where parts meet (IndexBoxes.h). Each case
// is a group of its own, so that it is one kernel for certain.
#include "ProgramHarness.h"
#include "RowsOf.h"
#include "gtest/gtest.h"

using namespace tokamak;
using namespace tokamak::test;

namespace {

std::string tensor(llvm::ArrayRef<int64_t> shape, const std::string &element = "f32") {
  std::string text = "tensor<";
  for (int64_t extent : shape)
    text += std::to_string(extent) + "x";
  return text + element + ">";
}

/// A group of `arguments` (%a, %b, ... of those types) with that body, which yields `yielded`.
std::string group(llvm::ArrayRef<std::string> arguments, const std::string &body, const std::string &yielded,
                  const std::string &type) {
  std::string outer, inner, names, types;
  for (auto [i, argument] : llvm::enumerate(arguments)) {
    const std::string comma = i ? ", " : "", letter(1, static_cast<char>('a' + i));
    outer += comma + "%o_" + letter + ": " + argument, inner += comma + "%" + letter + ": " + argument;
    names += comma + "%o_" + letter, types += comma + argument;
  }
  const bool isOne = type.find(", ") == std::string::npos;
  std::string results;
  for (size_t i = 0; i <= static_cast<size_t>(std::count(yielded.begin(), yielded.end(), ',')); ++i)
    results += (i ? ", %g#" : "%g#") + std::to_string(i);
  const auto count = std::to_string(std::count(yielded.begin(), yielded.end(), ',') + 1);
  return "func.func @main(" + outer + ") -> " + (isOne ? type : "(" + type + ")") + " {\n%g:" + count +
         " = tk.fusion \"g\"(" + names + ") {\n^bb0(" + inner + "):\n" + body + "tk.yield " + yielded +
         " : " + type + "\n} : (" + types + ") -> (" + type + ")\nreturn " + results + " : " + type + "\n}";
}

std::string unary(const std::string &name, const std::string &operation, const std::string &x,
                  const std::string &type) {
  return name + " = tk." + operation + " " + x + " : (" + type + ") -> " + type + "\n";
}

/// |a|, -b, exp(c), d, ... side by side along `axis`, each of its own extent there; the last operator of the
/// group is tanh.
std::string concatenation(llvm::SmallVector<int64_t> shape, size_t axis, llvm::ArrayRef<int64_t> extents,
                          const std::string &element = "f32") {
  const std::string operations[] = {"abs", "neg", "exp"};
  std::vector<std::string> types;
  std::string body, names, operands;
  int64_t sum = 0;
  for (auto [i, extent] : llvm::enumerate(extents)) {
    shape[axis] = extent, sum += extent;
    types.push_back(tensor(shape, element));
    const std::string letter = "%" + std::string(1, static_cast<char>('a' + i)), comma = i ? ", " : "";
    if (i % 4 < 3)
      body += unary(letter + "p", operations[i % 4], letter, types.back());
    names += comma + (i % 4 < 3 ? letter + "p" : letter), operands += comma + types.back();
  }
  shape[axis] = sum;
  const std::string whole = tensor(shape, element);
  body += "%z = tk.concat " + names + " {axis = " + std::to_string(axis) + " : i64} : (" + operands +
          ") -> " + whole + "\n" + unary("%t", "tanh", "%z", whole);
  return group(types, body, "%t", whole);
}

void expectSame(const std::string &text, FusionMode fusion = FusionMode::Dominator) {
  for (const char *cpu : {"native", "x86-64-v3"}) {
    ProgramCase test{.text = text, .cpu = cpu, .fusion = fusion};
    EXPECT_EQ(differenceFromReference(test), "") << cpu << "\n" << text;
  }
}

TEST(Parts, OfEveryAxisAndExtent) {
  expectSame(concatenation({0}, 0, {40, 1, 17, 64}));
  expectSame(concatenation({0, 20}, 0, {3, 5, 1}));
  expectSame(concatenation({9, 0}, 1, {3, 16, 33}));
  expectSame(concatenation({300, 0}, 1, {64, 64}));
  expectSame(concatenation({2, 0, 5, 7}, 1, {24, 8, 40}));
  expectSame(concatenation({2, 3, 0, 7}, 2, {4, 4}));
  expectSame(concatenation({70, 3, 0}, 2, {40, 50}));
  expectSame(concatenation({0, 5000}, 0, {2, 3})); // several tasks a part
}

TEST(Parts, OfNoElement) {
  expectSame(concatenation({0}, 0, {40, 0, 17, 0}));
  expectSame(concatenation({0, 4}, 1, {4, 4}));
}

TEST(Parts, OfOtherTypes) {
  expectSame(concatenation({0}, 0, {4000, 60}, "f16"));
  expectSame(concatenation({7, 0}, 1, {33, 50}, "f64"));
}

TEST(Parts, ManySmallOnes) {
  llvm::SmallVector<int64_t> extents;
  for (int64_t i = 0; i < 19; ++i)
    extents.push_back(i % 5 * 300);
  expectSame(concatenation({0}, 0, extents));
}

TEST(Parts, BlockedChannelsThatMeetWithinABlock) {
  // Between convolutions the concatenation is blocked: 24 and 40 channels, of 16 or 8 lanes, and a ragged
  // rest.
  const std::string x = tensor({1, 24, 9, 9}), y = tensor({1, 43, 9, 9}), both = tensor({1, 67, 9, 9}),
                    w = tensor({8, 67, 1, 1}), z = tensor({1, 8, 9, 9}), v = tensor({43, 24, 1, 1});
  const std::string attributes =
      " {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = "
      "array<i64: 0, 0>, group = 1 : i64} : (";
  expectSame("func.func @main(%x: " + x + ", %w: " + w + ", %v: " + v + ") -> (" + both + ", " + z + ") {\n" +
             "%y = tk.conv %x, %v" + attributes + x + ", " + v + ") -> " + y + "\n" +
             unary("%a", "abs", "%x", x) + unary("%b", "neg", "%y", y) +
             "%c = tk.concat %a, %b {axis = 1 : i64} : (" + x + ", " + y + ") -> " + both + "\n" +
             unary("%d", "exp", "%c", both) + "%z = tk.conv %d, %w" + attributes + both + ", " + w + ") -> " +
             z + "\nreturn %d, %z : " + both + ", " + z + "\n}");
}

TEST(Parts, PaddedWithSomethingComputed) {
  const std::string x = tensor({40, 100}), scalar = tensor({}), whole = tensor({43, 105});
  expectSame(group({x, scalar},
                   unary("%e", "exp", "%a", x) + unary("%v", "neg", "%b", scalar) +
                       "%p = tk.pad %e, %v {low = array<i64: 2, 1>, high = array<i64: 1, 4>} : (" + x + ", " +
                       scalar + ") -> " + whole + "\n",
                   "%p", whole));
}

TEST(Parts, NoMaskInsideThem) {
  auto target = llvm::cantFail(TargetDescription::forCpu("x86-64-v3"));
  const std::string assembly = assemblyOf(concatenation({0}, 0, {4096, 4096, 4096, 4096}), target);
  EXPECT_EQ(assembly.find("vmaskmov"), std::string::npos);
}

TEST(Parts, AReshapeAtTheEndMovesNothing) {
  // [64, 20] to [40, 32]: no axis of the one is made of axes of the other.
  const std::string x = tensor({20, 64}), turned = tensor({64, 20}), last = tensor({40, 32});
  const std::string body = "%t = tk.transpose %a {permutation = array<i64: 1, 0>} : (" + x + ") -> " +
                           turned + "\n" + unary("%n", "neg", "%t", turned) +
                           "%r = tk.reshape %n {shape = array<i64: 40, 32>} : (" + turned + ") -> " + last +
                           "\n";
  expectSame(group({x}, body, "%r", last));
  expectSame(group({x}, body, "%r, %n", last + ", " + turned));
}

TEST(Parts, AReshapeIntoBlockedChannels) {
  // Tokens to an image that a depthwise convolution reads, which has it blocked: 24 channels, a ragged block.
  const std::string x = tensor({1, 81, 24}), turned = tensor({1, 24, 81}), image = tensor({1, 24, 9, 9}),
                    w = tensor({24, 1, 3, 3});
  const std::string body = "%t = tk.transpose %a {permutation = array<i64: 0, 2, 1>} : (" + x + ") -> " +
                           turned + "\n%n = tk.neg %t : (" + turned + ") -> " + turned +
                           "\n%r = tk.reshape %n {shape = array<i64: 1, 24, 9, 9>} : (" + turned + ") -> " +
                           image + "\n";
  std::string text = group({x}, body, "%r", image);
  text.insert(text.find('(') + 1, "%w: " + w + ", ");
  text.replace(
      text.rfind("return"), std::string::npos,
      "%y = tk.fusion \"c\"(%g#0, %w) {\n^bb0(%i: " + image + ", %v: " + w +
          "):\n%c = tk.conv %i, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = "
          "array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 24 : i64} : (" +
          image + ", " + w + ") -> " + image + "\ntk.yield %c : " + image + "\n} : (" + image + ", " + w +
          ") -> (" + image + ")\nreturn %y : " + image + "\n}");
  expectSame(text);
}

TEST(Parts, AReshapeOfAnArgumentIsCopied) {
  const std::string x = tensor({20, 64}), last = tensor({40, 32});
  expectSame(group({x}, "%r = tk.reshape %a {shape = array<i64: 40, 32>} : (" + x + ") -> " + last + "\n",
                   "%r", last));
}

} // namespace
