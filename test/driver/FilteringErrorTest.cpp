//===- FilteringErrorTest.cpp - errors of minimal filtering, and what verify takes for one -----------===//
#include "driver/FilteringError.h"
#include "ConvolutionCase.h"
#include "codegen/anchors/WinogradConvolution.h"
#include "driver/VerifyTolerance.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <random>

using namespace tokamak;
using namespace tokamak::driver;
using namespace tokamak::test;
using codegen::ConvolutionShape;

namespace {

/// A convolution without pads, what a kernel makes of it, what is right, and the errors that are.
struct Computed {
  Tensor input, weight, got, expected;
  std::vector<double> errors;
};

Tensor tensorOf(llvm::ArrayRef<int64_t> shape, const std::vector<float> &values) {
  Tensor tensor(DataType::Float32, shape);
  std::memcpy(tensor.mutableBytes(), values.data(), tensor.byteCount());
  return tensor;
}

class FilteringError : public testing::TestWithParam<const char *> {
protected:
  using Fill = llvm::function_ref<void(std::vector<float> &input, std::vector<float> &weight)>;
  /// `spoil` changes the weights that the kernel is compiled for.
  Computed compute(int64_t outputs, int64_t images, int64_t channels, int64_t extent, Fill fill,
                   llvm::function_ref<void(std::vector<float> &)> spoil = nullptr) {
    const auto target = llvm::cantFail(TargetDescription::forCpu(GetParam()));
    const int64_t lanes = target.lanes();
    ConvolutionShape shape;
    shape.batch = images;
    shape.inChannels = channels;
    shape.outChannels = outChannels;
    shape.input = {1, extent, extent};
    shape.kernel = {1, 3, 3};
    shape.inputBlock = lanes;
    shape = withOutput(shape, {0, 0, 0});
    std::vector<float> input(static_cast<size_t>(inputSize(shape)));
    std::vector<float> weight(static_cast<size_t>(weightSize(shape)));
    fill(input, weight);
    const std::vector<double> sums = referenceConvolution(shape, input, weight);
    const int64_t side = extent - 2;
    Computed result{tensorOf({images, channels, extent, extent}, input),
                    tensorOf({outChannels, channels, 3, 3}, weight),
                    Tensor(DataType::Float32, {images, outChannels, side, side}),
                    Tensor(DataType::Float32, {images, outChannels, side, side}),
                    {}};
    for (size_t i = 0; i < sums.size(); ++i)
      result.expected.setDouble(static_cast<int64_t>(i), sums[i]);

    if (spoil)
      spoil(weight);
    auto plan = llvm::cantFail(codegen::createWinogradConvolution(shape, outputs, target));
    const Tensor packed = plan->pack(test::tensorOf(weight));
    const std::vector<float> stored = blocked(input, images, channels, extent * extent, lanes);
    const ResultShape layout = resultShape(shape, true);
    const CompiledKernel kernel = compileConvolution(*plan, layout, target);
    std::vector<float> scratch(static_cast<size_t>(plan->scratchBytes() / 4));
    std::vector<float> y(static_cast<size_t>(layout.bufferSize(lanes)));
    kernel.run(stored.data(), reinterpret_cast<const float *>(packed.bytes()), scratch.data(), y.data(), 0,
               plan->taskCount());
    int64_t at = 0;
    for (int64_t n = 0; n < images; ++n)
      for (int64_t channel = 0; channel < outChannels; ++channel)
        for (int64_t p = 0; p < side * side; ++p)
          result.got.setDouble(at++, y[static_cast<size_t>(layout.offset(n, channel, p, lanes))]);

    const std::string x = fmt::format("tensor<{}x{}x{}x{}xf32>", images, channels, extent, extent);
    const std::string w = fmt::format("tensor<{}x{}x3x3xf32>", outChannels, channels);
    const std::string r = fmt::format("tensor<{}x{}x{}x{}xf32>", images, outChannels, side, side);
    const std::string text =
        "func.func @main(%x: " + x + ", %w: " + w + ") -> " + r +
        " {\n  %0 = tk.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>"
        ", pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64"
        ", winograd = " +
        std::to_string(outputs) + " : i64} : (" + x + ", " + w + ") -> " + r + "\n  return %0 : " + r + "\n}";
    context.loadDialect<tk::TkDialect, mlir::func::FuncDialect>();
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    if (!module) {
      ADD_FAILURE() << text;
      return result;
    }
    module->walk([&](tk::ConvOp conv) { result.errors = filteringError(conv, result.input, result.weight); });
    return result;
  }
  /// As verify judges a kernel.
  static Deviation judge(const Computed &done) {
    Latitude latitude{Tensor(DataType::Float32, done.expected.shape()),
                      Tensor(DataType::Float32, done.expected.shape()),
                      {}};
    const Tolerance tolerance = kernelTolerance(DataType::Float32);
    for (int64_t i = 0; i < done.expected.size(); ++i) {
      const double error = done.errors[static_cast<size_t>(i)];
      latitude.low.setDouble(i, done.expected.doubleAt(i) - error);
      latitude.high.setDouble(i, done.expected.doubleAt(i) + error);
    }
    return compare(
        done.got, done.expected, tolerance, [](int) { return std::nullopt; }, [&] { return latitude; });
  }
  static constexpr int64_t outChannels = 16;
  mlir::MLIRContext context;
};

void fillNormally(std::vector<float> &values, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  for (float &x : values)
    x = normal(random);
}

/// What docs/winograd.md promises, to the half of it, beside the rounding of the result alone. Each image is
/// one tile.
TEST_P(FilteringError, IsWithinHalfOfWhatVerifyTakes) {
  struct Kind {
    const char *name;
    bool positive;
    float factor; ///< of one input of each image, wherever it lies
  };
  const Kind random[] = {{"mixed", false, 1},         {"positive", true, 1},
                         {"mixed, 1000", false, 1e3}, {"positive, 1000", true, 1e3},
                         {"mixed, 10^6", false, 1e6}, {"positive, 10^6", true, 1e6}};
  auto expectWithin = [&](const Computed &done, const std::string &what) {
    double worst = 0;
    for (int64_t i = 0; i < done.expected.size(); ++i) {
      // The expected result is rounded as well.
      const double rounding = 0x1p-24 * std::abs(done.expected.doubleAt(i));
      const double error =
          std::max(0.0, std::abs(done.got.doubleAt(i) - done.expected.doubleAt(i)) - rounding);
      const double allowed = done.errors[static_cast<size_t>(i)];
      ASSERT_TRUE(error == 0 || allowed > 0) << what;
      worst = std::max(worst, error == 0 ? 0 : error / allowed);
    }
    EXPECT_LT(worst, 0.5) << what;
    RecordProperty(what, fmt::format("{:.2g} of the bound", worst));
    EXPECT_EQ(judge(done).wrong, 0) << what;
  };
  for (int64_t outputs : {2, 4})
    for (int64_t channels : {3, 16, 256, 512, 1024, 2048}) {
      const int64_t side = outputs + 2, places = side * side;
      const int64_t images = channels > 256 ? 9 : places;
      const std::string size = fmt::format("tiles of {}, {} channels: ", outputs, channels);
      for (const Kind &kind : random)
        expectWithin(compute(outputs, images, channels, side,
                             [&](std::vector<float> &input, std::vector<float> &weight) {
                               fillNormally(input, 7);
                               fillNormally(weight, 8);
                               for (std::vector<float> *values : {&input, &weight})
                                 for (float &x : *values)
                                   x = kind.positive ? std::abs(x) : x;
                               for (int64_t image = 0; image < images; ++image) {
                                 const int64_t place = image * (images < places ? 5 : 1) % places;
                                 input[image * channels * places + place] *= kind.factor;
                               }
                             }),
                     size + kind.name);
      // All products of a point are equal, and so may be all their roundings. The sums of the second kind
      // cancel.
      for (bool cancels : {false, true})
        expectWithin(compute(outputs, images, channels, side,
                             [&](std::vector<float> &input, std::vector<float> &weight) {
                               for (size_t i = 0; i < input.size(); ++i) {
                                 const size_t image = i / (channels * places);
                                 input[i] = 0.1F + 0.037F * static_cast<float>(image);
                               }
                               for (size_t i = 0; i < weight.size(); ++i) {
                                 const size_t output = i / (channels * 9);
                                 weight[i] =
                                     (0.1F + 0.0173F * static_cast<float>(output)) * (!cancels     ? 1
                                                                                      : i % 9 == 4 ? 8
                                                                                                   : -1);
                               }
                             }),
                     size + (cancels ? "equal, cancelling" : "equal"));
    }
}

/// A tap that is off by 1 % is found, however many channels there are.
TEST_P(FilteringError, ATapOffByOnePercentIsBeyondIt) {
  for (int64_t outputs : {2, 4})
    for (int64_t channels : {64, 512, 2048})
      for (bool positive : {false, true}) {
        const int64_t tap = (3 * channels + channels / 2) * 9 + 5;
        auto fill = [&](std::vector<float> &input, std::vector<float> &weight) {
          fillNormally(input, 7);
          fillNormally(weight, 8);
          if (positive)
            for (float &x : input)
              x = std::max(x, 0.0F);
          weight[static_cast<size_t>(tap)] = 1.5F;
        };
        const std::string what = fmt::format("tiles of {}, {} channels", outputs, channels);
        EXPECT_EQ(judge(compute(outputs, 1, channels, 22, fill)).wrong, 0) << what;
        const Deviation deviation = judge(compute(outputs, 1, channels, 22, fill, [&](auto &weight) {
          weight[static_cast<size_t>(tap)] *= 1.01F;
        }));
        // Of 400 results, of which half read a zero where inputs are not negative.
        EXPECT_GT(deviation.wrong, 100) << what;
        EXPECT_LE(deviation.wrong, 400) << what << ": of one channel alone";
        RecordProperty(what + (positive ? ", inputs not negative" : ""), static_cast<int>(deviation.wrong));
      }
}

INSTANTIATE_TEST_SUITE_P(Targets, FilteringError, testing::Values("native", "x86-64-v3"));

} // namespace
