//===- PredictionTest.cpp - what kernels are held to ------------------------------------------===//
#include "driver/Prediction.h"
#include "fusion/CostTest.h"

using namespace tokamak;

namespace {

/// Convolutions of 64 channels of 7x7, 3x3 taps.
class BoundTest : public CostTest {
protected:
  /// What the kernel of `body`, which computes %y of %x with weights %w, is held to where nothing but
  /// arithmetic takes time.
  double operations(const std::string &body) {
    parse("func.func @main(%a: " + plane + ") -> " + plane + " {\n%b = tk.constant dense<1.0> : " + weight +
          "\n%r = tk.fusion (%a, %b) {\n^bb0(%x: " + plane + ", %w: " + weight + "):\n" + body +
          "tk.yield %y : " + plane + "\n} : (" + plane + ", " + weight + ") -> " + plane +
          "\nreturn %r : " + plane + "\n}");
    TargetDescription target = machine();
    target.bandwidth = {1e18, 1e18, 1e18, 1e18};
    const auto steps = driver::predictSteps(*module, target, 1);
    EXPECT_EQ(steps.size(), 1u);
    return steps.front().boundSeconds * target.peakFlops;
  }
  std::string convolution(const std::string &result, const std::string &input, int64_t winograd = 0) {
    return result + " = tk.conv " + input +
           ", %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, "
           "pads_high = array<i64: 1, 1>, group = 1 : i64" +
           (winograd ? ", winograd = " + std::to_string(winograd) + " : i64" : "") + "} : (" + plane + ", " +
           weight + ") -> " + plane + "\n";
  }
  std::string absolute(const std::string &result, const std::string &input) {
    return result + " = tk.abs " + input + " : (" + plane + ") -> " + plane + "\n";
  }

  const std::string plane = "tensor<1x64x7x7xf32>", weight = "tensor<64x64x3x3xf32>";
  // Of 21 taps along a row two lie outside.
  static constexpr double pairs = 64 * 64, plain = 2 * pairs * 19 * 19, elements = 64 * 7 * 7;
};

TEST_F(BoundTest, TapsOnPaddingAreNoWork) { EXPECT_NEAR(operations(convolution("%y", "%x")), plain, 1); }

TEST_F(BoundTest, MinimalFilteringCountsItsOwnMultiplications) {
  EXPECT_NEAR(operations(convolution("%y", "%x", 2)), 2 * pairs * 4 * 4 * 16, 1);
  EXPECT_NEAR(operations(convolution("%y", "%x", 4)), 2 * pairs * 2 * 2 * 36, 1);
  EXPECT_NEAR(operations(convolution("%c", "%x", 4) + absolute("%y", "%c")),
              2 * pairs * 2 * 2 * 36 + elements, 1);
}

TEST_F(BoundTest, KernelsThatCannotFilterCountPlainSums) {
  // An input that the kernel computes, and bands for another convolution.
  EXPECT_NEAR(operations(absolute("%p", "%x") + convolution("%y", "%p", 4)), plain + elements, 1);
  EXPECT_NEAR(operations(convolution("%c", "%x", 4) + convolution("%y", "%c", 4)), 2 * plain, 1);
}

} // namespace
