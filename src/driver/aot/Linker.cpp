//===- Linker.cpp - objects into a shared library ------------------------------------------===//
#include "driver/aot/Linker.h"
#include "driver/Fault.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

namespace tokamak::driver {

using namespace llvm;

namespace {
struct Linker {
  std::string path;
  bool isDriver; ///< a C compiler driver, which knows where the system's libraries are
};
} // namespace

static std::optional<Linker> findLinker() {
  for (const char *name : {"cc", "gcc", "clang", "clang-19"}) {
    if (auto path = sys::findProgramByName(name))
      return Linker{*path, true};
  }
  for (const char *name : {"ld.lld-19", "ld.lld", "ld"}) {
    if (auto path = sys::findProgramByName(name))
      return Linker{*path, false};
  }
  return std::nullopt;
}

/// The file of a system library, for a bare linker; empty if it is nowhere.
static std::string findLibrary(StringRef name) {
  for (StringRef folder :
       {"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64", "/usr/lib"}) {
    SmallString<64> path(folder);
    sys::path::append(path, name);
    if (sys::fs::exists(path))
      return path.str().str();
  }
  return "";
}

Error linkSharedLibrary(ArrayRef<std::string> files, const std::string &versionScript,
                        const std::string &output, const std::string &errorFile) {
  std::optional<Linker> linker = findLinker();
  if (!linker)
    return inputFault("no linker found to write '" + output +
                      "'; install one of cc, ld.lld, ld and put it on the PATH");
  std::vector<std::string> arguments = {linker->path, "-shared", "-o", output};
  arguments.insert(arguments.end(), files.begin(), files.end());
  for (const std::string &word :
       {"--version-script=" + versionScript, std::string("--gc-sections"),
        "-soname=" + sys::path::filename(output).str(), std::string("-z"), std::string("defs")}) {
    // Not -Wl,WORD: a comma in a file's name would end it.
    if (linker->isDriver)
      arguments.push_back("-Xlinker");
    arguments.push_back(word);
  }
  if (linker->isDriver) {
    arguments.insert(arguments.end(), {"-lm", "-lpthread"});
  } else {
    for (StringRef library : {"libm.so.6", "libc.so.6"}) {
      std::string path = findLibrary(library);
      if (path.empty())
        return inputFault("cannot find " + library + ", which '" + output +
                          "' needs; install cc to link with");
      arguments.push_back(path);
    }
  }

  SmallVector<StringRef> references(arguments.begin(), arguments.end());
  std::optional<StringRef> redirects[] = {StringRef(""), StringRef(errorFile), StringRef(errorFile)};
  std::string failure;
  int code = sys::ExecuteAndWait(linker->path, references, std::nullopt, redirects, 0, 0, &failure);
  if (code == 0)
    return Error::success();
  if (auto messages = MemoryBuffer::getFile(errorFile); messages && failure.empty())
    failure = (*messages)->getBuffer().take_front(2000).str();
  return inputFault("linking '" + output + "' with " + linker->path + " failed: " + failure);
}

} // namespace tokamak::driver
