//===- WavesTest.cpp - kernels that run at the same time ---------------------------------------------===//
// Groups are written out with the waves that they are in; one and two threads give what the evaluator gives.
#include "ProgramHarness.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace tokamak;
using tokamak::test::ProgramCase;

namespace {

/// `%result = OP(%operand)` as a group of tensors of type `type`, in wave `wave` where not negative.
std::string group(const std::string &result, const std::string &op, const std::string &operand, int wave,
                  const std::string &type = "tensor<64x96xf32>") {
  std::string attribute = wave < 0 ? "" : " {tk.wave = " + std::to_string(wave) + " : i64}";
  return "%" + result + " = tk.fusion \"" + result + "\"(%" + operand + ") {\n^bb0(%i: " + type +
         "):\n%r = tk." + op + " %i : (" + type + ") -> " + type + "\ntk.yield %r : " + type + "\n}" +
         attribute + " : (" + type + ") -> " + type + "\n";
}

std::string function(const std::string &arguments, const std::string &results, const std::string &body) {
  return "func.func @main(" + arguments + ") -> (" + results + ") {\n" + body + "}";
}

const std::string T = "tensor<64x96xf32>";

codegen::CompiledProgram compiled(const std::string &text) {
  auto context = test::makeContext();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, context.get());
  auto program = test::TestProgram::compile(*module, FusionMode::None, "native");
  return (*program)->code();
}

void expectSame(const std::string &text) {
  for (const char *cpu : {"native", "x86-64-v3"})
    EXPECT_EQ(differenceFromReference(
                  ProgramCase{.text = text, .exact = true, .cpu = cpu, .fusion = FusionMode::None}),
              "")
        << cpu;
}

/// A value dies in the wave in which others are born.
std::string chains(int wave) {
  auto next = [&](int n) { return wave < 0 ? -1 : n; };
  return function("%x: " + T + ", %y: " + T, T + ", " + T,
                  group("a1", "neg", "x", next(0)) + group("b1", "abs", "y", next(0)) +
                      group("a2", "abs", "a1", next(1)) + group("b2", "neg", "b1", next(1)) +
                      group("a3", "neg", "a2", next(2)) + group("b3", "neg", "b2", next(2)) +
                      "return %a3, %b3 : " + T + ", " + T + "\n");
}

TEST(Waves, NoKernelWritesWhatAnotherOneOfItsWaveReads) { expectSame(chains(0)); }

TEST(Waves, MemoryOfAWaveIsNotShared) {
  // One after the other, the first values of the second chain go where those of the first one were.
  auto alone =
      function("%x: " + T + ", %y: " + T, T + ", " + T,
               group("a1", "neg", "x", -1) + group("a2", "abs", "a1", -1) + group("a3", "neg", "a2", -1) +
                   group("b1", "abs", "y", -1) + group("b2", "neg", "b1", -1) + group("b3", "neg", "b2", -1) +
                   "return %a3, %b3 : " + T + ", " + T + "\n");
  constexpr size_t bytes = 64 * 96 * 4;
  EXPECT_EQ(compiled(alone).arenaBytes, 2 * bytes);
  EXPECT_EQ(compiled(chains(-1)).arenaBytes, 3 * bytes); // a1 is gone when b2 is written
  EXPECT_EQ(compiled(chains(0)).arenaBytes, 4 * bytes);
}

TEST(Waves, ADependentKernelIsNeverInTheWave) {
  // Whatever the attribute says.
  expectSame(function("%x: " + T, T,
                      group("a", "neg", "x", 0) + group("b", "abs", "a", 0) + group("c", "neg", "b", 0) +
                          "return %c : " + T + "\n"));
}

TEST(Waves, PartsOfOneBuffer) {
  const std::string P = "tensor<1x32x8x4xf32>", W = "tensor<1x64x8x4xf32>";
  const std::string text =
      function("%x: " + P + ", %y: " + P, W,
               group("a", "neg", "x", 0, P) + group("b", "abs", "y", 0, P) +
                   "%j = tk.fusion \"j\"(%a, %b) {\n^bb0(%i: " + P + ", %k: " + P +
                   "):\n%r = tk.concat %i, %k {axis = 1 : i64} : (" + P + ", " + P + ") -> " + W +
                   "\ntk.yield %r : " + W + "\n} : (" + P + ", " + P + ") -> " + W + "\n" +
                   group("c", "neg", "j", -1, W) + "return %c : " + W + "\n");
  expectSame(text);
  EXPECT_EQ(compiled(text).kernelCount, 3U); // none joins the parts
}

TEST(Waves, KernelsWithoutTasks) {
  const std::string E = "tensor<0x4xf32>";
  expectSame(function("%x: " + E + ", %y: " + T, E + ", " + T,
                      group("a", "neg", "x", 0, E) + group("b", "abs", "y", 0) + "return %a, %b : " + E +
                          ", " + T + "\n"));
}

TEST(Waves, ManyTasksBesideOne) {
  const std::string L = "tensor<512x512xf32>";
  expectSame(function("%x: " + L + ", %y: " + T, L + ", " + T,
                      group("b", "abs", "y", 0) + group("a", "neg", "x", 0, L) + "return %a, %b : " + L +
                          ", " + T + "\n"));
}

TEST(Waves, CarriedValues) {
  // They change places in each turn.
  expectSame(function(
      "%x: " + T + ", %y: " + T, T + ", " + T,
      "%n = tk.constant dense<3> : tensor<i64>\n%l:2 = tk.loop limit(%n : tensor<i64>) carry(%x, %y) trips 0 "
      "{\n^bb0(%it: tensor<i64>, %go: tensor<i1>, %u: " +
          T + ", %v: " + T + "):\n" + group("p", "neg", "u", 0) + group("q", "abs", "v", 0) +
          "tk.yield %go, %q, %p : tensor<i1>, " + T + ", " + T + "\n} : (" + T + ", " + T + ") -> (" + T +
          ", " + T + ")\nreturn %l#0, %l#1 : " + T + ", " + T + "\n"));
}

} // namespace
