//===- TargetFile.h - target descriptions as JSON files ----------------------------------===//
// One flat object; every key is optional and replaces what is known of the CPU otherwise:
//   {"cpu": "znver4", "l1_bytes": 32768, "l2_bytes": 262144, "l3_bytes": 2097152, "peak_gflops": 117.4, ...}
#pragma once
#include "analysis/TargetDescription.h"
#include "llvm/ADT/StringRef.h"

namespace tokamak {

/// The target that `cpu` ("native" or a name) and a description file give. Without a file, `native` takes
/// what `tokamak calibrate` left for this machine's CPU, if it is there and valid. Errors name the file and
/// the key.
llvm::Expected<TargetDescription> resolveTarget(const std::string &cpu, const std::string &file);

/// Reads `text`, the contents of `file`, over `target`.
llvm::Error readTarget(llvm::StringRef text, llvm::StringRef file, TargetDescription &target);

/// Everything that readTarget reads.
std::string writeTarget(const TargetDescription &target);

/// $XDG_CACHE_HOME/tokamak/NAME, or below ~/.cache; empty without a home.
std::string cacheFile(llvm::StringRef name);

/// Where `tokamak calibrate` leaves its measurements: cacheFile("target.json").
std::string defaultTargetFile();

} // namespace tokamak
