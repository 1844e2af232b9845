//===- Registry.cpp - the table of ONNX operators ------------------------------------------===//
#include "import/NodeContext.h"

namespace tokamak::import {

static std::string keyOf(llvm::StringRef opType, llvm::StringRef domain) {
  // The default domain has two spellings in the standard.
  return ((domain == "ai.onnx" ? "" : domain) + "::" + opType).str();
}

void Registry::add(llvm::StringRef opType, ImportFn fn, llvm::StringRef domain) {
  bool isNew = entries.try_emplace(keyOf(opType, domain), std::move(fn)).second;
  assert(isNew && "an ONNX operator has one entry");
  (void)isNew;
}

void Registry::refuse(llvm::StringRef opType, llvm::StringRef reason, llvm::StringRef domain) {
  add(opType, [reason = reason.str()](NodeContext &n) -> Result { return n.error(reason); }, domain);
}

const ImportFn *Registry::find(llvm::StringRef opType, llvm::StringRef domain) const {
  auto it = entries.find(keyOf(opType, domain));
  return it == entries.end() ? nullptr : &it->second;
}

const Registry &Registry::get() {
  static const Registry registry = [] {
    Registry all;
    registerElementwise(all);
    registerActivation(all);
    registerQuantization(all);
    registerShape(all);
    registerSlicing(all);
    registerReduction(all);
    registerLosses(all);
    registerNormalization(all);
    registerLinear(all);
    registerConvolution(all);
    registerPooling(all);
    registerEinsum(all);
    registerSignal(all);
    registerResize(all);
    registerSampling(all);
    registerIndexing(all);
    registerDataDependent(all);
    registerNGrams(all);
    registerRefused(all);
    registerControl(all);
    registerLoop(all);
    registerScan(all);
    registerSequence(all);
    registerRecurrent(all);
    return all;
  }();
  return registry;
}

} // namespace tokamak::import
