//===- ElementTypesTest.cpp - element types that an operator does not take -------------------===//
#include "ModelBuilder.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace tokamak;
using namespace tokamak::test;
using testing::EndsWith;

namespace {

constexpr const char *floatTypes = "float16, bfloat16, float32 or float64";
constexpr const char *integerTypes = "int8, int16, int32, int64, uint8, uint16, uint32 or uint64";

struct Case {
  std::string opType;
  DataType type;
  std::string taken, advised;
};

/// The error of one node of `inputs` called in0, in1, ..., of shape [2, 4].
std::string refusal(const std::string &opType, const std::vector<DataType> &inputs) {
  ModelBuilder m(18);
  Names names;
  for (auto [i, type] : llvm::enumerate(inputs)) {
    names.push_back("in" + std::to_string(i));
    m.input(names.back(), {2, 4}, type);
  }
  m.node(opType, names, {"y"}, "it");
  m.output("y");
  return importError(m);
}

} // namespace

TEST(ElementTypes, OfOneInputAreListed) {
  for (const Case &c :
       {Case{"Sqrt", DataType::Int64, floatTypes, "float32"},
        Case{"Cos", DataType::Int32, floatTypes, "float32"},
        Case{"Erf", DataType::UInt8, floatTypes, "float32"},
        Case{"Floor", DataType::Int64, floatTypes, "float32"},
        Case{"IsNaN", DataType::Int64, floatTypes, "float32"}, Case{"Not", DataType::Float32, "bool", "bool"},
        Case{"Neg", DataType::Bool, "any type but bool", "float32"},
        Case{"Abs", DataType::Bool, "any type but bool", "float32"},
        Case{"ArgMax", DataType::Bool, "any type but bool", "float32"},
        Case{"BitwiseNot", DataType::Float16, integerTypes, "int64"}})
    EXPECT_EQ(refusal(c.opType, {c.type}),
              ("test.onnx: node 'it' (" + c.opType + "): has input 'in0' of " + name(c.type) +
               "[2, 4], but takes " + c.taken + "; put a Cast to " + c.advised + " before it")
                  .str())
        << c.opType;
}

TEST(ElementTypes, OfOperatorsThatAreSeveralAreThoseOfTheInput) {
  for (const char *opType : {"Softmax", "Sigmoid", "Softplus", "Mish", "Elu", "Selu", "LogSoftmax"})
    EXPECT_EQ(refusal(opType, {DataType::Int64}), std::string("test.onnx: node 'it' (") + opType +
                                                      "): has input 'in0' of int64[2, 4], but takes " +
                                                      floatTypes + "; put a Cast to float32 before it");
}

TEST(ElementTypes, OfTwoInputsChangeTogether) {
  for (const Case &c : {Case{"And", DataType::Float32, "bool", "bool"},
                        Case{"Add", DataType::Bool, "any type but bool", "float32"},
                        Case{"Max", DataType::Bool, "any type but bool", "float32"},
                        Case{"Mod", DataType::Bool, "any type but bool", "float32"},
                        Case{"Pow", DataType::Bool, "any type but bool", "float32"},
                        Case{"BitwiseAnd", DataType::Float32, integerTypes, "int64"}})
    EXPECT_THAT(refusal(c.opType, {c.type, c.type}),
                EndsWith(("has input 'in0' of " + name(c.type) + "[2, 4], but takes " + c.taken +
                          "; put a Cast to " + c.advised + " before it")
                             .str()))
        << c.opType;
}

TEST(ElementTypes, NameTheInputThatIsWrong) {
  EXPECT_THAT(refusal("Where", {DataType::Float32, DataType::Float32, DataType::Float32}),
              EndsWith("has input 'in0' of float32[2, 4], but takes bool; put a Cast to bool before it"));
  EXPECT_THAT(
      refusal("ScatterElements", {DataType::Float32, DataType::Float32, DataType::Float32}),
      EndsWith("has input 'in1' of float32[2, 4], but takes int32 or int64; put a Cast to int64 before it"));
  EXPECT_THAT(
      refusal("Gather", {DataType::Float32, DataType::Float32}),
      EndsWith("has input 'in1' of float32[2, 4], but takes int32 or int64; put a Cast to int64 before it"));
}

TEST(ElementTypes, OfValuesInsideNameNoInput) {
  EXPECT_THAT(refusal("ReduceL2", {DataType::Bool}),
              EndsWith(std::string("(ReduceL2): computes with uint8, but takes ") + floatTypes +
                       "; put a Cast to float32 before its inputs"));
}

TEST(ElementTypes, ThatDifferAreBothNamed) {
  EXPECT_THAT(refusal("Add", {DataType::Int64, DataType::Float32}),
              EndsWith("operands have different element types: int64[2,4] and float32[2,4]; put a Cast "
                       "before one of them"));
}

TEST(ElementTypes, ThatAreWrongTwiceAreListed) {
  EXPECT_THAT(
      refusal("GatherElements", {DataType::Int64, DataType::Bool}),
      EndsWith("has input 'in1' of bool[2, 4], but takes int32 or int64; put a Cast to int64 before it"));
  ModelBuilder m;
  m.input("x", {1, 1, 4, 4}, DataType::Int32).input("rois", {2, 4}, DataType::Int32);
  m.input("images", {2}, DataType::Float32);
  m.node("RoiAlign", {"x", "rois", "images"}, {"y"}, "it");
  m.output("y");
  EXPECT_THAT(importError(m), EndsWith("(RoiAlign): does not take operands of these element types: int32, "
                                       "int32, float32; put Casts before them"));
}

TEST(ElementTypes, AreNotBlamedForShapes) {
  ModelBuilder m;
  m.input("a", {2, 3}).input("b", {4});
  m.node("Mul", {"a", "b"}, {"y"}, "it");
  m.output("y");
  EXPECT_THAT(importError(m),
              EndsWith("shapes [2,3] and [4] do not broadcast; check the shapes of its inputs "
                       "and its attributes"));
}
