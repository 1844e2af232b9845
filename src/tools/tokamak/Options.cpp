//===- Options.cpp - what the subcommands have in common ------------------------------------===//
#include "Options.h"
#include "Arguments.h"
#include "Progress.h"
#include "WriteText.h"
#include "driver/Fault.h"
#include "driver/Shapes.h"
#include "reference/RandomTensor.h"
#include "rewrite/PassRunner.h"
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>

namespace tokamak::tool {

/// Prints the passes and ends the command, as --help does.
static void listThePasses(int64_t) {
  std::string text;
  for (const PassListing &pass : listPasses())
    text += fmt::format("{:<34} {}{}\n", pass.name, pass.summary, pass.switchable ? "" : " (always on)");
  throw CLI::RuntimeError(report(writeText("", text)));
}

static std::string checkPassName(const std::string &name) {
  for (const PassListing &pass : listPasses()) {
    if (pass.name == name)
      return pass.switchable ? "" : "pass '" + name + "' cannot be left out";
  }
  return "there is no pass '" + name + "'; --list-passes prints them";
}

static std::string checkRewriteName(const std::string &name) {
  std::string known;
  for (const std::string &rewrite : forcibleRewrites()) {
    if (rewrite == name)
      return "";
    known += (known.empty() ? "" : ", ") + rewrite;
  }
  return "there is no rewrite '" + name + "'; there are " + known;
}

/// CLI11 alone takes -1 and what is too large for the largest seed.
static std::string checkSeed(const std::string &text) {
  uint64_t seed = 0;
  return llvm::StringRef(text).getAsInteger(10, seed)
             ? "'" + text + "' is no seed; give a whole number from 0 to 18446744073709551615"
             : "";
}

void ModelOptions::addTo(CLI::App &command) {
  command.add_option("MODEL", model, "The ONNX file")->required();
  // One value an occurrence: a shape must not swallow the word behind it.
  command
      .add_option(
          "--shape", shapes,
          "Shape of an input, NAME=1x3x224x224 (NAME= for rank 0); symbolic dimensions are 1 otherwise")
      ->type_name("NAME=SHAPE")
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command.add_option("--bind", bindings, "Make an input a constant: a number, a list 1,2,3, or FILE.npy")
      ->type_name("NAME=VALUE")
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command.add_option("--fusion", fusion, "Which operators share a kernel: none, dominator or full")
      ->type_name("MODE")
      ->check(CLI::IsMember({"none", "dominator", "full"}))
      ->capture_default_str();
  command
      .add_option("--target-cpu", targetCpu,
                  "native, x86-64-v3, x86-64-v4 or any x86-64 CPU that LLVM knows with AVX2 and FMA")
      ->type_name("CPU")
      ->capture_default_str();
  command
      .add_option(
          "--target-description", targetDescription,
          "JSON file with the cache sizes and speeds that fusion is decided for, as `tokamak calibrate` "
          "writes it; default for native: what calibrate measured here")
      ->type_name("FILE.json");
  command
      .add_option(
          "--rules", rules,
          "Apply the rewrite rules of a file (docs/rules.md), or shipped ones by name (may be repeated); "
          "refused with another --fusion than full")
      ->type_name("FILE.pdll")
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command.add_flag("--trust-rules", trustRules, "Do not compare rules with the reference evaluator first");
  command.add_flag("--exact", exact,
                   "Convolutions are plain sums of products: none by minimal filtering (Winograd), whose "
                   "results round otherwise");
  command
      .add_option("--force-rewrite", forcedRewrites,
                  "Apply a rewrite of rewrite-search wherever it is legal, whatever it costs, before the "
                  "search for those "
                  "that pay (may be repeated); refused with another --fusion than full")
      ->type_name("NAME")
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->check(checkRewriteName);
  const char *developer = "Finding faults";
  command.add_option("--disable-pass", disabledPasses, "Leave a pass out (may be repeated)")
      ->type_name("PASS")
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->check(checkPassName)
      ->group(developer);
  command.add_flag_function("--list-passes", listThePasses, "Print the passes in order, and exit")
      ->group(developer);
  command.add_option("--fuel", fuel, "Apply at most N rewrites and fusions")
      ->type_name("N")
      ->check(CLI::Range(int64_t(0), int64_t(1'000'000'000)))
      ->group(developer);
  command
      .add_flag("--print-after-change", printAfterChange,
                "Print the graph after each pass that changed it, to stderr")
      ->group(developer);
  command.add_flag("--timing", timing, "Print how long each pass and stage took, to stderr")
      ->group(developer);
}

Fusion ModelOptions::fusionMode() const {
  return fusion == "none" ? Fusion::None : fusion == "dominator" ? Fusion::Dominator : Fusion::Full;
}

Status ModelOptions::check() const {
  if (!rules.empty() && fusion != "full")
    return {StatusCode::Misuse, "--rules: rules are applied with --fusion full, not with --fusion " + fusion};
  return {};
}

SessionOptions ModelOptions::sessionOptions() const {
  SessionOptions options;
  options.fusion = fusionMode();
  options.targetCpu = targetCpu;
  options.targetDescription = targetDescription;
  options.rules = rules;
  options.trustRules = trustRules;
  options.exact = exact;
  options.forcedRewrites = forcedRewrites;
  options.disabledPasses = disabledPasses;
  options.fuel = fuel;
  options.printAfterChange = printAfterChange;
  options.timing = timing;
  options.reproducerDirectory = ".";
  return options;
}

void InputOptions::addTo(CLI::App &command) {
  command.add_option("--input", files, "Value of an input; inputs not given are random")
      ->type_name("NAME=FILE.npy")
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command.add_option("--seed", seed, "Of the random inputs")
      ->type_name("N")
      ->check(checkSeed)
      ->capture_default_str();
  command.add_option("--threads", threads, "Threads to run on; 0: one a core")
      ->type_name("N")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
}

void CacheOptions::addTo(CLI::App &command) {
  command.add_flag(
      "--no-cache", off,
      "Compile anew; otherwise compiled programs are kept in $XDG_CACHE_HOME/tokamak/programs (or "
      "~/.cache/tokamak/programs), 2 GiB of them");
}

std::string compileText(const ProgramInfo &program) {
  return fmt::format("{} in {:.0f} ms", program.cached ? "read from the cache" : "compiled",
                     program.compileMs);
}

/// What `make` returns for an input of the given shape, unless memory ends.
template <typename Make>
static auto withinMemory(const std::string &name, const Shape &shape, Make make) -> Result<decltype(make())> {
  try {
    return make();
  } catch (const std::exception &) { // bad_alloc, or length_error of a container
    return Status{StatusCode::InvalidInput, "input '" + driver::oneLine(name) + "': there is no memory for " +
                                                "values of shape " + driver::shapeText(shape) +
                                                "; use a smaller shape"};
  }
}

Result<Tensor> randomInput(const std::string &name, DataType type, const Shape &shape, uint64_t seed,
                           const std::optional<std::pair<int64_t, int64_t>> &indices) {
  return withinMemory(name, shape, [&] {
    if (!indices || !isInteger(type))
      return reference::randomTensor(type, shape, seed);
    return reference::randomIntegers(type, shape, seed, std::max<int64_t>(indices->first, -4),
                                     std::min<int64_t>(indices->second, 4));
  });
}

static Result<HostTensor> randomInput(const ValueInfo &info, uint64_t seed) {
  auto tensor = randomInput(info.name, static_cast<DataType>(info.type), info.shape, seed, info.indices);
  if (!tensor)
    return tensor.status();
  return withinMemory(info.name, info.shape, [&] {
    HostTensor result(info.type, info.shape);
    if (!result.bytes.empty())
      std::memcpy(result.bytes.data(), tensor->bytes(), result.bytes.size());
    return result;
  });
}

Result<LoadedRun> prepareRun(const ModelOptions &model, const InputOptions &inputs, const CacheOptions &cache,
                             bool profile) {
  if (Status status = model.check(); !status.ok())
    return status;
  Progress progress(model.model);
  SessionOptions options = model.sessionOptions();
  options.threads = inputs.threads;
  options.profile = profile;
  if (!cache.off)
    options.cacheDirectory = defaultCacheDirectory();
  options.onStage = [&](const char *stage) { progress.stage(stage); };
  Result<std::unique_ptr<Session>> session = Session::fromFile(model.model, std::move(options));
  if (!session)
    return session.status();
  auto fault = [&](const Status &status) { return driver::inModel(model.model, status); };
  std::vector<ValueInfo> all = (*session)->inputs();
  const std::vector<ValueInfo> optional = (*session)->optionalInputs();
  all.insert(all.end(), optional.begin(), optional.end());
  auto bindings = parseBindings(model.bindings, all);
  if (!bindings)
    return fault(bindings.status());
  auto given = readInputs(inputs.files, all);
  if (!given)
    return fault(given.status());
  bindOptional(optional, *given, *bindings);
  for (NamedTensor &binding : *bindings) {
    if (Status status = (*session)->bind(binding.name, std::move(binding.tensor)); !status.ok())
      return status;
  }
  auto shapes = parseShapes(model.shapes, (*session)->inputs());
  if (!shapes)
    return fault(shapes.status());
  Result<ProgramInfo> program = (*session)->prepare(*shapes, *given);
  if (!program)
    return program.status();

  LoadedRun run{std::move(*session), std::move(*program), {}};
  for (size_t i = 0; i < run.program.inputs.size(); ++i) {
    const ValueInfo &info = run.program.inputs[i];
    auto file = std::find_if(given->begin(), given->end(),
                             [&](const NamedTensor &value) { return value.name == info.name; });
    if (file != given->end()) {
      run.inputs.push_back(std::move(*file));
      continue;
    }
    Result<HostTensor> values = randomInput(info, inputs.seed + i);
    if (!values)
      return fault(values.status());
    run.inputs.push_back({info.name, std::move(*values)});
  }
  return run;
}

int report(const Status &status) {
  if (!status.ok())
    std::fprintf(stderr, "tokamak: error: %s\n", status.message.c_str());
  return static_cast<int>(status.code);
}

int report(const ModelOptions &model, llvm::function_ref<Status()> command) {
  Status status;
  try {
    status = command();
  } catch (const std::bad_alloc &) {
    status = driver::inModel(
        model.model, {StatusCode::InvalidInput, "needs more memory than there is; use smaller shapes"});
  }
  return report(status);
}

} // namespace tokamak::tool
