//===- ImportFuzzer.cpp - any bytes give a valid module or one error line ---------------------===//
#include "import/Import.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include <cstdio>
#include <cstdlib>

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

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  auto model = tokamak::import::Model::fromMemory(data, size);
  if (!model) {
    checkLine(model.takeError());
    return 0;
  }
  // A context of its own: attributes live as long as their context.
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  auto imported = (*model)->import(context, {});
  if (imported)
    require(mlir::succeeded(mlir::verify(*imported->module)), "the module is not valid");
  else
    checkLine(imported.takeError());
  return 0;
}
