//===- NodeNames.cpp - operations as reports name them --------------------------------------------===//
#include "fusion/NodeNames.h"
#include "analysis/Traffic.h"
#include "ir/Tk.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tokamak;

std::string fusion::nodeName(Operation *op) {
  llvm::StringRef name = tk::onnxNode(op->getLoc()).name;
  return name.empty() ? op->getName().getStringRef().str() : name.str();
}

/// In the time of the shorter list: concatenations have thousands of operands, inputs of wide graphs
/// thousands of users.
static bool reads(Operation *consumer, Value value) {
  if (consumer->getNumRegions() > 0)
    return fusion::readBy(consumer).contains(value);
  auto operand = consumer->operand_begin(), lastOperand = consumer->operand_end();
  auto user = value.user_begin(), lastUser = value.user_end();
  for (; operand != lastOperand && user != lastUser; ++operand, ++user)
    if (*operand == value || *user == consumer)
      return true;
  return false;
}

Decision fusion::newDecision(Operation *producer, Operation *consumer) {
  Decision decision;
  decision.producer = nodeName(producer);
  decision.consumer = nodeName(consumer);
  for (Value result : producer->getResults())
    if (reads(consumer, result))
      decision.edgeBytes += analysis::tensorBytes(result);
  return decision;
}

llvm::SetVector<Value> fusion::readBy(Operation *op) {
  llvm::SetVector<Value> values(op->operand_begin(), op->operand_end());
  if (!op->hasTrait<OpTrait::IsIsolatedFromAbove>())
    for (Region &region : op->getRegions())
      region.walk([&](Operation *inner) { values.insert(inner->operand_begin(), inner->operand_end()); });
  return values;
}

/// "Softmax" -> "softmax", "tk.conv" -> "conv".
static std::string operatorWord(Operation *op) {
  auto composite = llvm::dyn_cast<tk::CompositeOp>(op);
  std::string word = composite ? composite.getName().lower() : op->getName().stripDialect().str();
  for (char &c : word)
    if (!llvm::isAlnum(c))
      c = '_';
  return word;
}

std::string fusion::groupName(llvm::ArrayRef<Operation *> group) {
  constexpr size_t longest = 60;
  std::string name;
  for (size_t i = 0; i < group.size();) {
    const std::string word = operatorWord(group[i]);
    size_t run = i;
    while (run < group.size() && operatorWord(group[run]) == word)
      ++run;
    std::string part = (name.empty() ? "" : "_") + word;
    if (run - i > 1)
      part += "_x" + std::to_string(run - i);
    if (name.size() + part.size() > longest)
      return name + "_and_" + std::to_string(group.size() - i) + "_more";
    name += part;
    i = run;
  }
  return name;
}
