//===- KernelHarness.cpp - compiles one anchor kernel with a plain epilogue and runs it -----===//
#include "KernelHarness.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include <numeric>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

using namespace mlir;

namespace tokamak::test {

using codegen::AccumulatorPoint;
using codegen::PointIndex;

static int64_t product(const std::vector<int64_t> &extents) {
  return std::accumulate(extents.begin(), extents.end(), int64_t(1), std::multiplies<>());
}

int64_t ResultShape::bufferSize(int64_t lanes) const {
  return product(before) * (isBlocked ? blocks(lanes) * lanes : vectorExtent) * product(after);
}

int64_t ResultShape::offset(int64_t b, int64_t vector, int64_t a, int64_t lanes) const {
  if (!isBlocked)
    return (b * vectorExtent + vector) * product(after) + a;
  return ((b * blocks(lanes) + vector / lanes) * product(after) + a) * lanes + vector % lanes;
}

struct CompiledKernel::Engine {
  std::unique_ptr<llvm::orc::LLJIT> jit;
};
CompiledKernel::CompiledKernel() : engine(std::make_unique<Engine>()) {}
CompiledKernel::CompiledKernel(CompiledKernel &&) noexcept = default;
CompiledKernel::~CompiledKernel() = default;

void CompiledKernel::run(const float *lhs, const float *rhs, void *scratch, float *result, int64_t begin,
                         int64_t end) const {
  function(lhs, rhs, scratch, result, begin, end);
}

namespace {

/// Stores each point where ResultShape says.
class StoreEpilogue {
public:
  StoreEpilogue(const ResultShape &shape, int64_t lanes, Value result)
      : shape(shape), lanes(lanes), result(result) {}

  void operator()(OpBuilder &builder, Location loc, const AccumulatorPoint &point) const {
    Value before = flatten(builder, loc, point.before, shape.before);
    Value after = flatten(builder, loc, point.after, shape.after);
    auto constant = [&](int64_t value) -> Value {
      return builder.create<arith::ConstantIndexOp>(loc, value);
    };
    auto muladd = [&](Value a, int64_t factor, Value b) {
      return builder.createOrFold<arith::AddIOp>(
          loc, builder.createOrFold<arith::MulIOp>(loc, a, constant(factor)), b);
    };
    auto pointer = [&](Value offset) -> Value {
      Value wide = builder.create<arith::IndexCastOp>(loc, builder.getI64Type(), offset);
      return builder.create<LLVM::GEPOp>(loc, result.getType(), builder.getF32Type(), result,
                                         ArrayRef<LLVM::GEPArg>{wide});
    };
    Value vector = point.value, block = valueOf(builder, loc, point.block);
    if (shape.hasRelu) {
      Value zero = builder.create<arith::ConstantOp>(
          loc, DenseElementsAttr::get(cast<ShapedType>(vector.getType()), 0.0f));
      vector = builder.create<arith::MaxNumFOp>(loc, vector, zero);
    }
    if (shape.isBlocked) {
      Value number = muladd(muladd(before, shape.blocks(lanes), block), product(shape.after), after);
      builder.create<LLVM::StoreOp>(loc, vector, pointer(muladd(number, lanes, constant(0))), 4);
      return;
    }
    Value first = muladd(before, shape.vectorExtent, muladd(block, lanes, constant(0)));
    Value base = muladd(first, product(shape.after), after);
    if (shape.after.empty() && point.validLanes == lanes) {
      builder.create<LLVM::StoreOp>(loc, vector, pointer(base), 4);
      return;
    }
    for (int64_t lane = 0; lane < point.validLanes; ++lane) {
      Value element = builder.create<vector::ExtractOp>(loc, vector, lane);
      Value offset = builder.createOrFold<arith::AddIOp>(loc, base, constant(lane * product(shape.after)));
      builder.create<LLVM::StoreOp>(loc, element, pointer(offset), 4);
    }
  }

private:
  static Value valueOf(OpBuilder &builder, Location loc, const PointIndex &index) {
    Value offset = builder.create<arith::ConstantIndexOp>(loc, index.offset);
    return builder.createOrFold<arith::AddIOp>(loc, index.base, offset);
  }
  static Value flatten(OpBuilder &builder, Location loc, ArrayRef<PointIndex> indices,
                       const std::vector<int64_t> &extents) {
    assert(indices.size() == extents.size() && "one index an axis");
    Value flat = builder.create<arith::ConstantIndexOp>(loc, 0);
    for (size_t axis = 0; axis < extents.size(); ++axis) {
      Value extent = builder.create<arith::ConstantIndexOp>(loc, extents[axis]);
      flat = builder.createOrFold<arith::AddIOp>(loc, builder.createOrFold<arith::MulIOp>(loc, flat, extent),
                                                 valueOf(builder, loc, indices[axis]));
    }
    return flat;
  }

  const ResultShape &shape;
  int64_t lanes;
  Value result;
};

[[noreturn]] void fail(const char *stage) {
  fprintf(stderr, "%s failed\n", stage);
  abort();
}

} // namespace

struct KernelCompiler {
  MLIRContext context{MLIRContext::Threading::DISABLED};
  const TargetDescription &target;
  std::unique_ptr<llvm::TargetMachine> machine;

  explicit KernelCompiler(const TargetDescription &target) : target(target) {
    static bool initialized = [] {
      llvm::InitializeNativeTarget();
      llvm::InitializeNativeTargetAsmPrinter();
      return true;
    }();
    (void)initialized;
    context.loadDialect<arith::ArithDialect, func::FuncDialect, LLVM::LLVMDialect, scf::SCFDialect,
                        vector::VectorDialect>();
    registerBuiltinDialectTranslation(context);
    registerLLVMDialectTranslation(context);
    llvm::orc::JITTargetMachineBuilder builder{llvm::Triple(llvm::sys::getProcessTriple())};
    builder.setCPU(target.cpu);
    builder.addFeatures({target.features});
    builder.setRelocationModel(llvm::Reloc::PIC_);
    machine = llvm::cantFail(builder.createTargetMachine());
  }

  OwningOpRef<ModuleOp> build(EmitFn emit, const ResultShape &result) {
    OpBuilder builder(&context);
    Location loc = builder.getUnknownLoc();
    OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
    builder.setInsertionPointToEnd(module->getBody());
    Type pointer = LLVM::LLVMPointerType::get(&context), index = builder.getIndexType();
    auto function = builder.create<func::FuncOp>(
        loc, "kernel", builder.getFunctionType({pointer, pointer, pointer, pointer, index, index}, {}));
    Block *entry = function.addEntryBlock();
    builder.setInsertionPointToStart(entry);
    StoreEpilogue epilogue(result, target.lanes(), entry->getArgument(3));
    emit(builder, loc, entry->getArgument(0), entry->getArgument(1), entry->getArgument(2),
         entry->getArgument(4), entry->getArgument(5), epilogue);
    builder.create<func::ReturnOp>(loc);
    if (failed(module->verify()))
      fail("verifying the kernel");
    return module;
  }

  std::unique_ptr<llvm::Module> lower(ModuleOp module, llvm::LLVMContext &llvmContext) {
    PassManager passes(&context);
    passes.enableVerifier(false);
    passes.addPass(createCanonicalizerPass());
    passes.addPass(createCSEPass());
    passes.addPass(createConvertSCFToCFPass());
    passes.addPass(createConvertVectorToLLVMPass());
    passes.addPass(createArithToLLVMConversionPass());
    passes.addPass(createConvertControlFlowToLLVMPass());
    passes.addPass(createConvertFuncToLLVMPass());
    passes.addPass(createReconcileUnrealizedCastsPass());
    if (failed(passes.run(module)))
      fail("lowering to the llvm dialect");
    std::unique_ptr<llvm::Module> translated = translateModuleToLLVMIR(module, llvmContext);
    if (!translated)
      fail("translation to LLVM IR");
    translated->setDataLayout(machine->createDataLayout());
    translated->setTargetTriple(machine->getTargetTriple().str());
    for (llvm::Function &function : *translated)
      if (!function.isDeclaration())
        function.addFnAttr(llvm::Attribute::NoUnwind);
    return translated;
  }

  std::string generate(llvm::Module &module, llvm::CodeGenFileType type) {
    llvm::SmallVector<char, 0> buffer;
    llvm::raw_svector_ostream stream(buffer);
    llvm::legacy::PassManager passes;
    if (machine->addPassesToEmitFile(passes, stream, nullptr, type))
      fail("setting up code generation");
    passes.run(module);
    return std::string(buffer.data(), buffer.size());
  }

  CompiledKernel compile(EmitFn emit, const ResultShape &result, bool wantAssembly) {
    CompiledKernel kernel;
    OwningOpRef<ModuleOp> module = build(emit, result);
    llvm::LLVMContext llvmContext;
    std::unique_ptr<llvm::Module> translated = lower(*module, llvmContext);
    if (wantAssembly)
      kernel.assembly = generate(*llvm::CloneModule(*translated), llvm::CodeGenFileType::AssemblyFile);
    std::string object = generate(*translated, llvm::CodeGenFileType::ObjectFile);
    if (!canRun(target))
      return kernel;
    llvm::SmallVector<char, 0> bytes(object.begin(), object.end());
    kernel.engine->jit = llvm::cantFail(llvm::orc::LLJITBuilder().create());
    llvm::cantFail(kernel.engine->jit->addObjectFile(
        std::make_unique<llvm::SmallVectorMemoryBuffer>(std::move(bytes), "kernel.o", false)));
    kernel.function = llvm::cantFail(kernel.engine->jit->lookup("kernel")).toPtr<CompiledKernel::Function>();
    return kernel;
  }
};

CompiledKernel compileKernel(EmitFn emit, const ResultShape &result, const TargetDescription &target,
                             bool wantAssembly) {
  return KernelCompiler(target).compile(emit, result, wantAssembly);
}

int64_t countInnerLoopSpills(llvm::StringRef assembly, bool storesOnly) {
  int64_t total = 0, inBlock = 0;
  bool hasMulAdds = false;
  llvm::StringRef label;
  while (!assembly.empty()) {
    llvm::StringRef line;
    std::tie(line, assembly) = assembly.split('\n');
    bool isInstruction = line.starts_with("\t") && !line.starts_with("\t.");
    if (line.starts_with(".L") && line.contains(':')) {
      label = line.take_until([](char c) { return c == ':'; });
      inBlock = 0;
      hasMulAdds = false;
    }
    bool isVector = line.contains("%ymm") || line.contains("%zmm");
    // The frame pointer is omitted: rbp is a register as any other. What is stored is the last operand.
    bool isOnStack = storesOnly ? line.trim().ends_with("(%rsp)") : line.contains("(%rsp");
    inBlock += isInstruction && isVector && isOnStack;
    hasMulAdds |= isInstruction && line.contains("vfmadd");
    // An innermost loop is a block that jumps to itself.
    bool jumpsToItself = isInstruction && line.starts_with("\tj") && line.trim().ends_with(label);
    if (jumpsToItself && !label.empty() && hasMulAdds)
      total += std::exchange(inBlock, 0);
  }
  return total;
}

bool canRun(const TargetDescription &target) {
  if (!target.hasMaskRegisters)
    return true;
  auto features = llvm::sys::getHostCPUFeatures();
  return features.lookup("avx512f") && features.lookup("avx512vl") && features.lookup("avx512bw");
}

GuardedBuffer::GuardedBuffer(int64_t count, bool atEnd) : count(count) {
  size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE)),
         bytes = static_cast<size_t>(count) * sizeof(float);
  size_t inner = (bytes + page - 1) / page * page;
  mappedBytes = inner + 2 * page;
  void *memory = mmap(nullptr, mappedBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    fail("mapping memory");
  mapping = static_cast<char *>(memory);
  mprotect(mapping, page, PROT_NONE);
  mprotect(mapping + page + inner, page, PROT_NONE);
  floats = reinterpret_cast<float *>(mapping + page + (atEnd ? inner - bytes : 0));
}

GuardedBuffer::~GuardedBuffer() { munmap(mapping, mappedBytes); }

} // namespace tokamak::test
