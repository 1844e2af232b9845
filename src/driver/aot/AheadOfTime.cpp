//===- AheadOfTime.cpp - a compiled program as a shared library with a C header -------------===//
#include "driver/aot/AheadOfTime.h"
#include "driver/Fault.h"
#include "driver/aot/Header.h"
#include "driver/aot/Linker.h"
#include "driver/aot/RuntimeArchive.h"
#include "driver/aot/Shim.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

namespace tokamak::driver {

using namespace llvm;

namespace {
/// A folder for the linker's inputs, removed with everything in it.
class TemporaryFolder {
public:
  Error create() {
    if (std::error_code code = sys::fs::createUniqueDirectory("tokamak", path))
      return inputFault("cannot make a temporary folder: " + code.message());
    return Error::success();
  }
  ~TemporaryFolder() {
    if (!path.empty())
      (void)sys::fs::remove_directories(path);
  }
  std::string file(StringRef name) const {
    SmallString<128> full(path);
    sys::path::append(full, name);
    return full.str().str();
  }

private:
  SmallString<128> path;
};
} // namespace

static Error writeFile(const std::string &path, StringRef content) {
  std::error_code code;
  raw_fd_ostream os(path, code);
  if (!code) {
    os << content;
    os.close();
    code = os.error();
    os.clear_error();
  }
  if (code)
    return inputFault("cannot write '" + path + "': " + code.message());
  return Error::success();
}

Expected<AheadOfTimeFiles> writeSharedLibrary(const codegen::CompiledProgram &program,
                                              const std::string &output, const std::string &source) {
  AheadOfTimeFiles files;
  files.library = StringRef(output).ends_with(".so") ? output : output + ".so";
  StringRef stem = StringRef(files.library).drop_back(3);
  files.header = stem.str() + ".h";
  CNames names = chooseCNames(sys::path::filename(stem), program);
  files.prefix = names.prefix;

  TemporaryFolder folder;
  if (Error error = folder.create())
    return std::move(error);
  std::string weights = folder.file("weights.bin");
  if (Error error = writeFile(weights, program.weights))
    return std::move(error);
  Expected<std::string> shim = emitShim(program, names, source, weights);
  if (!shim)
    return internalFault(toString(shim.takeError()));
  std::string script = "{ global: " + names.prefix + "_*; local: *; };\n";
  std::pair<const char *, StringRef> inputs[] = {
      {"shim.o", *shim}, {"runtime.a", runtimeArchive()}, {"exports.map", script}};
  for (auto [name, content] : inputs) {
    if (Error error = writeFile(folder.file(name), content))
      return std::move(error);
  }
  if (Error error = writeFile(files.header, writeHeader(program, names, source)))
    return std::move(error);
  // The runtime library comes last: it is an archive, of which the linker takes what those before it miss.
  std::vector<std::string> linked;
  for (auto [i, object] : enumerate(program.objects)) {
    linked.push_back(folder.file("program" + std::to_string(i) + ".o"));
    if (Error error = writeFile(linked.back(), object))
      return std::move(error);
  }
  linked.push_back(folder.file("shim.o"));
  linked.push_back(folder.file("runtime.a"));
  if (Error error =
          linkSharedLibrary(linked, folder.file("exports.map"), files.library, folder.file("linker.log")))
    return std::move(error);
  return files;
}

} // namespace tokamak::driver
