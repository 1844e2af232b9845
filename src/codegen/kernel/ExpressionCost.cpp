//===- ExpressionCost.cpp - what computing one element of an operator takes ---------------------===//
#include "codegen/kernel/ExpressionCost.h"
#include "codegen/expression/ElementBuilder.h"
#include "codegen/kernel/KernelBody.h"
#include "codegen/kernel/ScratchFunction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/TypeSwitch.h"

namespace tokamak::codegen {

using namespace mlir;

namespace {

// Cycles: of an instruction that two pipes do; of a call of libm and of an integer division, by lane; of an
// integer division by a constant, which is a multiplication and shifts; of a division or a square root, by
// byte of the register.
constexpr double pipelined = 0.5, libmCall = 20, integerDivision = 6, constantDivision = 4,
                 divisionPerByte = 9.0 / 64;

/// Registers that a value of `type` fills.
double registersOf(Type type, const TargetDescription &target) {
  auto vector = dyn_cast<VectorType>(type);
  if (!vector)
    return 1;
  Type element = vector.getElementType();
  double bits = element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 64;
  double bytes = static_cast<double>(vector.getNumElements()) * bits / 8;
  return std::max(1.0, bytes / static_cast<double>(target.vectorBytes));
}

int64_t lanesOf(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector ? vector.getNumElements() : 1;
}

/// Reciprocal throughput of an emitted operation that yields one register, in cycles. The polynomials are
/// those of the lowering, measured on 16 lanes; two pipes do additions, multiplications, comparisons and
/// selections.
double registerCycles(Operation *op, const TargetDescription &target) {
  Type type = op->getResult(0).getType();
  const bool isFloat32 = getElementTypeOrSelf(type).isF32();
  const auto perLane = static_cast<double>(lanesOf(type)) / registersOf(type, target);
  const bool scales = target.hasMaskRegisters && perLane == 16; // by an instruction; see ApproximateMath
  auto polynomial = [&](double cycles) { return isFloat32 ? cycles : libmCall * perLane; };
  return llvm::TypeSwitch<Operation *, double>(op)
      .Case<arith::ConstantOp, vector::BroadcastOp, vector::SplatOp>([](auto) { return 0.0; })
      .Case<arith::DivFOp, math::SqrtOp>(
          [&](auto) { return divisionPerByte * static_cast<double>(target.vectorBytes); })
      .Case<arith::MaximumFOp, arith::MinimumFOp>([](auto) { return 3 * pipelined; }) // NaN must win
      .Case<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>([&](auto division) {
        return matchPattern(division.getRhs(), m_Constant()) ? constantDivision : integerDivision * perLane;
      })
      .Case<arith::RemFOp>([&](auto) { return libmCall * perLane; })
      .Case<math::ExpOp>([&](auto) { return polynomial(scales ? 8 : 15); })
      .Case<math::TanhOp>([&](auto) { return polynomial(15); })
      .Case<math::LogOp, math::SinOp, math::CosOp, math::AtanOp>([&](auto) { return polynomial(19); })
      .Case<math::ErfOp>([&](auto) { return polynomial(scales ? 13 : 27); })
      .Case<math::AbsFOp, math::AbsIOp, math::FloorOp, math::CeilOp, math::RoundEvenOp, math::FmaOp,
            math::CopySignOp>([](auto) { return pipelined; })
      .Default([&](Operation *other) {
        return isa<math::MathDialect>(other->getDialect()) ? libmCall * perLane : pipelined;
      });
}

/// Whether the operation is arithmetic that counts.
bool isArithmetic(Operation *emitted) {
  if (emitted->getNumResults() == 0 || !isa<arith::ArithDialect, math::MathDialect>(emitted->getDialect()))
    return false;
  Type type = emitted->getResult(0).getType();
  return !getElementTypeOrSelf(type).isIndex() || isa<VectorType>(type);
}

/// For `lanes` elements of each of `results`, which are of one shape, with their last `collapsed` axes as one
/// loop by vectors, the others as loops around it; `bind` says what lies in memory.
ExpressionCost costInNest(ArrayRef<Value> results, size_t collapsed, const TargetDescription &target,
                          llvm::function_ref<void(ElementBuilder &)> bind) {
  auto shape = tk::tensorType(results.front()).getShape();
  Location loc = results.front().getLoc();
  ScratchFunction scratch(loc.getContext(), loc);
  IndexSpace space;
  ElementBuilder e(scratch.builder, loc, space, target.lanes());
  Value unknown = e.indexConstant(0);
  SmallVector<Index> index;
  for (int64_t extent : shape.drop_back(collapsed))
    index.push_back(extent == 1 ? Index(0) : space.uniform(unknown, 0, extent - 1));
  int64_t inner = 1;
  for (int64_t extent : shape.take_back(collapsed))
    inner *= extent;
  const int64_t vectors = (inner + target.lanes() - 1) / target.lanes();
  Index vector = vectors == 1 ? Index(0) : space.uniform(unknown, 0, vectors - 1);
  Index position = space.add(space.scale(vector, target.lanes()), e.laneIndex());
  llvm::append_range(index, delinearize(space, position, shape.take_back(collapsed)));
  bind(e);
  for (Value result : results)
    e.element(result, index);

  ExpressionCost cost;
  scratch.module->walk([&](Operation *emitted) {
    if (const double cycles = arithmeticCycles(emitted, target); cycles > 0) {
      cost.cycles += cycles;
      cost.instructions += static_cast<int64_t>(registersOf(emitted->getResult(0).getType(), target));
    }
  });
  auto [regular, irregular] = e.accessCounts();
  // A vector that is not full costs what a full one does.
  const double issued = static_cast<double>(vectors * target.lanes()) / static_cast<double>(inner);
  cost.cycles *= issued;
  cost.loads = static_cast<double>(regular) * issued;
  cost.gathers = static_cast<double>(irregular) * issued;
  return cost;
}

/// In the nest of loops that has the fewest accesses.
ExpressionCost costOf(ArrayRef<Value> results, const TargetDescription &target,
                      llvm::function_ref<void(ElementBuilder &)> bind) {
  auto type = tk::tensorType(results.front());
  if (type.getNumElements() == 0)
    return {};
  type.getContext()
      ->loadDialect<arith::ArithDialect, LLVM::LLVMDialect, math::MathDialect, scf::SCFDialect,
                    vector::VectorDialect>();
  ExpressionCost best;
  auto accesses = [&](const ExpressionCost &cost) {
    return cost.loads + static_cast<double>(target.lanes()) * cost.gathers;
  };
  for (int64_t collapsed = std::min<int64_t>(1, type.getRank()); collapsed <= type.getRank(); ++collapsed) {
    ExpressionCost cost = costInNest(results, static_cast<size_t>(collapsed), target, bind);
    if (collapsed <= 1 || accesses(cost) < accesses(best))
      best = cost;
  }
  return best;
}

} // namespace

double arithmeticCycles(Operation *emitted, const TargetDescription &target) {
  if (!isArithmetic(emitted))
    return 0;
  return registersOf(emitted->getResult(0).getType(), target) * registerCycles(emitted, target);
}

ExpressionCost expressionCost(Operation *op, const TargetDescription &target) {
  Value result = op->getResult(0);
  return costOf(result, target, [&](ElementBuilder &e) {
    for (Value operand : op->getOperands()) // numbers become immediates
      if (!operand.getDefiningOp<tk::ConstantOp>() || tk::tensorType(operand).getNumElements() != 1)
        bindMemory(e, operand);
  });
}

ExpressionCost pointwiseCost(tk::FusionOp group, const TargetDescription &target) {
  KernelBody body(group);
  ExpressionCost sum;
  // Results of one shape have loops in common, and what they share is computed once.
  llvm::MapVector<ArrayRef<int64_t>, SmallVector<Value>> byShape;
  for (Value result : body.results())
    byShape[tk::tensorType(result).getShape()].push_back(result);
  for (const auto &[shape, results] : byShape) {
    ExpressionCost cost = costOf(results, target, [&](ElementBuilder &e) {
      for (Value argument : body.arguments())
        bindMemory(e, argument);
    });
    const double vectors = static_cast<double>(tk::tensorType(results.front()).getNumElements()) /
                           static_cast<double>(target.lanes());
    sum.cycles += cost.cycles * vectors;
    sum.loads += cost.loads * vectors;
    sum.gathers += cost.gathers * vectors;
    sum.instructions += cost.instructions;
  }
  return sum;
}

} // namespace tokamak::codegen
