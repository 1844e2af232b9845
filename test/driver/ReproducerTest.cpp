//===- ReproducerTest.cpp - what a fault of ours leaves behind
//------------------------------------------------===//
#include "driver/Reproducer.h"
#include "TestModels.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/MemoryBuffer.h"
#include <csignal>
#include <filesystem>
#include <gtest/gtest.h>

using namespace tokamak;
using namespace tokamak::driver;

namespace {

TEST(Reproducer, CanBeReadAgain) {
  std::string bytes = test::testModel("dense");
  auto model = import::Model::fromMemory(bytes.data(), bytes.size());
  ASSERT_TRUE(static_cast<bool>(model));
  CompileOptions options;
  options.reproducerDirectory = testing::TempDir();
  options.disabledPasses = {"fold-constants", "eliminate-dead-code"};
  auto imported = importModel(**model, options);
  ASSERT_TRUE(static_cast<bool>(imported));
  std::string path = writeReproducer(*imported->imported, options, "two\nlines");
  ASSERT_FALSE(path.empty());
  EXPECT_NE(path.find("tokamak-crash-"), std::string::npos);

  auto context = makeContext();
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(path, context.get());
  ASSERT_TRUE(module);
  EXPECT_TRUE(mlir::succeeded(mlir::verify(*module)));
  auto text = llvm::MemoryBuffer::getFile(path);
  ASSERT_TRUE(text);
  EXPECT_TRUE((*text)->getBuffer().starts_with("// A fault in Tokamak: two; lines\n"));
  EXPECT_TRUE(
      (*text)->getBuffer().contains("fusion=full fuel=-1 disable=fold-constants,eliminate-dead-code"));
  std::filesystem::remove(path);

  options.rules = {"a.pdll", "b.pdll"};
  options.trustRules = true;
  path = writeReproducer(*imported->imported, options, "fault");
  text = llvm::MemoryBuffer::getFile(path);
  ASSERT_TRUE(text);
  EXPECT_TRUE((*text)->getBuffer().contains("apply-rules{rules=a.pdll,b.pdll trust=true},tokamak-pipeline{"));
  std::filesystem::remove(path);

  options.reproducerDirectory = "/no/such/folder";
  EXPECT_EQ(writeReproducer(*imported->imported, options, "fault"), "");
}

TEST(Reproducer, CrashesAreContained) {
  bool reached = false;
  EXPECT_TRUE(runContained([&] { reached = true; }));
  EXPECT_TRUE(reached);
  EXPECT_FALSE(runContained([] { std::abort(); }));
  EXPECT_FALSE(runContained([] { std::raise(SIGSEGV); }));
}

} // namespace
