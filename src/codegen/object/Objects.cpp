//===- Objects.cpp - llvm dialect modules to relocatable objects
//---------------------------------------------===//
#include "codegen/object/Lowering.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include <atomic>
#include <mutex>
#include <thread>

namespace tokamak::codegen {

using namespace mlir;

namespace {

std::unique_ptr<llvm::TargetMachine> makeTargetMachine(const TargetDescription &target) {
  static std::once_flag initialized;
  std::call_once(initialized, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    llvm::InitializeNativeTargetAsmParser();
  });
  std::string triple = llvm::sys::getProcessTriple(), error;
  const llvm::Target *backend = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!backend)
    return nullptr;
  llvm::TargetOptions options;
  // Large constant pools and jumps between objects: the small model, position independent, serves JIT and .so
  // alike.
  return std::unique_ptr<llvm::TargetMachine>(
      backend->createTargetMachine(triple, target.cpu, target.features, options, llvm::Reloc::PIC_,
                                   llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default));
}

} // namespace

llvm::Expected<std::vector<std::string>> emitObjects(ModuleOp modules, const TargetDescription &target,
                                                     ObjectForm form) {
  DialectRegistry registry;
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  modules.getContext()->appendDialectRegistry(registry);
  if (!makeTargetMachine(target))
    return llvm::createStringError("no code generator for this machine");

  std::vector<ModuleOp> work(modules.getOps<ModuleOp>().begin(), modules.getOps<ModuleOp>().end());
  std::vector<std::string> objects(work.size());
  std::atomic<size_t> next{0};
  std::atomic<bool> failed{false};
  std::mutex translating; // the MLIR side of a translation shares its context
  auto worker = [&] {
    auto machine = makeTargetMachine(target);
    for (size_t i = next++; i < work.size(); i = next++) {
      llvm::LLVMContext context;
      std::unique_ptr<llvm::Module> module;
      {
        std::lock_guard lock(translating);
        module = translateModuleToLLVMIR(work[i], context);
      }
      if (!module) {
        failed = true;
        return;
      }
      module->setDataLayout(machine->createDataLayout());
      module->setTargetTriple(machine->getTargetTriple().str());
      module->setPICLevel(llvm::PICLevel::BigPIC);
      for (llvm::Function &function : *module) {
        if (function.isDeclaration())
          continue;
        function.addFnAttr("target-cpu", target.cpu);
        function.addFnAttr("target-features", target.features);
        function.addFnAttr("prefer-vector-width", std::to_string(target.vectorBytes * 8));
        function.addFnAttr(llvm::Attribute::NoUnwind);
      }
      llvm::SmallString<0> buffer;
      llvm::raw_svector_ostream stream(buffer);
      if (form == ObjectForm::LLVMIR) {
        module->print(stream, nullptr);
      } else {
        llvm::legacy::PassManager passes;
        auto type = form == ObjectForm::Object ? llvm::CodeGenFileType::ObjectFile
                                               : llvm::CodeGenFileType::AssemblyFile;
        machine->addPassesToEmitFile(passes, stream, nullptr, type);
        passes.run(*module);
      }
      objects[i] = std::string(buffer);
    }
  };
  unsigned count = std::min<unsigned>(std::max(1U, std::thread::hardware_concurrency()),
                                      static_cast<unsigned>(work.size()));
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < count; ++i)
    threads.emplace_back(worker);
  worker();
  for (std::thread &thread : threads)
    thread.join();
  if (failed)
    return llvm::createStringError("a kernel could not be translated to LLVM IR");
  return objects;
}

} // namespace tokamak::codegen
