//===- Header.h - the C face of an ahead-of-time compiled model ----------------------------===//
#pragma once
#include "codegen/Program.h"
#include <string>
#include <vector>

namespace tokamak::driver {

/// The C names of a compiled model: all functions and types begin with `prefix`, and each input and output
/// has a parameter of the run function. Distinct and valid whatever the model calls them.
struct CNames {
  std::string prefix;
  std::vector<std::string> inputs, outputs;
};

/// `modelName` is the output file's stem.
CNames chooseCNames(llvm::StringRef modelName, const codegen::CompiledProgram &program);

/// The text of OUT.h. `source` names the ONNX file in its comment.
std::string writeHeader(const codegen::CompiledProgram &program, const CNames &names, llvm::StringRef source);

/// Bytes of a value.
size_t byteCount(const codegen::ProgramValue &value);

} // namespace tokamak::driver
