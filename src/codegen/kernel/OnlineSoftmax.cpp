//===- OnlineSoftmax.cpp - the softmax of rows that come block by block -----------------------------===//
#include "codegen/kernel/OnlineSoftmax.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <limits>

namespace tokamak::codegen {

using namespace mlir;

namespace {

constexpr float kLowest = -std::numeric_limits<float>::infinity();

Value select(LoopBuilder &loops, arith::CmpFPredicate predicate, Value a, Value b, Value then,
             Value otherwise) {
  OpBuilder &builder = loops.opBuilder();
  Value holds = builder.create<arith::CmpFOp>(loops.location(), predicate, a, b);
  return builder.create<arith::SelectOp>(loops.location(), holds, then, otherwise);
}

/// The larger one, `b` where `a` is NaN: one instruction. A NaN among the scores reaches the row's sum by its
/// own weight, so the maximum need not bear it.
Value larger(LoopBuilder &loops, Value a, Value b) {
  return select(loops, arith::CmpFPredicate::OGT, a, b, a, b);
}

/// All lanes combined, in every lane.
Value acrossLanes(LoopBuilder &loops, Value vector, llvm::function_ref<Value(Value, Value)> combine) {
  for (int64_t distance = loops.lanes() / 2; distance > 0; distance /= 2) {
    SmallVector<int64_t> partner;
    for (int64_t lane = 0; lane < loops.lanes(); ++lane)
      partner.push_back(lane ^ distance);
    vector = combine(vector, loops.shuffle(vector, vector, partner));
  }
  return vector;
}

/// One lane of a vector whose lanes are equal.
Value anyLane(LoopBuilder &loops, Value vector) {
  return loops.opBuilder().create<vector::ExtractOp>(loops.location(), vector, ArrayRef<int64_t>{0});
}

Value exponential(LoopBuilder &loops, Value a, Value b) {
  OpBuilder &builder = loops.opBuilder();
  Value difference = builder.create<arith::SubFOp>(loops.location(), a, b);
  return builder.create<math::ExpOp>(loops.location(), difference);
}

Value multiply(LoopBuilder &loops, Value a, Value b) {
  return loops.opBuilder().create<arith::MulFOp>(loops.location(), a, b);
}

} // namespace

Value isAnyNaN(LoopBuilder &loops, Value vector) {
  Value sum =
      anyLane(loops, acrossLanes(loops, vector, [&](Value a, Value b) { return loops.addFloat(a, b); }));
  return select(loops, arith::CmpFPredicate::UNO, sum, sum, loops.index(1), loops.index(0));
}

Value OnlineRows::at(Array array, Value row) const {
  return loops.at(loops.at(memory, array * capacity), row);
}

Value OnlineRows::rescale(Value first, int64_t offset) const {
  return loops.broadcast(at(Rescale, first), offset);
}

Value OnlineRows::sum(Value row) const { return loops.broadcast(at(Sum, row)); }

void OnlineRows::start() {
  loops.loop(loops.index(0), loops.index(capacity), loops.lanes(), [&](Value row) {
    loops.store(loops.splat(kLowest), at(Maximum, row));
    loops.store(loops.zero(), at(Sum, row));
    loops.store(loops.splat(1), at(Factor, row));
  });
}

void OnlineRows::startAgain() {
  loops.loop(loops.index(0), loops.index(capacity), loops.lanes(), [&](Value row) {
    Value inverse =
        loops.opBuilder().create<arith::DivFOp>(loops.location(), loops.splat(1), loops.load(at(Sum, row)));
    loops.store(inverse, at(Factor, row));
    loops.store(loops.zero(), at(Sum, row));
  });
}

void OnlineRows::addBlock(Value scores, int64_t rowStride, Value count, int64_t columns, ScoreFn score) {
  loops.loop(loops.index(0), count, 1,
             [&](Value row) { addRow(loops.at(scores, loops.mul(row, rowStride)), row, columns, score); });
}

void OnlineRows::addRow(Value scores, Value row, int64_t columns, ScoreFn score) {
  const int64_t lanes = loops.lanes(), full = columns / lanes, rest = columns % lanes;
  OpBuilder &builder = loops.opBuilder();
  Location loc = loops.location();
  // What a mask adds is read here, row by row, where loads do not wait for a tile of products.
  auto scoreAt = [&](Value block, int64_t valid) {
    Value pointer = loops.at(scores, loops.mul(block, lanes));
    Value vector = score(loops.load(pointer), row, block, valid);
    if (valid < lanes) {
      // Lanes beyond the last column count as keys that nobody attends to.
      SmallVector<bool> bits(static_cast<size_t>(lanes));
      std::fill_n(bits.begin(), valid, true);
      auto type = VectorType::get({lanes}, builder.getI1Type());
      Value mask = builder.create<arith::ConstantOp>(loc, DenseElementsAttr::get(type, bits));
      vector = builder.create<arith::SelectOp>(loc, mask, vector, loops.splat(kLowest));
    }
    loops.store(vector, pointer);
    return vector;
  };
  // Several maxima at a time: each waits for the one before.
  constexpr int64_t kMaxima = 4;
  const int64_t unrolled = full / kMaxima * kMaxima;
  LoopBuilder::Values maxima(unrolled ? kMaxima : 1, loops.splat(kLowest));
  if (unrolled)
    maxima = loops.loop(loops.index(0), loops.index(unrolled), kMaxima, maxima,
                        [&](Value block, ValueRange carried) {
                          LoopBuilder::Values next(carried);
                          for (int64_t i = 0; i < kMaxima; ++i)
                            next[i] = larger(loops, scoreAt(loops.add(block, i), lanes), next[i]);
                          return next;
                        });
  if (unrolled < full)
    maxima[0] = loops.loop(loops.index(unrolled), loops.index(full), 1, {maxima[0]},
                           [&](Value block, ValueRange carried) {
                             return LoopBuilder::Values{larger(loops, scoreAt(block, lanes), carried[0])};
                           })[0];
  if (rest)
    maxima[0] = larger(loops, scoreAt(loops.index(full), rest), maxima[0]);
  for (size_t i = maxima.size() / 2; i > 0; i /= 2)
    for (size_t j = 0; j < i; ++j)
      maxima[j] = larger(loops, maxima[j], maxima[i + j]);
  auto combine = [&](Value a, Value b) { return larger(loops, a, b); };
  Value before = loops.broadcast(at(Maximum, row));
  Value maximum = larger(loops, acrossLanes(loops, maxima[0], combine), before);
  // As long as there are only keys that nobody attends to, their weights are zero.
  Value shift =
      select(loops, arith::CmpFPredicate::OEQ, maximum, loops.splat(kLowest), loops.zero(), maximum);
  Value rescaled = exponential(loops, before, shift), factor = loops.broadcast(at(Factor, row));
  const int64_t vectors = full + (rest > 0);
  Value sum = loops.loop(loops.index(0), loops.index(vectors * lanes), lanes, {loops.zero()},
                         [&](Value column, ValueRange carried) {
                           Value pointer = loops.at(scores, column);
                           Value weight =
                               multiply(loops, exponential(loops, loops.load(pointer), shift), factor);
                           loops.store(weight, pointer);
                           return LoopBuilder::Values{loops.addFloat(carried[0], weight)};
                         })[0];
  sum = acrossLanes(loops, sum, [&](Value a, Value b) { return loops.addFloat(a, b); });
  sum = loops.fma(loops.broadcast(at(Sum, row)), rescaled, sum);
  for (auto [array, value] : {std::pair{Maximum, maximum}, {Sum, sum}, {Rescale, rescaled}})
    builder.create<LLVM::StoreOp>(loc, anyLane(loops, value), at(array, row), alignof(float));
}

} // namespace tokamak::codegen
