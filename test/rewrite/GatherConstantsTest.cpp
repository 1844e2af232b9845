//===- GatherConstantsTest.cpp - chains of constants before and after, by value ----------------===//
#include "PassTest.h"

using namespace tokamak;

namespace {
struct GatherConstantsTest : PassTest {
  /// y = `body` of %x : $T with the constants %a and %b : $S.
  void gather(const std::string &body, const std::string &a, const std::string &b,
              llvm::StringRef element = "f32") {
    rewriteTyped("func.func @main(%x: $T) -> $T {\n%a = tk.constant dense<" + a +
                     "> : $S\n%b = tk.constant dense<" + b + "> : $S\n" + body + "\nreturn %y : $T\n}",
                 element, {createGatherConstantsPass});
  }
};

const char *const sum = "%0 = tk.add %x, %a : ($T, $S) -> $T\n%y = tk.add %0, %b : ($T, $S) -> $T";
const char *const product = "%0 = tk.mul %x, %a : ($T, $S) -> $T\n%y = tk.mul %0, %b : ($T, $S) -> $T";
const char *const multiples = "%0 = tk.mul %x, %a : ($T, $S) -> $T\n%1 = tk.mul %x, %b : ($T, $S) -> $T\n"
                              "%y = tk.add %0, %1 : ($T, $T) -> $T";
const char *const oneMore = "%0 = tk.mul %x, %a : ($T, $S) -> $T\n%y = tk.add %0, %x : ($T, $T) -> $T";
const char *const oneBefore = "%0 = tk.mul %x, %a : ($T, $S) -> $T\n%y = tk.add %x, %0 : ($T, $T) -> $T";
} // namespace

TEST_F(GatherConstantsTest, Sums) {
  const char *const sums[] = {
      sum,
      "%0 = tk.sub %x, %a : ($T, $S) -> $T\n%y = tk.add %0, %b : ($T, $S) -> $T",
      "%0 = tk.sub %x, %a : ($T, $S) -> $T\n%y = tk.sub %0, %b : ($T, $S) -> $T",
      "%0 = tk.sub %a, %x : ($S, $T) -> $T\n%y = tk.add %0, %b : ($T, $S) -> $T",
      "%0 = tk.sub %a, %x : ($S, $T) -> $T\n%y = tk.sub %b, %0 : ($S, $T) -> $T",
      "%0 = tk.add %x, %a : ($T, $S) -> $T\n%y = tk.sub %b, %0 : ($S, $T) -> $T",
  };
  for (const char *body : sums)
    for (auto [a, b] : {std::pair("3.0", "5.0"), {"3.0", "-3.0"}, {"0.0", "0.0"}, {"-2.5", "7.0"}}) {
      SCOPED_TRACE(body + std::string(" of ") + a + " and " + b);
      gather(body, a, b);
      // x - 0 is x, and a term -0 does not join.
      EXPECT_LE(count(), a == std::string("0.0") ? 2 : 1);
      expectEqualOnIntegers();
      expectClose(1e-6);
      expectSameOnSpecialValues();
    }
}

TEST_F(GatherConstantsTest, Products) {
  for (auto [a, b] : {std::pair("0.5", "-0.25"), {"3.0", "5.0"}, {"0.125", "6.0"}, {"-1.0", "-0.5"}}) {
    SCOPED_TRACE(std::string(a) + " and " + b);
    gather(product, a, b);
    EXPECT_EQ(count(), 1);
    expectEqualOnIntegers();
    expectClose(1e-6);
    expectSameOnSpecialValues();
  }
}

TEST_F(GatherConstantsTest, SumsOfMultiples) {
  for (auto [a, b] : {std::pair("2.0", "3.0"), {"-0.5", "-4.0"}}) {
    gather(multiples, a, b);
    EXPECT_EQ(count(), 1);
    expectEqualOnIntegers();
    expectClose(1e-6);
    expectSameOnSpecialValues();
  }
  for (const char *body :
       {oneMore, oneBefore, "%0 = tk.add %x, %x : ($T, $T) -> $T\n%y = tk.add %0, %x : ($T, $T) -> $T"}) {
    gather(body, "2.5", "0.0");
    EXPECT_EQ(count(), 1) << body;
    expectEqualOnIntegers();
    expectClose(1e-6);
    expectSameOnSpecialValues();
  }
  gather("%y = tk.add %x, %x : ($T, $T) -> $T", "1.0", "1.0");
  EXPECT_EQ(count("mul"), 1);
  expectSameOnSpecialValues();
}

TEST_F(GatherConstantsTest, Signs) {
  const char *const bodies[] = {
      "%0 = tk.neg %x : ($T) -> $T\n%y = tk.add %0, %a : ($T, $S) -> $T",
      "%0 = tk.neg %x : ($T) -> $T\n%y = tk.sub %a, %0 : ($S, $T) -> $T",
      "%0 = tk.neg %x : ($T) -> $T\n%y = tk.mul %0, %a : ($T, $S) -> $T",
      "%0 = tk.mul %x, %a : ($T, $S) -> $T\n%y = tk.neg %0 : ($T) -> $T",
  };
  for (const char *body : bodies)
    for (const char *a : {"3.0", "0.0", "-0.0"}) {
      SCOPED_TRACE(body);
      gather(body, a, "1.0");
      EXPECT_LE(count(), 1); // none where -0 is an identity
      expectEqualOnIntegers();
      expectSameOnSpecialValues();
    }
}

TEST_F(GatherConstantsTest, TermsOfBothOperands) {
  rewriteTyped(R"(func.func @main(%x: $T, %z: $T) -> $T {
    %a = tk.constant dense<3.0> : $S
    %b = tk.constant dense<[1.0, 2.0, 0.0, 4.0]> : tensor<4xf32>
    %0 = tk.add %x, %a : ($T, $S) -> $T
    %1 = tk.add %z, %b : ($T, tensor<4xf32>) -> $T
    %y = tk.add %0, %1 : ($T, $T) -> $T
    return %y : $T
  })",
               "f32", {createGatherConstantsPass});
  EXPECT_EQ(count("add"), 2);
  expectEqualOnIntegers();
  expectClose(1e-6);
  // The largest number and its negative cancel: within the bound, but not what the other order rounds to.
  expectSameOnSpecialValues(Largest::LeftOut);
}

TEST_F(GatherConstantsTest, IntegersWrap) {
  for (llvm::StringRef element : {"i8", "ui8", "i32", "i64", "ui64"})
    for (const char *body : {sum, product, multiples, oneMore}) {
      SCOPED_TRACE(element.str() + ": " + body);
      gather(body, "100", "77", element);
      EXPECT_EQ(count(), 1);
      expectEqualOnWrappingIntegers();
    }
}

// Never: what would round, overflow or cancel otherwise.
TEST_F(GatherConstantsTest, LeavesWhatIsAnotherFunction) {
  struct {
    const char *body, *a, *b, *element;
  } const cases[] = {
      {sum, "12582912.0", "-12582912.0", "f32"}, // rounds to integers
      {sum, "3.0e38", "-3.0e38", "f32"},         // overflows between
      {sum, "0x7F800000", "1.0", "f32"},         // infinite
      {sum, "-0.0", "-0.0", "f32"},              // the inner one is an identity
      {sum, "3.0", "5.0", "f16"},                // rounds and overflows after each
      {sum, "3.0", "5.0", "bf16"},
      {product, "2.0", "0.5", "f32"}, // overflows between
      {product, "0.0", "2.0", "f32"}, // 0 * inf
      {product, "1.0e-30", "1.0e-30", "f32"},
      {product, "3.0", "5.0", "f16"},
      {multiples, "2.0", "-3.0", "f32"}, // inf - inf
      {multiples, "0.0", "3.0", "f32"},
      {multiples, "3.0", "5.0", "bf16"},
      {oneMore, "-3.0", "0.0", "f32"}, // inf - inf
      {oneMore, "0.0", "0.0", "f32"},
  };
  for (const auto &each : cases) {
    SCOPED_TRACE(std::string(each.body) + " of " + each.a + " and " + each.b + " in " + each.element);
    gather(each.body, each.a, each.b, each.element);
    const bool isMultiple = each.body == multiples, isIdentity = std::string(each.a) == "-0.0";
    EXPECT_EQ(count(), isIdentity ? 0 : isMultiple ? 3 : 2);
    expectSameOnSpecialValues();
  }
}

TEST_F(GatherConstantsTest, LeavesSharedValues) {
  rewriteTyped(R"(func.func @main(%x: $T) -> ($T, $T) {
    %a = tk.constant dense<3.0> : $S
    %0 = tk.add %x, %a : ($T, $S) -> $T
    %1 = tk.add %0, %a : ($T, $S) -> $T
    return %0, %1 : $T, $T
  })",
               "f32", {createGatherConstantsPass});
  EXPECT_EQ(count("add"), 2);
  expectSameOnSpecialValues();
}
