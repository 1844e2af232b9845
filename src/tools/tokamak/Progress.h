//===- Progress.h - a line on the terminal while compiling takes its time --------------------===//
#pragma once
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace tokamak::tool {

/// Shows what is being done, in one line on standard error that is wiped at the end; only on a terminal, and
/// only after a second.
class Progress {
public:
  explicit Progress(std::string subject);
  ~Progress();
  /// From any thread.
  void stage(std::string name);

private:
  void show();

  std::string subject;
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
  std::mutex mutex;
  std::condition_variable changed;
  std::string current = "reading the model"; ///< guarded by `mutex`, as is `ended`
  bool ended = false;
  std::thread ticker;
};

} // namespace tokamak::tool
