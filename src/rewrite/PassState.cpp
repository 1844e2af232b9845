//===- PassState.cpp - what passes share besides the graph ---------------------------------===//
#include "rewrite/PassState.h"
#include "ir/Tk.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace tokamak;

bool Fuel::take(llvm::StringRef what, Location loc) {
  if (isEmpty())
    return false;
  ++count;
  tk::OnnxNode node = tk::onnxNode(loc);
  lastTaken = (what + " at " + (node.name.empty() ? "an unnamed operation" : node.name)).str();
  if (!node.opType.empty())
    lastTaken += " (" + node.opType.str() + ")";
  return true;
}

void RemovedLog::note(Location loc, llvm::StringRef reason, llvm::StringRef into) {
  // An operation that nodes were merged into names them too, and so do constants that were made with it. What
  // was noted as merged follows the fate of the operation; it is not folded with the constants.
  bool isOwn = true;
  for (const tk::OnnxNode &node : tk::onnxNodes(loc)) {
    bool isKnown = !isOwn && mergedNodes.contains(node.name);
    isOwn = false;
    if (node.name.empty() || node.name == into || isKnown)
      continue;
    entries.push_back({node.name.str(), reason.str(), into.str()});
    if (!into.empty())
      mergedNodes.insert(node.name);
  }
}

void RemovedLog::merged(Location loc, Location into) {
  llvm::StringRef name = tk::onnxNode(into).name;
  note(loc, name.empty() ? "identity" : "merged", name);
}

std::vector<std::pair<std::string, std::string>> RemovedLog::removedFrom(ModuleOp module) const {
  llvm::StringSet<> alive;
  // A constant keeps the name of the node that it was folded from.
  module.walk([&](Operation *op) {
    if (!op->hasTrait<OpTrait::ConstantLike>() && !op->hasTrait<OpTrait::IsTerminator>())
      alive.insert(tk::onnxNode(op->getLoc()).name);
  });

  // The last note about a node counts: a merged node may itself be merged or folded later on.
  llvm::StringMap<const Entry *> last;
  for (const Entry &entry : entries)
    last[entry.node] = &entry;
  // What a node was merged into may have met its own fate since. Each entry is followed once.
  llvm::DenseMap<const Entry *, const Entry *> ends;
  auto endOf = [&](const Entry *entry) {
    llvm::SmallVector<const Entry *> way;
    // Merges may form a ring through nodes that consist of several operations: it ends where it began.
    while (ends.try_emplace(entry, entry).second) {
      way.push_back(entry);
      auto next = entry->into.empty() || alive.contains(entry->into) ? last.end() : last.find(entry->into);
      if (next == last.end())
        break;
      entry = next->second;
    }
    const Entry *end = ends.lookup(entry);
    for (const Entry *passed : way)
      ends[passed] = end;
    return end;
  };
  auto fateOf = [&](const Entry *entry) {
    const Entry *end = endOf(entry);
    return end->into.empty() ? end->reason : "merged into " + end->into;
  };

  std::vector<std::pair<std::string, std::string>> result;
  for (const Entry &entry : entries) {
    if (last[entry.node] != &entry || alive.contains(entry.node))
      continue;
    result.emplace_back(entry.node, fateOf(&entry));
  }
  return result;
}

Location tokamak::mergeLocations(Location first, Location second) {
  // In a chain of n merges all names would be n^2. Those left out are in the log of what was removed.
  constexpr size_t mostLocations = 32;
  Location merged = FusedLoc::get(first.getContext(), {first, second});
  auto fused = llvm::dyn_cast<FusedLoc>(merged);
  if (!fused || fused.getLocations().size() <= mostLocations)
    return merged;
  return FusedLoc::get(first.getContext(), fused.getLocations().take_front(mostLocations));
}
