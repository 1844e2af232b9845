//===- CostModelTest.cpp - modelled times follow from work, bytes and the machine ---------------------===//
#include "fusion/CostModel.h"
#include "CostTest.h"
#include "fusion/GroupWork.h"
#include <cmath>
#include <numeric>

using namespace tokamak;
using namespace tokamak::fusion;

namespace {

ExpressionFacts plain(mlir::Operation *) { return {}; }

class CostModelTest : public CostTest {
protected:
  GroupCost costOf(std::initializer_list<mlir::Operation *> members,
                   const TargetDescription &target = machine(), int64_t threads = 1) {
    return CostModel(target, threads).group(llvm::ArrayRef(members));
  }
  /// One operator on `shape`, written with X for the tensor type.
  GroupCost costOf(const std::string &operation, const std::string &type,
                   const TargetDescription &target = machine()) {
    std::string text = operation;
    for (size_t at; (at = text.find('X')) != std::string::npos;)
      text.replace(at, 1, type);
    mlir::Block &block = parse("func.func @main(%x: " + type + ") -> " + type + " {\n%r = " + text +
                               "\nreturn %r : " + type + "\n}");
    return costOf({at(block, 0)}, target);
  }
  std::string convolution(int64_t in, int64_t out, int64_t size, int64_t kernel, int64_t group = 1) {
    auto tensor = [](std::initializer_list<int64_t> shape) {
      std::string text = "tensor<";
      for (int64_t n : shape)
        text += std::to_string(n) + "x";
      return text + "f32>";
    };
    std::string x = tensor({1, in, size, size}), w = tensor({out, in / group, kernel, kernel}),
                y = tensor({1, out, size, size});
    std::string pads = "array<i64: " + std::to_string(kernel / 2) + ", " + std::to_string(kernel / 2) + ">";
    return "func.func @main(%x: " + x + ") -> " + y + " {\n%w = tk.constant dense<1.0> : " + w +
           "\n%y = tk.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = " +
           pads + ", pads_high = " + pads + ", group = " + std::to_string(group) + " : i64} : (" + x + ", " +
           w + ") -> " + y + "\nreturn %y : " + y + "\n}";
  }
};

} // namespace

TEST_F(CostModelTest, FusionSavesTheBytesBetween) {
  mlir::Block &block = parse(R"(
    func.func @main(%x: tensor<4000000xf32>) -> tensor<4000000xf32> {
      %0 = tk.abs %x : (tensor<4000000xf32>) -> tensor<4000000xf32>
      %1 = tk.neg %0 : (tensor<4000000xf32>) -> tensor<4000000xf32>
      return %1 : tensor<4000000xf32>
    })");
  mlir::Operation *first = at(block, 0), *second = at(block, 1);
  CostModel model(machine(), 1);
  auto apart = model.program({{first}, {second}}), together = model.program({{first, second}});
  ASSERT_EQ(apart.size(), 2u);
  ASSERT_EQ(together.size(), 1u);
  double sum = apart[0].seconds() + apart[1].seconds();
  // Half of the bytes: 16 MB instead of 32 MB through 12 GB/s, twice where written.
  EXPECT_LT(together[0].seconds(), 0.6 * sum);
  EXPECT_GT(together[0].seconds(), 0.4 * sum);
  EXPECT_EQ(together[0].traffic.total(), 32'000'000);
  EXPECT_NEAR(together[0].memory, 48e6 / 12e9, 1e-4);
}

TEST_F(CostModelTest, LargerCachesAreFaster) {
  TargetDescription small = machine();
  small.l2Bytes = 64 << 10, small.l3Bytes = 128 << 10;
  GroupCost inCache = costOf("tk.neg %x : (X) -> X", "tensor<60000xf32>");
  GroupCost beyond = costOf("tk.neg %x : (X) -> X", "tensor<60000xf32>", small);
  EXPECT_EQ(inCache.traffic.beyond(MemoryLevel::L2), 0);
  EXPECT_EQ(beyond.traffic.at(MemoryLevel::Memory), 480'000);
  EXPECT_GT(beyond.seconds(), 3 * inCache.seconds());
}

TEST_F(CostModelTest, ExpensiveExpressionsCost) {
  auto elementwise = [&](const char *operation) { return costOf(operation, "tensor<4096xf32>").elementwise; };
  double negated = elementwise("tk.neg %x : (X) -> X"), exponential = elementwise("tk.exp %x : (X) -> X");
  double error = elementwise("tk.erf %x : (X) -> X"), arcsine = elementwise("tk.asin %x : (X) -> X");
  EXPECT_GT(exponential, 3 * negated);
  EXPECT_GT(error, exponential);
  EXPECT_GT(arcsine, 4 * error); // a call of libm a lane
  double wide = costOf("tk.exp %x : (X) -> X", "tensor<4096xf64>").elementwise;
  EXPECT_GT(wide, 4 * exponential);
}

TEST_F(CostModelTest, WhatIsDearToRepeatIsKnownWithoutPricing) {
  auto holdsDear = [&](const std::string &operation) {
    mlir::Block &block =
        parse("func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {\n%0 = tk.abs %x : (tensor<64xf32>) "
              "-> tensor<64xf32>\n%1 = " +
              operation + "\nreturn %1 : tensor<64xf32>\n}");
    return CostModel(machine()).holdsDear({at(block, 0), at(block, 1)});
  };
  EXPECT_FALSE(holdsDear("tk.neg %0 : (tensor<64xf32>) -> tensor<64xf32>"));
  EXPECT_TRUE(holdsDear("tk.exp %0 : (tensor<64xf32>) -> tensor<64xf32>"));
  EXPECT_TRUE(holdsDear("tk.composite \"Inner\"(%0) {\n^bb0(%a: tensor<64xf32>):\n"
                        "%e = tk.exp %a : (tensor<64xf32>) -> tensor<64xf32>\n"
                        "tk.yield %e : tensor<64xf32>\n} : (tensor<64xf32>) -> tensor<64xf32>"));
}

TEST_F(CostModelTest, ConvolutionsGoByTheirFamilyAndFill) {
  TargetDescription target = machine();
  target.efficiency.denseConvolution = 0.8;
  target.efficiency.groupedConvolution = 0.2;
  GroupCost dense = costOf({at(parse(convolution(64, 64, 56, 3)), 1)}, target);
  EXPECT_EQ(dense.flops, int64_t(2) * 64 * 64 * 9 * 56 * 56);
  const double ideal = static_cast<double>(dense.flops) / target.peakFlops;
  EXPECT_GT(dense.anchor, ideal / 0.8);
  EXPECT_LT(dense.anchor, ideal / 0.8 * 1.5);
  EXPECT_GT(dense.tasks, 1);
  // 24 channels take the time of 32.
  GroupCost ragged = costOf({at(parse(convolution(64, 24, 56, 3)), 1)}, target);
  GroupCost full = costOf({at(parse(convolution(64, 32, 56, 3)), 1)}, target);
  EXPECT_NEAR(ragged.anchor, full.anchor, 1e-3 * full.anchor);
  GroupCost depthwise = costOf({at(parse(convolution(64, 64, 56, 3, 64)), 1)}, target);
  EXPECT_NEAR(depthwise.anchor, static_cast<double>(depthwise.flops) / (target.peakFlops * 0.2), 1e-9);
}

TEST_F(CostModelTest, AnchorsReadTheirOperandsAgain) {
  const auto l2 = static_cast<size_t>(MemoryLevel::L2);
  // 800 kB of input once for each tile of output channels; a tile's weights, 74 kB, once for each tile of
  // positions.
  GroupCost large = costOf({at(parse(convolution(64, 64, 56, 3)), 1)});
  const int64_t input = 64 * 56 * 56 * 4, weights = 64 * 64 * 9 * 4;
  EXPECT_GE(large.again.read[l2], input);
  EXPECT_EQ(large.again.read[l2] % input, 0);
  EXPECT_GE(large.again.weights[l2], 10 * weights);
  EXPECT_EQ(large.again.weights[l2] % weights, 0);
  EXPECT_EQ(large.traffic.total(), 2 * input + weights);
  // The first level keeps all of this one.
  GroupCost small = costOf({at(parse(convolution(16, 16, 8, 1)), 1)});
  EXPECT_EQ(small.again.total(), 0);
}

TEST_F(CostModelTest, MinimalFilteringMovesTransformedFiltersAndInputs) {
  mlir::Operation *conv = at(parse(convolution(64, 64, 56, 3)), 1);
  conv->setAttr("winograd", mlir::IntegerAttr::get(mlir::IntegerType::get(&context, 64), 4));
  GroupCost cost = costOf({conv});
  const int64_t input = 64 * 56 * 56 * 4, weights = 64 * 64 * 9 * 4;
  auto sum = [](const analysis::BytesByLevel &bytes) {
    return std::accumulate(bytes.begin(), bytes.end(), int64_t(0));
  };
  // 36 products instead of 9 taps of each filter, once for each block of tiles.
  EXPECT_GE(sum(cost.again.weights) + sum(cost.traffic.weights), 4 * weights);
  EXPECT_EQ((sum(cost.again.weights) + sum(cost.traffic.weights)) % (4 * weights), 0);
  // Tiles of 6x6 overlap: 36 elements where 16 are new. They are read for every group of output channels.
  EXPECT_EQ(sum(cost.again.written), 2 * input * 36 / 16);
  EXPECT_GE(sum(cost.again.read), 3 * input * 36 / 16);
}

TEST_F(CostModelTest, WhatIsPickedOnTheWayIsSeenAsAWhole) {
  // Each alone is a copy from neighbours to neighbours; together every lane reads another element.
  mlir::Block &block = parse(R"(
    func.func @main(%x: tensor<64x20xf32>) -> tensor<256x40xf32> {
      %0 = tk.reshape %x {shape = array<i64: 64, 20, 1>} : (tensor<64x20xf32>) -> tensor<64x20x1xf32>
      %1 = tk.broadcast %0 {shape = array<i64: 64, 20, 8>} : (tensor<64x20x1xf32>) -> tensor<64x20x8xf32>
      %2 = tk.reshape %1 {shape = array<i64: 64, 160>} : (tensor<64x20x8xf32>) -> tensor<64x160xf32>
      %3 = tk.transpose %2 {permutation = array<i64: 1, 0>} : (tensor<64x160xf32>) -> tensor<160x64xf32>
      %4 = tk.reshape %3 {shape = array<i64: 40, 256>} : (tensor<160x64xf32>) -> tensor<40x256xf32>
      %5 = tk.transpose %4 {permutation = array<i64: 1, 0>} : (tensor<40x256xf32>) -> tensor<256x40xf32>
      return %5 : tensor<256x40xf32>
    })");
  GroupCost repeated =
      costOf({at(block, 0), at(block, 1), at(block, 2), at(block, 3), at(block, 4), at(block, 5)});
  GroupCost copied = costOf("tk.neg %x : (X) -> X", "tensor<64x160xf32>");
  EXPECT_GT(repeated.elementwise, 8 * copied.elementwise);
}

TEST_F(CostModelTest, AReshapeAtTheEndCostsNothing) {
  // [64, 20] to [40, 32]: no axis of the one is made of axes of the other.
  mlir::Block &block = parse(R"(
    func.func @main(%x: tensor<20x64xf32>) -> tensor<40x32xf32> {
      %0 = tk.transpose %x {permutation = array<i64: 1, 0>} : (tensor<20x64xf32>) -> tensor<64x20xf32>
      %1 = tk.reshape %0 {shape = array<i64: 40, 32>} : (tensor<64x20xf32>) -> tensor<40x32xf32>
      return %1 : tensor<40x32xf32>
    })");
  EXPECT_EQ(costOf({at(block, 0), at(block, 1)}).elementwise, costOf({at(block, 0)}).elementwise);
}

TEST_F(CostModelTest, EachPartOfAConcatenationIsComputedForItself) {
  auto cyclesOf = [&](int64_t parts) {
    auto type = [](int64_t elements) { return "tensor<" + std::to_string(elements) + "xf32>"; };
    std::string arguments, expressions, names, types;
    for (int64_t i = 0; i < parts; ++i) {
      const std::string number = std::to_string(i), comma = i ? ", " : "";
      arguments += comma + "%x" + number + ": " + type(4096);
      expressions +=
          "%y" + number + " = tk.exp %x" + number + " : (" + type(4096) + ") -> " + type(4096) + "\n";
      names += comma + "%y" + number, types += comma + type(4096);
    }
    mlir::Block &block = parse("func.func @main(" + arguments + ") -> " + type(parts * 4096) + " {\n" +
                               expressions + "%z = tk.concat " + names + " {axis = 0 : i64} : (" + types +
                               ") -> " + type(parts * 4096) + "\nreturn %z : " + type(parts * 4096) + "\n}");
    llvm::SmallVector<mlir::Operation *> members;
    for (mlir::Operation &op : block.without_terminator())
      members.push_back(&op);
    return CostModel(machine(), 1).group(members).elementwise;
  };
  EXPECT_NEAR(cyclesOf(16), 8 * cyclesOf(2), 0.1 * cyclesOf(16));
}

TEST_F(CostModelTest, WeightsComeFromBeyondTheCaches) {
  mlir::Block &block = parse(R"(
    func.func @main(%x: tensor<1x4096xf32>) -> tensor<1x4096xf32> {
      %w = tk.constant dense<1.0> : tensor<4096x4096xf32>
      %0 = tk.matmul %x, %w : (tensor<1x4096xf32>, tensor<4096x4096xf32>) -> tensor<1x4096xf32>
      return %0 : tensor<1x4096xf32>
    })");
  GroupCost cost = CostModel(machine(), 1).program({{at(block, 1)}})[0];
  EXPECT_EQ(cost.traffic.weights[3], 64 << 20);
  EXPECT_GT(cost.memory, cost.compute()); // a matrix times a vector waits for memory
  EXPECT_GT(cost.seconds(), (64 << 20) / 12e9);
  CostModel hot(machine(), 1);
  hot.setProgramWeights(1000); // of a program that fits the cache
  EXPECT_LT(hot.group({at(block, 1)}).seconds(), cost.seconds());
}

TEST_F(CostModelTest, AGroupThatNoKernelHoldsIsRefused) {
  mlir::Block &block = parse(R"(
    func.func @main(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
      %w = tk.constant dense<1.0> : tensor<64x64xf32>
      %0 = tk.matmul %x, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
      %1 = tk.transpose %0 {permutation = array<i64: 1, 0>} : (tensor<64x64xf32>) -> tensor<64x64xf32>
      %2 = tk.matmul %1, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
      return %2 : tensor<64x64xf32>
    })");
  GroupCost cost = costOf({at(block, 1), at(block, 2), at(block, 3)});
  EXPECT_FALSE(cost.refusal.empty());
  EXPECT_TRUE(std::isinf(cost.seconds()));
}

TEST_F(CostModelTest, ThreadsShareTasks) {
  mlir::Block &block = parse(convolution(64, 64, 56, 3));
  GroupCost one = costOf({at(block, 1)}, machine(), 1), two = costOf({at(block, 1)}, machine(), 2);
  EXPECT_EQ(one.parallelism, 1);
  EXPECT_EQ(one.dispatch, 0);
  EXPECT_LT(two.seconds(), 0.6 * one.seconds());
  EXPECT_GT(two.dispatch, 0);
  // Little work stays where it is.
  GroupCost little = costOf("tk.neg %x : (X) -> X", "tensor<64xf32>");
  EXPECT_EQ(little.parallelism, 1);
}

TEST_F(CostModelTest, RecomputationCounts) {
  // Each element of the exponential is read by four of the result.
  mlir::Block &block = parse(R"(
    func.func @main(%x: tensor<1x1000xf32>) -> tensor<4x1000xf32> {
      %0 = tk.exp %x : (tensor<1x1000xf32>) -> tensor<1x1000xf32>
      %1 = tk.broadcast %0 {shape = array<i64: 4, 1000>} : (tensor<1x1000xf32>) -> tensor<4x1000xf32>
      return %1 : tensor<4x1000xf32>
    })");
  auto work = workOf({at(block, 0), at(block, 1)}, plain);
  ASSERT_EQ(work.size(), 2u);
  EXPECT_EQ(work[0].evaluations, 4000);
  EXPECT_EQ(work[0].elements, 1000);
  EXPECT_EQ(work[1].evaluations, 4000);
  EXPECT_GT(costOf({at(block, 0), at(block, 1)}).recomputation, 1.5);
  EXPECT_EQ(costOf({at(block, 0)}).recomputation, 1);
}

TEST_F(CostModelTest, PickingLaneByLaneCosts) {
  GroupCost copied = costOf("tk.neg %x : (X) -> X", "tensor<512x512xf32>");
  GroupCost transposed =
      costOf("tk.transpose %x {permutation = array<i64: 1, 0>} : (X) -> X", "tensor<512x512xf32>");
  EXPECT_GT(transposed.elementwise, 5 * copied.elementwise);
  // What a transposition reads is read in its order as well.
  mlir::Block &block = parse(R"(
    func.func @main(%x: tensor<512x512xf32>, %y: tensor<512x512xf32>) -> tensor<512x512xf32> {
      %0 = tk.add %x, %y : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
      %1 = tk.transpose %0 {permutation = array<i64: 1, 0>} : (tensor<512x512xf32>) -> tensor<512x512xf32>
      return %1 : tensor<512x512xf32>
    })");
  EXPECT_GT(costOf({at(block, 0), at(block, 1)}).elementwise, 1.5 * transposed.elementwise);
}

TEST_F(CostModelTest, ConcatenationsAskEveryOperandForEveryElement) {
  mlir::Block &block = parse(R"(
    func.func @main(%x: tensor<1x64xf32>, %y: tensor<3x64xf32>) -> tensor<4x64xf32> {
      %0 = tk.exp %x : (tensor<1x64xf32>) -> tensor<1x64xf32>
      %1 = tk.concat %0, %y {axis = 0 : i64} : (tensor<1x64xf32>, tensor<3x64xf32>) -> tensor<4x64xf32>
      return %1 : tensor<4x64xf32>
    })");
  auto work = workOf({at(block, 0), at(block, 1)}, plain);
  EXPECT_EQ(work[0].evaluations, 4 * 64);
}

TEST_F(CostModelTest, WhatARowSharesIsComputedOnceARow) {
  mlir::Block &block = parse(R"(
    func.func @main(%x: tensor<8x64xf32>, %c: tensor<8x1xf32>) -> tensor<8x64xf32> {
      %0 = tk.exp %c : (tensor<8x1xf32>) -> tensor<8x1xf32>
      %1 = tk.div %x, %0 : (tensor<8x64xf32>, tensor<8x1xf32>) -> tensor<8x64xf32>
      return %1 : tensor<8x64xf32>
    })");
  EXPECT_EQ(workOf({at(block, 0), at(block, 1)}, plain)[0].evaluations, 8);
}

TEST_F(CostModelTest, WhatIsTheSameAlongARowTakesAVector) {
  mlir::Block &block = parse(R"(
    func.func @main(%x: tensor<512x64xf32>, %c: tensor<512x1xf32>) -> tensor<512x64xf32> {
      %0 = tk.exp %c : (tensor<512x1xf32>) -> tensor<512x1xf32>
      %1 = tk.mul %x, %0 : (tensor<512x64xf32>, tensor<512x1xf32>) -> tensor<512x64xf32>
      return %1 : tensor<512x64xf32>
    })");
  const double added = costOf({at(block, 0), at(block, 1)}).elementwise - costOf({at(block, 1)}).elementwise;
  EXPECT_GT(added, 512 * 15 / machine().clockHz); // not 512 / 16
  EXPECT_LT(added, 512 * 60 / machine().clockHz); // nor 512 * 64 / 16
}

TEST_F(CostModelTest, ResultsOfOneShapeShareTheirLoops) {
  mlir::Block &block = parse(R"(
    func.func @main(%x: tensor<32x64xf32>) -> (tensor<32x64xf32>, tensor<32x64xf32>, tensor<64x32xf32>) {
      %0 = tk.exp %x : (tensor<32x64xf32>) -> tensor<32x64xf32>
      %1 = tk.abs %0 : (tensor<32x64xf32>) -> tensor<32x64xf32>
      %2 = tk.neg %0 : (tensor<32x64xf32>) -> tensor<32x64xf32>
      %3 = tk.transpose %0 {permutation = array<i64: 1, 0>} : (tensor<32x64xf32>) -> tensor<64x32xf32>
      return %1, %2, %3 : tensor<32x64xf32>, tensor<32x64xf32>, tensor<64x32xf32>
    })");
  // The exponential is read by the transposition as well, so it is a result of its own in the first.
  EXPECT_EQ(workOf({at(block, 0), at(block, 1), at(block, 2)}, plain)[0].evaluations, 2048);
  EXPECT_GT(workOf({at(block, 0), at(block, 1), at(block, 2), at(block, 3)}, plain)[0].evaluations, 2048);
}

TEST_F(CostModelTest, DearRepetitionsAreNamed) {
  mlir::Block &block = parse(R"(
    func.func @main(%c: tensor<1x64xf32>, %x: tensor<8x64xf32>) -> tensor<8x64xf32> {
      %0 = tk.exp %c : (tensor<1x64xf32>) -> tensor<1x64xf32>
      %1 = tk.mul %x, %0 : (tensor<8x64xf32>, tensor<1x64xf32>) -> tensor<8x64xf32>
      %2 = tk.abs %c : (tensor<1x64xf32>) -> tensor<1x64xf32>
      %3 = tk.mul %1, %2 : (tensor<8x64xf32>, tensor<1x64xf32>) -> tensor<8x64xf32>
      return %3 : tensor<8x64xf32>
    })");
  EXPECT_EQ(costOf({at(block, 0)}).dearRepeats, 1);
  EXPECT_EQ(costOf({at(block, 0), at(block, 1)}).dearRepeats, 8);
  EXPECT_EQ(costOf({at(block, 2), at(block, 3)}).dearRepeats, 1); // it is cheap
}

TEST_F(CostModelTest, RowsComputeWhatTheyShareEach) {
  mlir::Block &block = parse(R"(
    func.func @main(%c: tensor<1x64xf32>, %x: tensor<8x64xf32>) -> tensor<8xf32> {
      %0 = tk.exp %c : (tensor<1x64xf32>) -> tensor<1x64xf32>
      %1 = tk.mul %x, %0 : (tensor<8x64xf32>, tensor<1x64xf32>) -> tensor<8x64xf32>
      %2 = tk.reduce %1 {axes = array<i64: 1>, keep_dims = false, kind = #tk.reduce_kind<sum>} : (tensor<8x64xf32>) -> tensor<8xf32>
      return %2 : tensor<8xf32>
    })");
  auto expensive = [](mlir::Operation *) { return ExpressionFacts{false, true}; };
  EXPECT_EQ(workOf({at(block, 0), at(block, 1), at(block, 2)}, expensive)[0].evaluations, 512);
}

TEST_F(CostModelTest, PrologueThatGathersCosts) {
  auto cost = [&](const char *step) {
    mlir::Block &block =
        parse(std::string("func.func @main(%x: tensor<256x256xf32>) -> tensor<256x256xf32> {\n"
                          "%w = tk.constant dense<1.0> : tensor<256x256xf32>\n%p = tk.") +
              step +
              " : (tensor<256x256xf32>) -> tensor<256x256xf32>\n"
              "%r = tk.matmul %p, %w : (tensor<256x256xf32>, tensor<256x256xf32>) -> "
              "tensor<256x256xf32>\nreturn %r : tensor<256x256xf32>\n}");
    return costOf({at(block, 1), at(block, 2)});
  };
  GroupCost straight = cost("neg %x"), transposed = cost("transpose %x {permutation = array<i64: 1, 0>}");
  EXPECT_TRUE(straight.refusal.empty()) << straight.refusal;
  EXPECT_GT(straight.elementwise, 0);
  EXPECT_GT(transposed.elementwise, straight.elementwise);
}

TEST_F(CostModelTest, RowKernelsKeepWhatIsExpensive) {
  mlir::Block &block = parse(R"(
    func.func @main(%x: tensor<8x64xf32>) -> tensor<8x64xf32> {
      %0 = tk.exp %x : (tensor<8x64xf32>) -> tensor<8x64xf32>
      %1 = tk.reduce %0 {axes = array<i64: 1>, keep_dims = true, kind = #tk.reduce_kind<sum>} : (tensor<8x64xf32>) -> tensor<8x1xf32>
      %2 = tk.div %0, %1 : (tensor<8x64xf32>, tensor<8x1xf32>) -> tensor<8x64xf32>
      return %2 : tensor<8x64xf32>
    })");
  auto expensive = [](mlir::Operation *) { return ExpressionFacts{false, true}; };
  EXPECT_EQ(workOf({at(block, 0), at(block, 1), at(block, 2)}, expensive)[0].evaluations, 512);
  EXPECT_EQ(workOf({at(block, 0), at(block, 1), at(block, 2)}, plain)[0].evaluations, 1024);
}

TEST_F(CostModelTest, ReadersAtOneIndexShare) {
  mlir::Block &block = parse(R"(
    func.func @main(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
      %0 = tk.exp %x : (tensor<64x64xf32>) -> tensor<64x64xf32>
      %1 = tk.abs %0 : (tensor<64x64xf32>) -> tensor<64x64xf32>
      %2 = tk.add %0, %1 : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
      %3 = tk.transpose %0 {permutation = array<i64: 1, 0>} : (tensor<64x64xf32>) -> tensor<64x64xf32>
      %4 = tk.add %2, %3 : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
      return %4 : tensor<64x64xf32>
    })");
  auto work = workOf({at(block, 0), at(block, 1), at(block, 2), at(block, 3), at(block, 4)}, plain);
  EXPECT_EQ(work[0].evaluations, 2 * 4096); // once at the reader's index, once at the transposed one
  EXPECT_EQ(work[1].evaluations, 4096);
}

TEST_F(CostModelTest, GroupsAndCompositesAreTakenApart) {
  mlir::Block &block = parse(R"(
    func.func @main(%x: tensor<8x64xf32>) -> tensor<8x64xf32> {
      %0 = tk.fusion(%x) {
      ^bb0(%a: tensor<8x64xf32>):
        %c = tk.composite "Norm"(%a) {
        ^bb0(%b: tensor<8x64xf32>):
          %s = tk.reduce %b {axes = array<i64: 1>, keep_dims = true, kind = #tk.reduce_kind<sum>} : (tensor<8x64xf32>) -> tensor<8x1xf32>
          %d = tk.sub %b, %s : (tensor<8x64xf32>, tensor<8x1xf32>) -> tensor<8x64xf32>
          tk.yield %d : tensor<8x64xf32>
        } : (tensor<8x64xf32>) -> tensor<8x64xf32>
        %e = tk.exp %c : (tensor<8x64xf32>) -> tensor<8x64xf32>
        tk.yield %e : tensor<8x64xf32>
      } : (tensor<8x64xf32>) -> tensor<8x64xf32>
      return %0 : tensor<8x64xf32>
    })");
  auto work = workOf({at(block, 0)}, plain);
  ASSERT_EQ(work.size(), 3u);
  EXPECT_EQ(work[0].evaluations, 8); // the reduction, once
  EXPECT_EQ(work[1].evaluations, 512);
  EXPECT_EQ(work[2].evaluations, 512);
  EXPECT_EQ(costOf({at(block, 0)}).tasks, 8); // rows
}

TEST_F(CostModelTest, EmptyAndScalarTensors) {
  for (const char *type : {"tensor<0x4xf32>", "tensor<f32>", "tensor<1xi64>", "tensor<1x1x1xf16>"}) {
    GroupCost cost = costOf("tk.neg %x : (X) -> X", type);
    EXPECT_TRUE(std::isfinite(cost.seconds())) << type;
    EXPECT_GT(cost.seconds(), 0) << type;
    EXPECT_LT(cost.seconds(), 1e-6) << type;
  }
  EXPECT_TRUE(std::isfinite(costOf({at(parse(convolution(16, 16, 0, 1)), 1)}).seconds()));
}
