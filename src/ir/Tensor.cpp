//===- Tensor.cpp - a tensor value in the compiler's memory ----------------------------===//
#include "ir/Tensor.h"
#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>

namespace tokamak {
namespace {

int64_t elementCount(llvm::ArrayRef<int64_t> shape) {
  int64_t n = 1;
  for (int64_t d : shape) {
    assert(d >= 0 && "tensors have static shapes");
    n *= d;
  }
  return n;
}

template <typename T>
T load(const std::byte *bytes, int64_t i) {
  T value;
  std::memcpy(&value, bytes + i * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return value;
}

template <typename T>
void store(std::byte *bytes, int64_t i, T value) {
  std::memcpy(bytes + i * static_cast<int64_t>(sizeof(T)), &value, sizeof(T));
}

/// Truncation toward zero; what int64 cannot hold (NaN too) is its most negative number, as x86 converts.
int64_t truncate(double value) {
  if (value >= -0x1p63 && value < 0x1p63)
    return static_cast<int64_t>(value);
  return std::numeric_limits<int64_t>::min();
}

/// A double that rounds to the same float of up to 40 bits of precision as the integer does: where the
/// integer has more bits than a double, the lowest one kept is made sticky.
double stickyDouble(int64_t value) {
  if (value > -(int64_t(1) << 53) && value < (int64_t(1) << 53))
    return static_cast<double>(value);
  const int64_t low = value & 0xfff;
  return static_cast<double>((value & ~int64_t(0xfff)) | (low ? 0x800 : 0));
}

} // namespace

Tensor::Tensor(DataType type, llvm::ArrayRef<int64_t> shape)
    : dataType(type), dims(shape.begin(), shape.end()), count(elementCount(shape)),
      data(std::make_shared<std::vector<std::byte>>(byteCount())) {}

Tensor::Tensor(mlir::RankedTensorType type) : Tensor(*fromMlir(type.getElementType()), type.getShape()) {}

Tensor Tensor::scalar(DataType type, double value) {
  Tensor t(type, {});
  t.setDouble(0, value);
  return t;
}

Tensor Tensor::scalarInt(DataType type, int64_t value) {
  Tensor t(type, {});
  t.setInt(0, value);
  return t;
}

Tensor Tensor::fromInts(llvm::ArrayRef<int64_t> values) {
  Tensor t(DataType::Int64, {static_cast<int64_t>(values.size())});
  for (size_t i = 0; i < values.size(); ++i)
    t.setInt(static_cast<int64_t>(i), values[i]);
  return t;
}

double Tensor::doubleAt(int64_t i) const {
  assert(i >= 0 && i < count);
  switch (dataType) {
  case DataType::Float32:
    return load<float>(bytes(), i);
  case DataType::Float64:
    return load<double>(bytes(), i);
  case DataType::Float16:
    return halfToFloat(load<uint16_t>(bytes(), i));
  case DataType::BFloat16:
    return bfloatToFloat(load<uint16_t>(bytes(), i));
  case DataType::UInt64:
    return static_cast<double>(load<uint64_t>(bytes(), i));
  default:
    return static_cast<double>(intAt(i));
  }
}

int64_t Tensor::intAt(int64_t i) const {
  assert(i >= 0 && i < count);
  switch (dataType) {
  case DataType::Bool:
    return load<uint8_t>(bytes(), i) != 0;
  case DataType::Int8:
    return load<int8_t>(bytes(), i);
  case DataType::UInt8:
    return load<uint8_t>(bytes(), i);
  case DataType::Int16:
    return load<int16_t>(bytes(), i);
  case DataType::UInt16:
    return load<uint16_t>(bytes(), i);
  case DataType::Int32:
    return load<int32_t>(bytes(), i);
  case DataType::UInt32:
    return load<uint32_t>(bytes(), i);
  case DataType::Int64:
  case DataType::UInt64:
    return load<int64_t>(bytes(), i);
  default:
    return truncate(doubleAt(i));
  }
}

void Tensor::setDouble(int64_t i, double value) {
  assert(i >= 0 && i < count);
  switch (dataType) {
  case DataType::Float32:
    return store(mutableBytes(), i, static_cast<float>(value));
  case DataType::Float64:
    return store(mutableBytes(), i, value);
  case DataType::Float16:
    return store(mutableBytes(), i, floatToHalf(value));
  case DataType::BFloat16:
    return store(mutableBytes(), i, floatToBfloat(value));
  case DataType::Bool:
    return store(mutableBytes(), i, static_cast<uint8_t>(value != 0));
  case DataType::UInt64:
    if (value >= 0x1p63 && value < 0x1p64)
      return store(mutableBytes(), i, static_cast<uint64_t>(value));
    return setInt(i, truncate(value));
  default:
    return setInt(i, truncate(value));
  }
}

void Tensor::setInt(int64_t i, int64_t value) {
  assert(i >= 0 && i < count);
  switch (dataType) {
  case DataType::Float32:
    return store(mutableBytes(), i, static_cast<float>(value));
  case DataType::Float64:
    return store(mutableBytes(), i, static_cast<double>(value));
  case DataType::Float16:
  case DataType::BFloat16:
    return setDouble(i, stickyDouble(value));
  case DataType::Bool:
    return store(mutableBytes(), i, static_cast<uint8_t>(value != 0));
  case DataType::Int8:
  case DataType::UInt8:
    return store(mutableBytes(), i, static_cast<uint8_t>(value));
  case DataType::Int16:
  case DataType::UInt16:
    return store(mutableBytes(), i, static_cast<uint16_t>(value));
  case DataType::Int32:
  case DataType::UInt32:
    return store(mutableBytes(), i, static_cast<uint32_t>(value));
  case DataType::Int64:
  case DataType::UInt64:
    return store(mutableBytes(), i, value);
  }
}

llvm::SmallVector<int64_t> Tensor::ints() const {
  llvm::SmallVector<int64_t> values(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i)
    values[static_cast<size_t>(i)] = intAt(i);
  return values;
}

Tensor Tensor::reshaped(llvm::ArrayRef<int64_t> shape) const {
  assert(elementCount(shape) == count && "a reshape keeps the number of elements");
  Tensor t = *this;
  t.dims.assign(shape.begin(), shape.end());
  return t;
}

bool Tensor::isSplat() const {
  if (count == 0)
    return false;
  // All elements equal the first exactly when the bytes equal themselves one element later.
  const size_t step = byteSize(dataType);
  return std::memcmp(bytes(), bytes() + step, byteCount() - step) == 0;
}

mlir::RankedTensorType Tensor::mlirType(mlir::MLIRContext *context) const {
  return mlir::RankedTensorType::get(dims, toMlir(dataType, context));
}

} // namespace tokamak
