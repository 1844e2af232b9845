//===- ExpressionCost.cpp - what computing one element of an operator takes ---------------------===//
#include "codegen/kernel/ExpressionCost.h"
#include "codegen/expression/ElementBuilder.h"
#include "codegen/kernel/ScratchFunction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/TypeSwitch.h"

namespace tokamak::codegen {

using namespace mlir;

namespace {

// Cycles: of an instruction that two pipes do; of a call of libm and of an integer division, by lane; of a
// division or a square root, by byte of the register.
constexpr double pipelined = 0.5, libmCall = 20, integerDivision = 6, divisionPerByte = 9.0 / 64;

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
  auto polynomial = [&](double cycles) { return isFloat32 ? cycles : libmCall * perLane; };
  return llvm::TypeSwitch<Operation *, double>(op)
      .Case<arith::ConstantOp, vector::BroadcastOp, vector::SplatOp>([](auto) { return 0.0; })
      .Case<arith::DivFOp, math::SqrtOp>(
          [&](auto) { return divisionPerByte * static_cast<double>(target.vectorBytes); })
      .Case<arith::MaximumFOp, arith::MinimumFOp>([](auto) { return 3 * pipelined; }) // NaN must win
      .Case<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(
          [&](auto) { return integerDivision * perLane; })
      .Case<arith::RemFOp>([&](auto) { return libmCall * perLane; })
      .Case<math::ExpOp, math::TanhOp>([&](auto) { return polynomial(15); })
      .Case<math::LogOp, math::SinOp, math::CosOp, math::AtanOp>([&](auto) { return polynomial(19); })
      .Case<math::ErfOp>([&](auto) { return polynomial(27); })
      .Case<math::AbsFOp, math::AbsIOp, math::FloorOp, math::CeilOp, math::RoundEvenOp, math::FmaOp,
            math::CopySignOp>([](auto) { return pipelined; })
      .Default([&](Operation *other) {
        return isa<math::MathDialect>(other->getDialect()) ? libmCall * perLane : pipelined;
      });
}

/// Emits the elements of the result of `op` at `index`, its operands in memory.
void emitElement(ElementBuilder &e, Operation *op, ArrayRef<Index> index) {
  for (Value operand : op->getOperands()) {
    auto type = tk::tensorType(operand);
    if (operand.getDefiningOp<tk::ConstantOp>() && type.getNumElements() == 1)
      continue; // becomes an immediate
    // A pointer that nobody follows: the code is never lowered.
    e.bindBuffer(operand, Buffer{e.indexConstant(0), *fromMlir(type.getElementType()),
                                 SmallVector<int64_t>(type.getShape())});
  }
  e.element(op->getResult(0), index);
}

/// With the last `collapsed` axes of the result as one loop by vectors, the others as loops around it.
ExpressionCost costInNest(Operation *op, size_t collapsed, const TargetDescription &target) {
  auto shape = tk::tensorType(op->getResult(0)).getShape();
  ScratchFunction scratch(op->getContext(), op->getLoc());
  IndexSpace space;
  ElementBuilder e(scratch.builder, op->getLoc(), space, target.lanes());
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
  emitElement(e, op, index);

  ExpressionCost cost;
  scratch.module->walk([&](Operation *emitted) {
    if (emitted->getNumResults() == 0 || !isa<arith::ArithDialect, math::MathDialect>(emitted->getDialect()))
      return;
    // Arithmetic on scalar indices is done once a row, or in units that would be idle.
    Type type = emitted->getResult(0).getType();
    if (getElementTypeOrSelf(type).isIndex() && !isa<VectorType>(type))
      return;
    const double registers = registersOf(type, target), cycles = registerCycles(emitted, target);
    cost.cycles += registers * cycles;
    cost.instructions += cycles > 0 ? static_cast<int64_t>(registers) : 0;
  });
  auto [regular, irregular] = e.accessCounts();
  // A vector that is not full costs what a full one does.
  const double issued = static_cast<double>(vectors * target.lanes()) / static_cast<double>(inner);
  cost.cycles *= issued;
  cost.loads = static_cast<double>(regular) * issued;
  cost.gathers = static_cast<double>(irregular) * issued;
  return cost;
}

} // namespace

ExpressionCost expressionCost(Operation *op, const TargetDescription &target) {
  auto type = tk::tensorType(op->getResult(0));
  if (type.getNumElements() == 0)
    return {};
  op->getContext()
      ->loadDialect<arith::ArithDialect, LLVM::LLVMDialect, math::MathDialect, scf::SCFDialect,
                    vector::VectorDialect>();
  ExpressionCost best;
  auto accesses = [&](const ExpressionCost &cost) {
    return cost.loads + static_cast<double>(target.lanes()) * cost.gathers;
  };
  for (int64_t collapsed = std::min<int64_t>(1, type.getRank()); collapsed <= type.getRank(); ++collapsed) {
    ExpressionCost cost = costInNest(op, static_cast<size_t>(collapsed), target);
    if (collapsed <= 1 || accesses(cost) < accesses(best))
      best = cost;
  }
  return best;
}

} // namespace tokamak::codegen
