//===- ProgramKey.cpp - what a compiled program depends on ------------------------------------===//
#include "driver/cache/ProgramKey.h"
#include "analysis/TargetFile.h"
#include "driver/cache/BuildId.h"
#include "rewrite/rules/ShippedRules.h"
#include "runtime/Model.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/HashBuilder.h"

namespace tokamak::driver {

using Hash = llvm::HashBuilder<llvm::BLAKE3, llvm::endianness::native>;

static void addTensor(Hash &hash, const Tensor &tensor) {
  hash.add(static_cast<int32_t>(tensor.type()));
  hash.add(tensor.shape());
  hash.add(llvm::StringRef(reinterpret_cast<const char *>(tensor.bytes()), tensor.byteCount()));
}

static void addNames(Hash &hash, llvm::ArrayRef<std::string> names) {
  hash.add(names.size());
  for (const std::string &name : names)
    hash.add(llvm::StringRef(name));
}

static void addInputs(Hash &hash, const import::ImportOptions &options) {
  hash.add(options.shapes.size());
  for (const auto &[name, shape] : options.shapes) {
    hash.add(llvm::StringRef(name));
    hash.add(llvm::ArrayRef<int64_t>(shape));
  }
  hash.add(options.bound.size());
  for (const auto &[name, value] : options.bound) {
    hash.add(llvm::StringRef(name));
    addTensor(hash, value);
  }
  addNames(hash, llvm::to_vector(options.assumed));
}

static void addTarget(Hash &hash, const TargetDescription &target) {
  // The text leaves out what follows from the CPU's name alone.
  hash.add(llvm::StringRef(target.cpu));
  hash.add(llvm::StringRef(target.features));
  hash.add(llvm::StringRef(writeTarget(target)));
}

std::optional<ProgramKey> programKey(const import::Model &model, const CompileOptions &options) {
  // All fields by name, so that one that is added does not compile before it is thought of here.
  const auto &[import, fusion, targetCpu, targetDescription, disabledPasses, rules, trustRules, exact,
               forcedRewrites, fuel, printAfterChange, timing, reproducerDirectory, onStage, observed,
               threads, predict, emit] = options;
  if (printAfterChange || timing || observed || predict || !emit.empty())
    return std::nullopt;
  const bool areShipped = llvm::all_of(rules, [](const std::string &name) {
    return llvm::any_of(tokamak::rules::shippedRules(),
                        [&](const auto &shipped) { return shipped.name == name; });
  });
  if (!areShipped)
    return std::nullopt;
  auto target = resolveTarget(targetCpu, targetDescription);
  if (!target) {
    consumeError(target.takeError());
    return std::nullopt;
  }
  auto compiler = buildId();
  auto digest = model.digest();
  if (!compiler || !digest)
    return std::nullopt;

  Hash hash;
  hash.add(llvm::ArrayRef<uint8_t>(*compiler));
  hash.add(llvm::ArrayRef<uint8_t>(*digest));
  addInputs(hash, import);
  addTarget(hash, *target);
  hash.add(static_cast<int>(fusion));
  hash.add(exact);
  for (llvm::ArrayRef<std::string> names :
       {llvm::ArrayRef(disabledPasses), llvm::ArrayRef(rules), llvm::ArrayRef(forcedRewrites)})
    addNames(hash, names);
  hash.add(trustRules);
  hash.add(fuel);
  hash.add(threads);
  hash.add(threads > 0 ? 0 : tk_core_count());
  return hash.final();
}

ProgramKey keyWithValues(const ProgramKey &key, llvm::ArrayRef<std::string> inputs,
                         const std::map<std::string, Tensor> &hints) {
  Hash hash;
  hash.add(llvm::ArrayRef<uint8_t>(key));
  for (const std::string &input : inputs) {
    auto value = hints.find(input);
    hash.add(llvm::StringRef(input));
    hash.add(value != hints.end());
    if (value != hints.end())
      addTensor(hash, value->second);
  }
  return hash.final();
}

} // namespace tokamak::driver
