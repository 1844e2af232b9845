//===- IndexingTest.cpp - scatter, one-hot, data-dependent shapes, einsum, signals ---------===//
#include "RunNode.h"

using namespace tokamak;
using namespace tokamak::test;
using testing::HasSubstr;

static Attributes text(const std::string &name, const std::string &value) {
  return [=](onnx::NodeProto &n) { addAttr(n, name, value); };
}

TEST(Scatter, MaximumAndMinimum) {
  Tensor x = floats({3}, {5, 5, 5}), indices = ints({0, 0, -1}), updates = floats({3}, {9, 7, 1});
  expectTensor(run1({"ScatterElements", 18, {x, indices, updates}, text("reduction", "max")}), {3},
               {9, 5, 5});
  expectTensor(run1({"ScatterElements", 18, {x, indices, updates}, text("reduction", "min")}), {3},
               {5, 5, 1});
  EXPECT_THAT(refusal({"ScatterElements", 18, {x, indices, updates}, text("reduction", "mean")}),
              HasSubstr("reduction 'mean' is unknown; use none, add, mul, max or min"));
}

/// Why a node with an input of shape [3, 2] and these constant indices is refused.
static std::string outside(const std::string &op, const Tensor &indices,
                           std::optional<Tensor> updates = std::nullopt) {
  ModelBuilder model(13);
  model.input("x", Dims{3, 2}).initializer("indices", indices).output("y");
  Names inputs{"x", "indices"};
  if (updates) {
    model.initializer("updates", *updates);
    inputs.push_back("updates");
  }
  model.node(op, inputs, {"y"});
  return importError(model);
}

TEST(Indices, ConstantOnesOutOfRangeAreRefused) {
  auto pairs = [](const std::vector<int64_t> &values) { return Tensor::fromInts(values).reshaped({1, 2}); };
  for (int64_t bad : {3, -4}) {
    std::string reason = "): index " + std::to_string(bad) +
                         " is out of range for an axis of 3 elements; give indices from -3 to 2";
    EXPECT_THAT(outside("Gather", ints({0, bad})), HasSubstr("(Gather" + reason));
    EXPECT_THAT(outside("GatherElements", pairs({0, bad})), HasSubstr("(GatherElements" + reason));
    EXPECT_THAT(outside("GatherND", pairs({bad, 0})), HasSubstr("(GatherND" + reason));
    EXPECT_THAT(outside("ScatterElements", pairs({0, bad}), counting({1, 2})),
                HasSubstr("(ScatterElements" + reason));
    EXPECT_THAT(outside("ScatterND", pairs({bad, 0}), counting({1})), HasSubstr("(ScatterND" + reason));
  }
  for (int64_t good : {2, -3}) {
    EXPECT_EQ(outside("Gather", ints({0, good})), "");
    EXPECT_EQ(outside("GatherND", pairs({good, -2})), "");
    EXPECT_EQ(outside("ScatterND", pairs({good, 1}), counting({1})), "");
  }
  EXPECT_THAT(outside("GatherND", pairs({2, 2})),
              HasSubstr("index 2 is out of range for an axis of 2 elements"));
  // Inside a composite, computed from the constant.
  EXPECT_THAT(outside("NegativeLogLikelihoodLoss", ints({0, 1, 2})), HasSubstr("index 2 is out of range"));
}

TEST(OneHot, AxisAndIndicesOutside) {
  auto axis = [](onnx::NodeProto &n) { addAttr(n, "axis", int64_t(0)); };
  Tensor indices = floats({3}, {-1, 1, 7});
  expectTensor(run1({"OneHot", 11, {indices, scalar(2, DataType::Int64), floats({2}, {3, 8})}, axis}), {2, 3},
               {3, 3, 3, 8, 8, 3});
  EXPECT_THAT(refusal({"OneHot", 11, {indices, scalar(-2, DataType::Int64), floats({2}, {3, 8})}}),
              HasSubstr("depth"));
}

TEST(TopK, Forms) {
  auto k = [](onnx::NodeProto &n) { addAttr(n, "k", int64_t(2)); };
  Tensor x = floats({4}, {1, 4, 4, 2});
  std::vector<Tensor> y = run({"TopK", 9, {x}, k, 2});
  expectTensor(y[0], {2}, {4, 4});
  expectTensor(y[1], {2}, {1, 2});
  EXPECT_THAT(refusal({"TopK", 11, {x, ints({5})}, noAttributes, 2}), HasSubstr("k = 5"));
}

TEST(DataDependent, RefusedUnlessConstant) {
  for (const char *op : {"NonZero", "Unique"})
    EXPECT_THAT(refusal({op, 13, {counting({3})}}), HasSubstr("the shape of its result depends on the data"));
  ModelBuilder model(13);
  model.initializer("x", floats({2, 2}, {0, 1, 2, 0})).output("y");
  model.node("NonZero", {"x"}, {"y"});
  expectTensor(evaluate(model, {}).front(), {2, 2}, {0, 1, 1, 0});
}

TEST(Einsum, DiagonalsEllipsesAndBroadcast) {
  Tensor x = counting({2, 2});
  expectTensor(run1({"Einsum", 12, {x}, text("equation", "ii->i")}), {2}, {0, 3});
  expectTensor(run1({"Einsum", 12, {x}, text("equation", "ii")}), {}, {3});
  expectTensor(run1({"Einsum", 12, {counting({3, 3, 3})}, text("equation", "iii->i")}), {3}, {0, 13, 26});
  expectTensor(run1({"Einsum", 12, {x}, text("equation", "ji")}), {2, 2}, {0, 2, 1, 3});
  expectTensor(
      run1({"Einsum", 12, {counting({2, 1, 2}), counting({3, 2})}, text("equation", "...i,...i->...")}),
      {2, 3}, {1, 3, 5, 3, 13, 23});
  expectTensor(run1({"Einsum", 12, {counting({2}), counting({3})}, text("equation", "i , j -> j i")}), {3, 2},
               {0, 0, 0, 1, 0, 2});
  EXPECT_EQ(run1({"Einsum",
                  12,
                  {Tensor(DataType::Float32, {2, 0}), Tensor(DataType::Float32, {0, 3})},
                  text("equation", "ij,jk->ik")})
                .shape(),
            (llvm::ArrayRef<int64_t>{2, 3}));
  expectTensor(run1({"Einsum", 12, {x, x, x}, text("equation", "ab,bc,ca->")}), {}, {45});
}

TEST(Einsum, Faults) {
  Tensor x = counting({2, 3});
  EXPECT_THAT(refusal({"Einsum", 12, {x}, text("equation", "ijk")}),
              HasSubstr("does not fit an operand of rank 2"));
  EXPECT_THAT(refusal({"Einsum", 12, {x}, text("equation", "i1")}), HasSubstr("unexpected character '1'"));
  EXPECT_THAT(refusal({"Einsum", 12, {x}, text("equation", "ij,jk")}), HasSubstr("2 terms for 1 inputs"));
  EXPECT_THAT(refusal({"Einsum", 12, {x}, text("equation", "ij->ik")}), HasSubstr("no input has"));
  EXPECT_THAT(refusal({"Einsum", 12, {x}, text("equation", "ij->ii")}), HasSubstr("twice"));
  EXPECT_THAT(refusal({"Einsum", 12, {x}, text("equation", "ii")}), HasSubstr("extents 2 and 3"));
  EXPECT_THAT(refusal({"Einsum", 12, {x, x}, text("equation", "ij,jk")}), HasSubstr("extents 3 and 2"));
}

TEST(DFT, AxisIsAnInputFromOpset20) {
  Tensor x = floats({1, 4, 1}, {1, 0, 0, 0});
  expectTensor(run1({"DFT", 20, {x}}), {1, 4, 2}, {1, 0, 1, 0, 1, 0, 1, 0});
  auto onesided = [](onnx::NodeProto &n) { addAttr(n, "onesided", int64_t(1)); };
  expectTensor(run1({"DFT", 20, {x, scalar(2, DataType::Int64), scalar(1, DataType::Int64)}, onesided}),
               {1, 2, 2}, {1, 0, 1, 0});
  EXPECT_THAT(refusal({"DFT", 20, {x, std::nullopt, scalar(2, DataType::Int64)}}), HasSubstr("last axis"));
}

TEST(Windows, SizesZeroAndOne) {
  auto symmetric = [](onnx::NodeProto &n) { addAttr(n, "periodic", int64_t(0)); };
  expectTensor(run1({"HannWindow", 17, {scalar(1, DataType::Int64)}, symmetric}), {1}, {1});
  expectTensor(run1({"HannWindow", 17, {scalar(0, DataType::Int64)}}), {0}, {});
  EXPECT_THAT(refusal({"HannWindow", 17, {scalar(-1, DataType::Int64)}}), HasSubstr("negative"));
}

TEST(AffineGrid, IdentityIsTheRegularGrid) {
  Tensor theta = floats({1, 2, 3}, {1, 0, 0, 0, 1, 0});
  expectTensor(run1({"AffineGrid", 20, {theta, ints({1, 1, 1, 2})}}), {1, 1, 2, 2}, {-0.5, 0, 0.5, 0});
  auto corners = [](onnx::NodeProto &n) { addAttr(n, "align_corners", int64_t(1)); };
  expectTensor(run1({"AffineGrid", 20, {theta, ints({1, 1, 2, 2})}, corners}), {1, 2, 2, 2},
               {-1, -1, 1, -1, -1, 1, 1, 1});
}

TEST(ReverseSequence, LengthsDecideWhenRunning) {
  Tensor x = counting({3, 2});
  expectTensor(run1({"ReverseSequence", 10, {x, ints({2, 3})}}), {3, 2}, {2, 5, 0, 3, 4, 1});
}

TEST(Gemm, OddForms) {
  Tensor a = floats({1, 2}, {1, 2}), b = floats({2, 2}, {1, 2, 3, 4});
  auto scaled = [](onnx::NodeProto &n) {
    addAttr(n, "alpha", 0.5);
    addAttr(n, "beta", 0.0);
  };
  // beta 0 leaves C out, even where it is not finite.
  expectTensor(run1({"Gemm", 13, {a, b, floats({1}, {NaN})}, scaled}), {1, 2}, {3.5, 5});
  EXPECT_THAT(refusal({"Gemm", 13, {a, b, counting({3, 2})}}), HasSubstr("does not broadcast"));
  EXPECT_THAT(refusal({"Gemm", 13, {counting({2}), b}}), HasSubstr("rank 2"));
  EXPECT_NE(refusal({"MatMul", 13, {scalar(1), b}}), "");
  Tensor none(DataType::Float32, {2, 0}), none2(DataType::Float32, {0, 1});
  expectTensor(run1({"Gemm", 13, {none, none2, floats({2, 1}, {7, 8})}}), {2, 1}, {7, 8});
}
