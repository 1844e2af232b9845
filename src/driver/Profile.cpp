//===- Profile.cpp - how long each kernel takes --------------------------------------------------===//
#include "driver/Profile.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>

namespace tokamak::driver {

static int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}
static void addSince(Profile *profile, int64_t symbol, int64_t start) {
  profile->add(static_cast<size_t>(symbol), start, now());
}

static int threadNumber() {
  static std::atomic<int> next = 0;
  thread_local int number = next.fetch_add(1, std::memory_order_relaxed);
  return number;
}

static constexpr size_t mostEvents = 1 << 16;

Profile::Profile(llvm::ArrayRef<codegen::ProgramStep> steps) {
  llvm::StringSet<> seen;
  for (const codegen::ProgramStep &step : steps) {
    if (!seen.insert(step.kernel).second)
      continue;
    names.push_back(step.kernel);
    isLibrary.push_back(step.kind == "library");
  }
  counters = std::make_unique<std::atomic<int64_t>[]>(names.size());
  calls.resize(mostEvents);
}

void Profile::add(size_t symbol, int64_t start, int64_t end) {
  counters[symbol].fetch_add(end - start, std::memory_order_relaxed);
  const size_t place = called.fetch_add(1, std::memory_order_relaxed);
  if (place < calls.size())
    calls[place] = {symbol, threadNumber(), start, end};
}

llvm::ArrayRef<Profile::Event> Profile::events() const {
  return llvm::ArrayRef(calls).take_front(std::min(called.load(), calls.size()));
}

void Profile::reset() {
  for (size_t i = 0; i < names.size(); ++i)
    counters[i].store(0, std::memory_order_relaxed);
  called.store(0, std::memory_order_relaxed);
}

std::map<std::string, void *> Profile::functions() {
  return {{"tk_profile_now", reinterpret_cast<void *>(now)},
          {"tk_profile_add", reinterpret_cast<void *>(addSince)}};
}

std::string Profile::stubs() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "declare i64 @tk_profile_now()\n"
     << "declare void @tk_profile_add(ptr, i64, i64)\n";
  for (size_t i = 0; i < names.size(); ++i) {
    // The signatures of TkLibraryFn and TkKernelFn.
    const char *result = isLibrary[i] ? "i32" : "void";
    const char *types = isLibrary[i] ? "ptr, ptr, ptr, ptr, ptr" : "ptr, i64, i64, ptr";
    const char *arguments =
        isLibrary[i] ? "ptr %0, ptr %1, ptr %2, ptr %3, ptr %4" : "ptr %0, i64 %1, i64 %2, ptr %3";
    os << "declare " << result << " @\"real." << names[i] << "\"(" << types << ")\n"
       << "define " << result << " @\"" << names[i] << "\"(" << arguments << ") {\n"
       << "  %start = call i64 @tk_profile_now()\n  " << (isLibrary[i] ? "%code = " : "") << "call " << result
       << " @\"real." << names[i] << "\"(" << arguments << ")\n"
       << "  call void @tk_profile_add(ptr inttoptr (i64 " << reinterpret_cast<uintptr_t>(this)
       << " to ptr), i64 " << i << ", i64 %start)\n"
       << "  ret " << (isLibrary[i] ? "i32 %code" : "void") << "\n}\n";
  }
  return text;
}

} // namespace tokamak::driver
