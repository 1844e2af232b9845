//===- Bench.cpp - tokamak bench: how long a run takes ------------------------------------------===//
#include "Commands.h"
#include "Options.h"
#include "RankCorrelation.h"
#include "WriteText.h"
#include "analysis/TargetFile.h"
#include "runtime/Model.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace tokamak::tool {

namespace {
struct BenchOptions {
  ModelOptions model;
  InputOptions inputs;
  CacheOptions cache;
  int64_t runs = 0;
  bool profile = false;
  std::string trace;
  bool json = false;
};
} // namespace

namespace {
struct Measured {
  std::vector<double> times; ///< milliseconds of each timed run, sorted
  /// Of each kernel the median over the runs, which a run that was interrupted does not move; the longest
  /// first.
  std::vector<KernelTime> profile;
  std::vector<double> least; ///< of each of them, the shortest
  // Of the last run.
  std::vector<KernelTime> kernels;
  std::vector<KernelCall> calls;
};
} // namespace

/// The median of each kernel's time in `runs` profiles.
static void summarize(const std::vector<std::vector<KernelTime>> &runs, Measured &result) {
  if (runs.empty())
    return;
  std::vector<std::pair<KernelTime, double>> kernels;
  for (size_t i = 0; i < runs.front().size(); ++i) {
    std::vector<double> times;
    for (const std::vector<KernelTime> &run : runs)
      times.push_back(run[i].ms);
    std::sort(times.begin(), times.end());
    kernels.emplace_back(runs.front()[i], times.front());
    kernels.back().first.ms = times[times.size() / 2];
  }
  std::stable_sort(kernels.begin(), kernels.end(),
                   [](const auto &a, const auto &b) { return a.first.ms > b.first.ms; });
  for (auto &[kernel, least] : kernels) {
    result.profile.push_back(std::move(kernel));
    result.least.push_back(least);
  }
}

/// Runs before the timed ones warm up caches and wake the threads.
static Result<Measured> measure(LoadedRun &run, int64_t runs) {
  std::vector<HostTensor> outputs;
  std::vector<TensorView> inputViews, outputViews;
  for (NamedTensor &input : run.inputs)
    inputViews.push_back({input.tensor.type, input.tensor.shape, input.tensor.bytes.data()});
  outputs.reserve(run.program.outputs.size());
  for (const ValueInfo &info : run.program.outputs) {
    HostTensor &tensor = outputs.emplace_back(info.type, info.shape);
    outputViews.push_back({tensor.type, tensor.shape, tensor.bytes.data()});
  }
  using Clock = std::chrono::steady_clock;
  auto once = [&]() -> Result<double> {
    Clock::time_point start = Clock::now();
    if (Status status = run.session->run(inputViews, outputViews); !status.ok())
      return status;
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  };

  constexpr double warmUpMs = 200, measureMs = 1000;
  constexpr int64_t fewestRuns = 5, mostRuns = 1000;
  double spent = 0, last = 0;
  for (int64_t i = 0; i < 2 || (spent < warmUpMs && i < mostRuns); ++i) {
    Result<double> ms = once();
    if (!ms)
      return ms.status();
    spent += *ms;
    last = *ms;
  }
  if (runs == 0)
    runs = std::clamp(static_cast<int64_t>(measureMs / std::max(last, 1e-3)), fewestRuns, mostRuns);
  run.session->resetKernelTimes();
  Measured measured;
  std::vector<std::vector<KernelTime>> profiles;
  for (int64_t i = 0; i < runs; ++i) {
    Result<double> ms = once();
    if (!ms)
      return ms.status();
    measured.times.push_back(*ms);
    if (std::vector<KernelTime> profile = run.session->kernelTimes(); !profile.empty())
      profiles.push_back(std::move(profile));
    if (i + 1 == runs)
      measured.calls = run.session->kernelCalls();
    run.session->resetKernelTimes();
  }
  std::sort(measured.times.begin(), measured.times.end());
  summarize(profiles, measured);
  if (!profiles.empty())
    measured.kernels = std::move(profiles.back());
  return measured;
}

/// How well the cost model orders the kernels: the correlation of predicted and measured time. Of two there
/// is none to speak of.
static std::optional<double> orderOf(const std::vector<KernelTime> &times) {
  if (times.size() < 3)
    return std::nullopt;
  std::vector<double> measured, predicted;
  for (const KernelTime &time : times) {
    measured.push_back(time.ms);
    predicted.push_back(time.predictedMs);
  }
  return rankCorrelation(measured, predicted);
}

static std::string profileText(const std::vector<KernelTime> &times) {
  if (times.empty())
    return "";
  double total = 0, predicted = 0, bound = 0;
  for (const KernelTime &time : times) {
    total += time.ms;
    predicted += time.predictedMs;
    bound += time.boundMs;
  }
  auto percent = [](double part, double whole) { return whole > 0 ? 100 * part / whole : 0.0; };
  std::string text = fmt::format("  {:>9} {:>6} {:>9} {:>7} {:>7} {:>6} {:>5}  {}\n", "ms a run", "%",
                                 "predicted", "GFLOP/s", "GB/s", "bound%", "calls",
                                 "kernel (nodes); medians over the runs, added up over threads");
  constexpr size_t shownNodes = 6;
  for (const KernelTime &time : times) {
    std::vector<std::string> nodes = time.nodes;
    if (nodes.size() > shownNodes) {
      nodes.resize(shownNodes);
      nodes.push_back(fmt::format("and {} more", time.nodes.size() - shownNodes));
    }
    const double perMs = time.ms > 0 ? 1e-6 / time.ms : 0;
    text += fmt::format("  {:>9.4f} {:>6.2f} {:>9.4f} {:>7.1f} {:>7.1f} {:>6.1f} {:>5}  {} ({})\n", time.ms,
                        percent(time.ms, total), time.predictedMs, static_cast<double>(time.flops) * perMs,
                        static_cast<double>(time.bytes) * perMs, percent(time.boundMs, time.ms), time.calls,
                        time.kernel, fmt::join(nodes, ", "));
  }
  text += fmt::format("  {:>9.4f} {:>6.2f} {:>9.4f} {:>22.1f}  sum\n", total, 100.0, predicted,
                      percent(bound, total));
  if (std::optional<double> order = orderOf(times))
    text += fmt::format("  rank correlation of predicted and measured time: {:.3f} over {} kernels\n", *order,
                        times.size());
  return text;
}

/// In the format of chrome://tracing and Perfetto: one complete event a call.
static std::string traceText(const Measured &measured) {
  nlohmann::ordered_json events = nlohmann::json::array();
  for (const KernelCall &call : measured.calls) {
    const KernelTime &kernel = measured.kernels[call.kernel];
    events.push_back({{"name", kernel.kernel},
                      {"cat", kernel.kind},
                      {"ph", "X"},
                      {"ts", call.startUs},
                      {"dur", call.us},
                      {"pid", 0},
                      {"tid", call.thread},
                      {"args", {{"nodes", kernel.nodes}}}});
  }
  nlohmann::ordered_json trace = {{"traceEvents", std::move(events)}, {"displayTimeUnit", "ns"}};
  return trace.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

static Status bench(const BenchOptions &options) {
  Result<LoadedRun> loaded =
      prepareRun(options.model, options.inputs, options.cache, options.profile || !options.trace.empty());
  if (!loaded)
    return loaded.status();
  Result<Measured> measured = measure(*loaded, options.runs);
  if (!measured)
    return measured.status();
  if (!options.trace.empty())
    if (Status status = writeText(options.trace, traceText(*measured)); !status.ok())
      return status;
  const std::vector<double> &times = measured->times;
  const std::vector<KernelTime> profile = options.profile ? measured->profile : std::vector<KernelTime>();
  const ProgramInfo &program = loaded->program;
  double median = (times[(times.size() - 1) / 2] + times[times.size() / 2]) / 2;
  int threads = options.inputs.threads > 0 ? options.inputs.threads : tk_core_count();
  if (options.json) {
    nlohmann::ordered_json json;
    json["model"] = options.model.model;
    json["threads"] = threads;
    json["fusion"] = options.model.fusion;
    json["target_cpu"] = options.model.targetCpu;
    json["runs"] = times.size();
    json["min_ms"] = times.front();
    json["median_ms"] = median;
    json["max_ms"] = times.back();
    json["compile_ms"] = program.compileMs;
    json["cached"] = program.cached;
    json["nodes"] = program.nodes;
    json["kernels"] = program.kernels;
    json["arena_bytes"] = program.arenaBytes;
    json["weight_bytes"] = program.weightBytes;
    json["bytes_moved"] = program.bytesMoved;
    json["flops"] = program.flops;
    if (options.profile)
      if (auto target = resolveTarget(options.model.targetCpu, options.model.targetDescription))
        json["rates_from"] = target->source;
      else
        llvm::consumeError(target.takeError());
    for (const auto &[i, time] : llvm::enumerate(profile))
      json["profile"].push_back({{"kernel", time.kernel},
                                 {"kind", time.kind},
                                 {"calls", time.calls},
                                 {"ms", time.ms},
                                 {"min_ms", measured->least[i]},
                                 {"predicted_ms", time.predictedMs},
                                 {"bound_ms", time.boundMs},
                                 {"flops", time.flops},
                                 {"bytes", time.bytes},
                                 {"nodes", time.nodes}});
    if (std::optional<double> order = orderOf(profile))
      json["rank_correlation"] = *order;
    return writeText("", json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  }
  std::string text = fmt::format(
      "{}: median {:.3f} ms, min {:.3f}, max {:.3f} ({} runs, {} threads, fusion {})\n", options.model.model,
      median, times.front(), times.back(), times.size(), threads, options.model.fusion);
  text += fmt::format("  {} nodes as {} kernels, {}\n", program.nodes, program.kernels, compileText(program));
  text += fmt::format(
      "  {:.2f} GFLOP at {:.1f} GFLOP/s; {:.1f} MB moved (modelled), arena {:.1f} MB, weights {:.1f} MB\n",
      static_cast<double>(program.flops) / 1e9, static_cast<double>(program.flops) / 1e6 / median,
      static_cast<double>(program.bytesMoved) / 1e6, static_cast<double>(program.arenaBytes) / 1e6,
      static_cast<double>(program.weightBytes) / 1e6);
  return writeText("", text + profileText(profile));
}

void addBench(CLI::App &app, int &exitStatus) {
  CLI::App *command = app.add_subcommand("bench", "Time the runs of a model");
  auto options = std::make_shared<BenchOptions>();
  options->model.addTo(*command);
  options->inputs.addTo(*command);
  options->cache.addTo(*command);
  command->add_option("--runs", options->runs, "Timed runs (default: a second's worth, from 5 to 1000)")
      ->type_name("N")
      ->check(CLI::Range(1, 1000000));
  command->add_flag(
      "--profile", options->profile,
      "Show the time in each kernel, beside what the cost model predicts. GFLOP/s count the plain "
      "sums of convolutions; bound% is against what arithmetic peak and bandwidths allow (run "
      "`tokamak calibrate` first), with the multiplications that minimal filtering leaves");
  command
      ->add_option(
          "--trace", options->trace,
          "Write when each thread ran which kernel in the last run, for chrome://tracing or Perfetto")
      ->type_name("FILE.json");
  command->add_flag("--json", options->json, "Print one JSON object");
  command->callback(
      [options, &exitStatus] { exitStatus = report(options->model, [&] { return bench(*options); }); });
}

} // namespace tokamak::tool
