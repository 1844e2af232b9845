//===- CheckIncludes.h - rule files that include themselves ---------------------------------------===//
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace tokamak::rules {

/// An error at the place of the first #include that leads from the file back to itself or to what is being
/// included already: mlir-pdll overflows its stack there. Names are looked up as mlir-pdll does it, from the
/// working directory and then in `folders`; a file that is not found is left for mlir-pdll to report.
llvm::Error checkIncludes(llvm::StringRef path, llvm::ArrayRef<llvm::StringRef> folders);

} // namespace tokamak::rules
