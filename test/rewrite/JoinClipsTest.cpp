//===- JoinClipsTest.cpp - minima and maxima before and after, by value -------------------------===//
#include "PassTest.h"

using namespace tokamak;

namespace {
/// The operators of `chain`, from the first applied, each with its constant: y = chain(x).
std::string chainOf(const std::vector<std::pair<std::string, std::string>> &chain) {
  std::string text = "func.func @main(%x: $T) -> $T {\n", last = "%x";
  for (const auto &[op, constant] : chain) {
    const std::string next = last + "_";
    text += next + "c = tk.constant dense<" + constant + "> : $S\n" + next + " = tk." + op + " " + last +
            ", " + next + "c : ($T, $S) -> $T\n";
    last = next;
  }
  return text + "return " + last + " : $T\n}";
}

struct JoinClipsTest : PassTest {};
} // namespace

TEST_F(JoinClipsTest, JoinsChains) {
  const std::vector<std::vector<std::pair<std::string, std::string>>> chains = {
      {{"max", "0.0"}, {"max", "-0.0"}},
      {{"min", "1.0"}, {"min", "3.0"}, {"min", "-2.0"}},
      {{"max", "0.0"}, {"min", "6.0"}, {"max", "0.0"}},
      {{"max", "-1.0"}, {"min", "1.0"}, {"max", "0.0"}, {"min", "6.0"}},
      {{"max", "0.0"}, {"min", "1.0"}, {"max", "2.0"}, {"min", "3.0"}}, // disjoint
      {{"max", "3.0"}, {"min", "2.0"}, {"max", "0.0"}, {"min", "1.0"}}, // disjoint the other way, and empty
      {{"min", "0x7F800000"}, {"max", "-1.0"}, {"min", "-0.0"}},
  };
  for (const auto &chain : chains) {
    rewriteTyped(chainOf(chain), "f32", {createJoinClipsPass});
    EXPECT_LE(count(), 2) << chainOf(chain);
    expectEqualOnIntegers();
    expectSameOnSpecialValues();
  }
}

TEST_F(JoinClipsTest, JoinsEveryType) {
  for (llvm::StringRef element : {"f16", "bf16", "f64"}) {
    rewriteTyped(chainOf({{"max", "-1.0"}, {"min", "1.0"}, {"max", "0.0"}, {"min", "6.0"}}), element,
                 {createJoinClipsPass});
    EXPECT_EQ(count(), 2);
    expectEqualOnIntegers();
    expectSameOnSpecialValues();
  }
  for (llvm::StringRef element : {"i8", "ui8", "i64", "ui64"}) {
    rewriteTyped(chainOf({{"max", "10"}, {"min", "100"}, {"max", "20"}, {"min", "90"}}), element,
                 {createJoinClipsPass});
    EXPECT_EQ(count(), 2);
    expectEqualOnWrappingIntegers();
  }
}

TEST_F(JoinClipsTest, JoinsNaNBounds) {
  const std::string nan = "0x7FC00000";
  const std::vector<std::vector<std::pair<std::string, std::string>>> chains = {
      {{"max", nan}, {"max", "1.0"}},
      {{"min", "1.0"}, {"min", nan}},
      {{"max", nan}, {"min", "6.0"}, {"max", "0.0"}},
      {{"max", "0.0"}, {"min", nan}, {"max", "0.0"}},
      {{"min", "6.0"}, {"max", "0.0"}, {"min", nan}},
  };
  for (const auto &chain : chains) {
    rewriteTyped(chainOf(chain), "f32", {createJoinClipsPass});
    EXPECT_LT(count(), static_cast<int64_t>(chain.size())) << chainOf(chain);
    expectSameOnSpecialValues();
  }
}

TEST_F(JoinClipsTest, LeavesSharedValues) {
  rewriteTyped(R"(func.func @main(%x: $T) -> ($T, $T) {
    %a = tk.constant dense<3.0> : $S
    %0 = tk.max %x, %a : ($T, $S) -> $T
    %1 = tk.max %0, %a : ($T, $S) -> $T
    return %0, %1 : $T, $T
  })",
               "f32", {createJoinClipsPass});
  EXPECT_EQ(count("max"), 2);
}

TEST_F(JoinClipsTest, DropsReluOfWhatIsNeverNegative) {
  const std::string text = R"(func.func @main(%x: $T) -> $T {
    %a = tk.constant dense<ZERO> : $S
    %0 = tk.OP %x, %x : ($T, $T) -> $T
    %1 = tk.max %0, %a : ($T, $S) -> $T
    %2 = tk.abs %1 : ($T) -> $T
    return %2 : $T
  })";
  auto relu = [&](llvm::StringRef op, llvm::StringRef zero) {
    std::string filled = text;
    filled.replace(filled.find("OP"), 2, op.str());
    filled.replace(filled.find("ZERO"), 4, zero.str());
    rewriteTyped(filled, "f32", {createJoinClipsPass});
    expectSameOnSpecialValues();
  };
  relu("mul", "0.0");
  EXPECT_EQ(count(), 1);
  relu("mul", "-0.0");
  EXPECT_EQ(count(), 1);
  relu("mul", "1.0"); // no relu
  EXPECT_EQ(count("max"), 1);
  relu("add", "-0.0"); // may be negative
  EXPECT_EQ(count("max"), 1);
  EXPECT_EQ(count("abs"), 1);
}
