//===- Bench.cpp - tokamak bench: how long a run takes ------------------------------------------===//
#include "Commands.h"
#include "Options.h"
#include "WriteText.h"
#include "runtime/Model.h"
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
  int64_t runs = 0;
  bool profile = false;
  bool json = false;
};
} // namespace

/// Milliseconds of each timed run, sorted. Runs before them warm up caches and wake the threads.
static Result<std::vector<double>> measure(LoadedRun &run, int64_t runs) {
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
  std::vector<double> times;
  for (int64_t i = 0; i < runs; ++i) {
    Result<double> ms = once();
    if (!ms)
      return ms.status();
    times.push_back(*ms);
  }
  std::sort(times.begin(), times.end());
  return times;
}

/// Milliseconds a run in each kernel, the longest first.
static std::vector<KernelTime> profileOf(const LoadedRun &run, size_t runs) {
  std::vector<KernelTime> times = run.session->kernelTimes();
  for (KernelTime &time : times)
    time.ms /= static_cast<double>(runs);
  std::stable_sort(times.begin(), times.end(),
                   [](const KernelTime &a, const KernelTime &b) { return a.ms > b.ms; });
  return times;
}

static std::string profileText(const std::vector<KernelTime> &times) {
  if (times.empty())
    return "";
  double total = 0;
  for (const KernelTime &time : times)
    total += time.ms;
  std::string text = fmt::format("  {:>9} {:>6} {:>5}  {}\n", "ms a run", "%", "calls",
                                 "kernel (nodes), time added up over threads");
  constexpr size_t shownNodes = 6;
  for (const KernelTime &time : times) {
    std::vector<std::string> nodes = time.nodes;
    if (nodes.size() > shownNodes) {
      nodes.resize(shownNodes);
      nodes.push_back(fmt::format("and {} more", time.nodes.size() - shownNodes));
    }
    text +=
        fmt::format("  {:>9.4f} {:>6.2f} {:>5}  {} ({})\n", time.ms, total > 0 ? 100 * time.ms / total : 0.0,
                    time.calls, time.kernel, fmt::join(nodes, ", "));
  }
  return text;
}

static Status bench(const BenchOptions &options) {
  Result<LoadedRun> loaded = prepareRun(options.model, options.inputs, options.profile);
  if (!loaded)
    return loaded.status();
  Result<std::vector<double>> times = measure(*loaded, options.runs);
  if (!times)
    return times.status();
  const ProgramInfo &program = loaded->program;
  std::vector<KernelTime> profile = profileOf(*loaded, times->size());
  double median = ((*times)[(times->size() - 1) / 2] + (*times)[times->size() / 2]) / 2;
  int threads = options.inputs.threads > 0 ? options.inputs.threads : tk_core_count();
  if (options.json) {
    nlohmann::ordered_json json;
    json["model"] = options.model.model;
    json["threads"] = threads;
    json["fusion"] = options.model.fusion;
    json["target_cpu"] = options.model.targetCpu;
    json["runs"] = times->size();
    json["min_ms"] = times->front();
    json["median_ms"] = median;
    json["max_ms"] = times->back();
    json["compile_ms"] = program.compileMs;
    json["nodes"] = program.nodes;
    json["kernels"] = program.kernels;
    json["arena_bytes"] = program.arenaBytes;
    json["weight_bytes"] = program.weightBytes;
    json["bytes_moved"] = program.bytesMoved;
    json["flops"] = program.flops;
    for (const KernelTime &time : profile)
      json["profile"].push_back({{"kernel", time.kernel},
                                 {"kind", time.kind},
                                 {"calls", time.calls},
                                 {"ms", time.ms},
                                 {"nodes", time.nodes}});
    return writeText("", json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  }
  std::string text = fmt::format(
      "{}: median {:.3f} ms, min {:.3f}, max {:.3f} ({} runs, {} threads, fusion {})\n", options.model.model,
      median, times->front(), times->back(), times->size(), threads, options.model.fusion);
  text += fmt::format("  {} nodes as {} kernels, compiled in {:.0f} ms\n", program.nodes, program.kernels,
                      program.compileMs);
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
  command->add_option("--runs", options->runs, "Timed runs (default: a second's worth, from 5 to 1000)")
      ->type_name("N")
      ->check(CLI::Range(1, 1000000));
  command->add_flag("--profile", options->profile, "Show the time in each kernel");
  command->add_flag("--json", options->json, "Print one JSON object");
  command->callback([options, &exitStatus] { exitStatus = report(bench(*options)); });
}

} // namespace tokamak::tool
