//===- MaskRegistersTest.cpp - masked stores of a constant number of lanes ---------------------------===//
#include "codegen/object/MaskRegisters.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace tokamak;

namespace {

/// Places (in elements) and lanes of the stores that a masked store of `lanes` elements becomes.
struct Stores {
  SmallVector<std::pair<int, int64_t>> parts;
  int masked = 0;
};

Stores storesOf(const std::string &mask, int lanes, const std::string &element = "f32") {
  MLIRContext context;
  context.loadDialect<LLVM::LLVMDialect>();
  const std::string count = std::to_string(lanes);
  auto module = parseSourceString<ModuleOp>(
      "llvm.func @store(%v: vector<" + count + "x" + element +
          ">, %p: !llvm.ptr) {\n%m = llvm.mlir.constant(dense<" + mask + "> : vector<" + count +
          "xi1>) : vector<" + count + "xi1>\n" +
          "llvm.intr.masked.store %v, %p, %m {alignment = 4 : i32} : vector<" + count + "x" + element +
          ">, vector<" + count + "xi1> into !llvm.ptr\nllvm.return\n}",
      &context);
  Stores stores;
  if (!module) {
    ADD_FAILURE() << "does not parse";
    return stores;
  }
  PassManager passes(&context);
  passes.addPass(codegen::createMaskRegistersPass());
  EXPECT_TRUE(succeeded(passes.run(*module)));
  module->walk([&](LLVM::StoreOp store) {
    auto address = store.getAddr().getDefiningOp<LLVM::GEPOp>();
    stores.parts.push_back({address.getRawConstantIndices().front(),
                            cast<VectorType>(store.getValue().getType()).getNumElements()});
  });
  module->walk([&](LLVM::MaskedStoreOp) { ++stores.masked; });
  return stores;
}

std::string first(int count, int lanes) {
  std::string mask = "[";
  for (int lane = 0; lane < lanes; ++lane)
    mask += std::string(lane ? ", " : "") + (lane < count ? "true" : "false");
  return mask + "]";
}

using Parts = SmallVector<std::pair<int, int64_t>>;

TEST(MaskRegisters, FirstLanesAreStoredInParts) {
  EXPECT_EQ(storesOf(first(6, 8), 8).parts, (Parts{{0, 4}, {4, 2}}));
  EXPECT_EQ(storesOf(first(7, 8), 8).parts, (Parts{{0, 4}, {4, 2}, {6, 1}}));
  EXPECT_EQ(storesOf(first(1, 8), 8).parts, (Parts{{0, 1}}));
  EXPECT_EQ(storesOf("true", 8).parts, (Parts{{0, 8}}));
  EXPECT_EQ(storesOf(first(13, 16), 16).parts, (Parts{{0, 8}, {8, 4}, {12, 1}})); // two registers
  EXPECT_EQ(storesOf(first(7, 8), 8, "f64").parts, (Parts{{0, 4}, {4, 2}, {6, 1}}));
  EXPECT_EQ(storesOf(first(7, 8), 8, "i8").parts, (Parts{{0, 4}, {4, 2}, {6, 1}}));
  EXPECT_TRUE(storesOf("false", 8).parts.empty());
}

TEST(MaskRegisters, OtherLanesStayMasked) {
  EXPECT_EQ(storesOf(first(6, 8), 8).masked, 0);
  EXPECT_EQ(storesOf("[true, false, true, true, true, true, true, true]", 8).masked, 1);
}

} // namespace
