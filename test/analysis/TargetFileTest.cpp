//===- TargetFileTest.cpp - target descriptions as JSON files ---------------------------------------===//
#include "analysis/TargetFile.h"
#include "llvm/ADT/StringExtras.h"
#include "gtest/gtest.h"
#include <cstdlib>
#include <filesystem>
#include <fstream>

using namespace tokamak;

namespace {

std::string errorOf(const std::string &text) {
  TargetDescription target;
  return llvm::toString(readTarget(text, "t.json", target));
}

/// A file in a folder of the test's own, which is also the cache folder of the user.
class TargetFileTest : public testing::Test {
protected:
  TargetFileTest() {
    folder = std::filesystem::path(testing::TempDir()) /
             ("tokamak-target-" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
    std::filesystem::create_directories(folder / "tokamak");
    setenv("XDG_CACHE_HOME", folder.c_str(), 1);
  }
  ~TargetFileTest() override {
    unsetenv("XDG_CACHE_HOME");
    std::filesystem::remove_all(folder);
  }
  std::string write(const std::string &name, const std::string &text) {
    std::string path = (folder / name).string();
    std::ofstream(path) << text;
    return path;
  }
  std::filesystem::path folder;
};

} // namespace

TEST_F(TargetFileTest, WhatIsWrittenIsRead) {
  auto target = llvm::cantFail(TargetDescription::forCpu("x86-64-v3"));
  target.l1Bytes = 48 << 10;
  target.peakFlops = 123.5e9;
  target.bandwidth = {4e11, 3e11, 2e11, 1e11};
  target.dispatchSeconds = 0.75e-6;
  target.efficiency.window = 0.125;
  TargetDescription read = llvm::cantFail(TargetDescription::forCpu("x86-64-v3"));
  ASSERT_EQ(llvm::toString(readTarget(writeTarget(target), "t.json", read)), "");
  EXPECT_EQ(writeTarget(read), writeTarget(target));
  EXPECT_EQ(read.l1Bytes, 48 << 10);
  EXPECT_DOUBLE_EQ(read.peakFlops, 123.5e9);
  EXPECT_DOUBLE_EQ(read.bandwidth[3], 1e11);
  EXPECT_EQ(read.source, "t.json");
}

TEST_F(TargetFileTest, SmallCachesAreAFewKeys) {
  std::string path = write("small.json", R"({"l1_bytes": 32768, "l2_bytes": 262144, "l3_bytes": 2097152})");
  auto target = llvm::cantFail(resolveTarget("x86-64-v3", path));
  EXPECT_EQ(target.cpu, "x86-64-v3");
  EXPECT_EQ(target.capacity(MemoryLevel::L3), 2 << 20);
  EXPECT_EQ(target.lanes(), 8);
}

TEST_F(TargetFileTest, FaultsNameFileAndKey) {
  const std::pair<const char *, const char *> faults[] = {
      {"{", "target description 't.json': is not JSON"},
      {"[1]", "must hold one object"},
      {R"({"l1_byte": 1})", "there is no 'l1_byte'; known are cpu, call_us"},
      {R"({"l1_bytes": "32k"})", "'l1_bytes' must be an integer"},
      {R"({"l1_bytes": 32768.5})", "'l1_bytes' must be an integer"},
      {R"({"l1_bytes": 0})", "'l1_bytes' must be above 0"},
      {R"({"l1_bytes": -1})", "'l1_bytes' must be above 0"},
      {R"({"l3_bytes": 18446744073709551615})", "'l3_bytes' must be above 0 and at most"},
      {R"({"peak_gflops": 1e999})", "t.json"},
      {R"({"peak_gflops": null})", "'peak_gflops' must be a number"},
      {R"({"matmul_efficiency": 5})", "'matmul_efficiency' must be above 0 and at most 4"},
      {R"({"cpu": 7})", "'cpu' must be a string"},
      {R"({"l2_bytes": 1024})", "caches must grow from level to level"},
  };
  for (auto [text, expected] : faults)
    EXPECT_NE(errorOf(text).find(expected), std::string::npos) << text << ": " << errorOf(text);
}

TEST_F(TargetFileTest, AFaultLeavesTheTargetAlone) {
  TargetDescription target;
  EXPECT_NE(llvm::toString(readTarget(R"({"l1_bytes": 1024, "cores": 0})", "t.json", target)), "");
  EXPECT_EQ(target.l1Bytes, 32 << 10);
}

TEST_F(TargetFileTest, MissingFilesAndCpus) {
  auto missing = resolveTarget("native", (folder / "none.json").string());
  EXPECT_NE(llvm::toString(missing.takeError()).find("none.json': cannot be read"), std::string::npos);
  auto folderItself = resolveTarget("native", folder.string());
  EXPECT_NE(llvm::toString(folderItself.takeError()), "");
  auto unknown = resolveTarget("native", write("cpu.json", R"({"cpu": "z80"})"));
  EXPECT_NE(llvm::toString(unknown.takeError()).find("'z80' is unknown"), std::string::npos);
  auto v3 = llvm::cantFail(resolveTarget("native", write("v3.json", R"({"cpu": "x86-64-v3"})")));
  EXPECT_EQ(v3.cpu, "x86-64-v3");
}

TEST_F(TargetFileTest, CalibrationIsTakenWhereItIsOfThisMachine) {
  auto host = TargetDescription::forCpu("native");
  if (!host) {
    llvm::consumeError(host.takeError());
    GTEST_SKIP() << "this machine has no AVX2";
  }
  auto peak = [] { return llvm::cantFail(resolveTarget("native", "")).peakFlops; };
  EXPECT_EQ(defaultTargetFile(), (folder / "tokamak" / "target.json").string());
  EXPECT_DOUBLE_EQ(peak(), host->peakFlops);
  write("tokamak/target.json", R"({"cpu": ")" + host->cpu + R"(", "peak_gflops": 7})");
  EXPECT_DOUBLE_EQ(peak(), 7e9);
  EXPECT_EQ(llvm::cantFail(resolveTarget("native", "")).source, defaultTargetFile());
  // Another target is not this machine; another machine's file and a damaged one are not taken.
  EXPECT_NE(llvm::cantFail(resolveTarget("x86-64-v3", "")).peakFlops, 7e9);
  for (const char *text :
       {R"({"cpu": "haswell-of-old", "peak_gflops": 7})", R"({"peak_gflops": 7})", "{", ""}) {
    write("tokamak/target.json", text);
    EXPECT_DOUBLE_EQ(peak(), host->peakFlops) << text;
  }
}
