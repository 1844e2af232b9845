//===- CompileRules.cpp - a rule file as text of the pdl dialect --------------------------------===//
#include "rewrite/rules/CompileRules.h"
#include "rewrite/rules/CheckIncludes.h"
#include "rewrite/rules/ShippedRules.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include <chrono>
#include <csignal>
#include <thread>

using namespace llvm;
using namespace tokamak::rules;

/// A real rule file takes some 25 ms; the bounds only stop what should not happen.
static constexpr std::chrono::seconds timeLimit(20);
static constexpr unsigned memoryLimitMiB = 2048;
static constexpr uint64_t sizeLimit = 1 << 20;

static Error fault(const Twine &message) { return createStringError(inconvertibleErrorCode(), message); }

static Error writeFile(StringRef path, StringRef text) {
  std::error_code code;
  raw_fd_ostream file(path, code);
  file << text;
  file.close();
  if (file.has_error())
    code = file.error();
  file.clear_error();
  return code ? fault("cannot write '" + path + "': " + code.message()) : Error::success();
}

static std::string readFile(StringRef path) {
  auto buffer = MemoryBuffer::getFile(path);
  return buffer ? (*buffer)->getBuffer().str() : std::string();
}

/// Runs the compiler; false with a reason where it did not end by itself.
static bool run(StringRef program, ArrayRef<StringRef> arguments, StringRef errors, int &exitStatus,
                std::string &reason) {
  const std::optional<StringRef> redirects[] = {StringRef(), StringRef(), errors};
  bool failedToStart = false;
  sys::ProcessInfo process = sys::ExecuteNoWait(program, arguments, std::nullopt, redirects, memoryLimitMiB,
                                                &reason, &failedToStart);
  if (failedToStart)
    return false;
  // Polled: waiting with a limit would use the process' one alarm timer, which belongs to the caller.
  const auto deadline = std::chrono::steady_clock::now() + timeLimit;
  while (true) {
    sys::ProcessInfo state = sys::Wait(process, /*SecondsToWait=*/0, &reason);
    if (state.Pid == process.Pid) {
      exitStatus = state.ReturnCode;
      if (exitStatus < 0)
        reason = "it crashed";
      return exitStatus >= 0;
    }
    if (std::chrono::steady_clock::now() > deadline) {
      kill(process.Pid, SIGKILL);
      sys::Wait(process, std::nullopt);
      reason = "it did not end";
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

/// mlir-pdll reports a malformed attr<"..."> or type<"..."> at a place inside the literal, and goes on; here
/// as the place of the literal in `source`. What it finds wrong with a pattern as a whole it reports at
/// loc("FILE":LINE:COLUMN). Empty where `line` is no such report.
static std::string placeOfLocation(StringRef line, StringRef path, StringRef source) {
  if (!line.consume_front("loc(\""))
    return "";
  auto [literal, rest] = line.split("\":");
  auto [position, cause] = rest.split("): error: ");
  if (literal.ends_with(".pdll"))
    return (literal + ":" + position + ": error: " + cause).str();
  if (cause.contains("unregistered dialect"))
    cause = "rules cannot spell attributes of a dialect; take it from an operator that the pattern matches, "
            "as in {kind = k: Attr}";
  size_t at = source.find(("<\"" + literal + "\">").str());
  StringRef before = source.take_front(at == StringRef::npos ? 0 : at);
  std::string place = path.str();
  if (at != StringRef::npos)
    place += ":" + utostr(before.count('\n') + 1) + ":" + utostr(at - (before.rfind('\n') + 1) + 2);
  return place + ": error: in \"" + literal.str() + "\": " + cause.str();
}

/// The first error among what mlir-pdll printed, as "FILE:LINE:COLUMN: cause"; empty if there is none.
static std::string firstError(StringRef output, StringRef path, StringRef source) {
  SmallVector<StringRef> lines;
  output.split(lines, '\n');
  for (StringRef line : lines) {
    std::string located = placeOfLocation(line, path, source);
    auto [place, cause] = (located.empty() ? line : StringRef(located)).split(": error: ");
    if (!cause.empty())
      return (place + ": " + cause).str();
  }
  return "";
}

static Expected<std::string> compileFile(StringRef path) {
  if (path.find_first_of("\"\\\n") != StringRef::npos)
    return fault("cannot read rules from a file with a quote, backslash or line break in its name");
  auto source = MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!source)
    return fault("cannot read '" + path + "': " + source.getError().message());
  if ((*source)->getBufferSize() > sizeLimit)
    return fault("'" + path + "' is too large for a rule file");
  ErrorOr<std::string> compiler = sys::findProgramByName("mlir-pdll-19");
  if (!compiler)
    return fault("cannot compile '" + path +
                 "': mlir-pdll-19 is not on the PATH; install the package mlir-19-tools");

  SmallString<128> folder;
  if (std::error_code code = sys::fs::createUniqueDirectory("tokamak-rules", folder))
    return fault("cannot make a temporary folder: " + code.message());
  auto cleanUp = make_scope_exit([&] { (void)sys::fs::remove_directories(folder); });
  auto inFolder = [&](StringRef name) { return (folder + "/" + name).str(); };
  // A file that includes the prelude itself, for its editor's sake, finds an empty one: it is there already.
  if (Error error = writeFile(inFolder("prelude.pdll"), ""))
    return std::move(error);
  if (Error error = writeFile(inFolder("declarations.pdll"), preludeText()))
    return std::move(error);
  const std::string main = inFolder("main.pdll"), output = inFolder("out.mlir"), errors = inFolder("errors");
  if (Error error = writeFile(
          main, ("#include \"" + inFolder("declarations.pdll") + "\"\n#include \"" + path + "\"\n").str()))
    return std::move(error);

  StringRef beside = sys::path::parent_path(path);
  if (beside.empty())
    beside = ".";
  if (Error error = checkIncludes(path, {folder, beside}))
    return std::move(error);
  const StringRef arguments[] = {*compiler, "-x=mlir", "-I", folder, "-I", beside, main, "-o", output};
  int exitStatus = 0;
  std::string reason;
  const bool ended = run(*compiler, arguments, errors, exitStatus, reason);
  // First: having reported a malformed literal, mlir-pdll may go on and crash.
  std::string error = firstError(readFile(errors), path, (*source)->getBuffer());
  if (!error.empty())
    return fault(error);
  if (!ended)
    return fault(path + ": mlir-pdll cannot compile it: " + reason);
  if (exitStatus != 0)
    return fault(path + ": mlir-pdll cannot compile it, and does not say why");
  return readFile(output);
}

Expected<std::string> tokamak::rules::compileRules(StringRef rules) {
  if (rules.ends_with(".pdll"))
    return compileFile(rules);
  std::string known;
  for (const ShippedRules &shipped : shippedRules()) {
    if (shipped.name == rules)
      return shipped.pdl.str();
    known += (known.empty() ? "" : ", ") + shipped.name.str();
  }
  return fault("there are no rules '" + rules + "': give a file FILE.pdll, or one of " + known);
}
