//===- WeightedGraph.cpp - small graphs of anchors with constant weights ----------------------------===//
#include "WeightedGraph.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "reference/RandomTensor.h"
#include "llvm/ADT/STLExtras.h"

namespace tokamak::test {

std::string typeOf(const Shape &shape) {
  std::string text = "tensor<";
  for (int64_t extent : shape)
    text += std::to_string(extent) + "x";
  return text + "f32>";
}

std::string WeightedGraph::input(const Shape &shape) {
  inputs.push_back({"%x" + std::to_string(inputs.size()), shape});
  return inputs.back().name;
}

std::string WeightedGraph::weight(const Shape &shape) {
  weights.push_back({"%w" + std::to_string(weights.size()), shape});
  return weights.back().name;
}

std::string WeightedGraph::add(const std::string &operation, const std::string &types, const Shape &result) {
  values.push_back({"%v" + std::to_string(values.size()), result});
  body += values.back().name + " = tk." + operation + " : (" + types + ") -> " + typeOf(result) + "\n";
  return values.back().name;
}

std::string WeightedGraph::conv(const std::string &x, const Shape &shape, int64_t channels, int64_t kernel,
                                int64_t padding, bool hasBias) {
  const Shape weightShape = {channels, shape[1], kernel, kernel};
  const int64_t grows = 2 * padding - kernel + 1;
  std::string operands = x + ", " + weight(weightShape), types = typeOf(shape) + ", " + typeOf(weightShape);
  if (hasBias) {
    operands += ", " + weight({channels});
    types += ", " + typeOf({channels});
  }
  const std::string pad = std::to_string(padding), pads = "array<i64: " + pad + ", " + pad + ">";
  return add("conv " + operands + " {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = " +
                 pads + ", pads_high = " + pads + ", group = 1 : i64}",
             types, {shape[0], channels, shape[2] + grows, shape[3] + grows});
}

std::string WeightedGraph::matmul(const std::string &x, const Shape &shape, int64_t columns) {
  const Shape weightShape = {shape.back(), columns};
  Shape result = shape;
  result.back() = columns;
  return add("matmul " + x + ", " + weight(weightShape), typeOf(shape) + ", " + typeOf(weightShape), result);
}

std::string WeightedGraph::binary(const std::string &op, const std::string &a, const std::string &b,
                                  const Shape &shape) {
  return add(op + " " + a + ", " + b, typeOf(shape) + ", " + typeOf(shapeOf(b)), shape);
}

std::string WeightedGraph::relu(const std::string &x, const Shape &shape) {
  const std::string zero = "%zero" + std::to_string(values.size());
  body += zero + " = tk.constant dense<0.0> : tensor<f32>\n";
  return add("max " + x + ", " + zero, typeOf(shape) + ", tensor<f32>", shape);
}

std::string WeightedGraph::throughInt8(const std::string &x, const Shape &shape) {
  std::string integers = typeOf(shape);
  integers.replace(integers.size() - 4, 3, "i8");
  body += "%integers = tk.cast " + x + " {to = i8} : (" + typeOf(shape) + ") -> " + integers + "\n";
  return add("cast %integers {to = f32}", integers, shape);
}

void WeightedGraph::result(const std::string &name, const Shape &shape) { results.push_back({name, shape}); }

const Shape &WeightedGraph::shapeOf(const std::string &name) const {
  for (const auto *list : {&inputs, &weights, &values})
    for (const Value &value : *list)
      if (value.name == name)
        return value.shape;
  llvm_unreachable("a value of this graph");
}

mlir::OwningOpRef<mlir::ModuleOp> WeightedGraph::build(mlir::MLIRContext &context,
                                                       uint64_t weightSeed) const {
  std::string arguments, returned, types;
  for (const auto *list : {&inputs, &weights})
    for (const Value &value : *list)
      arguments += (arguments.empty() ? "" : ", ") + value.name + ": " + typeOf(value.shape);
  for (const Value &value : results) {
    returned += (returned.empty() ? "" : ", ") + value.name;
    types += (types.empty() ? "" : ", ") + typeOf(value.shape);
  }
  auto module =
      mlir::parseSourceString<mlir::ModuleOp>("func.func @main(" + arguments + ") -> (" + types + ") {\n" +
                                                  body + "return " + returned + " : " + types + "\n}",
                                              &context);
  if (!module)
    return module;
  auto function = *module->getOps<mlir::func::FuncOp>().begin();
  auto builder = mlir::OpBuilder::atBlockBegin(&function.getBody().front());
  const auto first = static_cast<unsigned>(inputs.size());
  for (auto [i, value] : llvm::enumerate(weights)) {
    Tensor tensor = reference::randomIntegers(DataType::Float32, value.shape, weightSeed + i, -4, 4);
    function.getArgument(first + static_cast<unsigned>(i))
        .replaceAllUsesWith(builder.create<tk::ConstantOp>(builder.getUnknownLoc(), tensor.mlirType(&context),
                                                           tensor.toAttr(&context)));
  }
  llvm::BitVector constant(function.getNumArguments());
  constant.set(first, function.getNumArguments());
  function.eraseArguments(constant);
  return module;
}

std::vector<Tensor> WeightedGraph::integerInputs(uint64_t seed) const {
  std::vector<Tensor> tensors;
  for (const Value &value : inputs)
    tensors.push_back(reference::randomIntegers(DataType::Float32, value.shape, seed++, -4, 4));
  return tensors;
}

std::vector<Tensor> WeightedGraph::realInputs(uint64_t seed) const {
  std::vector<Tensor> tensors;
  for (const Value &value : inputs)
    tensors.push_back(reference::randomTensor(DataType::Float32, value.shape, seed++));
  return tensors;
}

WeightedGraph threeConvolutions(int64_t batch) {
  WeightedGraph graph;
  const Shape shape = {batch, 5, 7, 6};
  std::string x = graph.input(shape);
  for (int64_t channels : {6, 16, 3}) {
    const Shape own = {batch, channels, 7, 6};
    graph.result(graph.relu(graph.conv(x, shape, channels, 3, 1, channels != 16), own), own);
  }
  return graph;
}

WeightedGraph projections() {
  WeightedGraph graph;
  const Shape shape = {2, 5, 8};
  std::string x = graph.input(shape);
  for (int64_t columns : {8, 4, 6}) {
    const Shape own = {2, 5, columns};
    std::string biased = graph.binary("add", graph.matmul(x, shape, columns), graph.weight({columns}), own);
    graph.result(columns == 4 ? graph.binary("mul", biased, graph.weight({1}), own) : biased, own);
  }
  return graph;
}

WeightedGraph summedConvolutions() {
  WeightedGraph graph;
  const Shape left = {2, 3, 6, 5}, right = {2, 4, 6, 5}, own = {2, 7, 6, 5};
  std::string a = graph.conv(graph.input(left), left, 7, 3, 1, true),
              b = graph.conv(graph.input(right), right, 7, 3, 1, false);
  graph.result(graph.relu(graph.binary("add", a, b, own), own), own);
  return graph;
}

WeightedGraph summedProducts() {
  WeightedGraph graph;
  const Shape left = {5, 8}, right = {5, 3}, own = {5, 6};
  std::string a = graph.matmul(graph.input(left), left, 6), b = graph.matmul(graph.input(right), right, 6);
  graph.result(graph.binary("add", a, b, own), own);
  return graph;
}

WeightedGraph lectureExample(int64_t extent, int64_t channels, bool fromIntegers) {
  WeightedGraph graph;
  const Shape shape = {1, channels, extent, extent};
  std::string x = graph.input(shape);
  if (fromIntegers)
    x = graph.throughInt8(x, shape);
  std::string a = graph.conv(x, shape, channels, 1, 0, true), b = graph.conv(x, shape, channels, 3, 1, true);
  std::string c = graph.conv(b, shape, channels, 3, 1, true);
  graph.result(graph.relu(graph.binary("add", c, a, shape), shape), shape);
  return graph;
}

} // namespace tokamak::test
