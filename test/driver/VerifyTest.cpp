//===- VerifyTest.cpp - what counts as the same, and whether a wrong kernel is found ----------------===//
#include "TestModels.h"
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

Tensor floats(llvm::ArrayRef<double> values) {
  Tensor tensor(DataType::Float32, {static_cast<int64_t>(values.size())});
  for (auto [i, value] : llvm::enumerate(values))
    tensor.setDouble(static_cast<int64_t>(i), value);
  return tensor;
}
std::optional<Tensor> none(int) { return std::nullopt; }
bool isSame(const Tensor &got, const Tensor &expected,
            llvm::function_ref<std::optional<Tensor>(int)> moved = none) {
  return compare(got, expected, kernelTolerance(expected.type()), moved).isSame();
}

TEST(Compare, NumbersWithinTheTolerance) {
  EXPECT_TRUE(isSame(floats({1, 1000}), floats({1, 1000})));
  EXPECT_TRUE(isSame(floats({1.00001, 2}), floats({1, 2})));
  EXPECT_FALSE(isSame(floats({1.0001, 2}), floats({1, 2})));
  // A sum that cancels errs by what was added up: the others say how much that is.
  EXPECT_TRUE(isSame(floats({0.005, 1000}), floats({0, 1000})));
  EXPECT_FALSE(isSame(floats({0.05, 1000}), floats({0, 1000})));
}

// Whatever their unit: a tensor of small numbers is not right because its errors are small as well.
TEST(Compare, SmallNumbers) {
  EXPECT_TRUE(isSame(floats({1e-8, 2e-8}), floats({1e-8, 2e-8})));
  EXPECT_FALSE(isSame(floats({-1e-8, -2e-8}), floats({1e-8, 2e-8})));
  // Subnormal ones round to multiples of 2^-149.
  EXPECT_TRUE(isSame(floats({1.46189e-40}), floats({1.46179e-40})));
  EXPECT_FALSE(isSame(floats({1.6e-40}), floats({1.4e-40})));
}

TEST(Compare, SpecialValues) {
  double nan = std::nan("");
  EXPECT_TRUE(isSame(floats({nan, infinity, -infinity}), floats({nan, infinity, -infinity})));
  EXPECT_FALSE(isSame(floats({1}), floats({nan})));
  EXPECT_FALSE(isSame(floats({nan}), floats({1})));
  EXPECT_FALSE(isSame(floats({infinity}), floats({-infinity})));
  EXPECT_FALSE(isSame(floats({infinity}), floats({3e38})));
  EXPECT_FALSE(isSame(floats({3e38}), floats({infinity})));
  // They do not widen the tolerance of the others.
  EXPECT_FALSE(isSame(floats({1.1, infinity}), floats({1, infinity})));
}

TEST(Compare, IntegersAreEqualOrExplained) {
  Tensor two = Tensor::fromInts({1, 2}), three = Tensor::fromInts({1, 3});
  EXPECT_TRUE(isSame(two, two));
  EXPECT_FALSE(isSame(three, two));
  EXPECT_TRUE(isSame(three, two, [&](int round) {
    return round == 1 ? std::optional(three) : round == 0 ? std::optional(two) : std::nullopt;
  }));
}

// What a value is like says nothing about whether there are more: a tensor without a shape is one as well.
TEST(Compare, ResultsOfRankZero) {
  const Tensor one = Tensor::scalar(DataType::Float32, 1), two = Tensor::scalar(DataType::Float32, 2);
  EXPECT_TRUE(isSame(one, one));
  EXPECT_FALSE(isSame(two, one));
  EXPECT_TRUE(isSame(two, one, [&](int round) { return round < 3 ? std::optional(two) : std::nullopt; }));
  int rounds = 0;
  EXPECT_FALSE(isSame(two, one, [&](int round) {
    rounds = round;
    return round < 3 ? std::optional(one) : std::nullopt;
  }));
  EXPECT_EQ(rounds, 3);
}

TEST(Compare, IllConditionedElements) {
  auto moved = [&](int round) { return round == 0 ? std::optional(floats({1.001, 2})) : std::nullopt; };
  Deviation deviation =
      compare(floats({0.9985, 2}), floats({1, 2}), kernelTolerance(DataType::Float32), moved);
  EXPECT_TRUE(deviation.isSame());
  EXPECT_EQ(deviation.unstable, 1);
  deviation = compare(floats({1.1, 2}), floats({1, 2}), kernelTolerance(DataType::Float32), moved);
  EXPECT_EQ(deviation.wrong, 1);
  EXPECT_EQ(deviation.firstWrong, "element [0]: 1.10000002 instead of 1");
  EXPECT_NEAR(deviation.maxAbsolute, 0.1, 1e-6);
}

TEST(Compare, MovedTensorsStayClose) {
  Tensor tensor = floats({1, -3e30, 0, infinity, 1e-20}), other = moved(tensor, 5);
  EXPECT_TRUE(isSame(other, tensor));
  EXPECT_EQ(other.doubleAt(2), 0);
  EXPECT_EQ(other.doubleAt(3), infinity);
  Tensor ones(DataType::Float16, {64});
  for (int64_t i = 0; i < ones.size(); ++i)
    ones.setDouble(i, 1);
  int64_t changed = 0;
  Tensor movedOnes = moved(ones, 1);
  for (int64_t i = 0; i < ones.size(); ++i) {
    changed += movedOnes.doubleAt(i) != 1;
    EXPECT_NEAR(movedOnes.doubleAt(i), 1, 0x1p-9);
  }
  EXPECT_GT(changed, 16);
}

struct Verify : testing::Test {
  void SetUp() override {
    std::string bytes = test::testModel("dense");
    auto read = import::Model::fromMemory(bytes.data(), bytes.size());
    ASSERT_TRUE(static_cast<bool>(read));
    model = std::move(*read);
    options.import.shapes["x"] = {2, 4};
    x = Tensor(DataType::Float32, {2, 4});
    for (int64_t i = 0; i < x.size(); ++i)
      x.setDouble(i, static_cast<double>(i) - 3);
  }
  std::unique_ptr<import::Model> model;
  CompileOptions options;
  Tensor x;
};

TEST_F(Verify, EveryKernelAndOutputOnce) {
  for (Fusion fusion : {Fusion::None, Fusion::Dominator, Fusion::Full}) {
    options.fusion = fusion;
    Verifier verifier(*model, options, {{"x", x}}, {});
    auto result = verifier.run();
    ASSERT_TRUE(static_cast<bool>(result)) << toString(result.takeError());
    EXPECT_TRUE(result->isSame()) << result->firstFault();
    EXPECT_EQ(result->kernels.size(), fusion == Fusion::None ? 3u : 1u);
    for (const VerifiedKernel &kernel : result->kernels) {
      EXPECT_EQ(kernel.runs, 1);
      EXPECT_EQ(kernel.deviation.elements, 6);
    }
    ASSERT_EQ(result->outputs.size(), 1u);
    EXPECT_EQ(result->outputs[0].name, "y");
  }
}

TEST_F(Verify, FindsTheKernelThatIsWrong) {
  options.fusion = Fusion::None;
  options.observed = true;
  auto partitioned = partitionModel(*model, options);
  ASSERT_TRUE(static_cast<bool>(partitioned));
  auto compiled = generateModel(*partitioned, options);
  ASSERT_TRUE(static_cast<bool>(compiled));
  // From now on the module says what the code does not do.
  partitioned->module->walk([](tk::AddOp sum) {
    mlir::OpBuilder b(sum);
    sum.replaceAllUsesWith(
        b.create<tk::SubOp>(sum.getLoc(), sum.getType(), sum.getLhs(), sum.getRhs()).getResult());
  });
  KernelCheck check(compiled->program.observed, compiled->program.steps, kernelTolerance, nullptr);
  auto program = Program::load(std::move(*compiled), nullptr, false, check.symbols());
  ASSERT_TRUE(static_cast<bool>(program)) << toString(program.takeError());
  Tensor y(DataType::Float32, {2, 3});
  void *in[] = {x.mutableBytes()}, *out[] = {y.mutableBytes()};
  ASSERT_EQ((*program)->run(in, out), 0);
  ASSERT_EQ(check.kernels().size(), 3u);
  EXPECT_TRUE(check.kernels()[0].deviation.isSame()) << check.kernels()[0].deviation.firstWrong;
  EXPECT_EQ(check.kernels()[1].deviation.wrong, 4); // the bias of the middle column is 0
  EXPECT_EQ(check.kernels()[1].onnx, "node 'bias' (Add)");
  EXPECT_TRUE(check.kernels()[2].deviation.isSame()); // on what the wrong one has computed
}

TEST_F(Verify, BisectsARightModelToNothing) {
  Verifier verifier(*model, options, {{"x", x}}, {});
  auto result = bisect(verifier, 3, false, [](int64_t, int64_t) {});
  ASSERT_TRUE(static_cast<bool>(result));
  EXPECT_EQ(result->first, 4);
  EXPECT_EQ(result->runs, 1);
}

} // namespace
