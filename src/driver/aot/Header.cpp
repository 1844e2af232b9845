//===- Header.cpp - the C face of an ahead-of-time compiled model --------------------------===//
#include "driver/aot/Header.h"
#include "driver/Identifier.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace tokamak::driver {

using codegen::CompiledProgram;
using codegen::ProgramValue;

size_t byteCount(const ProgramValue &value) {
  size_t bytes = byteSize(value.type);
  for (int64_t extent : value.shape)
    bytes *= static_cast<size_t>(extent);
  return bytes;
}

CNames chooseCNames(llvm::StringRef modelName, const CompiledProgram &program) {
  CNames names;
  names.prefix = identifierFor(modelName);
  Identifiers parameters;
  parameters.reserve("model");
  for (const ProgramValue &input : program.inputs)
    names.inputs.push_back(parameters.unique(input.name));
  for (const ProgramValue &output : program.outputs) {
    // A model may return an input under its own name.
    names.outputs.push_back(parameters.unique(output.name));
  }
  return names;
}

static const char *cType(DataType type) {
  switch (type) {
  case DataType::Float32:
    return "float";
  case DataType::Float64:
    return "double";
  case DataType::Int8:
    return "int8_t";
  case DataType::Int16:
    return "int16_t";
  case DataType::Int32:
    return "int32_t";
  case DataType::Int64:
    return "int64_t";
  case DataType::Bool:
  case DataType::UInt8:
    return "uint8_t";
  case DataType::Float16:
  case DataType::BFloat16:
  case DataType::UInt16:
    return "uint16_t";
  case DataType::UInt32:
    return "uint32_t";
  case DataType::UInt64:
    return "uint64_t";
  }
  llvm_unreachable("all element types are listed");
}

/// A name from the model inside a C comment: printable ASCII, and nothing that ends the comment.
static std::string inComment(llvm::StringRef text) {
  std::string result;
  for (char c : text)
    result += llvm::isPrint(c) ? c : '?';
  for (size_t at = 0; (at = result.find("*/", at)) != std::string::npos;)
    result.replace(at, 2, "* /");
  for (size_t at = 0; (at = result.find("/*", at)) != std::string::npos;)
    result.replace(at, 2, "/ *");
  return result;
}

/// One line of the run function's comment: " *   data: input 'data', float32[1,3,224,224], 602112 bytes".
static void describe(llvm::raw_ostream &os, llvm::StringRef role, llvm::StringRef parameter,
                     const ProgramValue &value) {
  os << " *   " << parameter << ": " << role << " '" << inComment(value.name) << "', " << name(value.type)
     << "[";
  llvm::interleave(value.shape, os, ",");
  os << "], " << byteCount(value) << " bytes";
  if (value.type == DataType::Bool)
    os << ", each 0 or 1";
  if (value.type == DataType::Float16)
    os << ", the bits of IEEE half precision";
  if (value.type == DataType::BFloat16)
    os << ", the upper half of a float";
  os << "\n";
}

std::string writeHeader(const CompiledProgram &program, const CNames &names, llvm::StringRef source) {
  std::string text;
  llvm::raw_string_ostream os(text);
  const std::string &p = names.prefix;
  std::string guard = "TOKAMAK_MODEL_" + llvm::StringRef(p).upper() + "_H";
  size_t weights = program.weights.size();
  os << "/* " << inComment(source) << ", compiled by Tokamak: " << program.kernelCount << " kernels, "
     << weights << " bytes of weights, " << program.arenaBytes << " bytes of memory a run.\n"
     << " * Needs only libc, libm and libpthread. Tensors are dense and row-major. */\n"
     << "#ifndef " << guard << "\n#define " << guard << "\n#include <stddef.h>\n#include <stdint.h>\n\n"
     << "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";

  os << "/* An input or output. `dtype` is numbered as ONNX TensorProto.DataType is: 1 float, 2 uint8, 3 "
        "int8, 4 uint16,\n"
     << " * 5 int16, 6 int32, 7 int64, 9 bool, 10 half, 11 double, 12 uint32, 13 uint64, 16 bfloat16. */\n"
     << "typedef struct " << p << "_value {\n"
     << "  const char *name; /* in the ONNX model */\n"
     << "  int32_t dtype;\n"
     << "  int32_t rank;\n"
     << "  const int64_t *dims; /* `rank` of them */\n"
     << "  size_t bytes;\n"
     << "} " << p << "_value;\n\n";

  os << "typedef struct " << p << "_model " << p << "_model;\n\n"
     << "/* Makes the model ready to run on `threads` threads, the caller's included (0: one a core). NULL "
        "if memory is\n"
     << " * short. To be freed by " << p << "_free. */\n"
     << p << "_model *" << p << "_init(int threads);\n\n"
     << "/* Frees a model; NULL is allowed. No run may be under way. */\n"
     << "void " << p << "_free(" << p << "_model *model);\n\n";

  os << "/* Runs once. Several threads may run one model at once. All memory is the caller's; no output may "
        "overlap an\n"
     << " * input or another output. Returns 0, or a code for " << p
     << "_error: for a null pointer, too, but a buffer of no bytes\n"
     << " * may be null.\n";
  for (auto [parameter, value] : llvm::zip(names.inputs, program.inputs))
    describe(os, "input", parameter, value);
  for (auto [parameter, value] : llvm::zip(names.outputs, program.outputs))
    describe(os, "output", parameter, value);
  os << " */\nint " << p << "_run(" << p << "_model *model";
  for (auto [parameter, value] : llvm::zip(names.inputs, program.inputs))
    os << ", const " << cType(value.type) << " *" << parameter;
  for (auto [parameter, value] : llvm::zip(names.outputs, program.outputs))
    os << ", " << cType(value.type) << " *" << parameter;
  os << ");\n\n";

  os << "/* The same with the buffers in arrays, in the order of " << p << "_input and " << p
     << "_output. */\n"
     << "int " << p << "_run_arrays(" << p
     << "_model *model, const void *const *inputs, void *const *outputs);\n\n"
     << "/* Number of inputs and outputs, and their descriptions, counted from 0; NULL for an index out of "
        "range. */\n"
     << "int " << p << "_input_count(void);\n"
     << "int " << p << "_output_count(void);\n"
     << "const " << p << "_value *" << p << "_input(int index);\n"
     << "const " << p << "_value *" << p << "_output(int index);\n\n"
     << "/* What a code of the run functions means, in one line: model, node, operator, reason, what to do. "
        "*/\n"
     << "const char *" << p << "_error(int code);\n\n"
     << "#ifdef __cplusplus\n}\n#endif\n#endif\n";
  return text;
}

} // namespace tokamak::driver
