//===- TargetDescription.cpp - the machine that code is emitted for ---------------------===//
#include "analysis/TargetDescription.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/X86TargetParser.h"
#include <algorithm>
#include <limits>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace tokamak;

/// What one file below /sys holds; empty where there is none.
static std::string readSystemFile(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFileAsStream(path);
  return buffer ? (*buffer)->getBuffer().trim().str() : "";
}

/// The size that the system reports, or `fallback` where it reports none (containers, some hypervisors).
/// `level` as /sys numbers it: there a cache is what its cores share, while sysconf may add up all caches of
/// a socket.
static int64_t cacheBytes(int level, int name, int64_t fallback) {
  constexpr int mostCaches = 8;
  for (int i = 0; i < mostCaches; ++i) {
    const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(i) + "/";
    if (readSystemFile(folder + "level") != std::to_string(level) ||
        readSystemFile(folder + "type") == "Instruction")
      continue;
    const std::string size = readSystemFile(folder + "size"); // "32768K"
    int64_t kilobytes = 0;
    if (llvm::StringRef(size).ends_with("K") &&
        !llvm::StringRef(size).drop_back().getAsInteger(10, kilobytes) && kilobytes > 0)
      return kilobytes << 10;
  }
  long bytes = sysconf(name);
  return bytes > 0 ? bytes : fallback;
}

/// The feature names of a CPU that LLVM knows, those implied by others included (AVX512BW implies AVX512F).
static std::vector<std::string> featuresOf(const std::string &cpu) {
  llvm::SmallVector<llvm::StringRef> listed;
  llvm::X86::getFeaturesForCPU(cpu, listed);
  llvm::StringMap<bool> all;
  for (llvm::StringRef name : listed) {
    all[name] = true;
    llvm::X86::updateImpliedFeatures(name, true, all);
  }
  std::vector<std::string> names;
  for (const auto &feature : all)
    if (feature.second)
      names.push_back(feature.first().str());
  return names;
}

/// The features of this machine: what LLVM knows of its CPU may be more than the system lets us use.
static std::vector<std::string> hostFeatures() {
  std::vector<std::string> names;
  for (const auto &feature : llvm::sys::getHostCPUFeatures())
    if (feature.second)
      names.push_back(feature.first().str());
  return names;
}

/// Vectors that a core multiplies and adds each cycle. Two everywhere but on cores that split 512-bit vectors
/// or have one unit for them.
static double multiplyAddsPerCycle(llvm::StringRef cpu, int64_t vectorBytes) {
  const bool halved = vectorBytes == 64 && (cpu == "znver4" || cpu == "icelake-client" ||
                                            cpu == "tigerlake" || cpu == "rocketlake");
  return halved ? 1 : 2;
}

/// Bytes a second that one core reads from memory. What is taken for others is that of servers whose many
/// cores share it; a core of these keeps more lines in flight (45 GB/s measured on the last of them).
static double memoryBandwidth(llvm::StringRef cpu, double others) {
  const bool isWide = cpu == "znver3" || cpu == "znver4" || cpu == "znver5";
  return isWide ? 24e9 : others;
}

int64_t TargetDescription::capacity(MemoryLevel level) const {
  switch (level) {
  case MemoryLevel::L1:
    return l1Bytes;
  case MemoryLevel::L2:
    return l2Bytes;
  case MemoryLevel::L3:
    return l3Bytes;
  case MemoryLevel::Memory:
    break;
  }
  return std::numeric_limits<int64_t>::max();
}

/// Of the CPU, or the defaults where code cannot be emitted for it.
static TargetDescription described(const char *cpu) {
  llvm::Expected<TargetDescription> target = TargetDescription::forCpu(cpu);
  if (target)
    return *target;
  llvm::consumeError(target.takeError());
  return {};
}

// The system is asked once: searches describe targets for each graph that they price.
TargetDescription TargetDescription::host() {
  static const TargetDescription target = described("native");
  return target;
}

TargetDescription TargetDescription::reference() {
  static const TargetDescription target = described("x86-64-v4");
  return target;
}

llvm::Expected<TargetDescription> TargetDescription::forCpu(const std::string &cpu) {
  TargetDescription target;
  const bool native = cpu == "native";
  target.cpu = native ? llvm::sys::getHostCPUName().str() : cpu;
  if (llvm::X86::parseArchX86(target.cpu, /*Only64Bit=*/true) == llvm::X86::CK_None)
    return llvm::createStringError(
        "target CPU '" + target.cpu +
        "' is unknown: use native, x86-64-v3, x86-64-v4 or an x86-64 CPU name of LLVM");

  std::vector<std::string> features = native ? hostFeatures() : featuresOf(target.cpu);
  std::sort(features.begin(), features.end());
  auto has = [&](llvm::StringRef name) { return std::binary_search(features.begin(), features.end(), name); };
  if (!has("avx2") || !has("fma"))
    return llvm::createStringError(
        "target CPU '" + target.cpu +
        "' has no AVX2 and FMA, which emitted kernels need: use x86-64-v3 or newer");
  for (const std::string &name : features)
    target.features += (target.features.empty() ? "+" : ",+") + name;
  target.features += ",-avx512vnni,-avxvnni,-avxvnniint8,-avxvnniint16"; // see TargetDescription::features

  // Masked loads and stores on all element types need BW besides F; VL gives the shorter vectors of tails.
  if (has("avx512f") && has("avx512bw") && has("avx512dq") && has("avx512vl")) {
    target.vectorBytes = 64;
    target.vectorRegisters = 32;
    target.hasMaskRegisters = true;
  }
  // The caches of a machine that is only named are not known: its kernels are tiled for the defaults.
  if (native) {
    target.l1Bytes = cacheBytes(1, _SC_LEVEL1_DCACHE_SIZE, target.l1Bytes);
    target.l2Bytes = cacheBytes(2, _SC_LEVEL2_CACHE_SIZE, target.l2Bytes);
    target.l3Bytes = cacheBytes(3, _SC_LEVEL3_CACHE_SIZE, target.l3Bytes);
    target.cores = std::max<int64_t>(1, std::thread::hardware_concurrency());
  }
  target.peakFlops = target.clockHz * multiplyAddsPerCycle(target.cpu, target.vectorBytes) * 2 *
                     static_cast<double>(target.lanes());
  double &memory = target.bandwidth[static_cast<size_t>(MemoryLevel::Memory)];
  memory = memoryBandwidth(target.cpu, memory);
  target.sharedMemoryBandwidth = std::max(target.sharedMemoryBandwidth, memory);
  return target;
}
