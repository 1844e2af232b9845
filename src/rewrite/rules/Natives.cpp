//===- Natives.cpp - the conditions and builders that rules can call ----------------------------===//
#include "rewrite/rules/Natives.h"
#include "ir/Tk.h"
#include "llvm/ADT/STLExtras.h"
#include <optional>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::rules;

static std::optional<double> numberOf(Attribute attribute) {
  if (auto number = llvm::dyn_cast<FloatAttr>(attribute))
    return number.getValueAsDouble();
  if (auto number = llvm::dyn_cast<IntegerAttr>(attribute); number && number.getValue().isSignedIntN(53))
    return static_cast<double>(number.getValue().getSExtValue());
  return std::nullopt;
}

/// `number` in the element type, as a tensor of rank 0; nothing where an integer type does not have it.
static std::optional<Tensor> scalarOf(DataType type, double number) {
  Tensor scalar(type, {});
  scalar.setDouble(0, number);
  if (!isFloat(type) && scalar.doubleAt(0) != number)
    return std::nullopt;
  return scalar;
}

static std::optional<DataType> dataType(Value value) {
  return fromMlir(tk::tensorType(value).getElementType());
}

static bool isFloatValue(llvm::ArrayRef<NativeArgument> arguments) {
  return isFloat(*dataType(arguments[0].value));
}
static bool isIntegerValue(llvm::ArrayRef<NativeArgument> arguments) {
  return isInteger(*dataType(arguments[0].value));
}
static bool isConstant(llvm::ArrayRef<NativeArgument> arguments) {
  return arguments[0].value.getDefiningOp<tk::ConstantOp>() != nullptr;
}

/// All elements, of which there are some, equal the number as the element type rounds it.
static bool isSplat(llvm::ArrayRef<NativeArgument> arguments) {
  std::optional<Tensor> tensor = tk::constantValue(arguments[0].value);
  std::optional<double> number = numberOf(arguments[1].attribute);
  if (!tensor || !number || tensor->size() == 0)
    return false;
  std::optional<Tensor> scalar = scalarOf(tensor->type(), *number);
  return scalar && llvm::all_of(llvm::seq<int64_t>(0, tensor->size()),
                                [&](int64_t i) { return tensor->doubleAt(i) == scalar->doubleAt(0); });
}

static bool hasOneUse(llvm::ArrayRef<NativeArgument> arguments) { return arguments[0].value.hasOneUse(); }
static bool haveSameType(llvm::ArrayRef<NativeArgument> arguments) {
  return arguments[0].value.getType() == arguments[1].value.getType();
}
/// Of statements about the rule (Tolerance, AssumeFinite), which the guard reads.
static bool always(llvm::ArrayRef<NativeArgument>) { return true; }

static Value splat(OpBuilder &builder, Location loc, llvm::ArrayRef<NativeArgument> arguments,
                   std::string &reason) {
  std::optional<double> number = numberOf(arguments[1].attribute);
  if (!number) {
    reason = "Splat takes a number";
    return {};
  }
  DataType type = *dataType(arguments[0].value);
  std::optional<Tensor> scalar = scalarOf(type, *number);
  if (!scalar) {
    reason = "Splat: " + name(type).str() + " does not have the number";
    return {};
  }
  return builder.create<tk::ConstantOp>(loc, scalar->mlirType(builder.getContext()),
                                        scalar->toAttr(builder.getContext()));
}

const NativeConstraint *rules::findConstraint(llvm::StringRef name) {
  constexpr ArgumentKind value = ArgumentKind::Value, attribute = ArgumentKind::Attribute;
  static const NativeConstraint all[] = {
      {"IsFloat", {value}, isFloatValue},  {"IsInteger", {value}, isIntegerValue},
      {"IsConstant", {value}, isConstant}, {"IsSplat", {value, attribute}, isSplat},
      {"HasOneUse", {value}, hasOneUse},   {"SameType", {value, value}, haveSameType},
      {"Tolerance", {attribute}, always},  {"AssumeFinite", {value}, always},
  };
  auto *found = llvm::find_if(all, [&](const NativeConstraint &one) { return one.name == name; });
  return found == std::end(all) ? nullptr : found;
}

const NativeRewrite *rules::findRewrite(llvm::StringRef name) {
  static const NativeRewrite all[] = {{"Splat", {ArgumentKind::Value, ArgumentKind::Attribute}, splat}};
  auto *found = llvm::find_if(all, [&](const NativeRewrite &one) { return one.name == name; });
  return found == std::end(all) ? nullptr : found;
}
