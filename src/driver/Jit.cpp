//===- Jit.cpp - relocatable objects as code that can be called --------------------------===//
#include "driver/Jit.h"
#include "driver/IrObject.h"
#include "driver/RuntimeSymbols.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"

namespace tokamak::driver {

using namespace llvm;
using namespace llvm::orc;

Jit::Jit() = default;
Jit::~Jit() = default;

static Error addObject(LLJIT &jit, JITDylib &library, StringRef object, StringRef name) {
  return jit.addObjectFile(library,
                           MemoryBuffer::getMemBuffer(object, name, /*RequiresNullTerminator=*/false));
}

static Error defineAddresses(LLJIT &jit, JITDylib &library, ArrayRef<Jit::Symbol> addresses) {
  SymbolMap symbols;
  for (const auto &[name, address] : addresses)
    symbols[jit.mangleAndIntern(name)] = {ExecutorAddr::fromPtr(address), JITSymbolFlags::Exported};
  return library.define(absoluteSymbols(std::move(symbols)));
}

/// libc and libm.
static Error addProcessSymbols(LLJIT &jit, JITDylib &library) {
  auto process = DynamicLibrarySearchGenerator::GetForCurrentProcess(jit.getDataLayout().getGlobalPrefix());
  if (!process)
    return process.takeError();
  library.addGenerator(std::move(*process));
  return Error::success();
}

static Expected<bool> definesSymbol(StringRef object, StringRef name) {
  auto file = object::ObjectFile::createObjectFile(MemoryBufferRef(object, "program.o"));
  if (!file)
    return file.takeError();
  for (const object::SymbolRef &symbol : (*file)->symbols()) {
    Expected<uint32_t> flags = symbol.getFlags();
    Expected<StringRef> found = symbol.getName();
    if (!flags || !found)
      return joinErrors(flags.takeError(), found.takeError());
    if (*found == name && !(*flags & object::SymbolRef::SF_Undefined))
      return true;
  }
  return false;
}

/// Puts the objects that do not define `entry` into a library of their own, and stubs in front of them into
/// `library`.
static Error addWithStubs(LLJIT &jit, JITDylib &library, ArrayRef<std::string> objects, StringRef entry,
                          const Profile &profile) {
  Expected<JITDylib &> kernels = jit.createJITDylib("kernels");
  if (!kernels)
    return kernels.takeError();
  std::vector<Jit::Symbol> runtime(runtimeSymbols().begin(), runtimeSymbols().end());
  if (Error error = defineAddresses(jit, *kernels, runtime))
    return error;
  if (Error error = addProcessSymbols(jit, *kernels))
    return error;
  for (auto [i, object] : enumerate(objects)) {
    Expected<bool> isHost = definesSymbol(object, entry);
    if (!isHost)
      return isHost.takeError();
    if (Error error =
            addObject(jit, *isHost ? library : *kernels, object, "program" + std::to_string(i) + ".o"))
      return error;
  }
  std::vector<Jit::Symbol> addresses;
  for (const auto &[name, address] : Profile::functions())
    addresses.emplace_back(name, address);
  for (const std::string &symbol : profile.symbols()) {
    Expected<ExecutorAddr> address = jit.lookup(*kernels, symbol);
    if (!address)
      return address.takeError();
    addresses.emplace_back("real." + symbol, address->toPtr<void *>());
  }
  // What the program calls besides its steps, tk_parallel_for above all.
  for (const Jit::Symbol &symbol : runtime) {
    if (!is_contained(profile.symbols(), symbol.first))
      addresses.push_back(symbol);
  }
  if (Error error = defineAddresses(jit, library, addresses))
    return error;
  Expected<std::string> stubs = compileIr(profile.stubs());
  if (!stubs)
    return stubs.takeError();
  return jit.addObjectFile(library, MemoryBuffer::getMemBufferCopy(*stubs, "stubs.o"));
}

Expected<std::unique_ptr<Jit>> Jit::load(ArrayRef<std::string> objects, StringRef entry,
                                         const Profile *profile, ArrayRef<Symbol> more) {
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
  if (Error error = addProcessSymbols(session, library))
    return std::move(error);

  if (Error error = defineAddresses(session, library, more))
    return std::move(error);
  if (profile) {
    if (Error error = addWithStubs(session, library, objects, entry, *profile))
      return std::move(error);
  } else {
    std::vector<Jit::Symbol> runtime(runtimeSymbols().begin(), runtimeSymbols().end());
    if (Error error = defineAddresses(session, library, runtime))
      return std::move(error);
    // The linker reads the bytes until the look-up below has finished; they need not be copied.
    for (auto [i, object] : enumerate(objects)) {
      if (Error error = addObject(session, library, object, "program" + std::to_string(i) + ".o"))
        return std::move(error);
    }
  }
  Expected<ExecutorAddr> address = session.lookup(entry);
  if (!address)
    return address.takeError();
  result->function = address->toPtr<TkProgramFn>();
  return std::move(result);
}

} // namespace tokamak::driver
