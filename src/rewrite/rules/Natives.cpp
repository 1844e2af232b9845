//===- Natives.cpp - the conditions and builders that rules can call ----------------------------===//
#include "rewrite/rules/Natives.h"
#include "ir/Tk.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <optional>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::rules;

std::optional<double> rules::numberOf(Attribute attribute) {
  if (auto number = llvm::dyn_cast<FloatAttr>(attribute))
    return number.getValueAsDouble();
  auto number = llvm::dyn_cast<IntegerAttr>(attribute);
  if (!number)
    return std::nullopt;
  const llvm::APInt &value = number.getValue();
  if (number.getType().isInteger(1) || number.getType().isUnsignedInteger())
    return value.isIntN(53) ? std::optional(static_cast<double>(value.getZExtValue())) : std::nullopt;
  return value.isSignedIntN(53) ? std::optional(static_cast<double>(value.getSExtValue())) : std::nullopt;
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

/// All elements, of which there are some, equal the number as the element type rounds it, or are NaN as it
/// is.
static bool isSplat(llvm::ArrayRef<NativeArgument> arguments) {
  std::optional<Tensor> tensor = tk::constantValue(arguments[0].value);
  std::optional<double> number = numberOf(arguments[1].attribute);
  if (!tensor || !number || tensor->size() == 0)
    return false;
  std::optional<Tensor> scalar = scalarOf(tensor->type(), *number);
  if (!scalar)
    return false;
  const double expected = scalar->doubleAt(0);
  return llvm::all_of(llvm::seq<int64_t>(0, tensor->size()), [&](int64_t i) {
    const double element = tensor->doubleAt(i);
    return element == expected || (std::isnan(element) && std::isnan(expected));
  });
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
  constexpr ArgumentKind value = ArgumentKind::Value, number = ArgumentKind::Number;
  static const NativeConstraint all[] = {
      {"IsFloat", {value}, isFloatValue},  {"IsInteger", {value}, isIntegerValue},
      {"IsConstant", {value}, isConstant}, {"IsSplat", {value, number}, isSplat},
      {"HasOneUse", {value}, hasOneUse},   {"SameType", {value, value}, haveSameType},
      {"Tolerance", {number}, always},     {"AssumeFinite", {value}, always},
  };
  auto *found = llvm::find_if(all, [&](const NativeConstraint &one) { return one.name == name; });
  return found == std::end(all) ? nullptr : found;
}

const NativeRewrite *rules::findRewrite(llvm::StringRef name) {
  static const NativeRewrite all[] = {{"Splat", {ArgumentKind::Value, ArgumentKind::Number}, splat}};
  auto *found = llvm::find_if(all, [&](const NativeRewrite &one) { return one.name == name; });
  return found == std::end(all) ? nullptr : found;
}
