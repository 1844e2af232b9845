//===- ShortRowsTest.cpp - many short rows, one a lane ----------------------------------------===//
// Rows of up to 128 elements run as many at once as there are lanes: they are transposed on their way in and
// out. Each case is a group of its own, so that it is one kernel for certain.
#include "ProgramHarness.h"
#include "RowsOf.h"
#include "SpecialValues.h"
#include "gtest/gtest.h"

using namespace tokamak;
using namespace tokamak::test;

namespace {

constexpr int manyRows = 32 * 16; // blocks enough for either vector length

std::string tensor(const std::vector<int64_t> &shape, const std::string &type = "f32") {
  std::string text = "tensor<";
  for (int64_t n : shape)
    text += std::to_string(n) + "x";
  return text + type + ">";
}

/// A function whose only group has `body`; arguments %a0, %a1, ... are both the function's and the group's.
std::string oneGroup(const std::vector<std::string> &arguments, const std::string &body,
                     const std::vector<std::string> &values, const std::vector<std::string> &results) {
  auto join = [](const std::vector<std::string> &parts) {
    std::string text;
    for (const std::string &part : parts)
      text += (text.empty() ? "" : ", ") + part;
    return text;
  };
  std::vector<std::string> outside, inside, names, yielded;
  for (size_t i = 0; i < arguments.size(); ++i) {
    names.push_back("%f" + std::to_string(i));
    outside.push_back(names.back() + ": " + arguments[i]);
    inside.push_back("%a" + std::to_string(i) + ": " + arguments[i]);
  }
  for (size_t i = 0; i < results.size(); ++i)
    yielded.push_back(results.size() > 1 ? "%g#" + std::to_string(i) : "%g");
  std::string count = results.size() > 1 ? ":" + std::to_string(results.size()) : "";
  return "func.func @main(" + join(outside) + ") -> (" + join(results) + ") {\n%g" + count +
         " = tk.fusion \"g\"(" + join(names) + ") {\n^bb0(" + join(inside) + "):\n" + body + "tk.yield " +
         join(values) + " : " + join(results) + "\n} : (" + join(arguments) + ") -> (" + join(results) +
         ")\nreturn " + join(yielded) + " : " + join(results) + "\n}";
}

std::string reduce(const std::string &to, const std::string &from, const std::string &kind,
                   const std::string &axes, const std::string &types) {
  return to + " = tk.reduce " + from + " {kind = #tk.reduce_kind<" + kind + ">, axes = array<i64: " + axes +
         ">, keep_dims = true} : " + types + "\n";
}

/// Softmax along the last axis, piece by piece.
std::string softmax(const std::string &x, const std::string &wide, const std::string &narrow) {
  std::string both = " : (" + wide + ", " + narrow + ") -> " + wide + "\n",
              to = "(" + wide + ") -> " + narrow;
  return reduce("%m", x, "max", "1", to) + "%d = tk.sub " + x + ", %m" + both + "%e = tk.exp %d : (" + wide +
         ") -> " + wide + "\n" + reduce("%s", "%e", "sum", "1", to) + "%y = tk.div %e, %s" + both;
}

std::string softmaxOf(int64_t rows, int64_t extent) {
  std::string wide = tensor({rows, extent});
  return oneGroup({wide}, softmax("%a0", wide, tensor({rows, 1})), {"%y"}, {wide});
}

/// Rows run one a lane: a task is a block of them.
bool areTransposed(const std::string &text, const TargetDescription &target) {
  return rowsOf(text, target).rowsAtOnce > 1;
}

void expectSame(const std::string &text, bool transposed = true, bool exact = false) {
  for (const char *cpu : {"native", "x86-64-v3"}) {
    auto target = TargetDescription::forCpu(cpu);
    EXPECT_EQ(areTransposed(text, *target), transposed) << cpu << "\n" << text;
    ProgramCase test{.text = text, .exact = exact, .tolerance = 1e-5, .cpu = cpu};
    EXPECT_EQ(differenceFromReference(test), "") << cpu << "\n" << text;
  }
}

TEST(ShortRows, Softmax) {
  // Whole squares and ragged ones, all rows and a part of the last block.
  for (int64_t extent : {2, 3, 8, 16, 17, 24, 100})
    for (int64_t rows : {manyRows, manyRows + 5})
      expectSame(softmaxOf(rows, extent));
}

TEST(ShortRows, VectorsOfSeveralRowsAreTakenApart) {
  // Even numbers of columns by halves, odd ones column by column; in the last block some vectors have no row.
  for (int64_t extent : {2, 3, 4, 5, 6, 7, 10, 12, 14, 15})
    for (int64_t rows : {manyRows, manyRows + 1, manyRows + 11})
      expectSame(softmaxOf(rows, extent));
}

TEST(ShortRows, NarrowRowsNeedNoSquares) {
  // Four columns are two steps of two vectors each on the way in and out, of which a square takes 64.
  auto target = llvm::cantFail(TargetDescription::forCpu("x86-64-v4"));
  const std::string assembly = assemblyOf(softmaxOf(manyRows, 4), target);
  size_t shuffles = 0;
  for (const char *name : {"vpermt2ps", "vpermi2ps", "vshufps", "vunpck", "vshuff32x4", "vpermps",
                           "vpermt2pd", "vpermi2pd", "vinsertf", "vblendmps"})
    for (size_t at = 0; (at = assembly.find(name, at)) != std::string::npos; ++at)
      ++shuffles;
  EXPECT_LE(shuffles, 24u) << assembly;
}

TEST(ShortRows, LongOrFewRowsStayWhatTheyWere) {
  expectSame(softmaxOf(manyRows, 129), /*transposed=*/false);
  expectSame(softmaxOf(200, 128), /*transposed=*/false); // enough work for threads, too few tasks
}

TEST(ShortRows, LittleWorkIsForOneThreadWhateverTheTasks) {
  expectSame(softmaxOf(16, 100));
  expectSame(softmaxOf(96, 16));
  expectSame(softmaxOf(94, 16));
  expectSame(softmaxOf(9, 16), /*transposed=*/false); // less than three quarters of the blocks' lanes
}

TEST(ShortRows, TransposingHasToPay) {
  // One subtraction behind one sum: less than moving both operands, but for rows that fill no vector.
  auto centred = [](int64_t extent, const std::string &function) {
    std::string x = tensor({manyRows + 5, extent}), n = tensor({manyRows + 5, 1});
    return oneGroup({x},
                    "%f = tk." + function + " %a0 : (" + x + ") -> " + x + "\n" +
                        reduce("%m", "%f", "sum", "1", "(" + x + ") -> " + n) + "%y = tk.sub %f, %m : (" + x +
                        ", " + n + ") -> " + x + "\n",
                    {"%y"}, {x});
  };
  expectSame(centred(100, "neg"), /*transposed=*/false);
  expectSame(centred(33, "neg"), /*transposed=*/false);
  expectSame(centred(33, "tanh"));
  // Squares of sixteen move an element for less.
  for (const char *cpu : {"x86-64-v3", "x86-64-v4"}) {
    auto target = llvm::cantFail(TargetDescription::forCpu(cpu));
    EXPECT_EQ(areTransposed(softmaxOf(manyRows, 128), target), target.lanes() == 16) << cpu;
  }
}

TEST(ShortRows, RowsWithoutElements) {
  std::string x = tensor({manyRows, 0}), n = tensor({manyRows});
  const std::string sum = oneGroup({x},
                                   "%m = tk.reduce %a0 {kind = #tk.reduce_kind<sum>, axes = array<i64: 1>, "
                                   "keep_dims = false} : (" +
                                       x + ") -> " + n + "\n",
                                   {"%m"}, {n});
  for (const std::string &text : {sum, softmaxOf(manyRows, 0)})
    EXPECT_EQ(differenceFromReference({.text = text, .exact = true}), "") << text;
}

TEST(ShortRows, OnlyTheLastBlockIsUnderMasks) {
  // Without mask registers: a mask that is not constant would be `vmaskmov`, a dozen times a store.
  auto target = llvm::cantFail(TargetDescription::forCpu("x86-64-v3"));
  for (int64_t rows : {manyRows, manyRows + 5}) {
    const std::string assembly = assemblyOf(softmaxOf(rows, 16), target);
    EXPECT_NE(assembly.find("vmovups"), std::string::npos);
    EXPECT_EQ(assembly.find("vmaskmovps\t%ymm"), std::string::npos) << rows; // loads are quick
  }
}

TEST(ShortRows, RowsOfSeveralAxes) {
  // Rows through three axes; operands of rows, of columns, of some of the axes, of both; sums over two axes.
  std::string x = tensor({7, 5, 19, 4, 6}), row = tensor({7, 5, 19, 1, 1}), column = tensor({4, 6}),
              some = tensor({5, 1, 1, 6}), both = tensor({19, 4, 1});
  auto binary = [&](const std::string &to, const std::string &op, const std::string &a, const std::string &b,
                    const std::string &type) {
    return to + " = tk." + op + " " + a + ", " + b + " : (" + x + ", " + type + ") -> " + x + "\n";
  };
  std::string body = binary("%p", "mul", "%a0", "%a1", row) + binary("%q", "add", "%p", "%a2", column) +
                     binary("%r", "sub", "%q", "%a3", some) + binary("%t", "add", "%r", "%a4", both) +
                     reduce("%s", "%t", "sum", "3, 4", "(" + x + ") -> " + row) +
                     binary("%y", "sub", "%t", "%s", row);
  std::string text = oneGroup({x, row, column, some, both}, body, {"%y", "%s"}, {x, row});
  expectSame(text, true, /*exact=*/true);
}

TEST(ShortRows, ColumnsThatLeaveLanesIdleArePartsOfRows) {
  auto centred = [](const std::vector<int64_t> &shape, const std::string &axis) {
    std::vector<int64_t> sums = shape;
    sums[static_cast<size_t>(std::stoi(axis))] = 1;
    std::string x = tensor(shape), n = tensor(sums);
    return oneGroup({x},
                    "%f = tk.tanh %a0 : (" + x + ") -> " + x + "\n" +
                        reduce("%m", "%f", "max", axis, "(" + x + ") -> " + n) + "%y = tk.sub %f, %m : (" +
                        x + ", " + n + ") -> " + x + "\n",
                    {"%y", "%m"}, {x, n});
  };
  for (int64_t columns : {2, 3, 4, 5, 9})
    for (int64_t rows : {manyRows, manyRows + 5})
      expectSame(centred({rows, 4, columns}, "1"));
  expectSame(centred({manyRows / 2, 2, 5, 3}, "2"));
  expectSame(centred({manyRows, 4, 3, 1}, "1"));
  // Full vectors, long rows, few rows.
  expectSame(centred({manyRows, 4, 16}, "1"), /*transposed=*/false);
  expectSame(centred({manyRows, 50, 3}, "1"), /*transposed=*/false);
  expectSame(centred({9, 4, 3}, "1"), /*transposed=*/false);
}

TEST(ShortRows, MoreThanOneElementOfAReduction) {
  // [rows, 6, 5] to [rows, 6] and back; a value that is kept and yielded.
  std::string x = tensor({600, 6, 5}), s = tensor({600, 6, 1}), n = tensor({600, 1, 1});
  std::string body = reduce("%s", "%a0", "sum", "2", "(" + x + ") -> " + s) +
                     reduce("%m", "%s", "max", "1", "(" + s + ") -> " + n) + "%y = tk.sub %a0, %m : (" + x +
                     ", " + n + ") -> " + x + "\n";
  expectSame(oneGroup({x}, body, {"%y", "%s", "%m"}, {x, s, n}), true, /*exact=*/true);
}

TEST(ShortRows, AnotherRowIsReadFromMemory) {
  // Row r adds up itself and the row after it: a copy of one row would not do.
  std::string x = tensor({600, 24}), less = tensor({599, 24}), one = tensor({1, 24}), n = tensor({600, 1});
  std::string body = "%l = tk.slice %a0 {starts = array<i64: 1, 0>, sizes = array<i64: 599, 24>, steps = "
                     "array<i64: 1, 1>} : (" +
                     x + ") -> " + less +
                     "\n%h = tk.slice %a0 {starts = array<i64: 0, 0>, sizes = array<i64: 1, 24>, steps = "
                     "array<i64: 1, 1>} : (" +
                     x + ") -> " + one + "\n%c = tk.concat %l, %h {axis = 0 : i64} : (" + less + ", " + one +
                     ") -> " + x + "\n%t = tk.add %a0, %c : (" + x + ", " + x + ") -> " + x + "\n" +
                     reduce("%s", "%t", "sum", "1", "(" + x + ") -> " + n) + "%y = tk.sub %t, %s : (" + x +
                     ", " + n + ") -> " + x + "\n";
  expectSame(oneGroup({x}, body, {"%y"}, {x}), /*transposed=*/false, /*exact=*/true);
}

TEST(ShortRows, ElementTypes) {
  for (const char *type : {"f16", "bf16", "i32", "f64", "i64", "i8"}) {
    bool isNarrow = std::string(type) == "f16" || std::string(type) == "bf16" || std::string(type) == "i32";
    std::string x = tensor({600, 20}, type), n = tensor({600, 1}, type);
    std::string body = reduce("%m", "%a0", "max", "1", "(" + x + ") -> " + n) + "%d = tk.sub %a0, %m : (" +
                       x + ", " + n + ") -> " + x + "\n" +
                       reduce("%s", "%d", "sum", "1", "(" + x + ") -> " + n) + "%y = tk.add %d, %s : (" + x +
                       ", " + n + ") -> " + x + "\n";
    expectSame(oneGroup({x}, body, {"%y"}, {x}), isNarrow, /*exact=*/true);
  }
}

TEST(ShortRows, IndexOfTheLargest) {
  std::string x = tensor({600, 20}), n = tensor({600, 1}), i = tensor({600, 1}, "i64");
  std::string body =
      "%i = tk.arg_reduce %a0 {kind = #tk.reduce_kind<max>, axis = 1 : i64, keep_dims = true} : (" + x +
      ") -> " + i + "\n" + reduce("%m", "%a0", "max", "1", "(" + x + ") -> " + n) +
      "%y = tk.sub %a0, %m : (" + x + ", " + n + ") -> " + x + "\n";
  expectSame(oneGroup({x}, body, {"%y", "%i"}, {x, i}), true, /*exact=*/true);
}

/// The results of `text` for `x`.
std::vector<Tensor> resultsOf(const std::string &text, const Tensor &x, int threads, const char *cpu) {
  auto context = makeContext();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, context.get());
  auto program = llvm::cantFail(TestProgram::compile(*module, FusionMode::Full, cpu));
  TkPool *pool = threads > 1 ? tk_pool_create(threads) : nullptr;
  auto results = llvm::cantFail(program->run({x}, pool, GuardedMemory::Guard::Behind));
  if (pool)
    tk_pool_destroy(pool);
  return results;
}

TEST(ShortRows, ARowDependsOnItselfAlone) {
  constexpr int64_t rows = 1021, extent = 24;
  const std::string text = softmaxOf(rows, extent);
  Tensor plain(DataType::Float32, {rows, extent}), disturbed = plain;
  Tensor special = specialValues(DataType::Float32, rows * extent);
  for (int64_t i = 0; i < rows * extent; ++i) {
    double value = static_cast<double>(i * 37 % 101) / 10 - 5;
    plain.setDouble(i, value);
    disturbed.setDouble(i, i / extent % 7 == 3 ? value : special.doubleAt(i));
  }
  for (const char *cpu : {"native", "x86-64-v3"}) {
    auto expected = resultsOf(text, plain, 1, cpu), others = resultsOf(text, disturbed, 1, cpu);
    for (int64_t i = 0; i < rows * extent; ++i)
      if (i / extent % 7 == 3)
        ASSERT_EQ(expected[0].doubleAt(i), others[0].doubleAt(i)) << cpu << ", element " << i;
    for (int threads : {2, 3})
      EXPECT_TRUE(haveSameBytes(expected, resultsOf(text, plain, threads, cpu))) << cpu;
  }
}

TEST(ShortRows, SpecialValues) {
  // Sums and maxima of what has NaN, infinities and zeros of both signs in it.
  constexpr int64_t rows = 640, extent = 20;
  std::string x = tensor({rows, extent}), n = tensor({rows, 1});
  std::string body = reduce("%m", "%a0", "max", "1", "(" + x + ") -> " + n) +
                     reduce("%s", "%a0", "min", "1", "(" + x + ") -> " + n) + "%y = tk.max %a0, %s : (" + x +
                     ", " + n + ") -> " + x + "\n";
  std::string text = oneGroup({x}, body, {"%y", "%m", "%s"}, {x, n, n});
  const Tensor input = specialValues(DataType::Float32, rows * extent).reshaped({rows, extent});
  for (const char *cpu : {"native", "x86-64-v3"}) {
    EXPECT_TRUE(areTransposed(text, llvm::cantFail(TargetDescription::forCpu(cpu))));
    ProgramCase test{.text = text, .exact = true, .cpu = cpu, .inputs = {input}};
    EXPECT_EQ(differenceFromReference(test), "") << cpu;
  }
}

} // namespace
