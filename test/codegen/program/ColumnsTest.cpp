//===- ColumnsTest.cpp - reductions over columns: neighbouring vectors side by side ---------------===//
// What a task of columns reads lies whole lines apart, so it takes several vectors of each line. Each case is
// a group of its own, so that it is one kernel for certain.
#include "ProgramHarness.h"
#include "RowsOf.h"
#include "gtest/gtest.h"

using namespace tokamak;
using namespace tokamak::test;

namespace {

/// y = f(x) * mean(f(x)) over the axis before the last of [batch, lines, columns], and the mean.
std::string scaledByMean(int64_t batch, int64_t lines, int64_t columns, const std::string &function,
                         const std::string &type = "f32") {
  const std::string last = "x" + std::to_string(columns) + "x" + type + ">",
                    first = "tensor<" + std::to_string(batch) + "x";
  const std::string wide = first + std::to_string(lines) + last, narrow = first + "1" + last;
  return "func.func @main(%x: " + wide + ") -> (" + wide + ", " + narrow + ") {\n" +
         "%g:2 = tk.fusion \"g\"(%x) {\n^bb0(%a: " + wide + "):\n%f = tk." + function + " %a : (" + wide +
         ") -> " + wide +
         "\n%m = tk.reduce %f {kind = #tk.reduce_kind<sum>, axes = array<i64: 1>, keep_dims = " +
         "true} : (" + wide + ") -> " + narrow + "\n%y = tk.mul %f, %m : (" + wide + ", " + narrow + ") -> " +
         wide + "\ntk.yield %y, %m : " + wide + ", " + narrow + "\n} : (" + wide + ") -> (" + wide + ", " +
         narrow + ")\nreturn %g#0, %g#1 : " + wide + ", " + narrow + "\n}";
}

int64_t vectorsAtOnce(const std::string &text, const TargetDescription &target) {
  return rowsOf(text, target).vectorsAtOnce;
}

void expectSame(const std::string &text, bool exact = false) {
  for (const char *cpu : {"native", "x86-64-v3"}) {
    ProgramCase test{.text = text, .exact = exact, .tolerance = 1e-5, .cpu = cpu};
    EXPECT_EQ(differenceFromReference(test), "") << cpu << "\n" << text;
  }
}

TEST(Columns, AsManyVectorsAsLeaveTasksEnough) {
  auto target = TargetDescription::forCpu("x86-64-v3"); // eight lanes
  auto of = [&](int64_t batch, int64_t lines, int64_t columns, const std::string &type = "f32") {
    return vectorsAtOnce(scaledByMean(batch, lines, columns, "neg", type), *target);
  };
  EXPECT_EQ(of(1, 50, 15 * 8), 15); // one task is enough for so little
  EXPECT_EQ(of(1, 500, 31 * 8), 1); // sums of three are in registers
  EXPECT_EQ(of(1, 500, 64 * 8), 8); // eight tasks
  EXPECT_EQ(of(1, 50, 4000 * 8), 64);
  EXPECT_EQ(of(1, 50, 321 * 8), 36);       // of nine tasks none is much smaller than the others
  EXPECT_EQ(of(100, 50, 30 * 8), 30);      // each line has as many
  EXPECT_EQ(of(1, 500, 64 * 8, "f16"), 1); // sums are kept in memory, which would round them
}

TEST(Columns, OnlyTheLastVectorIsUnderMasks) {
  // Without mask registers: a mask that is not constant would be `vmaskmov`, a dozen times a store.
  auto target = llvm::cantFail(TargetDescription::forCpu("x86-64-v3"));
  const std::string maps = scaledByMean(32, 14, 14, "neg");
  EXPECT_EQ(vectorsAtOnce(maps, target), 1);
  const std::string assembly = assemblyOf(maps, target);
  EXPECT_NE(assembly.find("vmovups"), std::string::npos);
  EXPECT_EQ(assembly.find("vmaskmovps\t%ymm"), std::string::npos); // loads under constant masks are quick
  expectSame(maps);
}

TEST(Columns, LinesStayInTheirCache) {
  auto target = TargetDescription::forCpu("x86-64-v3");
  target->l2Bytes = 1 << 20;
  auto of = [&](int64_t lines, int64_t columns) {
    return vectorsAtOnce(scaledByMean(1, lines, columns, "tanh"), *target);
  };
  EXPECT_EQ(of(10, 16384), 64); // 320 bytes of lines and 352 of scratch a vector
  EXPECT_EQ(of(250, 1024), 16);
  EXPECT_EQ(of(600, 2048), 6);
  EXPECT_EQ(of(1100, 200), 1);   // the second cache has all of it anyway
  EXPECT_EQ(of(3000, 4096), 64); // from memory: tanh is computed again rather than kept
}

TEST(Columns, ValuesOfAColumnAreKept) {
  // y = tanh(x) * exp(sum of tanh(x)): what is kept of the lines takes more than the first level, the
  // exponential of each sum is kept all the same.
  const std::string wide = "tensor<250x1024xf32>", sums = "tensor<1x1024xf32>";
  const std::string text =
      "func.func @main(%x: " + wide + ") -> " + wide + " {\n%g = tk.fusion \"g\"(%x) {\n^bb0(%a: " + wide +
      "):\n%f = tk.tanh %a : (" + wide + ") -> " + wide +
      "\n%s = tk.reduce %f {kind = #tk.reduce_kind<sum>, axes = array<i64: 0>, keep_dims = true} : (" + wide +
      ") -> " + sums + "\n%e = tk.exp %s : (" + sums + ") -> " + sums + "\n%y = tk.mul %f, %e : (" + wide +
      ", " + sums + ") -> " + wide + "\ntk.yield %y : " + wide + "\n} : (" + wide + ") -> " + wide +
      "\nreturn %g : " + wide + "\n}";
  auto target = TargetDescription::forCpu("x86-64-v3");
  target->l2Bytes = 1 << 20;
  const codegen::RowEstimate rows = rowsOf(text, *target);
  EXPECT_EQ(rows.scratchBytes, (250 + 1 + 1) * 32 * rows.vectorsAtOnce);
}

TEST(Columns, WholeAndRagged) {
  // Vectors that are all there, a last one in part, and last ones that are not there at all.
  for (int64_t columns : {2048, 2047, 2049, 2064, 2072, 2056, 2200})
    for (int64_t lines : {1, 2, 3, 37})
      expectSame(scaledByMean(1, lines, columns, "neg"), /*exact=*/true);
}

TEST(Columns, ExpensiveOnesAreKept) {
  expectSame(scaledByMean(1, 61, 2049, "tanh"));
  expectSame(scaledByMean(3, 20, 2000, "exp"));
}

/// Sums of lines over axis 1 of [batch, lines, A, B], the largest of f(sum) over A and B, and f(sum) plus it:
/// the sums lie inside a row, A lines of B.
std::string sumsInARow(int64_t batch, int64_t lines, int64_t a, int64_t b, const std::string &kind,
                       const std::string &function) {
  auto type = [&](int64_t l, int64_t p, int64_t q) {
    return "tensor<" + std::to_string(batch) + "x" + std::to_string(l) + "x" + std::to_string(p) + "x" +
           std::to_string(q) + "xf32>";
  };
  const std::string wide = type(lines, a, b), sums = type(1, a, b), one = type(1, 1, 1);
  auto reduce = [](const std::string &of, const std::string &how, const std::string &axes) {
    return " = tk.reduce " + of + " {kind = #tk.reduce_kind<" + how + ">, axes = array<i64: " + axes +
           ">, keep_dims = true} : ";
  };
  return "func.func @main(%x: " + wide + ") -> " + sums + " {\n%g = tk.fusion \"g\"(%x) {\n^bb0(%a: " + wide +
         "):\n%e = tk." + function + " %a : (" + wide + ") -> " + wide + "\n%s" + reduce("%e", kind, "1") +
         "(" + wide + ") -> " + sums + "\n%m" + reduce("%s", "max", "2, 3") + "(" + sums + ") -> " + one +
         "\n%y = tk.add %s, %m : (" + sums + ", " + one + ") -> " + sums + "\ntk.yield %y : " + sums +
         "\n} : (" + wide + ") -> " + sums + "\nreturn %g : " + sums + "\n}";
}

TEST(Columns, SumsInsideARow) {
  // A ragged vector must leave alone what the next line of sums has.
  for (int64_t b : {32, 33, 37, 64, 100, 129})
    for (int64_t a : {1, 3})
      for (const char *kind : {"sum", "max", "product"}) {
        expectSame(sumsInARow(1, 16, a, b, kind, "neg"), /*exact=*/std::string(kind) != "product");
        expectSame(sumsInARow(6, 5, a, b, kind, "exp"));
      }
}

TEST(Columns, ElementTypes) {
  for (const char *type : {"f64", "f16", "i32", "i8"})
    expectSame(scaledByMean(2, 9, 1100, "neg", type), /*exact=*/true);
}

} // namespace
