//===- ReduceStrengthTest.cpp - powers and quotients before and after, by value ----------------===//
#include "PassTest.h"

using namespace tokamak;

namespace {
struct ReduceStrengthTest : PassTest {
  /// y = `op` of %x and a constant.
  void reduce(const std::string &op, const std::string &constant, llvm::StringRef element = "f32",
              const std::string &of = "") {
    rewriteTyped("func.func @main(%x: $T) -> $T {\n%c = tk.constant dense<" + constant + "> : $S\n" + of +
                     "%y = tk." + op + (of.empty() ? " %x" : " %z") +
                     ", %c : ($T, $S) -> $T\nreturn %y : $T\n}",
                 element, {createReduceStrengthPass});
  }
};
} // namespace

TEST_F(ReduceStrengthTest, Powers) {
  for (const char *exponent : {"0.0", "-0.0", "1.0", "2.0", "3.0", "-1.0"}) {
    SCOPED_TRACE(exponent);
    reduce("pow", exponent);
    EXPECT_EQ(count("pow"), 0);
    expectEqualOnIntegers();
    expectClose(1e-6);
    expectSameOnSpecialValues();
  }
}

TEST_F(ReduceStrengthTest, RootsOfWhatIsNeverNegative) {
  for (const char *exponent : {"0.5", "-0.5"})
    for (const char *of : {"%z = tk.mul %x, %x : ($T, $T) -> $T\n", "%z = tk.abs %x : ($T) -> $T\n",
                           "%z = tk.exp %x : ($T) -> $T\n"}) {
      SCOPED_TRACE(exponent + std::string(" of ") + of);
      reduce("pow", exponent, "f32", of);
      EXPECT_EQ(count("pow"), 0);
      EXPECT_EQ(count("sqrt"), 1);
      expectClose(1e-6);
      expectSameOnSpecialValues();
    }
}

TEST_F(ReduceStrengthTest, PowersThatStay) {
  struct {
    const char *exponent, *element;
  } const cases[] = {
      {"0.5", "f32"},                                                          // of -inf and -0
      {"-0.5", "f32"},  {"4.0", "f32"}, {"2.5", "f32"}, {"0x7FC00000", "f32"}, // NaN
      {"3.0", "f16"},                                                          // the square would round
      {"-1.0", "bf16"},
  };
  for (const auto &each : cases) {
    SCOPED_TRACE(std::string(each.exponent) + " in " + each.element);
    reduce("pow", each.exponent, each.element);
    EXPECT_EQ(count("pow"), 1);
  }
  reduce("pow", "2", "i32"); // in double, truncated
  EXPECT_EQ(count("pow"), 1);
}

TEST_F(ReduceStrengthTest, Quotients) {
  for (const char *divisor : {"6.0", "-0.3", "8.0", "1.0e30", "-1.0e-30"}) {
    SCOPED_TRACE(divisor);
    reduce("div", divisor);
    EXPECT_EQ(count("mul"), 1);
    EXPECT_EQ(count("div"), 0);
    expectClose(1e-6);
    expectSameOnSpecialValues();
  }
  for (const char *element : {"f16", "bf16"}) {
    reduce("div", "-8.0", element);
    EXPECT_EQ(count("div"), 0);
    expectEqualOnIntegers();
    expectSameOnSpecialValues(Largest::LeftOut);
  }
}

TEST_F(ReduceStrengthTest, QuotientsThatStay) {
  struct {
    const char *divisor, *element;
  } const cases[] = {
      {"0.0", "f32"},     {"0x7F800000", "f32"}, {"0x7FC00000", "f32"}, {"1.0e-40", "f32"}, // no reciprocal
      {"3.0e38", "f32"},                                                                    // a subnormal one
      {"3.0", "f16"},     {"6.0", "bf16"},                                                  // inexact
      {"65504.0", "f16"},
  };
  for (const auto &each : cases) {
    SCOPED_TRACE(std::string(each.divisor) + " in " + each.element);
    reduce("div", each.divisor, each.element);
    EXPECT_EQ(count("div"), 1);
  }
  reduce("div", "4", "i32");
  EXPECT_EQ(count("div"), 1);
  // The constant is the dividend.
  rewriteTyped("func.func @main(%x: $T) -> $T {\n%c = tk.constant dense<2.0> : $S\n"
               "%y = tk.div %c, %x : ($S, $T) -> $T\nreturn %y : $T\n}",
               "f32", {createReduceStrengthPass});
  EXPECT_EQ(count("div"), 1);
}

TEST_F(ReduceStrengthTest, DividesByARootOnceARow) {
  const std::string text = R"(func.func @main(%x: tensor<2x3xf32>, %v: tensor<2x1xf32>) -> tensor<2x3xf32> {
    %0 = tk.sqrt %v : (tensor<2x1xf32>) -> tensor<2x1xf32>
    %1 = tk.div %x, %0 : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
    return %1 : tensor<2x3xf32>
  })";
  rewrite(text, {createReduceStrengthPass});
  EXPECT_EQ(count("mul"), 1);
  EXPECT_EQ(count("div"), 1);
  expectSameOnSpecialValues();
}

TEST_F(ReduceStrengthTest, Signs) {
  for (llvm::StringRef element : {"f32", "f16", "i8"})
    for (const char *body : {"%y = tk.add %x, %n : ($T, $T) -> $T", "%y = tk.add %n, %x : ($T, $T) -> $T",
                             "%y = tk.sub %x, %n : ($T, $T) -> $T"}) {
      SCOPED_TRACE(element.str() + ": " + body);
      rewriteTyped("func.func @main(%x: $T, %z: $T) -> $T {\n%n = tk.neg %z : ($T) -> $T\n" +
                       std::string(body) + "\nreturn %y : $T\n}",
                   element, {createReduceStrengthPass});
      EXPECT_EQ(count("neg"), 0);
      expectEqualOnIntegers();
      if (element != "i8")
        expectSameOnSpecialValues();
      else
        expectEqualOnWrappingIntegers();
    }
}
