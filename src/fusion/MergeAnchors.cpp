//===- MergeAnchors.cpp - anchors are computed inside the kernels that read them --------------------===//
// A value between two anchors is written and read again. While it fits the cache that costs little; beyond,
// it costs more than the arithmetic. One kernel of both computes it band by band, each band read before it
// leaves the cache, and computes what two bands have in common twice. Along each path of groups of which each
// has the next as its only reader, the cut into kernels that takes the least modelled time is chosen.
#include "analysis/PostDominatorTree.h"
#include "codegen/kernel/KernelEstimate.h"
#include "codegen/kernel/StreamedProducts.h"
#include "fusion/Candidate.h"
#include "fusion/CostModel.h"
#include "fusion/DominatorPartitioner.h"
#include "fusion/EmissionLimits.h"
#include "fusion/GroupGraph.h"
#include "fusion/KernelDialects.h"
#include "fusion/KernelTimes.h"
#include "fusion/MergeLog.h"
#include "fusion/NodeNames.h"
#include "rewrite/Passes.h"
#include "llvm/ADT/DenseSet.h"
#include <cmath>
#include <map>

namespace tokamak {
#define GEN_PASS_DEF_MERGEANCHORS
#include "rewrite/Passes.h.inc"
} // namespace tokamak

using namespace mlir;
using namespace tokamak;
using fusion::Candidate;
using fusion::GroupGraph;
using fusion::KernelTimes;
using fusion::Refusal;

namespace {

class AnchorMerger {
public:
  AnchorMerger(GroupGraph &groups, const fusion::CostModel &model, PassState &state)
      : groups(groups), model(model), state(state), log(state) {}

  void run() {
    // What two kernels read, one may read alone once they are merged.
    for (int round = 0; round < mostRounds && runOnce(); ++round) {
      taken.clear();
      planned.clear();
    }
    if (state.decisions)
      explainRest();
  }

private:
  using Path = llvm::SmallVector<GroupGraph::Node>;

  /// Returns whether any groups merged.
  bool runOnce() {
    bool merges = false;
    // Producers first, so a path is found from its beginning.
    for (GroupGraph::Node node : groups.nodes()) {
      if (!groups.isCurrent(node) || !groups.isGroup(node) || taken.contains(node) ||
          !(holdsAnchor(node) || reduces(node) || joinsRowsOfProduct(node)))
        continue;
      Path path = pathFrom(node);
      if (path.size() > 1)
        merges |= cut(path);
    }
    return merges;
  }

  /// Some groups of a path as one kernel.
  struct Segment {
    KernelTimes times = KernelTimes::never();
    std::string refusal;
    bool isPossible() const { return std::isfinite(times.awake); }
  };

  bool holdsAnchor(GroupGraph::Node node) const {
    return llvm::any_of(groups.membersOf(node), fusion::holdsAnchorNest);
  }
  bool reduces(GroupGraph::Node node) const {
    return llvm::any_of(groups.membersOf(node), fusion::reducesRows);
  }

  /// Whether it does nothing but put parts side by side for one product, whose terms they can be: the input
  /// and the state of a cell.
  bool joinsRowsOfProduct(GroupGraph::Node node) const {
    const bool joins =
        llvm::all_of(groups.membersOf(node), [](Operation *op) { return isa<tk::ConcatOp>(op); });
    auto reader = joins ? onlyReader(node) : std::nullopt;
    return reader &&
           llvm::any_of(groups.membersOf(*reader), [](Operation *op) { return isa<tk::MatMulOp>(op); });
  }

  /// The group that alone reads the values of `node`.
  std::optional<GroupGraph::Node> onlyReader(GroupGraph::Node node) const {
    std::optional<GroupGraph::Node> reader;
    for (Operation *op : groups.membersOf(node))
      for (Operation *user : op->getUsers()) {
        auto consumer = groups.nodeOf(user);
        if (consumer == node)
          continue;
        if (!consumer || !groups.isGroup(*consumer) || (reader && reader != consumer))
          return std::nullopt;
        reader = consumer;
      }
    return reader;
  }

  GroupGraph::Members membersOf(llvm::ArrayRef<GroupGraph::Node> path) const {
    GroupGraph::Members members;
    for (GroupGraph::Node node : path)
      llvm::append_range(members, groups.membersOf(node));
    llvm::sort(members, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
    return members;
  }

  /// Whether a kernel with register tiles computes all of the path.
  bool isPlanned(llvm::ArrayRef<GroupGraph::Node> path) { return planOf(path).isTiled; }

  /// What kernel computes all of the path.
  struct Plan {
    bool isTiled = false;
    bool repeats = true; ///< computes or reads anything twice that kernels apart do not
    std::string kind;    ///< of the kernel; empty where none was planned
  };
  /// Trial emission of more would take too long.
  static bool mayPlan(llvm::ArrayRef<Operation *> members) {
    return fusion::plannedSize(members) <= fusion::DominatorPartitioner::mostOperators &&
           fusion::canEmit(members, nullptr, fusion::AnchorLimit::Chain);
  }
  const Plan &planOf(llvm::ArrayRef<GroupGraph::Node> path) {
    auto [known, isNew] = planned.try_emplace(Path(path));
    GroupGraph::Members members = membersOf(path);
    if (isNew && mayPlan(members)) {
      codegen::KernelEstimate kernel =
          codegen::estimateKernel(Candidate(members).group(), model.targetDescription());
      auto once = [](const codegen::ChainedAnchor &anchor) {
        return !anchor.startsAnew && anchor.weightPasses <= 1;
      };
      known->second = {kernel.isTiled(), kernel.anchors.empty() || !llvm::all_of(kernel.anchors, once),
                       kernel.kind};
    }
    return known->second;
  }

  /// Whether the last group of `path` and the one that reads it may lie in one kernel, with one more if need
  /// be: what normalises rows between two products has no tiles by itself.
  bool mayLink(llvm::ArrayRef<GroupGraph::Node> path, GroupGraph::Node to) {
    const GroupGraph::Node from = path.back();
    if (isPlanned({from, to}) || (path.size() > 1 && isPlanned({path.end()[-2], from, to})))
      return true;
    if (!holdsAnchor(to) && !reduces(to))
      return false;
    auto next = onlyReader(to);
    return next && isPlanned({from, to, *next});
  }

  /// Of attention: what its kernel streams over, or why there is none; empty for other paths.
  std::string describeStream(llvm::ArrayRef<GroupGraph::Node> path) const {
    GroupGraph::Members members = membersOf(path);
    return mayPlan(members) ? codegen::describeStream(Candidate(members).group(), model.targetDescription())
                            : "";
  }

  /// Groups with anchors, besides `node`, that `reader` alone reads: the products of one cell of a network.
  /// None where there are more than one kernel takes.
  Path siblingsOf(GroupGraph::Node node, GroupGraph::Node reader) const {
    Path siblings;
    for (Operation *op : groups.membersOf(reader))
      for (Value operand : op->getOperands()) {
        Operation *definition = operand.getDefiningOp();
        auto producer = definition ? groups.nodeOf(definition) : std::nullopt;
        if (producer && *producer != node && *producer != reader && groups.isGroup(*producer) &&
            !taken.contains(*producer) && holdsAnchor(*producer) && onlyReader(*producer) == reader &&
            !llvm::is_contained(siblings, *producer)) {
          siblings.push_back(*producer);
          if (siblings.size() + 2 > mostGroups)
            return {};
        }
      }
    return siblings;
  }

  /// `node`, the groups that lie between it and the next group with an anchor, and that one: a softmax whose
  /// rows are too long for one kernel of its own. None where one of them has other readers.
  Path upToNextAnchor(GroupGraph::Node node) const {
    Path path{node};
    while (path.size() < mostGroups) {
      std::optional<GroupGraph::Node> next;
      bool isAlone = true;
      for (GroupGraph::Node member : path)
        for (Operation *op : groups.membersOf(member))
          for (Operation *user : op->getUsers()) {
            auto reader = groups.nodeOf(user);
            if (!reader || !groups.isGroup(*reader))
              return {};
            if (const auto *at = llvm::find(path, *reader); at != path.end()) {
              if (at < llvm::find(path, member)) // not in the order in which they run
                return {};
              continue;
            }
            if (reader == next)
              continue;
            isAlone &= !next;
            if (!next || groups.membersOf(*reader).front()->isBeforeInBlock(groups.membersOf(*next).front()))
              next = reader;
          }
      if (!next || taken.contains(*next) || (holdsAnchor(*next) && !isAlone))
        return {};
      path.push_back(*next);
      if (holdsAnchor(*next)) {
        auto reads = [&](Operation *user) {
          auto reader = groups.nodeOf(user);
          return reader && reader != next && llvm::is_contained(path, *reader);
        };
        const bool isLast = llvm::none_of(groups.membersOf(*next),
                                          [&](Operation *op) { return llvm::any_of(op->getUsers(), reads); });
        return isLast ? path : Path();
      }
    }
    return {};
  }

  Path pathFrom(GroupGraph::Node node) {
    Path path{node};
    if (holdsAnchor(node) && !reduces(node))
      if (Path between = upToNextAnchor(node); between.size() > 3 && isPlanned(between))
        path = between;
    if (auto reader = onlyReader(node); reader && !taken.contains(*reader))
      if (Path joined = siblingsOf(node, *reader); !joined.empty()) {
        joined.insert(joined.begin(), node);
        joined.push_back(*reader);
        if (joined.size() <= mostGroups && isPlanned(joined))
          path = joined;
      }
    while (auto next = onlyReader(path.back())) {
      if (taken.contains(*next) || !mayLink(path, *next))
        break;
      path.push_back(*next);
    }
    for (GroupGraph::Node member : llvm::drop_begin(path))
      taken.insert(member);
    return path;
  }

  Segment price(llvm::ArrayRef<GroupGraph::Node> path) {
    Segment segment;
    if (path.size() > 1 && !isPlanned(path)) {
      segment.refusal = "no kernel with register tiles";
      return segment;
    }
    fusion::GroupCost cost = model.group(membersOf(path));
    segment.times = KernelTimes(cost);
    segment.refusal = cost.refusal;
    return segment;
  }

  using Segments = std::map<std::pair<size_t, size_t>, Segment>; ///< by first group and end

  /// The groups of a path as kernels of their own.
  static KernelTimes timesApart(const Segments &segments, size_t first, size_t end) {
    KernelTimes apart;
    for (size_t i = first; i < end; ++i)
      apart += segments.at({i, i + 1}).times;
    return apart;
  }

  /// Why the groups before and behind `place` of a path stay apart: what the smallest kernel across it takes.
  Refusal refusalAt(llvm::ArrayRef<GroupGraph::Node> path, const Segments &segments, size_t place) {
    const Segment *across = nullptr;
    size_t first = 0, end = 0;
    for (const auto &[range, segment] : segments)
      if (range.first < place && place < range.second && segment.isPossible() &&
          (!across || range.second - range.first < end - first))
        across = &segment, first = range.first, end = range.second;
    if (!across)
      return whyNoKernel(path[place - 1], path[place]);
    return compare(path.slice(first, end - first), across->times, timesApart(segments, first, end));
  }

  /// Why the groups of a path that one kernel could compute stay apart.
  Refusal compare(llvm::ArrayRef<GroupGraph::Node> path, const KernelTimes &together,
                  const KernelTimes &apart) {
    std::string numbers = fusion::comparison(together, apart);
    if (path.size() > 2)
      numbers += " for " + std::to_string(path.size()) + " kernels";
    if (!together.pays(apart))
      return {Reason::NoGain, numbers};
    if (together.awake * margin >= apart.awake && planOf(path).repeats)
      return {Reason::NoGain, numbers + ", no more than the model can tell"};
    return {Reason::OtherMerge, numbers};
  }

  /// Why no kernel can compute both.
  Refusal whyNoKernel(GroupGraph::Node from, GroupGraph::Node to) {
    GroupGraph::Members members = membersOf({from, to});
    const size_t size = fusion::plannedSize(members), limit = fusion::DominatorPartitioner::mostOperators;
    if (size > limit)
      return {Reason::TooManyOperators,
              std::to_string(size) + " operators, the limit is " + std::to_string(limit)};
    std::string why;
    if (!fusion::canEmit(members, &why, fusion::AnchorLimit::Chain))
      return {Reason::CannotEmit, why};
    for (Operation *op : members)
      if (isa<tk::ConvOp, tk::ConvTransposeOp>(op) && !tk::constantValue(op->getOperand(1)))
        return {Reason::CannotEmit, "the weights of " + fusion::nodeName(op) + " are not constant"};
    if (auto next = holdsAnchor(from) && reduces(to) ? onlyReader(to) : std::nullopt)
      if (std::string stream = describeStream({from, to, *next}); !stream.empty())
        return {Reason::CannotEmit, stream};
    const Plan &plan = planOf({from, to});
    if (plan.isTiled)
      return {Reason::CannotEmit, price({from, to}).refusal};
    return {Reason::CannotEmit, "one kernel would be of kind " + plan.kind + ", without register tiles"};
  }

  /// Why a path leads from `from`, of which `to` is a reader, to no kernel of both.
  Refusal whyNoPath(GroupGraph::Node from, GroupGraph::Node to) {
    for (Operation *op : groups.membersOf(from))
      for (Operation *user : op->getUsers()) {
        auto reader = groups.nodeOf(user);
        if (reader == from || reader == to)
          continue;
        if (!reader)
          return {Reason::GraphOutput, fusion::nodeName(op)};
        if (!groups.isGroup(*reader))
          return {Reason::OpaqueConsumer, fusion::nodeName(user)};
        return {Reason::ReadElsewhere, "by " + fusion::nodeName(user)};
      }
    // The reader was tried with others that it reads.
    const Segment together = price({from, to});
    if (!together.isPossible())
      return whyNoKernel(from, to);
    KernelTimes apart = price(from).times;
    apart += price(to).times;
    return compare({from, to}, together.times, apart);
  }

  /// Each edge between heavy loop nests says what this pass has against it, whether a path had it or not.
  void explainRest() {
    llvm::DenseSet<std::pair<GroupGraph::Node, GroupGraph::Node>> known;
    for (auto [producer, consumer] : noted)
      if (auto from = groups.nodeOf(producer), to = groups.nodeOf(consumer); from && to)
        known.insert({*from, *to});
    for (GroupGraph::Node from : groups.nodes()) {
      if (!groups.isGroup(from) || !(holdsAnchor(from) || reduces(from)))
        continue;
      for (GroupGraph::Node to : groups.consumersOf(from))
        if (groups.isGroup(to) && (holdsAnchor(to) || (holdsAnchor(from) && reduces(to))) &&
            !known.contains({from, to}))
          note(from, to, whyNoPath(from, to));
    }
  }

  /// Chooses the kernels of a path and merges their groups, if any.
  bool cut(const Path &path) {
    const size_t count = path.size();
    auto slice = [&](size_t from, size_t to) {
      return llvm::ArrayRef<GroupGraph::Node>(path).slice(from, to - from);
    };
    Segments segments;
    std::vector<double> best(count + 1, 0); // of the first so many groups
    std::vector<size_t> start(count + 1, 0);
    for (size_t end = 1; end <= count; ++end) {
      best[end] = std::numeric_limits<double>::infinity();
      for (size_t size = 1; size <= std::min<size_t>(end, mostGroups); ++size) {
        const size_t from = end - size;
        const Segment &segment = segments[{from, end}] = price(slice(from, end));
        // A kernel of several that repeats anything must pay beyond what the model can tell.
        const bool isSure = end - from == 1 || !planOf(slice(from, end)).repeats;
        double seconds = segment.times.awake * (isSure ? 1 : margin);
        if (best[from] + seconds < best[end] &&
            (size == 1 || segment.times.pays(timesApart(segments, from, end))))
          best[end] = best[from] + seconds, start[end] = from;
      }
      if (!std::isfinite(best[end])) // refused even alone: stays as it is
        best[end] = best[end - 1], start[end] = end - 1;
    }
    std::vector<bool> isCut(count + 1, false);
    for (size_t end = count; end > 0; end = start[end])
      isCut[end] = true;
    bool merges = false;
    for (size_t from = 0, end = 0; from < count; from = end) {
      for (end = from + 1; !isCut[end];)
        ++end;
      if (end - from > 1) {
        std::string stream = describeStream(slice(from, end));
        merges |= merge(slice(from, end),
                        fusion::comparison(segments[{from, end}].times, timesApart(segments, from, end)) +
                            (stream.empty() ? "" : "; " + stream));
      }
    }
    for (size_t i = 1; i < count; ++i)
      if (isCut[i])
        note(path[i - 1], path[i], refusalAt(path, segments, i));
    return merges;
  }

  bool merge(llvm::ArrayRef<GroupGraph::Node> path, const std::string &detail) {
    // All or none: a part of the path need not have a kernel with register tiles.
    const bool hasFuel = state.fuel.take("merge-anchors", groups.membersOf(path.back()).back()->getLoc());
    for (size_t i = 1; i < path.size(); ++i) {
      if (!hasFuel) {
        note(path[i - 1], path[i], {Reason::OutOfFuel, ""});
        continue;
      }
      log.merged(llvm::to_vector(groups.membersOf(path[i - 1])), llvm::to_vector(groups.membersOf(path[i])),
                 detail);
      groups.merge(path[i - 1], path[i]);
    }
    return hasFuel;
  }

  void note(GroupGraph::Node from, GroupGraph::Node to, const Refusal &refusal) {
    noted.emplace_back(groups.membersOf(from).front(), groups.membersOf(to).front());
    log.refused(llvm::to_vector(groups.membersOf(from)), llvm::to_vector(groups.membersOf(to)), refusal);
  }

  /// Groups of one kernel at most: expand, depthwise, project is three.
  static constexpr size_t mostGroups = 4;
  static constexpr int mostRounds = 3;
  /// The modelled gain below which kernels stay apart.
  static constexpr double margin = 1.01;

  GroupGraph &groups;
  const fusion::CostModel &model;
  PassState &state;
  fusion::MergeLog log;
  llvm::DenseSet<GroupGraph::Node> taken; ///< by a path, not as its first
  std::map<Path, Plan> planned;
  llvm::SmallVector<std::pair<Operation *, Operation *>> noted; ///< members of groups that stay apart
};

struct MergeAnchors : tokamak::impl::MergeAnchorsBase<MergeAnchors> {
  explicit MergeAnchors(PassStatePtr state) : state(std::move(state)) {}

  void getDependentDialects(DialectRegistry &registry) const override {
    MergeAnchorsBase::getDependentDialects(registry);
    fusion::registerKernelDialects(registry);
  }

  void runOnOperation() override {
    fusion::CostModel model(state->target);
    model.setProgram(getOperation());
    fusion::forEachGroupGraph(getOperation(),
                              [&](GroupGraph &groups) { AnchorMerger(groups, model, *state).run(); });
  }

  PassStatePtr state;
};

} // namespace

std::unique_ptr<Pass> tokamak::createMergeAnchorsPass(PassStatePtr state) {
  return std::make_unique<MergeAnchors>(orFresh(std::move(state)));
}
