//===- Progress.cpp - a line on the terminal while compiling takes its time ------------------===//
#include "Progress.h"
#include <cstdio>
#include <unistd.h>

namespace tokamak::tool {

Progress::Progress(std::string subject) : subject(std::move(subject)) {
  const char *terminal = std::getenv("TERM");
  if (isatty(STDERR_FILENO) && terminal && std::string(terminal) != "dumb")
    ticker = std::thread([this] { show(); });
}

Progress::~Progress() {
  if (!ticker.joinable())
    return;
  {
    std::lock_guard<std::mutex> lock(mutex);
    ended = true;
  }
  changed.notify_one();
  ticker.join();
}

void Progress::stage(std::string name) {
  std::lock_guard<std::mutex> lock(mutex);
  current = std::move(name);
}

void Progress::show() {
  using namespace std::chrono_literals;
  std::unique_lock<std::mutex> lock(mutex);
  bool shown = false;
  for (auto wait = 1000ms; !changed.wait_for(lock, wait, [this] { return ended; }); wait = 200ms) {
    auto seconds = std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - start);
    // Carriage return, then "erase to the end of the line".
    std::fprintf(stderr, "\r%s: %s, %lld s\x1b[K", subject.c_str(), current.c_str(),
                 static_cast<long long>(seconds.count()));
    shown = true;
  }
  if (shown)
    std::fprintf(stderr, "\r\x1b[K");
}

} // namespace tokamak::tool
