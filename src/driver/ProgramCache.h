//===- ProgramCache.h - the programs of a session, by input shapes ------------------------===//
#pragma once
#include "driver/Program.h"
#include "ir/Tensor.h"
#include <list>
#include <mutex>

namespace tokamak::driver {

/// An input's value as a look-up sees it. `data` may be null where there are no bytes.
struct KnownValue {
  bool known = false;
  const void *data = nullptr;
  size_t bytes = 0;
};

/// A few compiled programs; the least recently used goes when there are too many. A program fits a run if all
/// input shapes are equal and, for the inputs on whose value it is specialised, the values as well.
/// Thread-safe.
class ProgramCache {
public:
  explicit ProgramCache(size_t capacity) : capacity(capacity ? capacity : 1) {}

  /// The program for these inputs (in order), or null.
  std::shared_ptr<Program> find(llvm::ArrayRef<Shape> shapes, llvm::ArrayRef<KnownValue> values);
  /// `specialized`: numbers of the inputs whose values, found in `values`, the program depends on.
  void insert(llvm::ArrayRef<Shape> shapes, llvm::ArrayRef<size_t> specialized,
              llvm::ArrayRef<KnownValue> values, std::shared_ptr<Program> program);
  void clear();
  /// The program used last, or null.
  std::shared_ptr<Program> latest();

private:
  struct Entry {
    std::vector<Shape> shapes;
    std::vector<std::pair<size_t, std::string>> specialized; ///< input number, bytes of its value
    std::shared_ptr<Program> program;
  };
  std::mutex mutex;
  size_t capacity;
  std::list<Entry> entries; ///< most recently used first
};

} // namespace tokamak::driver
