//===- CostModel.cpp - how long a group of operators takes as one kernel -------------------===//
#include "fusion/CostModel.h"
#include "analysis/PostDominatorTree.h"
#include "analysis/ReuseDistance.h"
#include "analysis/Traffic.h"
#include "codegen/kernel/AnchorEstimate.h"
#include "codegen/kernel/BandEstimate.h"
#include "fusion/Candidate.h"
#include "fusion/EmissionLimits.h"
#include "fusion/GroupWork.h"
#include "fusion/Groups.h"
#include "ir/Tk.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>
#include <cmath>
#include <limits>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::fusion;

namespace {

/// Cycles of a load and of a store of one vector that lies in the first level.
constexpr double loadCycles = 0.6, storeCycles = 1;
/// Of adding a vector to a sum, in a row of additions that wait for each other.
constexpr double additionCycles = 1;
/// Of one lane of a gather, its address and its mask included: 0.7 to 1.3 where the lines are in the first
/// level, on Zen 5 with either width of vectors.
constexpr double gatherCycles = 1;
/// Cycles of a vector from which on a row kernel keeps it for its other readers.
constexpr double expensiveCycles = 4;
/// Of one element of a library function: scalar code with branches.
constexpr double libraryCycles = 4;
/// The part of the shorter of computing and moving that the longer one does not hide.
constexpr double exposedShare = 0.25;
/// Operations below which a kernel stays on its thread, and elements of a pointwise task: as the emitter does
/// it.
constexpr double parallelThreshold = 100'000, taskElements = 4096;
/// Instructions of one kernel beyond which compiling it takes seconds.
constexpr int64_t mostInstructions = 100'000;
/// Cycles that the loops of one anchor in a chain take to start, in each task.
constexpr double linkCycles = 200;
/// Registers that a polynomial needs beside its argument.
constexpr int64_t polynomialRegisters = 8, polynomialInstructions = 12;

double shareOf(codegen::AnchorFamily family, const KernelEfficiency &share) {
  switch (family) {
  case codegen::AnchorFamily::DenseConvolution:
    return share.denseConvolution;
  case codegen::AnchorFamily::PointwiseConvolution:
    return share.pointwiseConvolution;
  case codegen::AnchorFamily::GroupedConvolution:
    return share.groupedConvolution;
  case codegen::AnchorFamily::MatMul:
    return share.matmul;
  case codegen::AnchorFamily::Window:
    return share.window;
  case codegen::AnchorFamily::Loops:
    return share.elementwise;
  }
  return 1;
}

/// Registers that as many elements as a float32 vector has lanes take.
double registersOf(Value value) {
  return std::max(1.0, static_cast<double>(analysis::tensorBytes(value)) /
                           std::max(4.0 * static_cast<double>(tk::tensorType(value).getNumElements()), 1.0));
}

/// The work of one kernel, added up operator by operator.
class Pricing {
public:
  /// `chainTasks`: of a kernel of several anchors, else 0.
  Pricing(const TargetDescription &target, int64_t chainTasks, GroupCost &cost)
      : target(target), chainTasks(chainTasks), cost(cost) {}

  void add(const OperatorWork &work, const codegen::ExpressionCost *expression) {
    computed += work.evaluations;
    needed += work.evaluations > 0 ? work.elements : 0;
    switch (analysis::kindOf(work.op)) {
    case FusionKind::Anchor:
      return addAnchor(work);
    case FusionKind::Reduction:
      return addReduction(work);
    case FusionKind::Opaque:
      cost.elementwise += libraryCycles * work.evaluations / target.clockHz;
      return;
    default:
      addElements(work, *expression);
    }
  }

  /// For an anchor whose tasks have an operand computed, in an order in which vectors lie in memory: so what
  /// moves there costs its loads alone, and the store into scratch. `accesses`: vectors loaded, where known.
  void addPrologue(std::optional<double> accesses) {
    hasPrologue = true;
    knowsLoads = accesses.has_value();
    cost.elementwise += cycles(accesses.value_or(0) * loadCycles);
  }

  /// For all elements of a kernel that is emitted as a whole to see what it costs.
  void addWhole(const codegen::ExpressionCost &whole) {
    emittedWhole = true;
    cost.elementwise += cycles(whole.cycles + whole.loads * loadCycles +
                               whole.gathers * static_cast<double>(target.lanes()) * gatherCycles);
  }

  /// For rows one a lane: what is taken from transposed operands lies side by side.
  void addLanesOfRows() { picksNeighbours = true; }

  void finish(llvm::ArrayRef<analysis::KernelOperands::Buffer> writes) {
    double results = 0;
    for (const auto &write : writes) {
      cost.elementwise += cycles(storeCycles * vectors(elementsOf(write.value)) * registersOf(write.value));
      results += elementsOf(write.value);
    }
    // Where the epilogue needs more registers than the accumulators leave free, each of them is spilled once.
    if (accumulators + polynomialRegisters > target.vectorRegisters &&
        longestExpression > polynomialInstructions)
      cost.elementwise += cycles((loadCycles + storeCycles) * vectors(results));
    cost.instructions = expressionInstructions * std::max<int64_t>(accumulators, 1);
    if (needed > 0)
      cost.recomputation = computed / needed;
    cost.elementwise += static_cast<double>(chainTasks * chained) * linkCycles / target.clockHz;
    if (bandWeights > 0) {
      // Half of the second level is the scratch's.
      MemoryLevel level = chainedWeights <= target.l2Bytes / 2 ? MemoryLevel::L2
                          : chainedWeights <= target.l3Bytes   ? MemoryLevel::L3
                                                               : MemoryLevel::Memory;
      const auto i = static_cast<size_t>(level);
      cost.again.weights[i] += bandWeights;
      cost.memory += static_cast<double>(bandWeights) / target.bandwidth[i];
    }
    if (chainTasks)
      cost.tasks = chainTasks;
    else if (rows)
      cost.tasks = *rows;
    else if (!hasAnchor)
      cost.tasks = std::max<int64_t>(1, static_cast<int64_t>(results / taskElements));
  }

private:
  static double elementsOf(Value value) {
    return static_cast<double>(tk::tensorType(value).getNumElements());
  }
  double vectors(double elements) const { return elements / static_cast<double>(target.lanes()); }
  double cycles(double count) const { return count / (target.clockHz * target.efficiency.elementwise); }

  /// What rides on a convolution adds each element from a register.
  void addBandSum(const OperatorWork &work) {
    Value input = work.op->getOperand(0);
    cost.elementwise += cycles(additionCycles * vectors(elementsOf(input)) * registersOf(input));
  }

  void addAnchor(const OperatorWork &work) {
    if (work.chained && codegen::sumsBands(work.op))
      return addBandSum(work);
    codegen::AnchorEstimate estimate = codegen::estimateAnchor(work.op, work.constantWeight, target);
    auto flops =
        static_cast<double>(std::max<int64_t>(llvm::cast<tk::TrafficInterface>(work.op).getFlops(), 0));
    double share = shareOf(estimate.family, target.efficiency) * estimate.filled;
    if (!work.chained && !hasPrologue)
      share *= estimate.filteringGain;
    const double registers = registersOf(work.op->getResult(0));
    double anchor = 0;
    switch (estimate.family) {
    case codegen::AnchorFamily::Window: // a load and an operation a tap
      anchor = vectors(flops) * registers / (target.clockHz * share);
      break;
    case codegen::AnchorFamily::Loops: // two loads and a multiply-add
      anchor = vectors(flops / 2) * registers * (2 * loadCycles + 0.5) / (target.clockHz * share);
      break;
    default:
      anchor = flops / (target.peakFlops * share);
    }
    if (estimate.filtering && !work.chained && !hasPrologue)
      addFiltering(*estimate.filtering, work.op);
    else
      addRereads(estimate, work.op);
    hasAnchor = true;
    if (work.chained)
      addChained(work, anchor);
    else
      cost.tasks = std::max(cost.tasks, estimate.tasks);
    cost.anchor += anchor;
    accumulators = std::max(accumulators, estimate.accumulators);
  }

  /// What tiles of registers read of the operands beyond the first time.
  void addRereads(const codegen::AnchorEstimate &estimate, Operation *op) {
    // What the first level keeps is not read again from beyond it.
    auto again = [&](Value operand, int64_t tiles, int64_t bytesOfTile) {
      const int64_t bytes = analysis::tensorBytes(operand);
      return bytesOfTile > target.l1Bytes ? (tiles - 1) * bytes : 0;
    };
    constexpr auto l2 = static_cast<size_t>(MemoryLevel::L2);
    Value input = op->getOperand(0);
    cost.again.read[l2] += again(input, estimate.vectorTiles, analysis::tensorBytes(input));
    if (op->getNumOperands() > 1) {
      Value weight = op->getOperand(1);
      cost.again.weights[l2] +=
          again(weight, estimate.positionTiles,
                analysis::tensorBytes(weight) / std::max<int64_t>(estimate.vectorTiles, 1));
    }
  }

  /// The same by minimal filtering: filters and inputs are read for blocks of the work, which lie in scratch.
  void addFiltering(const codegen::FilteringTraffic &filtering, Operation *op) {
    const int64_t input = analysis::tensorBytes(op->getOperand(0)),
                  weights = analysis::tensorBytes(op->getOperand(1));
    auto move = [&](analysis::BytesByLevel &sum, int64_t bytes, int64_t distance) {
      const auto byLevel = analysis::bytesByLevel(bytes, distance, target);
      for (size_t level = 0; level < memoryLevels; ++level)
        sum[level] += byLevel[level];
    };
    // The transformed filters come from where the weights would.
    const double growth =
        static_cast<double>(filtering.weights) / static_cast<double>(std::max<int64_t>(weights, 1));
    for (size_t level = 0; level < memoryLevels; ++level)
      cost.again.weights[level] +=
          static_cast<int64_t>((growth - 1) * static_cast<double>(cost.traffic.weights[level]));
    const int64_t ofTask = filtering.scratch + filtering.weights / filtering.inputPasses;
    move(cost.again.weights, (filtering.weightPasses - 1) * filtering.weights,
         filtering.weights + filtering.scratch);
    move(cost.again.read, (filtering.inputPasses - 1) * input, ofTask);
    move(cost.again.read, filtering.scratchRead, filtering.scratch);
    move(cost.again.written, filtering.scratchWritten, filtering.scratch);
  }

  /// An anchor inside another: what bands share it computes for each, and each band reads its weights.
  void addChained(const OperatorWork &work, double &seconds) {
    seconds *= work.chained->repeats;
    chained += work.chained->startsAnew ? 1 : 0;
    if (work.op->getNumOperands() < 2)
      return;
    const int64_t bytes = analysis::tensorBytes(work.op->getOperand(1));
    chainedWeights += bytes;
    const double passes = std::max(work.chained->weightPasses - 1, 0.0);
    bandWeights += static_cast<int64_t>(passes * static_cast<double>(bytes));
  }

  void addReduction(const OperatorWork &work) {
    Value input = work.op->getOperand(0);
    cost.elementwise +=
        vectors(elementsOf(input)) * registersOf(input) / (target.clockHz * target.efficiency.reduction);
    const auto kept = static_cast<int64_t>(elementsOf(work.op->getResult(0)));
    rows = std::max<int64_t>(1, rows ? std::min(*rows, kept) : kept);
  }

  void addElements(const OperatorWork &work, const codegen::ExpressionCost &expression) {
    const double outside = work.operands ? work.fromMemory / static_cast<double>(work.operands) : 0;
    const auto lanes = static_cast<double>(target.lanes());
    const bool isPrologue = work.feedsAnchor && hasPrologue;
    const bool moves = analysis::kindOf(work.op) > FusionKind::Broadcast;
    const double gathers = picksNeighbours ? 0 : expression.gathers;
    const double loads = expression.loads + expression.gathers - gathers;
    double each = expression.cycles + outside * (loads * loadCycles + gathers * lanes * gatherCycles);
    if (isPrologue)
      each = (moves ? 0 : expression.cycles) +
             (knowsLoads ? 0 : outside * static_cast<double>(work.operands) * loadCycles);
    if (!emittedWhole)
      cost.elementwise += cycles(each * vectors(work.evaluations) * std::min(work.alike, lanes));
    if (isPrologue && knowsLoads && llvm::any_of(work.op->getUsers(), [](Operation *user) {
          return analysis::kindOf(user) == FusionKind::Anchor;
        }))
      cost.elementwise += cycles(storeCycles * vectors(work.evaluations));
    if (expression.cycles >= expensiveCycles && work.elements > 0 && !moves)
      cost.dearRepeats = std::max(cost.dearRepeats, work.evaluations / work.elements);
    // Where a reader picks lane by lane, so do the loads behind it.
    if (expression.gathers == 0 && !emittedWhole && !isPrologue && !picksNeighbours)
      cost.elementwise += cycles(static_cast<double>(work.fullFromMemory) * gatherCycles *
                                 std::min(work.scattered, work.evaluations));
    expressionInstructions += expression.instructions;
    longestExpression = std::max(longestExpression, expression.instructions);
  }

  const TargetDescription &target;
  int64_t chainTasks;
  GroupCost &cost;
  double computed = 0, needed = 0;
  bool hasPrologue = false, knowsLoads = false;
  bool hasAnchor = false, emittedWhole = false, picksNeighbours = false;
  std::optional<int64_t> rows; ///< of a kernel that reduces: what its reductions keep
  int64_t accumulators = 0, expressionInstructions = 0, longestExpression = 0;
  // Of anchors in a chain: how many, bytes of their weights, and what bands read again of those.
  int64_t chained = 0, chainedWeights = 0, bandWeights = 0;
};

analysis::KernelOperands operandsOf(llvm::ArrayRef<Operation *> members) {
  const bool isGroup = members.size() == 1 && llvm::isa<tk::FusionOp>(members.front());
  return isGroup ? analysis::operandsOf(members.front()) : analysis::operandsOf(members);
}

} // namespace

size_t fusion::identityOf(Operation *op) {
  llvm::hash_code hash = llvm::hash_value(op->getName().getAsOpaquePointer());
  for (Value operand : op->getOperands()) {
    hash = llvm::hash_combine(hash, operand.getType().getAsOpaquePointer());
    if (auto constant = operand.getDefiningOp<tk::ConstantOp>();
        constant && tk::tensorType(operand).getNumElements() == 1)
      hash = llvm::hash_combine(hash, constant.getValueAttr().getAsOpaquePointer());
  }
  for (Type type : op->getResultTypes())
    hash = llvm::hash_combine(hash, type.getAsOpaquePointer());
  for (NamedAttribute attribute : op->getAttrs())
    if (attribute.getName() != groupAttribute)
      hash = llvm::hash_combine(hash, attribute.getName().getAsOpaquePointer(),
                                attribute.getValue().getAsOpaquePointer());
  return hash;
}

double GroupCost::serial() const {
  return call + std::max(compute(), memory) + exposedShare * std::min(compute(), memory);
}

double GroupCost::seconds() const {
  if (!refusal.empty())
    return std::numeric_limits<double>::infinity();
  GroupCost shared = *this;
  shared.anchor /= parallelism;
  shared.elementwise /= parallelism;
  shared.memory = std::max(memory / parallelism, sharedMemory);
  return dispatch + shared.serial();
}

CostModel::CostModel(const TargetDescription &target, int64_t threads)
    : target(target), threads(threads > 0 ? threads : target.cores) {}

const codegen::ExpressionCost &CostModel::expressionOf(Operation *op) const {
  auto [entry, isNew] = expressions.try_emplace(identityOf(op));
  if (isNew) {
    if (llvm::isa<tk::TensorExpressionInterface>(op))
      entry->second = codegen::expressionCost(op, target);
    else // nobody has attached the expressions: an instruction an operator
      entry->second = {0.5, 1, static_cast<double>(op->getNumOperands())};
  }
  return entry->second;
}

/// Whether the operators move elements between indices, and none has loops of its own: what such a kernel
/// picks and repeats follows from all of them together.
static bool movesOnly(llvm::ArrayRef<Operation *> members) {
  bool moves = false, loops = false;
  for (Operation *member : members)
    member->walk([&](Operation *op) {
      if (op->getNumRegions() > 0 || op->hasTrait<OpTrait::IsTerminator>() ||
          op->hasTrait<OpTrait::ConstantLike>())
        return;
      const FusionKind kind = analysis::kindOf(op);
      moves |= kind == FusionKind::Injective || kind == FusionKind::Tuple;
      loops |= kind == FusionKind::Reduction || kind == FusionKind::Anchor || kind == FusionKind::Opaque ||
               !llvm::isa<tk::TensorExpressionInterface>(op);
    });
  return moves && !loops;
}

/// Operators of a kind among the members and inside them.
static int64_t countKind(llvm::ArrayRef<Operation *> members, FusionKind kind) {
  int64_t count = 0;
  for (Operation *member : members)
    member->walk([&](Operation *op) { count += op->getNumRegions() == 0 && analysis::kindOf(op) == kind; });
  return count;
}

/// Whether there are reductions among them and operators that move elements, and the emitter knows them all.
static bool reducesWhatMoves(llvm::ArrayRef<Operation *> members) {
  bool isKnown = true;
  for (Operation *member : members)
    member->walk([&](Operation *op) {
      isKnown &= op->getNumRegions() > 0 || op->hasTrait<OpTrait::IsTerminator>() ||
                 llvm::isa<tk::TensorExpressionInterface>(op);
    });
  return isKnown && countKind(members, FusionKind::Reduction) > 0 &&
         countKind(members, FusionKind::Injective) > 0;
}

/// Whether some anchor's operands are computed by other operators of the kernel.
static bool computesOperand(llvm::ArrayRef<Operation *> members) {
  bool found = false;
  llvm::SmallPtrSet<Operation *, 16> inside(members.begin(), members.end());
  for (Operation *member : members)
    member->walk([&](Operation *op) {
      if (op->getNumRegions() > 0 || analysis::kindOf(op) != FusionKind::Anchor)
        return;
      for (Value operand : op->getOperands())
        if (Operation *definition = operand.getDefiningOp())
          found |= !definition->hasTrait<OpTrait::ConstantLike>() &&
                   (definition->getBlock() != members.front()->getBlock() || inside.contains(definition));
    });
  return found;
}

/// Whether some product's second operand is no constant: its tasks put it in order, as they do with what they
/// compute.
static bool packsOperand(llvm::ArrayRef<Operation *> members) {
  bool found = false;
  for (Operation *member : members)
    member->walk([&](tk::MatMulOp product) {
      Value rhs = product.getRhs();
      auto argument = llvm::dyn_cast<BlockArgument>(rhs);
      if (auto group = llvm::dyn_cast<tk::FusionOp>(product->getParentOp()); group && argument)
        rhs = group.getInputs()[argument.getArgNumber()];
      found |= !analysis::isWeight(rhs);
    });
  return found;
}

bool CostModel::holdsDear(llvm::ArrayRef<Operation *> members) const {
  auto search = [&](Operation *op) {
    const bool found =
        op->getNumRegions() == 0 && op->getNumResults() > 0 && !op->hasTrait<OpTrait::ConstantLike>() &&
        analysis::kindOf(op) <= FusionKind::Broadcast && expressionOf(op).cycles >= expensiveCycles;
    return found ? WalkResult::interrupt() : WalkResult::advance();
  };
  return llvm::any_of(members, [&](Operation *op) { return op->walk(search).wasInterrupted(); });
}

codegen::KernelEstimate CostModel::estimateOf(llvm::ArrayRef<Operation *> members) const {
  if (auto group = llvm::dyn_cast<tk::FusionOp>(members.front()))
    return codegen::estimateKernel(group, target);
  return codegen::estimateKernel(Candidate(members).group(), target);
}

codegen::RowEstimate CostModel::rowsOf(llvm::ArrayRef<Operation *> members) const {
  if (auto group = llvm::dyn_cast<tk::FusionOp>(members.front()))
    return codegen::estimateRows(group, target);
  return codegen::estimateRows(Candidate(members).group(), target);
}

codegen::ExpressionCost CostModel::wholeOf(llvm::ArrayRef<Operation *> members, bool imagesAreBlocked) const {
  if (auto group = llvm::dyn_cast<tk::FusionOp>(members.front()))
    return codegen::pointwiseCost(group, target, imagesAreBlocked);
  return codegen::pointwiseCost(Candidate(members).group(), target, imagesAreBlocked);
}

GroupCost CostModel::price(llvm::ArrayRef<Operation *> members, const analysis::LevelTraffic &traffic,
                           bool imagesAreBlocked) const {
  GroupCost cost;
  cost.traffic = traffic;
  if (members.size() > 1 && !canEmit(members, &cost.refusal, AnchorLimit::Chain))
    return cost;
  // Several anchors, what reads accumulators elsewhere, and rows in front of an anchor: the emitter knows.
  std::string limit;
  const bool needsPlan = members.size() > 1 && !canEmit(members, &limit);
  const int64_t anchors = countKind(members, FusionKind::Anchor);
  codegen::KernelEstimate chain;
  if (needsPlan || anchors > 1 || computesOperand(members) || packsOperand(members) ||
      (anchors == 1 && countKind(members, FusionKind::Reduction) > 0))
    chain = estimateOf(members);
  if (needsPlan && !chain.isTiled()) {
    cost.refusal = limit;
    return cost;
  }
  if (chain.isTiled() && chain.anchors.empty()) // one, or none computed twice: the weights once a task
    chain.anchors.assign(static_cast<size_t>(anchors),
                         {1, chain.repeats, anchors > 1 ? static_cast<double>(chain.tasks) : 1});

  // A composite need not read what it is given.
  if (!chain.anchors.empty() && static_cast<int64_t>(chain.anchors.size()) != anchors) {
    cost.refusal = "nothing in it reads one of its anchors";
    return cost;
  }

  Pricing pricing(target, chain.anchors.empty() ? 0 : chain.tasks, cost);
  if (movesOnly(members))
    pricing.addWhole(wholeOf(members, imagesAreBlocked));
  else if (anchors == 0 && reducesWhatMoves(members) && rowsOf(members).lanesAreRows)
    pricing.addLanesOfRows();
  // Loads of rows that reduce are not those of one vector, and those of a chain are not told apart.
  if (chain.isTiled())
    pricing.addPrologue(anchors == 1 && countKind(members, FusionKind::Reduction) == 0
                            ? std::optional(chain.accesses)
                            : std::nullopt);
  auto isExpression = [](Operation *op) {
    const FusionKind kind = analysis::kindOf(op);
    return kind != FusionKind::Anchor && kind != FusionKind::Reduction && kind != FusionKind::Opaque;
  };
  auto facts = [&](Operation *op) {
    if (!isExpression(op))
      return ExpressionFacts();
    const codegen::ExpressionCost &expression = expressionOf(op);
    return ExpressionFacts{expression.gathers > 0, expression.cycles >= expensiveCycles};
  };
  for (const OperatorWork &work : workOf(members, facts, chain.anchors)) {
    pricing.add(work, isExpression(work.op) ? &expressionOf(work.op) : nullptr);
    if (auto counted = llvm::dyn_cast<tk::TrafficInterface>(work.op))
      cost.flops += std::max<int64_t>(counted.getFlops(), 0);
  }
  pricing.finish(operandsOf(members).writes);
  if (cost.instructions > mostInstructions)
    cost.refusal = std::to_string(cost.instructions) + " instructions of code";

  for (size_t level = 1; level < memoryLevels; ++level)
    cost.memory += static_cast<double>(traffic.at(static_cast<MemoryLevel>(level))) / target.bandwidth[level];
  // A line that is written is fetched first and written back in the end.
  const auto writtenBack = static_cast<double>(traffic.written[memoryLevels - 1]);
  const double fromMemory = static_cast<double>(traffic.at(MemoryLevel::Memory)) + writtenBack;
  cost.memory += writtenBack / target.bandwidth[memoryLevels - 1];
  cost.sharedMemory = fromMemory / target.sharedMemoryBandwidth;

  cost.call = target.callSeconds;
  const bool isParallel =
      threads > 1 && cost.tasks > 1 && static_cast<double>(cost.flops) >= parallelThreshold;
  if (isParallel) {
    cost.dispatch = target.dispatchSeconds;
    const int64_t rounds = (cost.tasks + threads - 1) / threads;
    cost.parallelism = static_cast<double>(cost.tasks) / static_cast<double>(rounds);
  }
  return cost;
}

static bool hasConvolution(Operation *root) {
  return root
      ->walk([](Operation *op) {
        return llvm::isa<tk::ConvOp, tk::ConvTransposeOp>(op) ? WalkResult::interrupt()
                                                              : WalkResult::advance();
      })
      .wasInterrupted();
}

void CostModel::setProgram(ModuleOp program) {
  hasConvolutions = hasConvolution(program);
  programWeights = 0;
  program.walk(
      [&](tk::ConstantOp constant) { programWeights += analysis::tensorBytes(constant.getResult()); });
}

std::string fusion::comparison(double together, double apart) {
  return llvm::formatv("{0:F2} us instead of {1:F2}", together * 1e6, apart * 1e6).str();
}

GroupCost CostModel::group(llvm::ArrayRef<Operation *> members) const {
  return price(members, analysis::levelTraffic(operandsOf(members), programWeights, target), hasConvolutions);
}

std::vector<GroupCost> CostModel::program(llvm::ArrayRef<Members> kernels) const {
  std::vector<analysis::KernelOperands> operands;
  for (const Members &members : kernels)
    operands.push_back(operandsOf(members));
  const bool imagesAreBlocked =
      llvm::any_of(kernels, [](const Members &members) { return llvm::any_of(members, hasConvolution); });
  std::vector<GroupCost> costs;
  for (auto [members, traffic] : llvm::zip_equal(kernels, analysis::levelTraffic(operands, target)))
    costs.push_back(price(members, traffic, imagesAreBlocked));
  return costs;
}
