//===- LoopBuilder.cpp - scalar, vector and loop operations of the anchor kernels ---------===//
#include "codegen/anchors/LoopBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace tokamak::codegen {

namespace {
/// Alignment of a float32: buffers promise no more, and on the targets we emit for an unaligned vector load
/// of an aligned address costs nothing.
constexpr unsigned kFloatAlignment = 4;
/// Constant offsets of LLVM::GEPOp have 29 bits; larger ones become values.
constexpr int64_t kLargestConstantOffset = (int64_t(1) << 28) - 1;
} // namespace

LoopBuilder::LoopBuilder(OpBuilder &builder, Location loc, int64_t lanes)
    : builder(builder), loc(loc), laneCount(lanes),
      vectorType(VectorType::get({lanes}, builder.getF32Type())) {}

Value LoopBuilder::index(int64_t value) { return builder.create<arith::ConstantIndexOp>(loc, value); }
Value LoopBuilder::add(Value a, Value b) { return builder.createOrFold<arith::AddIOp>(loc, a, b); }
Value LoopBuilder::sub(Value a, Value b) { return builder.createOrFold<arith::SubIOp>(loc, a, b); }
Value LoopBuilder::mul(Value a, Value b) { return builder.createOrFold<arith::MulIOp>(loc, a, b); }

Value LoopBuilder::div(Value a, int64_t b) {
  return b == 1 ? a : builder.createOrFold<arith::DivUIOp>(loc, a, index(b));
}

Value LoopBuilder::rem(Value a, int64_t b) {
  return b == 1 ? index(0) : builder.createOrFold<arith::RemUIOp>(loc, a, index(b));
}

Value LoopBuilder::min(Value a, Value b) { return builder.createOrFold<arith::MinSIOp>(loc, a, b); }
Value LoopBuilder::max(Value a, Value b) { return builder.createOrFold<arith::MaxSIOp>(loc, a, b); }

Value LoopBuilder::at(Value pointer, Value elements) {
  APInt constant;
  if (matchPattern(elements, m_ConstantInt(&constant)) &&
      std::abs(constant.getSExtValue()) <= kLargestConstantOffset)
    return at(pointer, constant.getSExtValue());
  Value offset = builder.createOrFold<arith::IndexCastOp>(loc, builder.getI64Type(), elements);
  return builder.create<LLVM::GEPOp>(loc, pointer.getType(), builder.getF32Type(), pointer,
                                     ArrayRef<LLVM::GEPArg>{offset});
}

Value LoopBuilder::at(Value pointer, int64_t elements) {
  if (elements == 0)
    return pointer;
  if (std::abs(elements) > kLargestConstantOffset) {
    Value offset = builder.create<arith::ConstantIntOp>(loc, elements, 64);
    return builder.create<LLVM::GEPOp>(loc, pointer.getType(), builder.getF32Type(), pointer,
                                       ArrayRef<LLVM::GEPArg>{offset});
  }
  return builder.create<LLVM::GEPOp>(loc, pointer.getType(), builder.getF32Type(), pointer,
                                     ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(elements)});
}

Value LoopBuilder::load(Value pointer, int64_t offset) {
  return builder.create<LLVM::LoadOp>(loc, vectorType, at(pointer, offset), kFloatAlignment);
}

void LoopBuilder::prefetch(Value pointer, int64_t offset) {
  constexpr int32_t forReading = 0, intoSecondLevel = 2, data = 1;
  builder.create<LLVM::Prefetch>(loc, at(pointer, offset), forReading, intoSecondLevel, data);
}

Value LoopBuilder::loadFirst(Value pointer, int64_t offset, int64_t valid) {
  return loadLanes(pointer, offset, 0, valid);
}

Value LoopBuilder::loadLanes(Value pointer, int64_t offset, int64_t low, int64_t high) {
  if (low <= 0 && high >= laneCount)
    return load(pointer, offset);
  SmallVector<bool> bits(laneCount, false);
  std::fill(bits.begin() + low, bits.begin() + high, true);
  auto maskType = VectorType::get({laneCount}, builder.getI1Type());
  Value mask = builder.create<arith::ConstantOp>(loc, DenseElementsAttr::get(maskType, ArrayRef<bool>(bits)));
  return builder.create<LLVM::MaskedLoadOp>(loc, vectorType, at(pointer, offset), mask, zero(),
                                            kFloatAlignment);
}

void LoopBuilder::store(Value vector, Value pointer, int64_t offset) {
  builder.create<LLVM::StoreOp>(loc, vector, at(pointer, offset), kFloatAlignment);
}

Value LoopBuilder::broadcast(Value pointer, int64_t offset) {
  Value scalar =
      builder.create<LLVM::LoadOp>(loc, builder.getF32Type(), at(pointer, offset), kFloatAlignment);
  return builder.create<vector::BroadcastOp>(loc, vectorType, scalar);
}

Value LoopBuilder::splat(float value) {
  return builder.create<arith::ConstantOp>(loc, DenseElementsAttr::get(vectorType, value));
}

Value LoopBuilder::fma(Value a, Value b, Value c) { return builder.create<vector::FMAOp>(loc, a, b, c); }
Value LoopBuilder::addFloat(Value a, Value b) { return builder.create<arith::AddFOp>(loc, a, b); }

Value LoopBuilder::maxFloat(Value a, Value b) { return builder.create<arith::MaximumFOp>(loc, a, b); }

Value LoopBuilder::shuffle(Value a, Value b, ArrayRef<int64_t> lanes) {
  return builder.create<vector::ShuffleOp>(loc, a, b, lanes);
}

LoopBuilder::Values LoopBuilder::loop(Value low, Value high, int64_t step, ValueRange initial,
                                      function_ref<Values(Value, ValueRange)> body) {
  auto loop = builder.create<scf::ForOp>(loc, low, high, index(step), initial,
                                         [&](OpBuilder &, Location, Value iteration, ValueRange carried) {
                                           OpBuilder::InsertionGuard guard(builder);
                                           builder.setInsertionPointToEnd(iteration.getParentBlock());
                                           Values next = body(iteration, carried);
                                           builder.create<scf::YieldOp>(loc, next);
                                         });
  return Values(loop.getResults());
}

void LoopBuilder::loop(Value low, Value high, int64_t step, function_ref<void(Value)> body) {
  loop(low, high, step, {}, [&](Value iteration, ValueRange) {
    body(iteration);
    return Values();
  });
}

void LoopBuilder::ifEqual(Value a, Value b, function_ref<void()> then, function_ref<void()> otherwise) {
  Value condition = builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, a, b);
  auto branch = builder.create<scf::IfOp>(loc, condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  then();
  builder.setInsertionPointToStart(branch.elseBlock());
  otherwise();
}

} // namespace tokamak::codegen
