//===- ExpressionCost.cpp - what computing one element of an operator takes ---------------------===//
#include "codegen/kernel/ExpressionCost.h"
#include "codegen/expression/ElementBuilder.h"
#include "codegen/kernel/IndexBoxes.h"
#include "codegen/kernel/KernelContext.h"
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

/// What is computed: elements of `results`, which are of one shape; what is in `inMemory` is loaded.
class Elements {
public:
  Elements(ArrayRef<Value> results, ArrayRef<Value> inMemory, bool areStored)
      : results(results), inMemory(inMemory), areStored(areStored) {}

  Value first() const { return results.front(); }
  /// In memory order of the results.
  SmallVector<int64_t> extents() const {
    return layoutOf(first()).physicalShape(tk::tensorType(first()).getShape());
  }
  /// With rank 3 and more by blocks of channels, as convolutions have it, instead of row-major.
  void blockChannels(int64_t lanes) { block = lanes; }

  void emit(ElementBuilder &e, ArrayRef<Index> physical) const {
    Value unknown = e.indexConstant(0); // code that is never lowered
    for (Value value : inMemory)
      e.bindBuffer(value, bufferOf(value, unknown));
    for (Value result : results)
      e.element(result, logical(e, physical));
  }
  /// What `emit` has emitted for the same index.
  void store(ElementBuilder &e, ArrayRef<Index> physical) const {
    Value unknown = e.indexConstant(0);
    SmallVector<Index> index = logical(e, physical);
    for (Value result : results)
      if (areStored)
        e.store(e.element(result, index), bufferOf(result, unknown), index);
  }

private:
  Layout layoutOf(Value value) const { return block ? blockedWherePossible(value, block) : Layout(); }
  Buffer bufferOf(Value value, Value pointer) const {
    return Buffer{pointer, elementOf(value), SmallVector<int64_t>(tk::tensorType(value).getShape()),
                  layoutOf(value)};
  }
  SmallVector<Index> logical(ElementBuilder &e, ArrayRef<Index> physical) const {
    return logicalIndex(e.space(), layoutOf(first()), physical);
  }

  ArrayRef<Value> results, inMemory;
  bool areStored;
  int64_t block = 0;
};

/// For `lanes` elements of each result in `box`, with its last `collapsed` axes as one loop by vectors, the
/// others as loops around it.
ExpressionCost costInNest(const Elements &elements, const IndexBox &box, size_t collapsed,
                          const TargetDescription &target) {
  ArrayRef<int64_t> shape = box.extents;
  Location loc = elements.first().getLoc();
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
  index = box.absolute(space, index);
  elements.emit(e, index);
  const int64_t loads = e.accessCounts().first;
  elements.store(e, index);
  const int64_t laneByLane = e.accessCounts().second; // stores as well: one costs what a load does

  ExpressionCost cost;
  scratch.module->walk([&](Operation *emitted) {
    if (const double cycles = arithmeticCycles(emitted, target); cycles > 0) {
      cost.cycles += cycles;
      cost.instructions += static_cast<int64_t>(registersOf(emitted->getResult(0).getType(), target));
    }
  });
  // A vector that is not full costs what a full one does.
  const double filled = static_cast<double>(inner) / static_cast<double>(vectors * target.lanes());
  cost.cycles /= filled;
  cost.loads = static_cast<double>(loads) / filled;
  cost.gathers = static_cast<double>(laneByLane) / filled;
  return cost;
}

/// What the emitter goes by when it chooses loops (nestCost): an access a cycle.
double issued(const ExpressionCost &cost, const TargetDescription &target) {
  return cost.cycles + cost.loads + static_cast<double>(target.lanes()) * cost.gathers;
}

/// In the nest of loops that issues least.
ExpressionCost costInBox(const Elements &elements, const IndexBox &box, const TargetDescription &target) {
  std::optional<ExpressionCost> best;
  for (size_t collapsed : collapses(box.extents)) {
    ExpressionCost cost = costInNest(elements, box, collapsed, target);
    if (!best || issued(cost, target) < issued(*best, target))
      best = cost;
  }
  return *best;
}

SmallVector<std::set<int64_t>> cutsOf(const Elements &elements) {
  return findCuts(elements.first().getContext(), elements.first().getLoc(), elements.extents(),
                  [&](ElementBuilder &e, ArrayRef<Index> index) { elements.emit(e, index); });
}

/// For `lanes` elements on average, in the boxes that the loops are cut into; instructions of all of them.
ExpressionCost costOf(Elements elements, const TargetDescription &target, bool imagesAreBlocked) {
  auto type = tk::tensorType(elements.first());
  if (type.getNumElements() == 0)
    return {};
  type.getContext()
      ->loadDialect<arith::ArithDialect, LLVM::LLVMDialect, math::MathDialect, scf::SCFDialect,
                    vector::VectorDialect>();
  SmallVector<std::set<int64_t>> cuts = cutsOf(elements);
  // Parts that meet within a block of channels are picked lane by lane.
  auto splitsBlock = [&](int64_t channel) { return channel % target.lanes() != 0; };
  if (imagesAreBlocked && type.getRank() > 3 &&
      blockedWherePossible(elements.first(), target.lanes()).isBlocked() &&
      llvm::any_of(cuts[1], splitsBlock)) {
    elements.blockChannels(target.lanes());
    cuts = cutsOf(elements);
  }
  const auto lanes = static_cast<double>(target.lanes());
  std::map<IndexBox, ExpressionCost> costs;
  auto boxes = cutWherePays(elements.extents(), cuts, [&](const IndexBox &box) {
    const ExpressionCost cost = costs[box] = costInBox(elements, box, target);
    return issued(cost, target) * static_cast<double>(box.elements()) / lanes;
  });
  ExpressionCost sum;
  for (const IndexBox &box : boxes) {
    const ExpressionCost &cost = costs[box];
    const double share = static_cast<double>(box.elements()) / static_cast<double>(type.getNumElements());
    sum.cycles += cost.cycles * share;
    sum.loads += cost.loads * share;
    sum.gathers += cost.gathers * share;
    sum.instructions += cost.instructions;
  }
  if (boxes.size() > 1)
    sum.cycles += cyclesOfLoops * static_cast<double>(boxes.size()) * lanes /
                  static_cast<double>(type.getNumElements());
  return sum;
}

} // namespace

double arithmeticCycles(Operation *emitted, const TargetDescription &target) {
  if (!isArithmetic(emitted))
    return 0;
  return registersOf(emitted->getResult(0).getType(), target) * registerCycles(emitted, target);
}

ExpressionCost expressionCost(Operation *op, const TargetDescription &target) {
  Value result = op->getResult(0);
  SmallVector<Value> inMemory;
  for (Value operand : op->getOperands()) // numbers become immediates
    if (!operand.getDefiningOp<tk::ConstantOp>() || tk::tensorType(operand).getNumElements() != 1)
      inMemory.push_back(operand);
  return costOf(Elements(result, inMemory, /*areStored=*/false), target, false);
}

ExpressionCost pointwiseCost(tk::FusionOp group, const TargetDescription &target, bool imagesAreBlocked) {
  KernelBody body(group);
  const SmallVector<Value> arguments(body.arguments());
  ExpressionCost sum;
  // Results of one shape have loops in common, and what they share is computed once.
  llvm::MapVector<ArrayRef<int64_t>, SmallVector<Value>> byShape;
  for (Value result : body.results())
    byShape[tk::tensorType(result).getShape()].push_back(result);
  for (const auto &[shape, results] : byShape) {
    ExpressionCost cost = costOf(Elements(results, arguments, /*areStored=*/true), target, imagesAreBlocked);
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
