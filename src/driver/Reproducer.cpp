//===- Reproducer.cpp - a file that repeats a fault of ours -------------------------------===//
#include "driver/Reproducer.h"
#include "driver/Fault.h"
#include "ir/Tk.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

namespace tokamak::driver {

static const char *fusionName(Fusion fusion) {
  switch (fusion) {
  case Fusion::None:
    return "none";
  case Fusion::Dominator:
    return "dominator";
  case Fusion::Full:
    return "full";
  }
  llvm_unreachable("all modes are listed");
}

std::string writeReproducer(mlir::ModuleOp module, const CompileOptions &options, llvm::StringRef fault) {
  constexpr size_t mostWeightBytes = 16 << 20;
  size_t weightBytes = 0;
  module.walk([&](tk::ConstantOp constant) {
    weightBytes += static_cast<size_t>(tk::tensorType(constant.getResult()).getNumElements()) * 4;
  });

  llvm::SmallString<128> path(options.reproducerDirectory);
  llvm::sys::path::append(path, "tokamak-crash-%%%%%%.mlir");
  int descriptor;
  llvm::SmallString<128> created;
  if (llvm::sys::fs::createUniqueFile(path, descriptor, created))
    return "";
  llvm::raw_fd_ostream os(descriptor, /*shouldClose=*/true);
  os << "// A fault in Tokamak: " << oneLine(fault) << "\n// Repeat it with\n//   tokamak-opt " << created
     << " --pass-pipeline='builtin.module(";
  // tokamak-pipeline takes no rules: they run in front of it, on much the graph that they have there.
  if (!options.rules.empty()) {
    os << "fold-constants,inline-composites,apply-rules{rules=";
    llvm::interleave(options.rules, os, ",");
    os << (options.trustRules ? " trust=true" : "") << "},";
  }
  os << "tokamak-pipeline{fusion=" << fusionName(options.fusion) << " fuel=" << options.fuel;
  if (!options.disabledPasses.empty()) {
    os << " disable=";
    llvm::interleave(options.disabledPasses, os, ",");
  }
  if (!options.forcedRewrites.empty()) {
    os << " force-rewrite=";
    llvm::interleave(options.forcedRewrites, os, ",");
  }
  os << " target-cpu=" << options.targetCpu;
  if (!options.targetDescription.empty())
    os << " target-description=" << options.targetDescription;
  os << "})'\n";
  mlir::OpPrintingFlags flags;
  flags.enableDebugInfo();
  if (weightBytes > mostWeightBytes) {
    os << "// The weights are left out.\n";
    flags.elideLargeElementsAttrs();
    flags.elideLargeResourceString();
  }
  module.print(os, flags);
  os << "\n";
  os.close();
  bool failed = os.has_error();
  os.clear_error();
  return failed ? "" : created.str().str();
}

bool runContained(llvm::function_ref<void()> body) {
  llvm::CrashRecoveryContext::Enable();
  llvm::CrashRecoveryContext context;
  return context.RunSafely(body);
}

} // namespace tokamak::driver
