//===- TargetDescriptionTest.cpp - machines that code is emitted for --------------------------------===//
#include "analysis/TargetDescription.h"
#include "llvm/ADT/StringRef.h"
#include "gtest/gtest.h"

using namespace tokamak;

static std::string errorOf(const std::string &cpu) {
  auto target = TargetDescription::forCpu(cpu);
  return target ? "" : llvm::toString(target.takeError());
}

TEST(TargetDescription, LevelsOfTheArchitecture) {
  auto v3 = TargetDescription::forCpu("x86-64-v3");
  ASSERT_TRUE(bool(v3));
  EXPECT_EQ(v3->cpu, "x86-64-v3");
  EXPECT_EQ(v3->lanes(), 8);
  EXPECT_EQ(v3->vectorRegisters, 16);
  EXPECT_FALSE(v3->hasMaskRegisters);
  EXPECT_TRUE(llvm::StringRef(v3->features).contains("+avx2"));
  EXPECT_FALSE(llvm::StringRef(v3->features).contains("+avx512"));

  auto v4 = TargetDescription::forCpu("x86-64-v4");
  ASSERT_TRUE(bool(v4));
  EXPECT_EQ(v4->lanes(), 16);
  EXPECT_EQ(v4->vectorRegisters, 32);
  EXPECT_TRUE(v4->hasMaskRegisters);
}

TEST(TargetDescription, NamedCpus) {
  auto haswell = TargetDescription::forCpu("haswell");
  ASSERT_TRUE(bool(haswell));
  EXPECT_EQ(haswell->lanes(), 8);
  auto zen4 = TargetDescription::forCpu("znver4");
  ASSERT_TRUE(bool(zen4));
  EXPECT_EQ(zen4->lanes(), 16);
}

TEST(TargetDescription, RefusesWhatItCannotEmitFor) {
  EXPECT_NE(errorOf("x86-64").find("has no AVX2 and FMA"), std::string::npos);
  EXPECT_NE(errorOf("sandybridge").find("has no AVX2 and FMA"), std::string::npos);
  for (const char *unknown : {"", "pentium4", "cortex-a72", "no-such-cpu"})
    EXPECT_NE(errorOf(unknown).find("is unknown"), std::string::npos) << unknown;
}

TEST(TargetDescription, NativeIsThisMachine) {
  auto native = TargetDescription::forCpu("native");
  if (!native) {
    llvm::consumeError(native.takeError());
    GTEST_SKIP() << "this machine has no AVX2";
  }
  EXPECT_NE(native->cpu, "native");
  EXPECT_GE(native->l1Bytes, 16 << 10);
  EXPECT_GE(native->l2Bytes, native->l1Bytes);
  EXPECT_TRUE(llvm::StringRef(native->features).contains("+fma"));
}
