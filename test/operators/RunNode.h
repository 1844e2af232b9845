//===- RunNode.h - one ONNX node through import and evaluation -----------------------------===//
#pragma once
#include "ModelBuilder.h"
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <optional>

namespace tokamak::test {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double NaN = std::numeric_limits<double>::quiet_NaN();

using Attributes = std::function<void(onnx::NodeProto &)>;
inline void noAttributes(onnx::NodeProto &) {}

/// A node of `opType` whose inputs are graph inputs x0, x1, ... (an absent one has an empty name).
struct Node {
  std::string opType;
  int64_t opset;
  std::vector<std::optional<Tensor>> inputs;
  Attributes attributes = noAttributes;
  int64_t outputs = 1;
};

/// The outputs; the values of the inputs are hints.
std::vector<Tensor> run(const Node &node);
/// The first output.
Tensor run1(const Node &node);
/// The reason why the node is not imported; "" where it is.
std::string refusal(const Node &node);

Tensor typed(DataType type, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<double> values);
inline Tensor scalar(double value, DataType type = DataType::Float32) { return typed(type, {}, {value}); }
/// 0, 1, 2, ...
Tensor counting(llvm::ArrayRef<int64_t> shape, DataType type = DataType::Float32, double first = 0);

} // namespace tokamak::test
