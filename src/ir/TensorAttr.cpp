//===- TensorAttr.cpp - tensors as attributes of tk.constant ----------------------------===//
// Small tensors are DenseElementsAttr: uniqued, so equal constants are one attribute that CSE sees. Large
// ones are resources, which are neither hashed nor copied; their bytes stay those of the tensor they came
// from.
#include "ir/Tensor.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringExtras.h"
#include <cassert>
#include <cstring>
#include <mutex>

namespace tokamak {
namespace {

using Bytes = std::shared_ptr<std::vector<std::byte>>;

/// From this size on a constant is a resource.
constexpr size_t resourceBytes = 1025;

/// A resource blob hands out a bare pointer. This finds the tensor bytes behind it again, so that reading a
/// constant copies nothing. An entry lives as long as its blobs do. Shared by all contexts of the process.
class BlobOwners {
public:
  static BlobOwners &get() {
    // Never destroyed: a context may outlive all other static objects.
    static auto &owners = *new BlobOwners;
    return owners;
  }
  void retain(const Bytes &bytes) {
    std::lock_guard lock(mutex);
    Entry &entry = entries[bytes->data()];
    entry.bytes = bytes;
    ++entry.blobs;
  }
  void release(const std::byte *data) {
    std::lock_guard lock(mutex);
    auto it = entries.find(data);
    if (--it->second.blobs == 0)
      entries.erase(it);
  }
  Bytes find(const std::byte *data) {
    std::lock_guard lock(mutex);
    auto it = entries.find(data);
    return it == entries.end() ? nullptr : it->second.bytes;
  }

private:
  struct Entry {
    Bytes bytes;
    int64_t blobs = 0;
  };
  std::mutex mutex;
  llvm::DenseMap<const std::byte *, Entry> entries;
};

mlir::ElementsAttr toDense(const Tensor &tensor, mlir::RankedTensorType type) {
  if (tensor.type() == DataType::Bool) { // packed to bits inside MLIR
    llvm::SmallVector<bool> values;
    for (int64_t i = 0, n = tensor.isSplat() ? 1 : tensor.size(); i < n; ++i)
      values.push_back(tensor.intAt(i) != 0);
    return mlir::DenseElementsAttr::get(type, values);
  }
  const size_t bytes = tensor.isSplat() ? byteSize(tensor.type()) : tensor.byteCount();
  return mlir::DenseElementsAttr::getFromRawBuffer(
      type, llvm::ArrayRef<char>(reinterpret_cast<const char *>(tensor.bytes()), bytes));
}

/// `key`, or `key` with the first number that no resource has. The manager would count up from 1 for each, so
/// that many tensors of one shape take quadratic time; this doubles, and then bisects.
std::string freeKey(mlir::MLIRContext *context, const std::string &key) {
  auto &resources = mlir::DenseResourceElementsHandle::getManagerInterface(context).getBlobManager();
  auto numbered = [&](int64_t number) { return number ? key + "_" + llvm::itostr(number) : key; };
  auto isTaken = [&](int64_t number) { return resources.lookup(numbered(number)) != nullptr; };
  if (!isTaken(0))
    return key;
  int64_t taken = 0, free = 1;
  while (isTaken(free)) {
    taken = free;
    free *= 2;
  }
  while (free - taken > 1) {
    int64_t middle = taken + (free - taken) / 2;
    (isTaken(middle) ? taken : free) = middle;
  }
  return numbered(free);
}

} // namespace

mlir::ElementsAttr Tensor::toAttr(mlir::MLIRContext *context) const {
  mlir::RankedTensorType type = mlirType(context);
  if (byteCount() < resourceBytes || isSplat())
    return toDense(*this, type);
  BlobOwners::get().retain(data);
  mlir::AsmResourceBlob blob(
      llvm::ArrayRef<char>(reinterpret_cast<const char *>(bytes()), byteCount()), alignof(uint64_t),
      [](void *bytes, size_t, size_t) { BlobOwners::get().release(static_cast<std::byte *>(bytes)); },
      /*dataIsMutable=*/false);
  std::string key = name(dataType).str();
  for (int64_t d : dims)
    key += "_" + llvm::itostr(d);
  return mlir::DenseResourceElementsAttr::get(type, freeKey(context, key), std::move(blob));
}

Tensor Tensor::fromAttr(mlir::ElementsAttr attr) {
  auto type = llvm::cast<mlir::RankedTensorType>(attr.getType());
  if (auto resource = llvm::dyn_cast<mlir::DenseResourceElementsAttr>(attr)) {
    const mlir::AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    assert(blob && "the verifier of tk.constant refuses resources without data");
    Tensor tensor;
    tensor.dataType = *fromMlir(type.getElementType());
    tensor.dims.assign(type.getShape().begin(), type.getShape().end());
    tensor.count = type.getNumElements();
    const auto *begin = reinterpret_cast<const std::byte *>(blob->getData().data());
    assert(blob->getData().size() == tensor.byteCount() && "the verifier of tk.constant compares sizes");
    tensor.data = BlobOwners::get().find(begin);
    if (!tensor.data) // parsed from text
      tensor.data = std::make_shared<std::vector<std::byte>>(begin, begin + tensor.byteCount());
    return tensor;
  }
  auto dense = llvm::cast<mlir::DenseElementsAttr>(attr);
  Tensor tensor(type);
  if (tensor.type() == DataType::Bool) {
    int64_t i = 0;
    for (bool value : dense.getValues<bool>())
      tensor.setInt(i++, value);
    return tensor;
  }
  if (tensor.size() == 0)
    return tensor;
  const size_t step = byteSize(tensor.type());
  llvm::ArrayRef<char> raw = dense.getRawData();
  if (!dense.isSplat()) {
    std::memcpy(tensor.mutableBytes(), raw.data(), tensor.byteCount());
    return tensor;
  }
  for (int64_t i = 0; i < tensor.size(); ++i)
    std::memcpy(tensor.mutableBytes() + static_cast<size_t>(i) * step, raw.data(), step);
  return tensor;
}

} // namespace tokamak
