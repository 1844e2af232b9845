//===- IrObject.cpp - LLVM assembly to an object ----------------------------------------------===//
#include "driver/IrObject.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"

namespace tokamak::driver {

using namespace llvm;

Expected<std::string> compileIr(const std::string &assembly) {
  static const bool initialized = !InitializeNativeTarget() && !InitializeNativeTargetAsmPrinter() &&
                                  !InitializeNativeTargetAsmParser(); // for module-level assembler
  if (!initialized)
    return createStringError("this build of LLVM cannot generate code for this machine");
  LLVMContext context;
  SMDiagnostic diagnostic;
  std::unique_ptr<llvm::Module> module = parseAssemblyString(assembly, diagnostic, context);
  if (!module)
    return createStringError("in assembly of the driver: " + diagnostic.getMessage());
  std::string triple = sys::getDefaultTargetTriple(), error;
  const Target *target = TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return createStringError(error);
  std::unique_ptr<TargetMachine> machine(
      target->createTargetMachine(triple, "x86-64", "", TargetOptions(), Reloc::PIC_));
  module->setTargetTriple(triple);
  module->setDataLayout(machine->createDataLayout());
  module->setPICLevel(PICLevel::BigPIC);

  SmallString<0> object;
  raw_svector_ostream os(object);
  legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, os, nullptr, CodeGenFileType::ObjectFile))
    return createStringError("this target cannot write object files");
  passes.run(*module);
  return object.str().str();
}

} // namespace tokamak::driver
