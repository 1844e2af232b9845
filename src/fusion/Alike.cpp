//===- Alike.cpp - producers of one reader that differ in nothing that decides -----------------------===//
#include "fusion/Alike.h"
#include "fusion/CostModel.h"
#include "fusion/EmissionLimits.h"
#include "ir/Tk.h"
#include "llvm/ADT/Hashing.h"

using namespace mlir;
using namespace tokamak;

/// Of the operator. Where a slice begins decides nothing, only what it steps over.
static llvm::hash_code kindOfWork(Operation *op) {
  if (auto slice = dyn_cast<tk::SliceOp>(op))
    return llvm::hash_combine(slice.getInput().getType().getAsOpaquePointer(),
                              slice.getResult().getType().getAsOpaquePointer(),
                              slice.getStepsAttr().getAsOpaquePointer());
  return fusion::identityOf(op);
}

bool fusion::isWideReader(llvm::ArrayRef<Operation *> reader) {
  constexpr size_t wide = 32; // operators: from here on, pricing takes milliseconds
  return plannedSize(reader) >= wide;
}

fusion::ProducersOfReader::ProducersOfReader(llvm::ArrayRef<Operation *> reader) {
  for (Operation *op : reader) {
    identities[op] = identityOf(op);
    read.insert(op->operand_begin(), op->operand_end());
  }
}

size_t fusion::ProducersOfReader::likenessOf(llvm::ArrayRef<Operation *> producers) const {
  llvm::SmallDenseMap<Operation *, size_t, 16> places;
  llvm::hash_code hash = llvm::hash_value(producers.size());
  for (Operation *op : producers) {
    hash = llvm::hash_combine(hash, kindOfWork(op));
    for (Value operand : op->getOperands())
      if (auto place = places.find(operand.getDefiningOp()); place != places.end())
        hash = llvm::hash_combine(hash, place->second);
      else
        hash = llvm::hash_combine(hash, operand.getDefiningOp() == nullptr, read.contains(operand));
    places.try_emplace(op, places.size());
    size_t elsewhere = 0;
    for (Operation *user : op->getUsers())
      if (auto identity = identities.find(user); identity != identities.end())
        hash = llvm::hash_combine(hash, identity->second);
      else
        ++elsewhere;
    hash = llvm::hash_combine(hash, elsewhere);
  }
  return hash;
}
