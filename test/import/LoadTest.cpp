//===- LoadTest.cpp - files that are no models, damaged models, versions ---------------------===//
#include "ModelBuilder.h"
#include "llvm/Support/FileSystem.h"
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>

using namespace tokamak;
using namespace tokamak::test;
using testing::HasSubstr;

static std::string smallModel() {
  ModelBuilder m;
  m.input("x", {2, 3}).initializer("w", floats({3}, {1, 2, 3})).output("y");
  m.node("Add", {"x", "w"}, {"t"}, "adds");
  addAttr(m.node("Softmax", {"t"}, {"y"}), "axis", int64_t(-1));
  return m.bytes();
}

TEST(Load, EmptyAndGarbage) {
  EXPECT_EQ(importError(std::string()), "test.onnx: the file is empty; give an ONNX model");
  EXPECT_THAT(importError("not a model"), HasSubstr("not an ONNX model"));
  EXPECT_THAT(importError(std::string(4096, '\0')), HasSubstr("not an ONNX model"));
  EXPECT_THAT(importError(onnx::ModelProto().SerializeAsString() + "\x08\x08"), HasSubstr("no graph"));
}

TEST(Load, EveryTruncationIsOneLine) {
  std::string bytes = smallModel();
  ASSERT_EQ(importError(bytes), "");
  for (size_t size = 0; size < bytes.size(); ++size)
    importError(bytes.substr(0, size));
}

TEST(Load, BitFlipsAreHarmless) {
  std::string bytes = smallModel();
  for (size_t at = 0; at < bytes.size(); ++at)
    for (int bit = 0; bit < 8; bit += 3) {
      std::string flipped = bytes;
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << bit));
      importError(flipped);
    }
}

TEST(Load, RandomBytesAreHarmless) {
  constexpr unsigned seed = 20;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  std::string bytes = smallModel();
  for (int i = 0; i < 300; ++i) {
    std::string changed = bytes;
    for (int j = 0; j < 4; ++j)
      changed[random() % changed.size()] = static_cast<char>(random());
    importError(changed);
  }
}

TEST(Load, Versions) {
  ModelBuilder old;
  old.input("x").output("y").graph.set_name("main");
  old.node("Relu", {"x"}, {"y"});
  old.proto().set_ir_version(2);
  EXPECT_THAT(importError(old), HasSubstr("IR version 2"));
  old.proto().set_ir_version(3);
  EXPECT_EQ(importError(old), "");
  old.proto().mutable_opset_import(0)->set_version(99);
  EXPECT_THAT(importError(old), HasSubstr("operator set 99 of ai.onnx"));
  old.proto().clear_opset_import();
  EXPECT_THAT(importError(old), HasSubstr("does not say which version"));
}

TEST(Load, UnknownOperatorsAndDomains) {
  ModelBuilder m;
  m.input("x").output("y");
  m.node("Frobnicate", {"x"}, {"y"});
  EXPECT_EQ(importError(m),
            "test.onnx: node 'Frobnicate_0' (Frobnicate): this operator is not supported; replace it by "
            "others");
  m.graph.mutable_node(0)->set_domain("com.example");
  EXPECT_THAT(importError(m), HasSubstr("the domain 'com.example' is not known"));
}

TEST(Load, NamesFromTheFileStayOnOneLine) {
  ModelBuilder m;
  m.input("x").output("y");
  m.node("Frob\nnicate", {"x"}, {"y"}, "a\nb\r\tc" + std::string(10000, 'n'));
  std::string line = importError(m);
  EXPECT_THAT(line, HasSubstr("node 'a?b??cnnn"));
  EXPECT_LT(line.size(), 1300u);
}

TEST(Load, Files) {
  auto errorOf = [](const std::string &path) {
    auto model = import::Model::fromFile(path);
    return model ? "" : llvm::toString(model.takeError());
  };
  EXPECT_THAT(errorOf("/does/not/exist.onnx"),
              HasSubstr("/does/not/exist.onnx: cannot be read (No such file"));
  EXPECT_THAT(errorOf("/"), HasSubstr("not a regular file"));
  EXPECT_THAT(errorOf("/dev/zero"), HasSubstr("not a regular file"));
  llvm::SmallString<128> path;
  ASSERT_FALSE(llvm::sys::fs::createTemporaryFile("model", "onnx", path));
  std::ofstream(path.c_str()) << smallModel();
  EXPECT_EQ(errorOf(path.str().str()), "");
  EXPECT_FALSE(llvm::sys::fs::remove(path));
}

TEST(Load, SignatureAndNodeCount) {
  ModelBuilder m;
  m.input("x", {std::string("N"), std::string(""), 3}).input("w", {3}).output("y").output("x");
  m.initializer("w", floats({3}, {1, 2, 3}));
  addAttr(m.node("Constant", {}, {"c"}), "value_float", 1.0);
  m.node("Add", {"x", "w"}, {"t"});
  m.node("Add", {"t", "c"}, {"y"});
  std::string bytes = m.bytes();
  auto model = import::Model::fromMemory(bytes.data(), bytes.size());
  ASSERT_TRUE(static_cast<bool>(model));
  const import::ModelSignature &signature = (*model)->signature();
  ASSERT_EQ(signature.inputs.size(), 1u) << "an initializer is no input";
  EXPECT_EQ(signature.inputs[0].shape, (std::vector<int64_t>{-1, -1, 3}));
  EXPECT_EQ(signature.inputs[0].symbols, (std::vector<std::string>{"N", "x[1]", ""}));
  EXPECT_EQ(signature.outputs.size(), 2u);
  EXPECT_FALSE(signature.outputs[0].ranked);
}
