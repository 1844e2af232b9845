//===- Jit.cpp - relocatable objects as code that can be called --------------------------===//
#include "driver/Jit.h"
#include "driver/RuntimeSymbols.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"

namespace tokamak::driver {

using namespace llvm;
using namespace llvm::orc;

Jit::Jit() = default;
Jit::~Jit() = default;

Expected<std::unique_ptr<Jit>> Jit::load(ArrayRef<std::string> objects, StringRef entry) {
  static const bool initialized = !InitializeNativeTarget() && !InitializeNativeTargetAsmPrinter();
  if (!initialized)
    return createStringError("this build of LLVM cannot generate code for this machine");
  std::unique_ptr<Jit> result(new Jit);
  Expected<std::unique_ptr<LLJIT>> jit = LLJITBuilder().create();
  if (!jit)
    return jit.takeError();
  result->jit = std::move(*jit);
  LLJIT &session = *result->jit;
  JITDylib &library = session.getMainJITDylib();

  SymbolMap runtime;
  for (auto [name, address] : runtimeSymbols())
    runtime[session.mangleAndIntern(name)] = {ExecutorAddr::fromPtr(address), JITSymbolFlags::Exported};
  if (Error error = library.define(absoluteSymbols(std::move(runtime))))
    return std::move(error);
  auto process =
      DynamicLibrarySearchGenerator::GetForCurrentProcess(session.getDataLayout().getGlobalPrefix());
  if (!process)
    return process.takeError();
  library.addGenerator(std::move(*process));

  // The linker reads the bytes until the look-up below has finished; they need not be copied.
  for (auto [i, object] : enumerate(objects)) {
    std::string name = "program" + std::to_string(i) + ".o";
    if (Error error =
            session.addObjectFile(MemoryBuffer::getMemBuffer(object, name, /*RequiresNullTerminator=*/false)))
      return std::move(error);
  }
  Expected<ExecutorAddr> address = session.lookup(entry);
  if (!address)
    return address.takeError();
  result->function = address->toPtr<TkProgramFn>();
  return std::move(result);
}

} // namespace tokamak::driver
