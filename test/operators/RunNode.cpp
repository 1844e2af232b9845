//===- RunNode.cpp - one ONNX node through import and evaluation ---------------------------===//
#include "RunNode.h"

namespace tokamak::test {

static Inputs build(ModelBuilder &model, const Node &node) {
  Inputs values;
  Names inputs, outputs;
  for (const std::optional<Tensor> &value : node.inputs) {
    inputs.push_back(value ? "x" + std::to_string(inputs.size()) : "");
    if (!value)
      continue;
    Dims dims(value->shape().begin(), value->shape().end());
    model.input(inputs.back(), dims, value->type());
    values[inputs.back()] = *value;
  }
  for (int64_t i = 0; i < node.outputs; ++i) {
    outputs.push_back("y" + std::to_string(i));
    model.output(outputs.back());
  }
  node.attributes(model.node(node.opType, inputs, outputs));
  return values;
}

std::vector<Tensor> run(const Node &node) {
  ModelBuilder model(node.opset);
  Inputs values = build(model, node);
  std::vector<Tensor> results = evaluate(model, values, /*hinted=*/true);
  EXPECT_EQ(static_cast<int64_t>(results.size()), node.outputs) << node.opType;
  results.resize(node.outputs);
  return results;
}

Tensor run1(const Node &node) { return run(node).front(); }

std::string refusal(const Node &node) {
  ModelBuilder model(node.opset);
  import::ImportOptions options;
  options.hints = build(model, node);
  return importError(model, options);
}

Tensor typed(DataType type, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<double> values) {
  return floats(shape, values, type);
}

Tensor counting(llvm::ArrayRef<int64_t> shape, DataType type, double first) {
  Tensor t(type, shape);
  for (int64_t i = 0; i < t.size(); ++i)
    t.setDouble(i, first + static_cast<double>(i));
  return t;
}

} // namespace tokamak::test
