//===- ElementwiseTest.cpp - activations, casts, integers, quantisation --------------------===//
#include "RunNode.h"
#include <cmath>

using namespace tokamak;
using namespace tokamak::test;
using testing::HasSubstr;

TEST(Activations, ExtremeValues) {
  Tensor x = floats({5}, {-inf, -1e4, 0, 1e4, inf});
  expectTensor(run1({"Sigmoid", 13, {x}}), {5}, {0, 0, 0.5, 1, 1});
  expectTensor(run1({"Softplus", 1, {x}}), {5}, {0, 0, std::log(2.0), 1e4, inf});
  expectTensor(run1({"Elu", 6, {x}}), {5}, {-1, -1, 0, 1e4, inf});
  expectTensor(run1({"Celu", 12, {x}}), {5}, {-1, -1, 0, 1e4, inf});
  expectTensor(run1({"Relu", 14, {floats({2}, {NaN, -1})}}), {2}, {NaN, 0});
  expectTensor(run1({"Clip", 13, {floats({2}, {NaN, -1}), scalar(0)}}), {2}, {NaN, 0});
}

TEST(Activations, GeluAndMish) {
  Tensor x = floats({3}, {-1, 0, 2});
  auto approximate = [](onnx::NodeProto &n) { addAttr(n, "approximate", std::string("tanh")); };
  expectTensor(run1({"Gelu", 20, {x}}), {3}, {-0.15865526, 0, 1.9544997});
  expectTensor(run1({"Gelu", 20, {x}, approximate}), {3}, {-0.15880801, 0, 1.9545977});
  expectTensor(run1({"Mish", 18, {x}}), {3}, {-0.30340147, 0, 1.9439590});
  EXPECT_THAT(
      refusal({"Gelu", 20, {x}, [](onnx::NodeProto &n) { addAttr(n, "approximate", std::string("erf")); }}),
      HasSubstr("approximate must be none or tanh"));
}

TEST(Clip, BoundsOfAnyForm) {
  Tensor x = floats({3}, {-2, 0, 2});
  // min above max: the result is max.
  expectTensor(run1({"Clip", 13, {x, scalar(1), scalar(-1)}}), {3}, {-1, -1, -1});
  expectTensor(run1({"Clip", 13, {x, std::nullopt, floats({1}, {1})}}), {3}, {-2, 0, 1});
  expectTensor(run1({"Clip", 13, {scalar(5), floats({1}, {6})}}), {}, {6});
  expectTensor(run1({"Clip", 13, {x}}), {3}, {-2, 0, 2});
  EXPECT_THAT(refusal({"Clip", 13, {x, floats({2}, {0, 1})}}), HasSubstr("min must have one element"));
}

TEST(Pow, MixedTypes) {
  Tensor base = typed(DataType::Int32, {2}, {2, 3});
  Tensor root = run1({"Pow", 15, {base, floats({2}, {0.5, 2})}});
  EXPECT_EQ(root.type(), DataType::Int32);
  expectTensor(root, {2}, {1, 9});
  expectTensor(run1({"Pow", 15, {floats({2}, {-2, 4}), typed(DataType::Int64, {}, {3})}}), {2}, {-8, 64});
}

TEST(Casts, RefusedTypesHaveAReason) {
  auto to = [](int64_t type) { return [=](onnx::NodeProto &n) { addAttr(n, "to", type); }; };
  EXPECT_THAT(refusal({"Cast", 19, {counting({2})}, to(8)}), HasSubstr("strings are not supported"));
  EXPECT_THAT(refusal({"Cast", 19, {counting({2})}, to(17)}), HasSubstr("8-bit floats"));
  EXPECT_THAT(refusal({"Cast", 19, {counting({2})}, to(99)}), HasSubstr("element type 99"));
  EXPECT_THAT(refusal({"Cast", 19, {counting({2})}}), HasSubstr("'to' is missing"));
  expectTensor(run1({"Cast", 13, {floats({3}, {NaN, 0, -0.5})}, to(9)}), {3}, {1, 0, 1});
}

TEST(Bitwise, Operators) {
  Tensor a = typed(DataType::UInt8, {2}, {0b1100, 255}), b = typed(DataType::UInt8, {2}, {0b1010, 1});
  expectTensor(run1({"BitwiseAnd", 18, {a, b}}), {2}, {0b1000, 1});
  expectTensor(run1({"BitwiseOr", 18, {a, b}}), {2}, {0b1110, 255});
  expectTensor(run1({"BitwiseXor", 18, {a, b}}), {2}, {0b0110, 254});
  expectTensor(run1({"BitwiseNot", 18, {a}}), {2}, {243, 0});
  EXPECT_THAT(refusal({"BitShift", 11, {a, b}}), HasSubstr("direction must be LEFT or RIGHT"));
}

TEST(Shrink, Integers) {
  auto bias = [](onnx::NodeProto &n) {
    addAttr(n, "bias", 1.5);
    addAttr(n, "lambd", 1.5);
  };
  expectTensor(run1({"Shrink", 9, {typed(DataType::Int8, {4}, {-3, -1, 1, 3})}, bias}), {4}, {-1, 0, 0, 1});
}

TEST(Variadic, OneAndMany) {
  Tensor a = floats({2}, {1, 5}), b = floats({2, 1}, {2, 3});
  expectTensor(run1({"Mean", 13, {a}}), {2}, {1, 5});
  expectTensor(run1({"Max", 13, {a, b, scalar(2.5)}}), {2, 2}, {2.5, 5, 3, 5});
  // Three halves whose pairwise sums would round twice.
  Tensor big = typed(DataType::Float16, {1}, {2048}), small = typed(DataType::Float16, {1}, {1});
  expectTensor(run1({"Sum", 13, {big, small, small}}), {1}, {2050});
}

TEST(Quantize, BlocksAndTypes) {
  auto blocks = [](onnx::NodeProto &n) {
    addAttr(n, "axis", int64_t(0));
    addAttr(n, "block_size", int64_t(2));
    addAttr(n, "output_dtype", int64_t(5));
  };
  Tensor x = floats({3}, {3, 5, 40}), scale = floats({2}, {1, 10});
  Tensor q = run1({"QuantizeLinear", 21, {x, scale}, blocks});
  EXPECT_EQ(q.type(), DataType::Int16);
  expectTensor(q, {3}, {3, 5, 4});
  auto back = [](onnx::NodeProto &n) {
    addAttr(n, "axis", int64_t(0));
    addAttr(n, "block_size", int64_t(2));
  };
  expectTensor(run1({"DequantizeLinear", 21, {q, scale}, back}), {3}, {3, 5, 40});
  EXPECT_THAT(refusal({"QuantizeLinear", 21, {x, floats({3}, {1, 1, 1})}, blocks}),
              HasSubstr("in blocks of 2"));
  EXPECT_THAT(refusal({"QuantizeLinear",
                       21,
                       {x, scale},
                       [](onnx::NodeProto &n) { addAttr(n, "output_dtype", int64_t(17)); }}),
              HasSubstr("8-bit floats"));
}

TEST(Quantize, RoundsToEvenAndSaturates) {
  Tensor x = floats({6}, {0.5, 1.5, 2.5, -1e9, 1e9, NaN});
  expectTensor(run1({"QuantizeLinear", 13, {x, scalar(1), scalar(1, DataType::Int8)}}), {6},
               {1, 3, 3, -128, 127, 0});
}

TEST(Quantize, DynamicRangeOfZero) {
  std::vector<Tensor> y = run({"DynamicQuantizeLinear", 11, {floats({2}, {0, 0})}, noAttributes, 3});
  expectTensor(y[0], {2}, {0, 0});
  expectTensor(y[1], {}, {0});
  expectTensor(y[2], {}, {0});
}

TEST(Dropout, MaskIsTrueWhenNotTraining) {
  std::vector<Tensor> y = run({"Dropout", 13, {counting({2})}, noAttributes, 2});
  EXPECT_EQ(y[1].type(), DataType::Bool);
  expectTensor(y[1], {2}, {1, 1});
  Tensor yes = typed(DataType::Bool, {}, {1});
  EXPECT_THAT(refusal({"Dropout", 13, {counting({2}), scalar(0.5), yes}}), HasSubstr("draws random numbers"));
  expectTensor(run1({"Dropout", 13, {counting({2}), scalar(0), yes}}), {2}, {0, 1});
}
