//===- Shim.cpp - the object that gives a compiled model its C face ------------------------===//
// Written as LLVM assembly and compiled here, so that ahead-of-time output needs a linker but no C compiler.
#include "driver/aot/Shim.h"
#include "driver/IrObject.h"
#include "driver/RunError.h"
#include "runtime/Library.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace tokamak::driver {

using namespace llvm;
using codegen::CompiledProgram;
using codegen::ProgramValue;

/// Globals that describe `values`: their names, dims, and the array @LIST of %value.
static void describeValues(raw_ostream &os, StringRef list, ArrayRef<ProgramValue> values) {
  for (auto [i, value] : enumerate(values)) {
    os << "@" << list << ".name." << i << " = private constant [" << value.name.size() + 1 << " x i8] c\"";
    printEscapedString(value.name, os);
    os << "\\00\"\n@" << list << ".dims." << i << " = private constant [" << value.shape.size()
       << " x i64] [";
    interleaveComma(value.shape, os, [&](int64_t extent) { os << "i64 " << extent; });
    os << "]\n";
  }
  os << "@" << list << " = private constant [" << values.size() << " x %value] [";
  for (auto [i, value] : enumerate(values)) {
    os << (i ? ", " : "") << "%value { ptr @" << list << ".name." << i << ", i32 "
       << static_cast<int>(value.type) << ", i32 " << value.shape.size() << ", ptr @" << list << ".dims." << i
       << ", i64 " << byteCount(value) << " }";
  }
  os << "]\n";
}

/// The functions that read a list: NAME_count and NAME.
static void defineAccess(raw_ostream &os, StringRef function, StringRef list, size_t count) {
  os << "define i32 @" << function << "_count() {\n  ret i32 " << count << "\n}\n"
     << "define ptr @" << function << "(i32 %index) {\n"
     << "  %valid = icmp ult i32 %index, " << count << "\n"
     << "  %wide = zext i32 %index to i64\n"
     << "  %address = getelementptr %value, ptr @" << list << ", i64 %wide\n"
     << "  %result = select i1 %valid, ptr %address, ptr null\n"
     << "  ret ptr %result\n}\n";
}

/// The function that explains a code: one text a place and kind of fault, those of the runtime for the rest.
static void defineError(raw_ostream &os, StringRef function, const CompiledProgram &program,
                        StringRef source) {
  constexpr int kinds = TK_UNSUPPORTED; // those that a step returns are 1 .. kinds
  size_t texts = 0;
  for (size_t place = 1; place <= program.faultPlaces.size(); ++place)
    for (int kind = 1; kind <= kinds; ++kind) {
      std::string text = source.str() + ": " +
                         runError(program.faultPlaces, static_cast<int>(place << TK_FAULT_BITS) | kind);
      os << "@fault." << texts++ << " = private constant [" << text.size() + 1 << " x i8] c\"";
      printEscapedString(text, os);
      os << "\\00\"\n";
    }
  os << "@faults = private constant [" << texts << " x ptr] [";
  for (size_t i = 0; i < texts; ++i)
    os << (i ? ", " : "") << "ptr @fault." << i;
  os << "]\n";
  os << "define ptr @" << function << "(i32 %code) {\n"
     << "  %place = lshr i32 %code, " << TK_FAULT_BITS << "\n"
     << "  %kind = and i32 %code, " << (1 << TK_FAULT_BITS) - 1 << "\n"
     << "  %first = mul i32 %place, " << kinds << "\n"
     << "  %sum = add i32 %first, %kind\n"
     << "  %number = sub i32 %sum, " << kinds + 1 << "\n"
     << "  %isPlaced = icmp ult i32 %number, " << texts << "\n"
     << "  %isKind = icmp ule i32 %kind, " << kinds << "\n"
     << "  %isFault = icmp ne i32 %kind, 0\n"
     << "  %isOne = and i1 %isKind, %isFault\n"
     << "  %isKnown = and i1 %isPlaced, %isOne\n"
     << "  br i1 %isKnown, label %known, label %other\n"
     << "known:\n"
     << "  %wide = zext i32 %number to i64\n"
     << "  %slot = getelementptr ptr, ptr @faults, i64 %wide\n"
     << "  %placed = load ptr, ptr %slot\n  ret ptr %placed\n"
     << "other:\n"
     << "  %text = call ptr @tk_library_error(i32 %code)\n  ret ptr %text\n}\n";
}

/// Stores parameters `first`, `first + 1`, ... of the current function into the array %LIST.
static void storeParameters(raw_ostream &os, StringRef list, size_t first, size_t count) {
  os << "  %" << list << " = alloca [" << count << " x ptr]\n";
  for (size_t i = 0; i < count; ++i) {
    os << "  %" << list << "." << i << " = getelementptr ptr, ptr %" << list << ", i64 " << i << "\n"
       << "  store ptr %p" << first + i << ", ptr %" << list << "." << i << "\n";
  }
}

static std::string assembly(const CompiledProgram &program, const CNames &names, StringRef source,
                            StringRef weightsPath) {
  std::string text;
  raw_string_ostream os(text);
  const std::string &p = names.prefix;
  size_t inputs = program.inputs.size(), outputs = program.outputs.size();

  // The path stands in an assembler string inside an LLVM string.
  std::string path;
  for (char c : weightsPath)
    path += c == '"' || c == '\\' ? std::string{'\\', c} : std::string{c};
  os << "module asm \".section .rodata.weights,\\22a\\22,@progbits\"\n"
     << "module asm \".balign 64\"\n"
     << "module asm \".globl tk_weights\"\n"
     << "module asm \".hidden tk_weights\"\n"
     << "module asm \"tk_weights:\"\n"
     << "module asm \".incbin \\22";
  printEscapedString(path, os);
  os << "\\22\"\n"
     << "module asm \".byte 0\"\n"
     << "module asm \".text\"\n"
     << "@tk_weights = external hidden constant i8\n"
     << "%value = type { ptr, i32, i32, ptr, i64 }\n"; // TkValueInfo
  describeValues(os, "inputs", program.inputs);
  describeValues(os, "outputs", program.outputs);
  os << "@info = private constant { ptr, ptr, i64, i64, i32, i32, ptr, ptr } { ptr @\""
     << program.entry // TkModelInfo
     << "\", ptr @tk_weights, i64 " << program.arenaBytes << ", i64 " << program.scratchBytes << ", i32 "
     << inputs << ", i32 " << outputs << ", ptr @inputs, ptr @outputs }\n";

  os << "declare i32 @\"" << program.entry << "\"(ptr, ptr, ptr, ptr, ptr)\n"
     << "declare ptr @tk_model_open(ptr, i32)\n"
     << "declare void @tk_model_destroy(ptr)\n"
     << "declare i32 @tk_model_run(ptr, ptr, ptr)\n"
     << "declare ptr @tk_library_error(i32)\n";
  os << "define ptr @" << p << "_init(i32 %threads) {\n"
     << "  %model = call ptr @tk_model_open(ptr @info, i32 %threads)\n  ret ptr %model\n}\n"
     << "define void @" << p << "_free(ptr %model) {\n"
     << "  call void @tk_model_destroy(ptr %model)\n  ret void\n}\n"
     << "define i32 @" << p << "_run_arrays(ptr %model, ptr %inputs, ptr %outputs) {\n"
     << "  %code = call i32 @tk_model_run(ptr %model, ptr %inputs, ptr %outputs)\n  ret i32 %code\n}\n";
  defineError(os, p + "_error", program, source);
  os << "define i32 @" << p << "_run(ptr %model";
  for (size_t i = 0; i < inputs + outputs; ++i)
    os << ", ptr %p" << i;
  os << ") {\n";
  storeParameters(os, "in", 0, inputs);
  storeParameters(os, "out", inputs, outputs);
  os << "  %code = call i32 @tk_model_run(ptr %model, ptr %in, ptr %out)\n  ret i32 %code\n}\n";
  defineAccess(os, p + "_input", "inputs", inputs);
  defineAccess(os, p + "_output", "outputs", outputs);
  return text;
}

Expected<std::string> emitShim(const CompiledProgram &program, const CNames &names, StringRef source,
                               StringRef weightsPath) {
  return compileIr(assembly(program, names, source, weightsPath));
}

} // namespace tokamak::driver
