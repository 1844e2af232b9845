//===- Runner.cpp - runs conformance cases and keeps the list of the refused ---------------===//
#include "Runner.h"
#include "llvm/ADT/StringRef.h"
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <sys/wait.h>
#include <unistd.h>

namespace tokamak::conformance {

namespace {

constexpr unsigned secondsPerCase = 60;

/// Runs one case in a child process, which reports through a pipe: one digit for the kind, then the detail.
Outcome runIsolated(const TestCase &test, const std::function<Outcome(const TestCase &)> &run) {
  int ends[2];
  if (pipe(ends) != 0)
    return Outcome::failed("no pipe");
  std::fflush(nullptr);
  pid_t child = fork();
  if (child < 0)
    return Outcome::failed("no process");
  if (child == 0) {
    close(ends[0]);
    alarm(secondsPerCase);
    Outcome outcome = run(test);
    std::string message = std::to_string(outcome.kind) + outcome.detail.substr(0, 2000);
    ssize_t written = write(ends[1], message.data(), message.size());
    _exit(written == static_cast<ssize_t>(message.size()) ? 0 : 1);
  }
  close(ends[1]);
  std::string message;
  char buffer[4096];
  for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0;)
    message.append(buffer, static_cast<size_t>(n));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status))
    return Outcome::failed(WTERMSIG(status) == SIGALRM
                               ? "took more than a minute"
                               : std::string("crashed: ") + strsignal(WTERMSIG(status)));
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || message.empty())
    return Outcome::failed("ended with status " + std::to_string(WEXITSTATUS(status)));
  return {static_cast<Outcome::Kind>(message[0] - '0'), message.substr(1)};
}

/// Lines "NAME: reason"; a line that begins with # is a comment.
std::map<std::string, std::string> readList(const std::string &path) {
  std::map<std::string, std::string> list;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    auto [name, reason] = llvm::StringRef(line).split(": ");
    if (!name.empty() && name[0] != '#')
      list[name.str()] = reason.str();
  }
  return list;
}

void writeList(const std::string &path, const std::map<std::string, std::string> &list) {
  std::ofstream file(path);
  file << "# Conformance cases that are refused, and why. Written by the conformance programs with "
          "--update.\n";
  for (const auto &[name, reason] : list)
    file << name << ": " << reason << "\n";
}

} // namespace

int runConformance(int argc, char **argv, const std::function<Outcome(const TestCase &)> &run) {
  std::string listPath, filter;
  std::vector<std::string> roots;
  bool update = false, list = false;
  for (int i = 1; i < argc; ++i) {
    llvm::StringRef argument = argv[i];
    if (argument == "--refused" && i + 1 < argc)
      listPath = argv[++i];
    else if (argument == "--filter" && i + 1 < argc)
      filter = argv[++i];
    else if (argument == "--update")
      update = true;
    else if (argument == "--list")
      list = true;
    else if (argument.starts_with("--"))
      return std::fprintf(stderr, "unknown option %s\n", argv[i]), 2;
    else
      roots.push_back(argv[i]);
  }
  std::map<std::string, std::string> known = listPath.empty() ? decltype(known)() : readList(listPath);
  std::map<std::string, std::string> refused = update ? known : decltype(known)();
  int counts[3] = {0, 0, 0}, wrong = 0;
  for (const std::string &root : roots) {
    std::vector<TestCase> cases = findCases(root);
    if (cases.empty())
      return std::fprintf(stderr, "%s: no cases\n", root.c_str()), 2;
    for (const TestCase &test : cases) {
      if (!filter.empty() && test.name.find(filter) == std::string::npos)
        continue;
      Outcome outcome = runIsolated(test, run);
      ++counts[outcome.kind];
      if (update)
        refused.erase(test.name);
      if (outcome.kind == Outcome::Refused)
        refused[test.name] = outcome.detail;
      bool unlisted =
          outcome.kind == Outcome::Refused && !listPath.empty() && !update && !known.count(test.name);
      bool stale = outcome.kind == Outcome::Passed && !update && known.count(test.name);
      wrong += outcome.kind == Outcome::Failed || unlisted || stale;
      const char *word = outcome.kind == Outcome::Failed    ? "FAILED"
                         : unlisted                         ? "REFUSED (not on the list)"
                         : stale                            ? "passed, but is on the list of the refused"
                         : outcome.kind == Outcome::Refused ? "refused"
                                                            : "passed";
      if (list || outcome.kind == Outcome::Failed || unlisted || stale)
        std::printf("%s: %s%s%s\n", test.name.c_str(), word, outcome.detail.empty() ? "" : ": ",
                    outcome.detail.c_str());
    }
  }
  if (update)
    writeList(listPath, refused);
  std::printf("%d passed, %d refused, %d failed of %d\n", counts[Outcome::Passed], counts[Outcome::Refused],
              counts[Outcome::Failed], counts[0] + counts[1] + counts[2]);
  return wrong > 0;
}

} // namespace tokamak::conformance
