//===- Options.h - what the subcommands have in common --------------------------------------===//
#pragma once
#include "ir/Tensor.h"
#include "tokamak/Session.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <CLI/CLI.hpp>

namespace tokamak::tool {

/// The model and how to compile it: options of every subcommand.
struct ModelOptions {
  std::string model;
  std::vector<std::string> shapes, bindings;
  std::string fusion = "full";
  std::string targetCpu = "native";
  std::string targetDescription;
  std::vector<std::string> rules;
  bool trustRules = false;
  bool exact = false;
  std::vector<std::string> forcedRewrites;
  std::vector<std::string> disabledPasses;
  int64_t fuel = -1;
  bool printAfterChange = false;
  bool timing = false;

  void addTo(CLI::App &command);
  /// What the options say together. No callback of the parser: with one, a subcommand misses its MODEL before
  /// `tokamak -h run` could print the help.
  Status check() const;
  Fusion fusionMode() const;
  SessionOptions sessionOptions() const;
};

/// What a run reads: options of `run` and `bench`.
struct InputOptions {
  std::vector<std::string> files;
  uint64_t seed = 0;
  int threads = 0;

  void addTo(CLI::App &command);
};

/// Compiled programs on disk: options of `run` and `bench`.
struct CacheOptions {
  bool off = false;

  void addTo(CLI::App &command);
};

/// Deterministic values for the input `name`, which nobody gave; `seed` differs between the inputs of a
/// model. Within `indices`, where it is known to hold some. A fault where memory does not hold them.
Result<Tensor> randomInput(const std::string &name, DataType type, const Shape &shape, uint64_t seed,
                           const std::optional<std::pair<int64_t, int64_t>> &indices);

/// A loaded model with all bindings made, and the values of all its inputs.
struct LoadedRun {
  std::unique_ptr<Session> session;
  ProgramInfo program;
  std::vector<NamedTensor> inputs; ///< in the order of the program
};

/// Loads, binds, compiles, and makes the inputs: from files where given, else random. Shows progress on a
/// terminal.
/// `profile`: kernels are measured.
Result<LoadedRun> prepareRun(const ModelOptions &model, const InputOptions &inputs, const CacheOptions &cache,
                             bool profile = false);

/// "compiled in 812 ms", or where it was read from.
std::string compileText(const ProgramInfo &program);

/// Prints "tokamak: error: ..." for a failed status. Returns the exit status.
int report(const Status &status);
/// The same for what `command` returns; where memory ends, for that.
int report(const ModelOptions &model, llvm::function_ref<Status()> command);

} // namespace tokamak::tool
