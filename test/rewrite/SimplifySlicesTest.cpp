//===- SimplifySlicesTest.cpp - random chains of slices and concatenations, by value ------------===//
#include "PassTest.h"
#include <random>

using namespace tokamak;

namespace {

struct SimplifySlicesTest : PassTest {};

/// A graph that slices, concatenates and pads values of one type along one of two axes, at random.
class Chains {
public:
  explicit Chains(unsigned seed) : random(seed) {}

  std::string text() {
    values = {{"%x", {4, 3}}, {"%y", {2, 3}}, {"%z", {4, 5}}};
    std::string body;
    for (int i = 0; i < 8; ++i)
      body += step("%v" + std::to_string(i));
    const Value &last = values.back();
    return "func.func @main(%x: tensor<4x3xi16>, %y: tensor<2x3xi16>, %z: tensor<4x5xi16>) -> " +
           last.type() + " {\n%c = tk.constant dense<7> : tensor<i16>\n" + body + "return " + last.name +
           " : " + last.type() + "\n}";
  }

private:
  struct Value {
    std::string name;
    std::vector<int> shape;
    std::string type() const {
      return "tensor<" + std::to_string(shape[0]) + "x" + std::to_string(shape[1]) + "xi16>";
    }
  };
  int upTo(int n) { return std::uniform_int_distribution<int>(0, n)(random); }
  static std::string array(const std::vector<int> &numbers) {
    return "array<i64: " + std::to_string(numbers[0]) + ", " + std::to_string(numbers[1]) + ">";
  }

  std::string step(const std::string &name) {
    const Value from =
        values[values.size() - 1 - static_cast<size_t>(upTo(static_cast<int>(values.size()) - 1))];
    switch (upTo(4)) {
    case 0: {
      const std::vector<int> low = {upTo(1), upTo(2)}, high = {upTo(2), upTo(1)};
      values.push_back({name, {from.shape[0] + low[0] + high[0], from.shape[1] + low[1] + high[1]}});
      return name + " = tk.pad " + from.name + ", %c {low = " + array(low) + ", high = " + array(high) +
             "} : (" + from.type() + ", tensor<i16>) -> " + values.back().type() + "\n";
    }
    case 1:
    case 2: {
      std::vector<int> starts, sizes, steps;
      for (int extent : from.shape) {
        const int step = extent == 0 ? 1 : std::vector<int>{1, 1, 2, -1}[static_cast<size_t>(upTo(3))];
        const int start = extent == 0 ? 0 : upTo(extent - 1);
        const int room = extent == 0 ? 0 : step < 0 ? start + 1 : (extent - 1 - start) / step + 1;
        starts.push_back(start);
        sizes.push_back(room - (room > 1 ? upTo(room - 1) : 0));
        steps.push_back(step);
      }
      values.push_back({name, sizes});
      return name + " = tk.slice " + from.name + " {starts = " + array(starts) + ", sizes = " + array(sizes) +
             ", steps = " + array(steps) + "} : (" + from.type() + ") -> " + values.back().type() + "\n";
    }
    default:
      return concat(name, from);
    }
  }

  std::string concat(const std::string &name, const Value &first) {
    const auto axis = static_cast<size_t>(upTo(1));
    std::string operands = first.name, types = first.type();
    std::vector<int> shape = first.shape;
    for (const Value &other : values)
      if (other.shape[1 - axis] == shape[1 - axis] && upTo(1) && shape[axis] < 12) {
        operands += ", " + other.name;
        types += ", " + other.type();
        shape[axis] += other.shape[axis];
      }
    values.push_back({name, shape});
    return name + " = tk.concat " + operands + " {axis = " + std::to_string(axis) + " : i64} : (" + types +
           ") -> " + values.back().type() + "\n";
  }

  std::mt19937 random;
  std::vector<Value> values;
};

} // namespace

TEST_F(SimplifySlicesTest, RandomChains) {
  int64_t simplified = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    const std::string text = Chains(seed).text();
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + text);
    rewrite(text, {createEliminateDeadCodePass});
    const int64_t before = count();
    rewrite(text, {createEliminateDeadCodePass, createSimplifySlicesPass});
    simplified += count() < before;
    expectEqualOnWrappingIntegers();
    if (HasFatalFailure())
      return;
  }
  EXPECT_GT(simplified, 100);
}

// Code for a concatenation asks part after part: a long chain does not become one with hundreds of parts.
TEST_F(SimplifySlicesTest, LongChains) {
  std::string text = "func.func @main(%x: tensor<1xi16>) -> tensor<201xi16> {\n", last = "%x",
              type = "tensor<1xi16>";
  for (int i = 2; i <= 201; ++i) {
    const std::string next = "%v" + std::to_string(i), longer = "tensor<" + std::to_string(i) + "xi16>";
    text += next + " = tk.concat " + last + ", %x {axis = 0 : i64} : (" + type + ", tensor<1xi16>) -> " +
            longer + "\n";
    last = next;
    type = longer;
  }
  rewrite(text + "return " + last + " : " + type + "\n}", {createSimplifySlicesPass});
  EXPECT_LE(count(), 200 / 60 + 1);
  EXPECT_GE(count(), 200 / 64);
  expectEqualOnWrappingIntegers();
}
