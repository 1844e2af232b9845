//===- Calibrate.cpp - tokamak calibrate: what this machine and our kernels on it reach --------===//
#include "CalibrateKernels.h"
#include "CalibrateMachine.h"
#include "Commands.h"
#include "Options.h"
#include "WriteText.h"
#include "analysis/TargetFile.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cstdio>

namespace tokamak::tool {

static Status calibrate(std::string output) {
  llvm::Expected<TargetDescription> target = TargetDescription::forCpu("native");
  if (!target)
    return {StatusCode::InvalidInput, llvm::toString(target.takeError())};
  const bool isDefault = output.empty();
  if (isDefault) {
    output = defaultTargetFile();
    if (output.empty())
      return {StatusCode::InvalidInput, "neither XDG_CACHE_HOME nor HOME is set: name a file with -o"};
    if (std::error_code error = llvm::sys::fs::create_directories(llvm::sys::path::parent_path(output)))
      return {StatusCode::InvalidInput, output + ": cannot make its folder: " + error.message()};
  }
  const std::string warning = measureMachine(*target);
  for (auto *measure : {measureKernels, measureCall})
    if (Status status = measure(*target); !status.ok())
      return status;
  if (Status status = writeText(output == "-" ? "" : output, writeTarget(*target)); !status.ok())
    return status;
  if (!warning.empty())
    std::fprintf(stderr, "calibrate: %s\n", warning.c_str());
  if (output != "-")
    std::printf("%s: %s\n", output.c_str(),
                isDefault ? "read whenever code is compiled for this machine"
                          : "give it to --target-description");
  return {};
}

void addCalibrate(CLI::App &app, int &exitStatus) {
  CLI::App *command = app.add_subcommand(
      "calibrate",
      "Measure this machine for the cost model: caches, arithmetic, dispatch, kernels (some seconds)");
  auto output = std::make_shared<std::string>();
  command
      ->add_option("-o,--output", *output,
                   "Write to FILE (- for standard output) instead of the place where compiling looks for it")
      ->type_name("FILE");
  command->callback([output, &exitStatus] { exitStatus = report(calibrate(*output)); });
}

} // namespace tokamak::tool
