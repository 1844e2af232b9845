//===- ApproximationTest.cpp - how far polynomials are off, and where functions end
//----------------------===//
#include "ProgramHarness.h"
#include "ir/Tk.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"
#include <cmath>
#include <cstring>
#include <limits>

using namespace tokamak;
using namespace tokamak::test;

namespace {

class Approximation : public testing::TestWithParam<const char *> {
protected:
  /// Whether the target has the instruction that scales by powers of two.
  static bool scales() { return llvm::StringRef(GetParam()) == "x86-64-v4"; }
  void SetUp() override {
    if (scales() && !TargetDescription::host().hasMaskRegisters)
      GTEST_SKIP() << "this machine has no AVX-512";
  }

  std::vector<float> of(const std::string &function, const std::vector<float> &values) {
    const std::string type = "tensor<" + std::to_string(values.size()) + "xf32>";
    auto module = mlir::parseSourceString<mlir::ModuleOp>(
        "func.func @main(%x: " + type + ") -> " + type + " {\n%e = tk." + function + " %x : (" + type +
            ") -> " + type + "\nreturn %e : " + type + "\n}",
        context.get());
    auto program = llvm::cantFail(TestProgram::compile(*module, FusionMode::None, GetParam()));
    Tensor input(DataType::Float32, {static_cast<int64_t>(values.size())});
    std::memcpy(input.mutableBytes(), values.data(), values.size() * sizeof(float));
    std::vector<Tensor> results = llvm::cantFail(program->run(input, nullptr, GuardedMemory::Guard::Behind));
    std::vector<float> exponentials(values.size());
    std::memcpy(exponentials.data(), results.front().bytes(), values.size() * sizeof(float));
    return exponentials;
  }

  std::unique_ptr<mlir::MLIRContext> context = makeContext();
};

/// The distance between neighbours at `value`.
double unitAt(double value) {
  const auto single = static_cast<float>(value);
  return static_cast<double>(std::nextafterf(single, std::numeric_limits<float>::infinity())) -
         static_cast<double>(single);
}

TEST_P(Approximation, Exponential) {
  // 200,001 values, so that the last vector is ragged. With the instruction that scales, within a unit and
  // into the subnormal numbers; elsewhere MLIR's polynomial, whose range ends at the normal ones.
  const double lowest = scales() ? -103 : -87.3, units = scales() ? 1 : 7;
  std::vector<float> values;
  for (int i = 0; i <= 200'000; ++i)
    values.push_back(static_cast<float>(lowest + (88.7 - lowest) * i / 200'000));
  const std::vector<float> got = of("exp", values);
  for (size_t i = 0; i < values.size(); ++i) {
    const double expected = std::exp(static_cast<double>(values[i]));
    ASSERT_LE(std::abs(static_cast<double>(got[i]) - expected), units * unitAt(expected)) << values[i];
  }
}

TEST_P(Approximation, EndsOfTheExponential) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> got = of("exp", {infinity, -infinity, std::numeric_limits<float>::quiet_NaN(), 0.F, -0.F,
                                      1e-40F, 3e38F, -3e38F, 89.F, -110.F, -104.5F, 88.8F, 1.F, 2.F, 3.F, 4.F,
                                      std::numeric_limits<float>::quiet_NaN()});
  EXPECT_EQ(got[0], infinity);
  EXPECT_EQ(got[1], 0);
  EXPECT_TRUE(std::isnan(got[2]));
  EXPECT_EQ(got[3], 1);
  EXPECT_EQ(got[4], 1);
  EXPECT_EQ(got[5], 1);
  EXPECT_EQ(got[6], infinity);
  EXPECT_EQ(got[7], 0);
  EXPECT_EQ(got[8], infinity);
  EXPECT_EQ(got[9], 0);
  EXPECT_EQ(got[10], 0);
  EXPECT_EQ(got[11], infinity);
  EXPECT_TRUE(std::isnan(got[16]));
}

TEST_P(Approximation, ErrorFunction) {
  std::vector<float> values;
  for (int i = -100'000; i <= 100'000; ++i)
    values.push_back(static_cast<float>(5.0 * i / 100'000));
  for (int exponent = -30; exponent < 0; ++exponent)
    values.push_back(std::ldexp(1.3F, exponent));
  const std::vector<float> got = of("erf", values);
  for (size_t i = 0; i < values.size(); ++i) {
    const double expected = std::erf(static_cast<double>(values[i]));
    ASSERT_LE(std::abs(static_cast<double>(got[i]) - expected),
              (scales() ? 3 : 7) * unitAt(std::abs(expected)))
        << values[i];
  }
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> ends =
      of("erf", {infinity, -infinity, std::numeric_limits<float>::quiet_NaN(), 0.F, -0.F, 30.F, -1e30F});
  EXPECT_EQ(ends[0], 1);
  EXPECT_EQ(ends[1], -1);
  EXPECT_TRUE(std::isnan(ends[2]));
  EXPECT_EQ(ends[3], 0);
  EXPECT_EQ(ends[4], 0);
  EXPECT_EQ(std::signbit(ends[4]), scales()); // MLIR loses the sign
  EXPECT_EQ(ends[5], 1);
  EXPECT_EQ(ends[6], -1);
}

INSTANTIATE_TEST_SUITE_P(Targets, Approximation, testing::Values("x86-64-v4", "x86-64-v3"),
                         [](const testing::TestParamInfo<const char *> &info) {
                           return std::string(info.param).substr(7);
                         });

} // namespace
