//===- Turns.cpp - one model compiled in several ways, timed in turn -----------------------------===//
// A ratio of two times says something only where both sides saw the same machine. So all sides live in one
// process, and each round gives each of them a short turn. What is reported of a ratio is the median over the
// rounds, of the two turns of one round, with its quartiles.
//
// Pages that lie well or badly in the caches make a tenth of difference to the same code. So all sides of a
// round read and write the same memory, and each round has memory of its own. The order changes from round to
// round, since each side finds the caches as the one before left them: A B C, A C B, B C A, B A C, ...
#include "Options.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>

using namespace tokamak;
using nlohmann::ordered_json;

namespace {

/// A way of compiling the model, and what came of it.
struct Side {
  std::string label;
  std::vector<std::string> words; ///< of its own, beside those of all
  tool::LoadedRun run;
  std::vector<HostTensor> outputs; ///< of the last turn
  std::vector<double> turns;       ///< median of each turn, ms
  double least = INFINITY;         ///< of all samples, ms
};

/// What runs read and write.
struct Memory {
  explicit Memory(const tool::LoadedRun &run) {
    for (const NamedTensor &input : run.inputs)
      inputs.push_back(input.tensor);
    for (const ValueInfo &info : run.program.outputs)
      outputs.emplace_back(info.type, info.shape);
    auto view = [](HostTensor &tensor) { return TensorView{tensor.type, tensor.shape, tensor.bytes.data()}; };
    std::transform(inputs.begin(), inputs.end(), std::back_inserter(inputViews), view);
    std::transform(outputs.begin(), outputs.end(), std::back_inserter(outputViews), view);
  }
  Memory(Memory &&) = default; ///< views stay valid: what vectors hold stays where it is
  Memory &operator=(Memory &&) = default;

  std::vector<HostTensor> inputs, outputs;
  std::vector<TensorView> inputViews, outputViews;
};

struct Options {
  int rounds = 15;
  double turnMs = 20;
  int threads = 1;
};

double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  const double place = share * static_cast<double>(values.size() - 1);
  const auto low = static_cast<size_t>(place);
  const size_t high = std::min(low + 1, values.size() - 1);
  return values[low] + (place - static_cast<double>(low)) * (values[high] - values[low]);
}

ordered_json spread(const std::vector<double> &values) {
  return {
      {"median", quantile(values, 0.5)}, {"low", quantile(values, 0.25)}, {"high", quantile(values, 0.75)}};
}

/// Compiles `side`, with the words of all sides before its own.
Status load(Side &side, const std::vector<std::string> &common, int threads) {
  CLI::App app(side.label);
  tool::ModelOptions model;
  tool::InputOptions inputs;
  model.addTo(app);
  inputs.addTo(app);
  inputs.threads = threads;
  std::vector<std::string> words(common);
  words.insert(words.end(), side.words.begin(), side.words.end());
  std::reverse(words.begin(), words.end()); // as CLI11 takes them
  try {
    app.parse(words);
  } catch (const CLI::ParseError &error) {
    return {StatusCode::Misuse, side.label + ": " + error.what()};
  }
  Result<tool::LoadedRun> run = tool::prepareRun(model, inputs, tool::CacheOptions{.off = true});
  if (!run)
    return {run.status().code, side.label + ": " + run.status().message};
  side.run = std::move(*run);
  return {};
}

/// Whether both take and give tensors of the same types and shapes.
bool sameSignature(const tool::LoadedRun &a, const tool::LoadedRun &b) {
  auto sameInput = [](const NamedTensor &a, const NamedTensor &b) {
    return a.tensor.type == b.tensor.type && a.tensor.shape == b.tensor.shape;
  };
  auto sameOutput = [](const ValueInfo &a, const ValueInfo &b) {
    return a.type == b.type && a.shape == b.shape;
  };
  return std::equal(a.inputs.begin(), a.inputs.end(), b.inputs.begin(), b.inputs.end(), sameInput) &&
         std::equal(a.program.outputs.begin(), a.program.outputs.end(), b.program.outputs.begin(),
                    b.program.outputs.end(), sameOutput);
}

/// max |a - b| / max(1, max |b|) over float32 values; infinite where others differ, or only one is NaN.
double difference(const std::vector<HostTensor> &a, const std::vector<HostTensor> &b) {
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].type != ElementType::Float32) {
      if (a[i].bytes != b[i].bytes)
        return INFINITY;
      continue;
    }
    double apart = 0, scale = 1;
    for (size_t at = 0; at < a[i].bytes.size(); at += sizeof(float)) {
      float x, y;
      std::memcpy(&x, &a[i].bytes[at], sizeof x);
      std::memcpy(&y, &b[i].bytes[at], sizeof y);
      if (x == y || (std::isnan(x) && std::isnan(y)))
        continue;
      if (!std::isfinite(x) || !std::isfinite(y))
        return INFINITY;
      apart = std::max(apart, std::fabs(static_cast<double>(x) - y));
      scale = std::max(scale, std::fabs(static_cast<double>(y)));
    }
    largest = std::max(largest, apart / scale);
  }
  return largest;
}

/// With one thread its processor time, which other work on the machine does not stretch; else the clock.
double nowMs(bool oneThread) {
  timespec time{};
  clock_gettime(oneThread ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &time);
  return 1e3 * static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_nsec);
}

/// One turn: runs that bring its data back into the caches, then as many as fit the time, in samples long
/// enough for the clock.
Status takeTurn(Side &side, const Memory &memory, const Options &options) {
  constexpr double sampleMs = 0.2;
  constexpr int warmUps = 2, fewest = 3;
  std::vector<double> samples;
  double spent = 0;
  int64_t runs = 1;
  for (int i = 0; i < warmUps + fewest || spent < options.turnMs; ++i) {
    const double start = nowMs(options.threads == 1);
    for (int64_t run = 0; run < runs; ++run)
      if (Status status = side.run.session->run(memory.inputViews, memory.outputViews); !status.ok())
        return status;
    const double taken = nowMs(options.threads == 1) - start, ms = taken / static_cast<double>(runs);
    if (i < warmUps) {
      runs = std::clamp<int64_t>(static_cast<int64_t>(std::ceil(sampleMs / std::max(ms, 1e-4))), 1, 10'000);
      continue;
    }
    spent += taken;
    samples.push_back(ms);
    side.least = std::min(side.least, ms);
  }
  side.turns.push_back(quantile(samples, 0.5));
  return {};
}

/// As documented in --help.
ordered_json reportOf(const std::vector<Side> &sides, const Options &options) {
  ordered_json json = {{"threads", options.threads}, {"rounds", options.rounds}, {"turn_ms", options.turnMs}};
  for (const Side &side : sides) {
    std::vector<double> ratios;
    for (size_t round = 0; round < side.turns.size(); ++round)
      ratios.push_back(sides.front().turns[round] / side.turns[round]);
    const ProgramInfo &program = side.run.program;
    json["sides"].push_back({{"label", side.label},
                             {"ms", spread(side.turns)},
                             {"min_ms", side.least},
                             {"speedup", spread(ratios)},
                             {"difference", difference(side.outputs, sides.front().outputs)},
                             {"kernels", program.kernels},
                             {"bytes_moved", program.bytesMoved},
                             {"weight_bytes", program.weightBytes},
                             {"arena_bytes", program.arenaBytes},
                             {"flops", program.flops}});
  }
  return json;
}

Status measure(std::vector<Side> &sides, const std::vector<std::string> &common, const Options &options) {
  std::vector<Side *> order;
  for (Side &side : sides) {
    if (Status status = load(side, common, options.threads); !status.ok())
      return status;
    if (!sameSignature(side.run, sides.front().run))
      return {StatusCode::Misuse,
              side.label + ": its inputs or outputs are not those of " + sides.front().label};
    order.push_back(&side);
  }
  std::optional<Memory> memory;
  for (int round = 0; round < options.rounds; ++round) {
    // Made before the former goes, whose pages it would get otherwise.
    memory = Memory(sides.front().run);
    for (Side *side : order) {
      if (Status status = takeTurn(*side, *memory, options); !status.ok())
        return status;
      if (round == options.rounds - 1)
        side->outputs = memory->outputs;
    }
    std::reverse(order.begin() + 1, order.end());
    if (round % 2 == 1)
      std::rotate(order.begin(), order.begin() + 1, order.end());
  }
  return {};
}

} // namespace

int main(int argc, char **argv) {
  CLI::App app(
      "Compiles a model in several ways and times them in turn. Prints one JSON object: of each side "
      "the time of a run, the speedup over the first side (median of the rounds, quartiles), the "
      "difference of its outputs from those of the first, kernels, modelled bytes.\n"
      "Other options are those of `tokamak bench` and go to all sides.");
  std::vector<std::string> texts;
  Options options;
  app.add_option("--side", texts, "\"LABEL: OPTION...\", a way of compiling (may be repeated)")
      ->required()
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--rounds", options.rounds, "Turns of each side")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  app.add_option("--turn-ms", options.turnMs, "Length of a turn")->capture_default_str();
  app.add_option("--threads", options.threads, "Of each run; one: processor time is measured, else the clock")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  app.allow_extras();
  CLI11_PARSE(app, argc, argv);
  std::vector<Side> sides;
  for (const std::string &text : texts) {
    Side side;
    const size_t colon = text.find(':');
    side.label = text.substr(0, colon);
    if (colon != std::string::npos)
      side.words = CLI::detail::split_up(text.substr(colon + 1));
    sides.push_back(std::move(side));
  }
  if (Status status = measure(sides, app.remaining(), options); !status.ok())
    return tool::report(status);
  std::printf("%s\n", reportOf(sides, options).dump(1).c_str());
  return 0;
}
