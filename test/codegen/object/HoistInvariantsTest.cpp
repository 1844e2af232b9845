//===- HoistInvariantsTest.cpp - what a loop need not repeat leaves it
//--------------------------------------===//
#include "codegen/object/HoistInvariants.h"
#include "codegen/expression/ElementBuilder.h"
#include "codegen/expression/Register.h"
#include "codegen/kernel/KernelEmitter.h"
#include "codegen/kernel/ScratchFunction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace tokamak;

namespace {

class HoistInvariantsTest : public testing::Test {
protected:
  HoistInvariantsTest() {
    DialectRegistry registry;
    registry.insert<tk::TkDialect, arith::ArithDialect, func::FuncDialect, LLVM::LLVMDialect,
                    math::MathDialect, scf::SCFDialect, vector::VectorDialect>();
    codegen::registerExpressionModels(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  void hoist(ModuleOp module) {
    PassManager manager(&context);
    manager.addPass(codegen::createHoistInvariantsPass());
    ASSERT_TRUE(succeeded(manager.run(module)));
  }

  /// The loops around the operation.
  static int depth(Operation *op) {
    int loops = 0;
    for (auto loop = op->getParentOfType<scf::ForOp>(); loop; loop = loop->getParentOfType<scf::ForOp>())
      ++loops;
    return loops;
  }
  template <typename Op>
  static SmallVector<int> depths(ModuleOp module) {
    SmallVector<int> all;
    module.walk([&](Op op) { all.push_back(depth(op)); });
    return all;
  }

  /// The kernel of the group in `text`.
  OwningOpRef<ModuleOp> kernelOf(const std::string &text) {
    OwningOpRef<ModuleOp> graph = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(graph) << text;
    OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
    graph->walk([&](tk::FusionOp group) {
      codegen::KernelSignature signature;
      signature.inputs.resize(group->getNumOperands());
      signature.constantInput.resize(group->getNumOperands());
      signature.outputs.resize(1);
      const TargetDescription target = llvm::cantFail(TargetDescription::forCpu("x86-64-v4"));
      llvm::cantFail(codegen::emitKernel(group, signature, target, *module, "kernel"));
    });
    return module;
  }

  /// Whether the exponential is computed as often as something is stored.
  bool repeats(const std::string &x, const std::string &v) {
    OwningOpRef<ModuleOp> module =
        kernelOf("%x, %v = builtin.unrealized_conversion_cast to " + x + ", " + v +
                 "\n%0 = tk.fusion(%x, %v) {\n^bb0(%a: " + x + ", %b: " + v + "):\n%e = tk.exp %b : (" + v +
                 ") -> " + v + "\n%m = tk.mul %a, %e : (" + x + ", " + v + ") -> " + x +
                 "\ntk.yield %m : " + x + "\n} : (" + x + ", " + v + ") -> " + x + "\n");
    hoist(*module);
    const SmallVector<int> exponentials = depths<math::ExpOp>(*module),
                           stores = depths<LLVM::StoreOp>(*module);
    EXPECT_FALSE(exponentials.empty());
    EXPECT_FALSE(stores.empty());
    return *llvm::max_element(exponentials) >= *llvm::max_element(stores);
  }

  MLIRContext context;
};

TEST_F(HoistInvariantsTest, WhatIsComputedFromAnInvariantLoad) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(R"(
    func.func @f(%p: !llvm.ptr, %q: !llvm.ptr, %n: index) {
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      scf.for %i = %zero to %n step %one {
        %marked = llvm.load %p invariant : !llvm.ptr -> f32
        %e = math.exp %marked : f32
        %plain = llvm.load %p : !llvm.ptr -> f32
        %s = math.sin %plain : f32
        %r = arith.addf %e, %s : f32
        llvm.store %r, %q : f32, !llvm.ptr
      }
      return
    })",
                                                             &context);
  hoist(*module);
  EXPECT_EQ(depths<math::ExpOp>(*module), (SmallVector<int>{0}));
  EXPECT_EQ(depths<math::SinOp>(*module), (SmallVector<int>{1})); // the store may have changed it
}

TEST_F(HoistInvariantsTest, WhatOnlySomeIterationsLoadStays) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(R"(
    func.func @f(%p: !llvm.ptr, %q: !llvm.ptr, %n: index) {
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      scf.for %i = %zero to %n step %one {
        %is = arith.cmpi eq, %i, %one : index
        scf.if %is {
          %marked = llvm.load %p invariant : !llvm.ptr -> f32
          llvm.store %marked, %q : f32, !llvm.ptr
        }
      }
      return
    })",
                                                             &context);
  hoist(*module);
  EXPECT_EQ(depths<LLVM::LoadOp>(*module), (SmallVector<int>{1}));
}

TEST_F(HoistInvariantsTest, AValueOfARowIsComputedOnceARow) {
  EXPECT_FALSE(repeats("tensor<512x768xf32>", "tensor<512x1xf32>"));
  EXPECT_FALSE(repeats("tensor<1x64x56x56xf32>", "tensor<1x64x1x1xf32>"));
  EXPECT_FALSE(repeats("tensor<64x250xf32>", "tensor<64x1xf32>")); // a ragged last vector
  EXPECT_FALSE(repeats("tensor<64x16384xf32>", "tensor<1x1xf32>"));
}

TEST_F(HoistInvariantsTest, AValueOfAColumnIsNot) {
  EXPECT_TRUE(repeats("tensor<512x768xf32>", "tensor<1x768xf32>"));
  EXPECT_TRUE(repeats("tensor<512x768xf32>", "tensor<512x768xf32>"));
}

TEST_F(HoistInvariantsTest, OnlyLoadsInRangeWhateverRunsAreMarked) {
  // A loop over taps that all lie on padding never runs; what it would load lies in front of the buffer.
  auto isMarked = [&](int64_t low, int64_t high) {
    codegen::ScratchFunction scratch(&context, UnknownLoc::get(&context));
    codegen::IndexSpace space;
    codegen::ElementBuilder e(scratch.builder, scratch.builder.getUnknownLoc(), space, 16);
    codegen::Buffer buffer{scratch.builder.create<LLVM::ZeroOp>(scratch.builder.getUnknownLoc(),
                                                                LLVM::LLVMPointerType::get(&context)),
                           DataType::Float32,
                           {4}};
    buffer.staysAsIs = true;
    e.load(buffer, {space.uniform(e.indexConstant(0), low, high)});
    bool marked = false;
    scratch.module->walk([&](LLVM::LoadOp load) { marked |= load.getInvariant(); });
    return marked;
  };
  EXPECT_TRUE(isMarked(0, 3));
  EXPECT_FALSE(isMarked(-1, 3));
  EXPECT_FALSE(isMarked(0, 4));
}

} // namespace
