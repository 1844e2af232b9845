//===- Control.cpp - Constant, Identity, If -----------------------------------------------===//
#include "import/ErrorLine.h"
#include "import/ops/LoopBuilder.h"
#include "onnx/onnx_pb.h"

namespace tokamak::import {

static Result importConstant(NodeContext &n) {
  Body &b = n.body();
  if (n.hasAttr("value"))
    return Values{b.constant(*n.tensorAttr("value"))};
  if (n.hasAttr("sparse_value"))
    return Values{b.constant(*n.tensorAttr("sparse_value"))};
  if (n.hasAttr("value_float"))
    return Values{b.scalar(DataType::Float32, n.floatAttr("value_float", 0))};
  if (n.hasAttr("value_int"))
    return Values{b.constant(Tensor::scalarInt(DataType::Int64, n.intAttr("value_int", 0)))};
  if (std::optional<llvm::SmallVector<int64_t>> ints = n.intsAttr("value_ints"))
    return Values{b.constant(Tensor::fromInts(*ints))};
  if (std::optional<llvm::SmallVector<double>> floats = n.floatsAttr("value_floats")) {
    Tensor tensor(DataType::Float32, {static_cast<int64_t>(floats->size())});
    for (size_t i = 0; i < floats->size(); ++i)
      tensor.setDouble(static_cast<int64_t>(i), (*floats)[i]);
    return Values{b.constant(tensor)};
  }
  if (n.hasAttr("value_string") || n.hasAttr("value_strings"))
    return n.error("holds strings, which cannot be compiled; use a model without them");
  return n.error("has no value; the file is damaged");
}

static Result importIdentity(NodeContext &n) { return Values{n.anyInput(0)}; }

//===----------------------------------------------------------------------------------------------------===//
// If
//===----------------------------------------------------------------------------------------------------===//

namespace {

/// One branch in a region of its own, not yet part of the graph.
struct Branch {
  std::unique_ptr<mlir::Region> region = std::make_unique<mlir::Region>();
  Values results;

  llvm::Error import(NodeContext &n, llvm::StringRef attribute) {
    mlir::OpBuilder at = openBlock(n.body().builder.getContext(), *region);
    Result imported = [&]() -> Result {
      try {
        return n.importSubgraph(attribute, {}, at);
      } catch (const ImportFault &fault) {
        return n.error(fault.reason);
      }
    }();
    if (!imported)
      return imported.takeError();
    results = *imported;
    at.create<tk::YieldOp>(n.body().loc, ValueRange(results));
    return llvm::Error::success();
  }
};

std::string typesText(ValueRange values) {
  std::string text;
  for (Value value : values)
    text += (text.empty() ? "" : ", ") +
            (isTensor(value) ? name(typeOf(value)).str() + shapeText(shapeOf(value)) : "a sequence");
  return text;
}

} // namespace

static Result importTaken(NodeContext &n, const Tensor &condition) {
  return n.importSubgraph(condition.intAt(0) != 0 ? "then_branch" : "else_branch", {}, n.body().builder);
}

static Result importIf(NodeContext &n) {
  Value condition = n.input(0);
  if (typeOf(condition) != DataType::Bool || tk::tensorType(condition).getNumElements() != 1)
    return n.error("its condition must be one bool, not " + name(typeOf(condition)) +
                   shapeText(shapeOf(condition)));
  if (std::optional<Tensor> known = n.ifConstant(0))
    return importTaken(n, *known);

  // Both branches, if they can be compiled and agree; otherwise only the one that runs, if that can be known.
  std::string obstacle;
  {
    Branch taken, other;
    for (auto [branch, attribute] : {std::pair(&taken, "then_branch"), std::pair(&other, "else_branch")})
      if (llvm::Error error = branch->import(n, attribute)) {
        obstacle = "(one of the branches cannot be compiled: " + n.innerText(std::move(error)) + ")";
        break;
      }
    if (obstacle.empty() && (ValueRange(taken.results).getTypes() != ValueRange(other.results).getTypes() ||
                             !llvm::all_of(taken.results, isTensor)))
      obstacle = "(the branches give " + typesText(taken.results) + " and " + typesText(other.results) + ")";
    if (obstacle.empty()) {
      mlir::OperationState state(n.body().loc, tk::IfOp::getOperationName());
      state.addOperands(condition);
      state.addTypes(llvm::to_vector(ValueRange(taken.results).getTypes()));
      state.addRegion(std::move(taken.region));
      state.addRegion(std::move(other.region));
      return Values(n.body().builder.create(state)->getResults());
    }
    n.forgetValues();
  }
  return importTaken(n, n.constantInput(0, "its condition " + obstacle));
}

void registerControl(Registry &registry) {
  registry.add("Constant", importConstant);
  registry.add("Identity", importIdentity);
  registry.add("If", importIf);
}

} // namespace tokamak::import
