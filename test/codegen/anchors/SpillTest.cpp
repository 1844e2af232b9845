//===- SpillTest.cpp - the accumulators of every tile stay in registers ---------------------===//
// A kernel that spills in an innermost loop is right and two to three times slower, so only this notices.
#include "ConvolutionCase.h"
#include "codegen/anchors/LoopBuilder.h"
#include "codegen/anchors/MatMul.h"
#include "codegen/anchors/WinogradConvolution.h"
#include <gtest/gtest.h>

namespace tokamak::test {
namespace {

using codegen::ConvolutionPlan;
using codegen::ConvolutionShape;
using codegen::MatMulPlan;
using codegen::MatMulShape;

class SpillTest : public testing::TestWithParam<const char *> {
protected:
  TargetDescription target = llvm::cantFail(TargetDescription::forCpu(GetParam()));

  int64_t convolution(int64_t in, int64_t out, int64_t extent, int64_t kernel, int64_t stride = 1,
                      int64_t group = 1, bool blockedInput = true, bool transposed = false) {
    const PaddedConvolution padded{
        in, out, extent, extent, kernel, stride, group, blockedInput ? target.lanes() : 0, transposed};
    const ConvolutionShape shape = padded.shape();
    auto plan = llvm::cantFail(ConvolutionPlan::create(shape, target));
    const ResultShape result = plan->lanesAreChannels() ? resultShape(shape, true) : rowsResultShape(shape);
    return countInnerLoopSpills(compileConvolution(*plan, result, target, true).assembly);
  }

  /// By minimal filtering, with tiles of 2x2 and of 4x4. The transforms of the latter have more factors than
  /// 16 registers hold beside what they compute: one of them is read in each round.
  int64_t filtered(int64_t in, int64_t out, int64_t extent) {
    ConvolutionShape shape = PaddedConvolution{in, out, extent, extent, 3, 1, 1, target.lanes()}.shape();
    int64_t spills = 0;
    for (int64_t outputs : {2, 4}) {
      auto plan = llvm::cantFail(codegen::createWinogradConvolution(shape, outputs, target));
      spills +=
          countInnerLoopSpills(compileConvolution(*plan, resultShape(shape, true), target, true).assembly,
                               /*storesOnly=*/!target.hasMaskRegisters);
    }
    return spills;
  }

  /// Bands of rows, all columns, as another convolution asks for them.
  int64_t bands(int64_t in, int64_t out, int64_t extent, int64_t kernel, int64_t stride = 1,
                int64_t group = 1) {
    const PaddedConvolution padded{in, out, extent, extent, kernel, stride, group, target.lanes()};
    ConvolutionShape shape = padded.shape();
    shape.bandRows = 4;
    auto plan = llvm::cantFail(ConvolutionPlan::create(shape, target));
    CompiledKernel compiled = compileKernel(
        [&](mlir::OpBuilder &builder, mlir::Location loc, mlir::Value input, mlir::Value weight,
            mlir::Value scratch, mlir::Value begin, mlir::Value end, const codegen::EpilogueFn &epilogue) {
          codegen::LoopBuilder loops(builder, loc, target.lanes());
          codegen::ConvolutionRegion region;
          region.image = loops.index(0);
          int64_t blocks = (out + target.lanes() - 1) / target.lanes();
          region.blocks = {loops.index(0), loops.index(blocks), blocks};
          region.spatial = {{begin, end, shape.output[1]}};
          plan->emitRegion(builder, loc, input, weight, scratch, region, epilogue, nullptr);
        },
        resultShape(shape, true), target, true);
    return countInnerLoopSpills(compiled.assembly);
  }

  int64_t product(int64_t m, int64_t k, int64_t n, bool constant, bool transposeRhs) {
    MatMulShape shape;
    shape.m = m;
    shape.n = n;
    shape.k = k;
    shape.transposeRhs = transposeRhs;
    shape.rhsIsConstant = constant;
    auto plan = llvm::cantFail(MatMulPlan::create(shape, target));
    ResultShape result;
    result.before = {m};
    result.vectorExtent = n;
    CompiledKernel kernel = compileKernel(
        [&](mlir::OpBuilder &builder, mlir::Location loc, mlir::Value left, mlir::Value right,
            mlir::Value scratch, mlir::Value begin, mlir::Value end, const codegen::EpilogueFn &epilogue) {
          plan->emit(builder, loc, left, right, scratch, begin, end, epilogue);
        },
        result, target, true);
    return countInnerLoopSpills(kernel.assembly);
  }
};

TEST_P(SpillTest, Convolutions) {
  EXPECT_EQ(convolution(64, 256, 56, 1), 0);
  EXPECT_EQ(convolution(256, 512, 56, 1, 2), 0);
  EXPECT_EQ(convolution(144, 24, 56, 1), 0);
  EXPECT_EQ(convolution(64, 64, 56, 3), 0);
  EXPECT_EQ(convolution(128, 128, 28, 3), 0);
  EXPECT_EQ(convolution(512, 512, 7, 3), 0);
  EXPECT_EQ(convolution(128, 128, 56, 3, 2), 0);
  EXPECT_EQ(convolution(64, 64, 17, 3), 0);
}

// One vector of channels: no broadcast of the input has a second reader.
TEST_P(SpillTest, ConvolutionsOfFewChannels) {
  for (int64_t extent : {8, 16, 20, 28, 32}) {
    EXPECT_EQ(convolution(48, 8, extent, 3), 0) << extent;
    EXPECT_EQ(bands(48, 8, extent, 3), 0) << extent;
    EXPECT_EQ(convolution(48, 8, extent, 1), 0) << extent;
  }
}

TEST_P(SpillTest, Images) {
  EXPECT_EQ(convolution(3, 64, 224, 7, 2, 1, false), 0);
  EXPECT_EQ(convolution(3, 32, 224, 3, 2, 1, false), 0);
  EXPECT_EQ(convolution(1, 32, 64, 5, 1, 1, false), 0);
}

TEST_P(SpillTest, DepthwiseConvolutions) {
  EXPECT_EQ(convolution(96, 96, 112, 3, 1, 96), 0);
  EXPECT_EQ(convolution(96, 96, 112, 3, 2, 96), 0);
  EXPECT_EQ(convolution(96, 96, 14, 5, 1, 96), 0);
}

TEST_P(SpillTest, DepthwiseConvolutionsOfRows) {
  EXPECT_EQ(convolution(96, 96, 112, 3, 1, 96, false), 0);
  EXPECT_EQ(convolution(96, 96, 112, 5, 1, 96, false), 0);
  // All of a small plane is border, whose masks take vector registers where there are no others.
  if (target.hasMaskRegisters)
    EXPECT_EQ(convolution(96, 96, 14, 3, 1, 96, false), 0);
}

TEST_P(SpillTest, Bands) {
  EXPECT_EQ(bands(24, 144, 56, 1), 0);
  EXPECT_EQ(bands(144, 24, 56, 1), 0);
  EXPECT_EQ(bands(160, 960, 7, 1), 0);
  EXPECT_EQ(bands(64, 64, 28, 3), 0);
  EXPECT_EQ(bands(96, 96, 112, 3, 2, 96), 0);
  EXPECT_EQ(bands(96, 96, 14, 5, 1, 96), 0);
}

TEST_P(SpillTest, FilteredConvolutions) {
  EXPECT_EQ(filtered(64, 64, 56), 0);
  EXPECT_EQ(filtered(128, 128, 28), 0);
  EXPECT_EQ(filtered(256, 256, 14), 0);
  EXPECT_EQ(filtered(512, 512, 7), 0);
  EXPECT_EQ(filtered(32, 16, 40), 0);
  EXPECT_EQ(filtered(96, 208, 17), 0);
}

TEST_P(SpillTest, TransposedConvolutions) {
  EXPECT_EQ(convolution(96, 96, 80, 2, 2, 1, true, true), 0);
  EXPECT_EQ(convolution(64, 32, 40, 4, 2, 1, true, true), 0);
}

TEST_P(SpillTest, Products) {
  EXPECT_EQ(product(128, 768, 3072, true, false), 0);
  EXPECT_EQ(product(128, 1024, 1000, true, false), 0);
  EXPECT_EQ(product(1, 2048, 1000, true, false), 0);
  EXPECT_EQ(product(197, 64, 197, false, true), 0);
  EXPECT_EQ(product(197, 197, 64, false, false), 0);
}

TEST(CountInnerLoopSpills, SeesThemInInnermostLoopsWithMultiplyAdds) {
  const std::string body = "\tvmovups\t80(%rsp), %ymm2\n\tvmovups\t%ymm3, 16(%rsp)\n"
                           "\tvfmadd231ps\t48(%rsp), %ymm2, %ymm4\n";
  const std::string loop = ".LBB0_2:\n" + body + "\tjne\t.LBB0_2\n";
  EXPECT_EQ(countInnerLoopSpills("kernel:\n.LBB0_1:\n" + body + loop + body + "\tjne\t.LBB0_1\n"), 3);
  EXPECT_EQ(countInnerLoopSpills(loop, /*storesOnly=*/true), 1);
  EXPECT_EQ(countInnerLoopSpills(".LBB0_1:\n\tvmovups\t%ymm3, 16(%rsp)\n\tjne\t.LBB0_1\n"), 0);
}

INSTANTIATE_TEST_SUITE_P(Targets, SpillTest, testing::Values("x86-64-v4", "x86-64-v3"),
                         [](const testing::TestParamInfo<const char *> &info) {
                           return std::string(info.param).substr(7);
                         });

} // namespace
} // namespace tokamak::test
