//===- VerifyFilteringTest.cpp - what counts as right of convolutions by minimal filtering -----------===//
#include "driver/VerifyFiltering.h"
#include "TestModels.h"
#include "driver/FilteringError.h"
#include "driver/Program.h"
#include "driver/VerifyBisect.h"
#include "driver/VerifyKernels.h"
#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace tokamak;
using namespace tokamak::driver;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr int64_t channels = 64, extent = 56;

int64_t elementAt(int64_t channel, int64_t row, int64_t column) {
  return (channel * extent + row) * extent + column;
}

struct VerifyFiltering : testing::Test {
  void SetUp() override {
    model = read("filtered_convolution");
    ASSERT_TRUE(model);
    options.import.shapes["x"] = {1, channels, extent, extent};
    x = Tensor(DataType::Float32, {1, channels, extent, extent});
    uint32_t state = 5;
    for (int64_t i = 0; i < x.size(); ++i) {
      state = state * 1664525 + 1013904223;
      x.setDouble(i, static_cast<double>(state >> 8) * 0x1p-23 - 1);
    }
  }
  static std::unique_ptr<import::Model> read(const char *name) {
    std::string bytes = test::testModel(name);
    return llvm::cantFail(import::Model::fromMemory(bytes.data(), bytes.size()));
  }
  /// Verified as a whole, in every mode, kernels and outputs; how many elements of kernels are right only as
  /// minimal filtering leaves them open.
  int64_t expectSame(const char *what) {
    int64_t open = 0;
    for (Fusion fusion : {Fusion::None, Fusion::Dominator, Fusion::Full}) {
      options.fusion = fusion;
      Verifier verifier(*model, options, {{"x", x}}, {});
      auto result = verifier.run();
      if (!result) {
        ADD_FAILURE() << toString(result.takeError());
        return 0;
      }
      EXPECT_TRUE(result->isSame()) << what << ": " << result->firstFault();
      for (const VerifiedKernel &kernel : result->kernels)
        open += kernel.deviation.open;
      if (fusion != Fusion::Full)
        continue;
      // The same rule without kernels, which is how outputs are bisected.
      auto bisection = bisect(verifier, result->applications, false, [](int64_t, int64_t) {});
      if (!bisection) {
        ADD_FAILURE() << toString(bisection.takeError());
        return 0;
      }
      EXPECT_GT(bisection->first, result->applications) << what << ": " << bisection->fault;
    }
    return open;
  }
  /// The group of the filtered convolution, what it reads and what the evaluator makes of that.
  struct Group {
    PartitionedModel partitioned;
    tk::FusionOp op;
    std::vector<Tensor> operands;
    Tensor expected;
  };
  Group group(const Tensor &input) {
    Group result{llvm::cantFail(partitionModel(*model, options)), nullptr, {}, {}};
    result.partitioned.module->walk([&](tk::FusionOp op) {
      if (filteredConvolution(op))
        result.op = op;
    });
    const unsigned read =
        llvm::cast<mlir::BlockArgument>(filteredConvolution(result.op).getInput()).getArgNumber();
    for (auto [i, operand] : llvm::enumerate(result.op.getInputs()))
      result.operands.push_back(i == read ? input : *tk::constantValue(operand));
    result.expected = reference::evaluate(result.op, result.operands)->front();
    return result;
  }
  static bool isSame(const Group &group, const Tensor &got) {
    return compare(
               got, group.expected, kernelTolerance(DataType::Float32), [](int) { return std::nullopt; },
               [&] {
                 auto evaluate = [&](reference::Revise revise) -> std::optional<llvm::SmallVector<Tensor>> {
                   return std::optional<llvm::SmallVector<Tensor>>(
                       reference::evaluateRevised(group.op, group.operands, revise));
                 };
                 return arithmeticLatitude({group.expected}, 0, evaluate)[0];
               })
        .isSame();
  }
  /// The expected results, but one.
  static Tensor withElement(const Tensor &tensor, int64_t at, double value) {
    Tensor copy(tensor.type(), tensor.shape());
    std::copy_n(tensor.bytes(), tensor.byteCount(), copy.mutableBytes());
    copy.setDouble(at, value);
    return copy;
  }
  std::unique_ptr<import::Model> model;
  CompileOptions options;
  Tensor x;
};

TEST_F(VerifyFiltering, OrdinaryInputs) { EXPECT_EQ(expectSame("random inputs"), 0); }

TEST_F(VerifyFiltering, OneInputIsAThousandTimesTheOthers) {
  for (double factor : {1e3, 1e6}) {
    x.setDouble(elementAt(3, 13, 13), factor);
    EXPECT_GT(expectSame("a large element"), 0);
  }
}

TEST_F(VerifyFiltering, NotANumber) {
  x.setDouble(elementAt(3, 13, 14), std::nan(""));
  EXPECT_GT(expectSame("NaN"), 0);
}

TEST_F(VerifyFiltering, Infinities) {
  x.setDouble(elementAt(3, 13, 14), infinity);
  EXPECT_GT(expectSame("an infinity"), 0);
  x.setDouble(elementAt(5, 2, 20), -infinity);
  EXPECT_GT(expectSame("two infinities"), 0);
}

TEST_F(VerifyFiltering, NumbersNearTheLargest) {
  x.setDouble(elementAt(3, 13, 14), 2e36);
  expectSame("an overflow in between");
}

/// Of the tile with the large input, an error at the bound is right and one beyond it is wrong; of other
/// tiles, both are.
TEST_F(VerifyFiltering, ErrorsBeyondTheBoundOfTheTile) {
  x.setDouble(elementAt(3, 13, 13), 1000);
  Group ofGroup = group(x);
  auto conv = filteredConvolution(ofGroup.op);
  const auto side = static_cast<int64_t>(*conv.getWinograd());
  ASSERT_EQ(side, 4);
  const std::vector<double> errors = filteringError(conv, x, *tk::constantValue(ofGroup.op.getInputs()[1]));
  double squares = 0;
  for (int64_t i = 0; i < ofGroup.expected.size(); ++i)
    squares += ofGroup.expected.doubleAt(i) * ofGroup.expected.doubleAt(i);
  const Tolerance tolerance = kernelTolerance(DataType::Float32);
  // Rows and columns 12 to 15 read the input of 11 to 16.
  for (int64_t at : {elementAt(7, 15, 15), elementAt(0, 12, 12), elementAt(63, 12, 15)}) {
    const double value = ofGroup.expected.doubleAt(at);
    const double scale = std::max(std::abs(value), std::sqrt(squares / ofGroup.expected.size()));
    const double bound = errors[static_cast<size_t>(at)] + tolerance.relative * scale +
                         tolerance.absolute * std::min(scale, 1.0);
    for (double sign : {1.0, -1.0}) {
      EXPECT_TRUE(isSame(ofGroup, withElement(ofGroup.expected, at, value + sign * 0.99 * bound)));
      EXPECT_FALSE(isSame(ofGroup, withElement(ofGroup.expected, at, value + sign * 1.01 * bound)));
      const int64_t elsewhere = at + side;
      EXPECT_FALSE(isSame(ofGroup, withElement(ofGroup.expected, elsewhere,
                                               ofGroup.expected.doubleAt(elsewhere) + sign * 0.99 * bound)));
    }
  }
}

TEST_F(VerifyFiltering, NotANumberBeyondTheTile) {
  for (double value : {std::nan(""), infinity}) {
    x.setDouble(elementAt(3, 13, 13), value);
    Group ofGroup = group(x);
    for (int64_t row : {12, 15})
      for (int64_t column : {12, 15}) {
        const int64_t at = elementAt(20, row, column);
        EXPECT_TRUE(isSame(ofGroup, withElement(ofGroup.expected, at, std::nan(""))));
      }
    for (int64_t at : {elementAt(20, 11, 12), elementAt(20, 16, 13), elementAt(20, 13, 11),
                       elementAt(20, 13, 16), elementAt(0, 0, 0)})
      EXPECT_FALSE(isSame(ofGroup, withElement(ofGroup.expected, at, std::nan(""))));
    // What does not read it may become NaN, but no other number; what reads it never becomes finite.
    const int64_t corner = elementAt(20, 15, 15), reads = elementAt(20, 13, 14);
    EXPECT_FALSE(isSame(ofGroup, withElement(ofGroup.expected, corner, infinity)));
    EXPECT_FALSE(isSame(ofGroup, withElement(ofGroup.expected, corner, 1e6)));
    EXPECT_FALSE(isSame(ofGroup, withElement(ofGroup.expected, reads, 1)));
    EXPECT_FALSE(
        isSame(ofGroup, withElement(ofGroup.expected, reads,
                                    std::isnan(value) ? infinity : -ofGroup.expected.doubleAt(reads))));
  }
}

/// The module is changed after the code was made: one tap of one output channel.
TEST_F(VerifyFiltering, AWrongKernel) {
  x.setDouble(elementAt(3, 13, 13), 1000);
  options.observed = true;
  auto partitioned = llvm::cantFail(partitionModel(*model, options));
  auto compiled = llvm::cantFail(generateModel(partitioned, options));
  partitioned.module->walk([](tk::FusionOp op) {
    if (!filteredConvolution(op))
      return;
    auto constant = op.getInputs()[1].getDefiningOp<tk::ConstantOp>();
    Tensor weight = Tensor::fromAttr(constant.getValue());
    const int64_t tap = (5 * channels + 30) * 9 + 4;
    constant.setValueAttr(
        withElement(weight, tap, weight.doubleAt(tap) + 0.01).toAttr(constant.getContext()));
  });
  KernelCheck check(compiled.program.observed, compiled.program.steps, kernelTolerance, nullptr);
  auto program = llvm::cantFail(Program::load(std::move(compiled), nullptr, false, check.symbols()));
  Tensor y(DataType::Float32, {1, channels, extent, extent});
  void *in[] = {x.mutableBytes()}, *out[] = {y.mutableBytes()};
  ASSERT_EQ(program->run(in, out), 0);
  const Deviation &deviation = check.kernels().back().deviation;
  // Most results of one channel, and none of another; the others' part in the change is too small.
  EXPECT_GT(deviation.wrong, extent * extent / 2);
  EXPECT_LE(deviation.wrong, extent * extent);
}

/// A difference that is small beside what it is of: the same allowance for the output as for its kernel.
TEST(VerifyOutputs, CancellingProducts) {
  std::string bytes = test::testModel("cancelling_products");
  auto model = llvm::cantFail(import::Model::fromMemory(bytes.data(), bytes.size()));
  CompileOptions options;
  options.import.shapes["x"] = {8, 256};
  Tensor x(DataType::Float32, {8, 256});
  for (int64_t i = 0; i < x.size(); ++i)
    x.setDouble(i, std::sin(static_cast<double>(i)));
  for (Fusion fusion : {Fusion::None, Fusion::Dominator, Fusion::Full}) {
    options.fusion = fusion;
    Verifier verifier(*model, options, {{"x", x}}, {});
    auto result = verifier.run();
    ASSERT_TRUE(static_cast<bool>(result)) << toString(result.takeError());
    EXPECT_TRUE(result->isSame()) << result->firstFault();
  }
}

} // namespace
