//===- ProgramKey.h - what a compiled program depends on --------------------------------------===//
#pragma once
#include "driver/Pipeline.h"

namespace tokamak::driver {

using ProgramKey = import::Digest;

/// A hash over all that the code is made from but the hints: the model, its input shapes and bound values,
/// the options, the target with the speeds that fusion goes by, the threads, and the compiler itself. None
/// where programs must not be kept: they are observed, something is wanted besides the code, or an ingredient
/// is not known (rules in files, which may include others; a target that cannot be resolved).
std::optional<ProgramKey> programKey(const import::Model &model, const CompileOptions &options);

/// `key` and the values of these inputs. An input without a hint counts as a value of its own.
ProgramKey keyWithValues(const ProgramKey &key, llvm::ArrayRef<std::string> inputs,
                         const std::map<std::string, Tensor> &hints);

} // namespace tokamak::driver
