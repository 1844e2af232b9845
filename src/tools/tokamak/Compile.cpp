//===- Compile.cpp - tokamak compile: a shared library, or the text of one stage ----------------===//
#include "Commands.h"
#include "Model.h"
#include "Progress.h"
#include "WriteText.h"
#include "driver/Fault.h"
#include "driver/aot/AheadOfTime.h"
#include "llvm/Support/raw_ostream.h"
#include <filesystem>
#include <fmt/format.h>

namespace tokamak::tool {

namespace {
struct CompileCommand {
  ModelOptions model;
  std::string output;
  std::string emit;
};
} // namespace

/// `whole`: with all constants, and with the ONNX nodes as locations: what tokamak-opt can go on with. Else
/// for readers, who are not helped by pages of weights.
static std::string print(mlir::ModuleOp module, bool whole) {
  std::string text;
  llvm::raw_string_ostream os(text);
  mlir::OpPrintingFlags flags;
  if (whole)
    flags.enableDebugInfo();
  else
    flags.elideLargeElementsAttrs().elideLargeResourceString();
  module.print(os, flags);
  os << "\n";
  return text;
}

/// The text of the stage that --emit names; for `whole` see above.
static llvm::Expected<std::string> emit(LoadedModel &loaded, const std::string &stage, bool whole) {
  if (stage == "graph") {
    auto imported = driver::importModel(*loaded.model, loaded.options);
    if (!imported)
      return imported.takeError();
    return print(*imported->imported, whole);
  }
  if (stage == "fused") {
    auto partitioned = driver::partitionModel(*loaded.model, loaded.options);
    if (!partitioned)
      return partitioned.takeError();
    return print(*partitioned->module, whole);
  }
  loaded.options.emit = stage;
  auto compiled = driver::compileModel(*loaded.model, loaded.options);
  if (!compiled)
    return compiled.takeError();
  return std::move(compiled->emitted);
}

/// A folder instead of a file would become the hidden files DIR/.so and DIR/.h.
static Status checkLibraryName(const std::string &output) {
  std::string name = std::filesystem::path(output).filename();
  if (!name.empty() && name != "." && name != ".." && name != ".so")
    return {};
  return {StatusCode::Misuse, "-o " + output + " names no file; give the library a name, as in -o OUT.so"};
}

static Status compile(const CompileCommand &command) {
  if (command.output.empty() && command.emit.empty())
    return {StatusCode::Misuse, "compile needs -o OUT.so (or --emit STAGE); see tokamak compile --help"};
  if (command.emit.empty()) {
    if (Status status = checkLibraryName(command.output); !status.ok())
      return status;
  }
  auto progress = std::make_unique<Progress>(command.model.model);
  Result<LoadedModel> loaded = loadModel(command.model);
  if (!loaded)
    return loaded.status();
  loaded->options.onStage = [&](const char *stage) { progress->stage(stage); };
  if (!command.emit.empty()) {
    llvm::Expected<std::string> text = emit(*loaded, command.emit, /*whole=*/!command.output.empty());
    if (!text)
      return driver::toStatus(text.takeError());
    progress.reset();
    return writeText(command.output, *text);
  }
  auto compiled = driver::compileModel(*loaded->model, loaded->options);
  if (!compiled)
    return driver::toStatus(compiled.takeError());
  progress->stage("linking");
  auto files = driver::writeSharedLibrary(compiled->program, command.output, command.model.model);
  if (!files)
    return driver::toStatus(files.takeError());
  progress.reset();
  return writeText("", fmt::format("wrote {} and {}: {} nodes as {} kernels, functions {}_*\n",
                                   files->library, files->header, compiled->onnxNodes,
                                   compiled->program.kernelCount, files->prefix));
}

void addCompile(CLI::App &app, int &exitStatus) {
  CLI::App *command = app.add_subcommand("compile", "Compile a model into a shared library and a C header");
  auto options = std::make_shared<CompileCommand>();
  options->model.addTo(*command);
  command
      ->add_option(
          "-o,--output", options->output,
          "OUT.so; OUT.h is written beside it. With --emit the text's file (default: standard output)")
      ->type_name("OUT[.so]");
  command
      ->add_option(
          "--emit", options->emit,
          "Print one stage instead: graph, fused, kernels, llvm or asm. graph and fused leave larger "
          "constants out on standard output; a file (-o) has them all, for tokamak-opt to read")
      ->type_name("STAGE")
      ->check(CLI::IsMember({"graph", "fused", "kernels", "llvm", "asm"}));
  command->callback(
      [options, &exitStatus] { exitStatus = report(options->model, [&] { return compile(*options); }); });
}

} // namespace tokamak::tool
