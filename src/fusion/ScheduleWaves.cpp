//===- ScheduleWaves.cpp - independent kernels run at the same time ---------------------------------===//
// Kernels run one after the other, each on all threads; small ones run on one thread, and tasks that do not
// divide evenly leave threads idle at the end of each. Where neither of two kernels reads from the other,
// here they become one wave: the pieces of both are handed out in one dispatch.
//
// A kernel that joins a wave runs earlier than before, so what it writes is kept longer. At no place may many
// more bytes be alive than the block needed at its worst before.
//
// Exact: only the order of kernels changes.
#include "analysis/Blocks.h"
#include "analysis/Traffic.h"
#include "analysis/WaveMembers.h"
#include "codegen/host/Views.h"
#include "fusion/KernelDialects.h"
#include "fusion/WaveTime.h"
#include "rewrite/Passes.h"
#include <set>

namespace tokamak {
#define GEN_PASS_DECL_SCHEDULEWAVES
#define GEN_PASS_DEF_SCHEDULEWAVES
#include "rewrite/Passes.h.inc"
} // namespace tokamak

using namespace mlir;
using namespace tokamak;
using fusion::WaveWork;

namespace {

/// Kernels of one wave at most, and ready kernels that are considered for it: the first ones of the block.
constexpr size_t mostMembers = 16, mostCandidates = 32;
/// How far ahead of its place a kernel may run: ways to it are searched.
constexpr size_t farthest = 512;
/// A kernel joins where that saves this part of the time that it, or the wave so far, takes alone.
constexpr double leastGain = 0.05;
/// More bytes than at the worst before that may be alive: a part of those, and in any case this part of the
/// second level, where values that are kept longer do no harm.
constexpr double mostGrowth = 1.0 / 32, mostOfLevel = 1.0 / 4;

class BlockWaves {
public:
  BlockWaves(Block &block, const fusion::CostModel &model, int64_t threads, int64_t &next, PassState &state)
      : block(block), model(model), threads(threads), next(next), state(state) {}

  void run() {
    readBlock();
    if (llvm::count_if(nodes, [](const Node &node) { return node.isKernel; }) < 2)
      return;
    price();
    countLiveBytes();
    if (schedule())
      reorder();
  }

private:
  struct Node {
    Operation *op = nullptr;
    bool isKernel = false, isPlaced = false;
    size_t waitsFor = 0; ///< operations of the block that must be placed before
    llvm::SmallVector<size_t, 2> readers;
    std::optional<WaveWork> work;
    int64_t bytes = 0;     ///< of results in the arena
    int64_t liveBytes = 0; ///< of all values while the node runs, in the order so far
  };

  void readBlock() {
    for (Operation &op : block.without_terminator()) {
      placeOf[&op] = nodes.size();
      nodes.push_back({.op = &op, .isKernel = llvm::isa<tk::FusionOp>(op) && !analysis::isFree(&op)});
    }
    for (size_t i = 0; i < nodes.size(); ++i) {
      llvm::SmallDenseSet<size_t> read;
      nodes[i].op->walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          if (Operation *definition = operand.getDefiningOp())
            if (auto place = placeOf.find(definition); place != placeOf.end() && place->second != i)
              read.insert(place->second);
      });
      nodes[i].waitsFor = read.size();
      for (size_t producer : read)
        nodes[producer].readers.push_back(i);
    }
    for (Node &node : nodes)
      llvm::sort(node.readers);
  }

  void price() {
    llvm::SmallVector<fusion::CostModel::Members> members;
    for (const Node &node : nodes)
      if (node.isKernel || llvm::isa<tk::LibraryCallInterface>(node.op))
        members.push_back({node.op});
    std::vector<fusion::GroupCost> costs = model.program(members);
    size_t priced = 0;
    for (Node &node : nodes) {
      if (!node.isKernel && !llvm::isa<tk::LibraryCallInterface>(node.op))
        continue;
      const fusion::GroupCost &cost = costs[priced++];
      if (node.isKernel && cost.refusal.empty())
        node.work.emplace(cost);
    }
  }

  /// In the order so far. Results of the function lie in the caller's memory.
  void countLiveBytes() {
    const bool isFunction = llvm::isa<func::FuncOp>(block.getParentOp());
    std::vector<size_t> lastReader(nodes.size());
    std::vector<int64_t> ends(nodes.size() + 1); // bytes that nobody needs from here on
    for (size_t i = nodes.size(); i-- > 0;) {
      Node &node = nodes[i];
      bool leaves =
          llvm::any_of(node.op->getUsers(), [&](Operation *user) { return user == block.getTerminator(); });
      lastReader[i] = leaves ? nodes.size() : i;
      for (size_t reader : node.readers) // a view keeps what it shows
        lastReader[i] =
            std::max(lastReader[i], analysis::isFree(nodes[reader].op) ? lastReader[reader] : reader);
      if (analysis::isFree(node.op) || (isFunction && lastReader[i] == nodes.size()))
        continue;
      for (Value result : node.op->getResults())
        node.bytes += analysis::tensorBytes(result);
      if (lastReader[i] < nodes.size())
        ends[lastReader[i] + 1] += node.bytes;
    }
    int64_t live = 0;
    for (size_t i = 0; i < nodes.size(); ++i) {
      live += nodes[i].bytes - ends[i];
      nodes[i].liveBytes = live;
      most = std::max(most, live);
    }
    const auto level = static_cast<double>(model.targetDescription().l2Bytes);
    most += static_cast<int64_t>(std::max(static_cast<double>(most) * mostGrowth, level * mostOfLevel));
  }

  /// Decides the order and the waves; false where there is none.
  bool schedule() {
    bool found = false;
    llvm::SmallVector<size_t> sources;
    for (size_t i = 0; i < nodes.size(); ++i)
      if (nodes[i].waitsFor == 0)
        sources.push_back(i);
    noteReady(std::move(sources));
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (nodes[i].isPlaced)
        continue;
      // All before it are placed, so it is ready.
      llvm::SmallVector<size_t> members = {i};
      if (nodes[i].work)
        grow(members);
      if (members.size() == 1 || !state.fuel.take("schedule-waves", nodes[i].op->getLoc())) {
        place(i);
        continue;
      }
      found = true;
      llvm::stable_sort(members, [&](size_t a, size_t b) {
        return nodes[a].work->pieceSeconds() > nodes[b].work->pieceSeconds();
      });
      for (size_t member : members)
        placeViewsBefore(member);
      auto number = IntegerAttr::get(IntegerType::get(block.getParentOp()->getContext(), 64), next++);
      for (size_t member : members) {
        nodes[member].op->setAttr(analysis::waveAttribute, number);
        place(member);
      }
      for (size_t member : members)
        for (size_t place = i; place < member; ++place)
          nodes[place].liveBytes += nodes[member].bytes;
    }
    return found;
  }

  /// Adds kernels that are ready, each time the one that gains most.
  void grow(llvm::SmallVectorImpl<size_t> &members) {
    const size_t seed = members.front();
    llvm::SmallVector<WaveWork> wave = {*nodes[seed].work};
    llvm::SmallVector<std::pair<size_t, double>> candidates; // with their times alone
    for (auto it = ready.upper_bound(seed); it != ready.end() && candidates.size() < mostCandidates; ++it) {
      if (*it - seed > farthest)
        break;
      if (nodes[*it].work)
        candidates.emplace_back(*it, timeOf(*nodes[*it].work));
    }
    int64_t kept = 0; // bytes of the members that come early
    double seconds = timeOf(wave);
    while (members.size() < mostMembers) {
      auto best = candidates.end();
      double bestGain = 0, bestSeconds = 0;
      for (auto it = candidates.begin(); it != candidates.end(); ++it) {
        wave.push_back(*nodes[it->first].work);
        const double together = timeOf(wave), gain = seconds + it->second - together;
        wave.pop_back();
        if (gain > bestGain && gain >= leastGain * std::min(seconds, it->second) &&
            fits(seed, it->first, kept))
          best = it, bestGain = gain, bestSeconds = together;
      }
      if (best == candidates.end())
        return;
      members.push_back(best->first);
      wave.push_back(*nodes[best->first].work);
      kept += nodes[best->first].bytes;
      seconds = bestSeconds;
      candidates.erase(best);
    }
  }

  double timeOf(llvm::ArrayRef<WaveWork> wave) const {
    return fusion::waveSeconds(wave, model.targetDescription(), threads);
  }

  /// Whether the kernel's results have room from `seed` on to where the kernel stands.
  bool fits(size_t seed, size_t kernel, int64_t kept) const {
    int64_t live = 0;
    for (size_t i = seed; i < kernel; ++i)
      live = std::max(live, nodes[i].liveBytes);
    return live + kept + nodes[kernel].bytes <= most;
  }

  /// Of operations that wait for nothing any more. Constants and views have no time of their own: what reads
  /// them may go on.
  void noteReady(llvm::SmallVector<size_t> worklist) {
    while (!worklist.empty()) {
      size_t i = worklist.pop_back_val();
      if (nodes[i].isKernel)
        ready.insert(i);
      else if (analysis::isFree(nodes[i].op))
        release(i, worklist);
    }
  }

  void release(size_t i, llvm::SmallVectorImpl<size_t> &released) {
    for (size_t reader : nodes[i].readers)
      if (--nodes[reader].waitsFor == 0)
        released.push_back(reader);
  }

  void place(size_t i) {
    nodes[i].isPlaced = true;
    order.push_back(i);
    ready.erase(i);
    if (analysis::isFree(nodes[i].op))
      return;
    llvm::SmallVector<size_t> released;
    release(i, released);
    noteReady(std::move(released));
  }

  /// Places the constants and views that the kernel reads.
  void placeViewsBefore(size_t kernel) {
    llvm::SmallVector<size_t> needed, worklist = {kernel};
    while (!worklist.empty()) {
      size_t i = worklist.pop_back_val();
      for (Value operand : nodes[i].op->getOperands()) {
        auto found = placeOf.find(operand.getDefiningOp());
        if (found == placeOf.end() || nodes[found->second].isPlaced)
          continue;
        nodes[found->second].isPlaced = true;
        needed.push_back(found->second);
        worklist.push_back(found->second);
      }
    }
    llvm::sort(needed);
    order.insert(order.end(), needed.begin(), needed.end());
  }

  void reorder() {
    for (size_t i : order)
      nodes[i].op->moveBefore(block.getTerminator());
  }

  Block &block;
  const fusion::CostModel &model;
  int64_t threads;
  int64_t &next; ///< number of a wave
  PassState &state;
  std::vector<Node> nodes; ///< in the order of the block
  llvm::DenseMap<Operation *, size_t> placeOf;
  std::set<size_t> ready; ///< kernels whose operands are computed
  std::vector<size_t> order;
  int64_t most = 0; ///< bytes that may be alive
};

struct ScheduleWaves : tokamak::impl::ScheduleWavesBase<ScheduleWaves> {
  explicit ScheduleWaves(int64_t threads, PassStatePtr state) : state(std::move(state)) {
    this->threads = threads;
  }

  void getDependentDialects(DialectRegistry &registry) const override {
    ScheduleWavesBase::getDependentDialects(registry);
    fusion::registerKernelDialects(registry);
  }

  void runOnOperation() override {
    const int64_t used = threads > 0 ? threads : state->target.cores;
    if (used == 1)
      return;
    getOperation().walk([&](func::FuncOp function) { codegen::markViews(function, state->target); });
    fusion::CostModel model(state->target, used);
    int64_t next = 0;
    analysis::forEachGraphBlock(getOperation(),
                                [&](Block &block) { BlockWaves(block, model, used, next, *state).run(); });
  }

  PassStatePtr state;
};

} // namespace

std::unique_ptr<Pass> tokamak::createScheduleWavesPass(int64_t threads, PassStatePtr state) {
  return std::make_unique<ScheduleWaves>(threads, orFresh(std::move(state)));
}
std::unique_ptr<Pass> tokamak::createScheduleWavesPass() { return createScheduleWavesPass(0, nullptr); }
