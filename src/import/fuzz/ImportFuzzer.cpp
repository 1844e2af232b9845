//===- ImportFuzzer.cpp - any bytes give a valid module or one error line ---------------------===//
#include "ModelMutator.h"
#include "analysis/Traffic.h"
#include "import/Import.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "rewrite/Passes.h"
#include <cstdio>
#include <cstdlib>
#include <google/protobuf/stubs/logging.h>

using tokamak::import::ModelMutator;

/// Fails the run: libFuzzer keeps the input.
static void require(bool condition, const std::string &what) {
  if (condition)
    return;
  std::fprintf(stderr, "%s\n", what.c_str());
  std::abort();
}

static void checkLine(llvm::Error error) {
  std::string line = llvm::toString(std::move(error));
  require(!line.empty() && line.size() < 2000 && line.find('\n') == std::string::npos,
          "not one line: " + line);
}

/// Few enough operations and bytes that rewriting it, which evaluates constants, takes no time.
static bool isSmall(mlir::ModuleOp module) {
  constexpr int64_t most = 1'000'000;
  int64_t flops = 0, bytes = 0;
  module.walk([&](mlir::Operation *op) {
    flops = std::min(most, flops) + std::min(most, tokamak::analysis::trafficOf(op).flops);
    for (mlir::Value result : op->getResults())
      bytes = std::min(most, bytes) + std::min(most, tokamak::analysis::tensorBytes(result));
  });
  return flops < most && bytes < most;
}

/// Cleans the module up, which must succeed: what cannot be compiled was refused before.
static void checkPasses(mlir::ModuleOp module) {
  std::string error;
  mlir::ScopedDiagnosticHandler handler(module.getContext(), [&](mlir::Diagnostic &diagnostic) {
    error += diagnostic.str() + "\n";
    return mlir::success();
  });
  mlir::PassManager passes(module->getName());
  passes.addPass(tokamak::createFoldConstantsPass());
  passes.addPass(tokamak::createSimplifyMovementChainsPass());
  passes.addPass(tokamak::createEliminateCommonSubexpressionsPass());
  passes.addPass(tokamak::createFoldBatchNormPass());
  passes.addPass(tokamak::createDecomposeBatchNormPass());
  passes.addPass(tokamak::createEliminateDeadCodePass());
  bool passed = mlir::succeeded(passes.run(module));
  require(passed, "a pass failed: " + error);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  auto model = tokamak::import::Model::fromMemory(data, size);
  if (!model) {
    checkLine(model.takeError());
    return 0;
  }
  // A context of its own: attributes live as long as their context.
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  auto imported = (*model)->import(context, {});
  if (!imported) {
    checkLine(imported.takeError());
    return 0;
  }
  require(mlir::succeeded(mlir::verify(*imported->module)), "the module is not valid");
  if (isSmall(*imported->module))
    checkPasses(*imported->module);
  return 0;
}

//===----------------------------------------------------------------------------------------------------===//
// What libFuzzer mutates with
//===----------------------------------------------------------------------------------------------------===//

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

static bool parse(onnx::ModelProto &model, const uint8_t *data, size_t size) {
  google::protobuf::LogSilencer silencer;
  return model.ParseFromArray(data, static_cast<int>(size)) && model.has_graph();
}

/// The number of bytes written, 0 where they do not fit.
static size_t write(const onnx::ModelProto &model, uint8_t *data, size_t maxSize) {
  if (model.ByteSizeLong() > maxSize)
    return 0;
  google::protobuf::LogSilencer silencer;
  size_t size = model.ByteSizeLong();
  return model.SerializeToArray(data, static_cast<int>(size)) ? size : 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize, unsigned seed) {
  std::mt19937 random(seed);
  onnx::ModelProto model;
  constexpr unsigned onBytes = 8; // one in so many
  if (random() % onBytes == 0 || !parse(model, data, size))
    return LLVMFuzzerMutate(data, size, maxSize);
  for (unsigned left = 1 + random() % 3; left > 0; --left)
    ModelMutator(model, random()).mutate();
  size_t written = write(model, data, maxSize);
  return written ? written : LLVMFuzzerMutate(data, size, maxSize);
}

extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t *data1, size_t size1, const uint8_t *data2,
                                            size_t size2, uint8_t *out, size_t maxOutSize, unsigned seed) {
  onnx::ModelProto model, other;
  if (!parse(model, data1, size1) || !parse(other, data2, size2))
    return 0;
  ModelMutator(model, seed).append(other);
  return write(model, out, maxOutSize);
}
