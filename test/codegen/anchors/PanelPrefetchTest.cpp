//===- PanelPrefetchTest.cpp - which lines are asked for, and when --------------------------===//
#include "codegen/anchors/PanelPrefetch.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/OwningOpRef.h"
#include <algorithm>
#include <gtest/gtest.h>
#include <set>

namespace tokamak::test {
namespace {

using codegen::LoopBuilder;
using codegen::PanelPrefetch;

constexpr int64_t kLine = 16;

class PanelPrefetchTest : public testing::Test {
protected:
  PanelPrefetchTest() { target.l2Bytes = 1 << 20; }

  /// Of a step whose row lies `row` elements into the packed weights, the elements at which the lines lie
  /// that the `tile`th register tile asks for.
  std::set<int64_t> asked(const PanelPrefetch &prefetch, int64_t tile, int64_t row) {
    mlir::MLIRContext context;
    context.loadDialect<mlir::arith::ArithDialect, mlir::LLVM::LLVMDialect>();
    auto loc = mlir::UnknownLoc::get(&context);
    mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(loc);
    mlir::OpBuilder builder(module->getBodyRegion());
    LoopBuilder loops(builder, loc, target.lanes());
    mlir::Value weights = builder.create<mlir::LLVM::ZeroOp>(loc, mlir::LLVM::LLVMPointerType::get(&context));
    prefetch.emit(loops, loops.at(weights, row), prefetch.distance(loops, loops.index(tile)));
    std::set<int64_t> elements;
    module->walk([&](mlir::LLVM::Prefetch op) {
      int64_t element = 0;
      for (auto at = op.getAddr().getDefiningOp<mlir::LLVM::GEPOp>(); at;
           at = at.getBase().getDefiningOp<mlir::LLVM::GEPOp>())
        element += static_cast<int64_t>(at.getRawConstantIndices().front());
      EXPECT_TRUE(elements.insert(element).second) << "one step asks twice for a line";
    });
    return elements;
  }

  TargetDescription target;
};

TEST_F(PanelPrefetchTest, TheTilesOfAPanelAskForAllOfTheNext) {
  constexpr int64_t rows = 128;
  for (int64_t width : {16, 32, 48})
    for (int64_t tiles : {1, 2, 3, 7}) {
      const PanelPrefetch prefetch(rows * width, width, 200, tiles, target);
      ASSERT_FALSE(prefetch.isNone());
      std::set<int64_t> all, expected;
      for (int64_t tile = 0; tile < tiles; ++tile)
        for (int64_t row = 0; row < rows; ++row)
          for (int64_t element : asked(prefetch, tile, row * width))
            all.insert(element);
      for (int64_t line = 0; line < rows * width; line += kLine)
        expected.insert(rows * width + line);
      // And of little else: a share of lines may be larger than what is left of a row.
      EXPECT_TRUE(std::includes(all.begin(), all.end(), expected.begin(), expected.end()))
          << width << " wide, " << tiles << " tiles";
      EXPECT_LE(all.size(), expected.size() + 1) << width << " wide, " << tiles << " tiles";
    }
}

TEST_F(PanelPrefetchTest, TilesShareTheLinesOfARow) {
  const PanelPrefetch prefetch(128 * 32, 32, 100, 2, target);
  EXPECT_EQ(asked(prefetch, 0, 0).size(), 1U);
  EXPECT_EQ(asked(prefetch, 1, 0).size(), 1U);
}

TEST_F(PanelPrefetchTest, OfALargePanelTheFirstTileAsksFurtherOn) {
  const PanelPrefetch prefetch(4096 * 32, 32, 4, 3, target);
  ASSERT_FALSE(prefetch.isNone());
  EXPECT_EQ(asked(prefetch, 0, 320), (std::set<int64_t>{320 + 2048, 320 + 2048 + kLine}));
  EXPECT_EQ(asked(prefetch, 1, 320), (std::set<int64_t>{320, 320 + kLine})); // what it reads itself
  EXPECT_EQ(asked(prefetch, 2, 320), (std::set<int64_t>{320, 320 + kLine}));
}

TEST_F(PanelPrefetchTest, NothingWhereTheCacheHoldsAllWeights) {
  EXPECT_TRUE(PanelPrefetch(64 * 32, 32, 128, 4, target).isNone());
  EXPECT_FALSE(PanelPrefetch(64 * 32, 32, 129, 4, target).isNone());
  EXPECT_TRUE(PanelPrefetch().isNone());
  EXPECT_TRUE(PanelPrefetch(4096 * 32, 32, 4, 0, target).isNone()); // no tile at all
}

} // namespace
} // namespace tokamak::test
