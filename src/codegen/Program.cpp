//===- Program.cpp - a partitioned module as machine code
//-----------------------------------------------------===//
#include "codegen/Program.h"
#include "codegen/anchors/Convolution.h"
#include "codegen/anchors/WinogradConvolution.h"
#include "codegen/expression/Register.h"
#include "codegen/host/HostProgram.h"
#include "codegen/object/Lowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/raw_ostream.h"

namespace tokamak::codegen {

using namespace mlir;

namespace {

std::string sanitized(StringRef name) {
  std::string result;
  for (char c : name.take_front(40))
    result += llvm::isAlnum(c) ? c : '_';
  return result;
}

std::vector<std::string> nodeNames(Location loc) {
  std::vector<std::string> names;
  for (const tk::OnnxNode &node : tk::onnxNodes(loc))
    names.push_back(node.name.str());
  return names;
}

std::vector<ProgramValue> signatureOf(func::FuncOp program, bool results) {
  std::vector<ProgramValue> values;
  auto types = results ? program.getResultTypes() : program.getArgumentTypes();
  for (auto [i, type] : llvm::enumerate(types)) {
    auto number = static_cast<unsigned>(i);
    auto name = results ? program.getResultAttrOfType<StringAttr>(number, "tk.name")
                        : program.getArgAttrOfType<StringAttr>(number, "tk.name");
    auto tensor = cast<RankedTensorType>(type);
    values.push_back({name ? name.str() : (results ? "output" : "input") + std::to_string(i),
                      *fromMlir(tensor.getElementType()),
                      {tensor.getShape().begin(), tensor.getShape().end()}});
  }
  return values;
}

/// Kernels of all groups; groups that are equal but for names and places share one.
class KernelSet {
public:
  KernelSet(ModuleOp modules, const LayoutAssignment &layouts, const TargetDescription &target)
      : modules(modules), layouts(layouts), target(target) {}

  llvm::Error add(tk::FusionOp group) {
    KernelSignature signature;
    std::string key;
    llvm::raw_string_ostream text(key);
    for (Value input : group.getInputs()) {
      signature.inputs.push_back(layouts.layoutOf(input));
      signature.constantInput.push_back(viewedValue(input).getDefiningOp<tk::ConstantOp>() != nullptr);
      text << signature.inputs.back().block << ':' << signature.inputs.back().pitch
           << (signature.constantInput.back() ? "c " : " ");
    }
    for (Value result : group.getResults()) {
      signature.outputs.push_back(layouts.layoutOf(result));
      text << signature.outputs.back().block << ':' << signature.outputs.back().pitch << ' ';
    }
    printBody(group, text);
    text.flush();
    if (auto it = byText.find(key); it != byText.end()) {
      byGroup[group] = it->second.get();
      return llvm::Error::success();
    }
    auto names = tk::onnxNodes(group.getLoc());
    std::string symbol = "tk_kernel_" + std::to_string(byText.size());
    if (!names.empty())
      symbol += "_" + sanitized(names.front().opType) + "_" + sanitized(names.front().name);
    OpBuilder builder(modules.getContext());
    builder.setInsertionPointToEnd(modules.getBody());
    auto module = builder.create<ModuleOp>(group.getLoc(), symbol);
    auto kernel = emitKernel(group, signature, target, module, symbol);
    if (!kernel)
      return kernel.takeError();
    auto &slot = byText[key] = std::make_unique<EmittedKernel>(std::move(*kernel));
    byGroup[group] = slot.get();
    return llvm::Error::success();
  }

  llvm::DenseMap<Operation *, const EmittedKernel *> byGroup;

private:
  /// The body with operand types, without the group's name.
  static void printBody(tk::FusionOp group, llvm::raw_ostream &text) {
    OpPrintingFlags flags;
    flags.useLocalScope();
    for (Operation &op : group.getBody().front()) {
      op.print(text, flags);
      text << '\n';
    }
    for (Type type : group.getOperandTypes())
      text << type << ' ';
    // Values are numbered from each operation on: say which is which.
    llvm::DenseMap<Value, size_t> numbers;
    for (Value argument : group.getBody().front().getArguments())
      numbers.insert({argument, numbers.size()});
    for (Operation &op : group.getBody().front()) {
      for (Value operand : op.getOperands())
        text << numbers.lookup(operand) << ',';
      for (Value result : op.getResults())
        numbers.insert({result, numbers.size()});
    }
  }

  ModuleOp modules;
  const LayoutAssignment &layouts;
  const TargetDescription &target;
  llvm::StringMap<std::unique_ptr<EmittedKernel>> byText;
};

/// Takes the attribute `winograd` from convolutions that cannot go that way as their inputs lie: whoever asks
/// the module afterwards is told what was compiled.
void dropFiltering(func::FuncOp program, const LayoutAssignment &layouts, const TargetDescription &target) {
  program.walk([&](tk::ConvOp conv) {
    if (!conv.getWinograd())
      return;
    auto group = dyn_cast<tk::FusionOp>(conv->getParentOp());
    auto argument = dyn_cast<BlockArgument>(conv.getInput());
    std::optional<Layout> input; // none: computed in the kernel
    if (group && argument)
      input = layouts.layoutOf(group.getInputs()[argument.getArgNumber()]);
    auto shape = ConvolutionPlan::describe(conv, input, target);
    auto plan = shape ? createWinogradConvolution(*shape, shape->winograd, target) : shape.takeError();
    if (plan)
      return;
    llvm::consumeError(plan.takeError());
    conv.removeWinogradAttr();
  });
}

std::string textOf(ModuleOp modules) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  modules.print(stream);
  return text;
}

llvm::Expected<std::string> joined(llvm::Expected<std::vector<std::string>> parts) {
  if (!parts)
    return parts.takeError();
  std::string all;
  for (const std::string &part : *parts)
    all += part;
  return all;
}

} // namespace

llvm::Expected<CompiledProgram> compileProgram(ModuleOp module, const TargetDescription &target,
                                               const CodegenOptions &options) {
  MLIRContext *context = module.getContext();
  DialectRegistry registry;
  registerExpressionModels(registry);
  context->appendDialectRegistry(registry);
  context->loadDialect<arith::ArithDialect, func::FuncDialect, LLVM::LLVMDialect, math::MathDialect,
                       scf::SCFDialect, vector::VectorDialect>();
  auto program = module.lookupSymbol<func::FuncOp>("main");
  if (!program)
    return llvm::createStringError("the module has no function @main");

  CompiledProgram result;
  result.entry = options.entry;
  result.inputs = signatureOf(program, false);
  result.outputs = signatureOf(program, true);

  LayoutAssignment layouts(program, target);
  dropFiltering(program, layouts, target);
  ViewAssignment views(program, layouts);
  OwningOpRef<ModuleOp> modules = ModuleOp::create(module.getLoc());
  KernelSet kernels(*modules, layouts, target);
  llvm::Error failure = llvm::Error::success();
  llvm::DenseMap<Operation *, size_t> stepOf;
  program.walk([&](Operation *op) {
    if (failure || op->getParentOfType<tk::FusionOp>() || views.isView(op))
      return;
    stepOf[op] = result.steps.size();
    if (auto group = dyn_cast<tk::FusionOp>(op)) {
      failure = kernels.add(group);
      if (failure)
        return;
      const EmittedKernel &kernel = *kernels.byGroup.lookup(group);
      result.steps.push_back({kernel.symbol, kernel.kind, nodeNames(op->getLoc())});
      result.scratchBytes = std::max(result.scratchBytes, static_cast<size_t>(kernel.scratchBytes));
    } else if (auto call = dyn_cast<tk::LibraryCallInterface>(op);
               call && !op->getParentOfType<tk::CompositeOp>()) {
      result.steps.push_back({call.getLibrarySymbol().str(), "library", nodeNames(op->getLoc())});
    }
  });
  if (failure)
    return std::move(failure);
  result.kernelCount = result.steps.size();

  MemoryPlan plan(program, layouts, views);
  WeightStore weights;
  OpBuilder builder(context);
  builder.setInsertionPointToEnd(modules->getBody());
  auto host = builder.create<ModuleOp>(module.getLoc(), "host");
  HostProgram(program, plan, views, kernels.byGroup, weights)
      .emit(host, options.entry, result.faultPlaces, options.observed ? &result.observed : nullptr);
  for (ObservedStep &observed : result.observed) {
    observed.step = stepOf.at(observed.op);
    for (Value value : observed.values)
      observed.layouts.push_back(layouts.layoutOf(value));
  }
  result.weights = weights.take();
  result.arenaBytes = static_cast<size_t>(plan.arenaBytes());

  if (options.emit == "kernels")
    *options.emitted = textOf(*modules);
  if (llvm::Error error = lowerToLLVMDialect(*modules, target))
    return std::move(error);
  if (options.emit == "llvm" || options.emit == "asm") {
    auto text = joined(
        emitObjects(*modules, target, options.emit == "asm" ? ObjectForm::Assembly : ObjectForm::LLVMIR));
    if (!text)
      return text.takeError();
    *options.emitted = std::move(*text);
  }
  auto objects = emitObjects(*modules, target);
  if (!objects)
    return objects.takeError();
  result.objects = std::move(*objects);
  return result;
}

} // namespace tokamak::codegen
