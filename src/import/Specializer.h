//===- Specializer.h - values that the structure of the graph depends on ---------------------===//
#pragma once
#include "import/Import.h"
#include "import/NodeContext.h"
#include "llvm/ADT/DenseMap.h"
#include <set>

namespace tokamak::import {

/// Computes values of the graph under construction while compiling, from constants and from the hints of
/// inputs. The inputs used are remembered: the model is specialised on them.
class Specializer {
public:
  explicit Specializer(const ImportOptions &options) : options(options) {}

  void addArgument(Value argument, llvm::StringRef name) { names[argument] = name.str(); }

  /// The tensor that `value` has under the hints. Throws an ImportFault that says which inputs to bind where
  /// it depends on inputs without a hint; `what` names the value in the message ("the target shape").
  Tensor evaluate(Value value, llvm::StringRef what);

  /// To be called before operations that `evaluate` may have seen are erased.
  void forget() { known.clear(); }

  const std::set<std::string> &usedInputs() const { return used; }

private:
  const ImportOptions &options;
  llvm::DenseMap<Value, std::string> names; ///< arguments of the function
  llvm::DenseMap<Value, Tensor> known;
  std::set<std::string> used;
  int64_t flopsLeft = int64_t(1) << 31;                   ///< the evaluator is far slower than compiled code
  llvm::DenseMap<Value, std::set<std::string>> dependsOn; ///< inputs behind each known value
};

} // namespace tokamak::import
