//===- WeightedGraph.h - small graphs of anchors with constant weights ------------------------------===//
#pragma once
#include "ir/Tk.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <string>
#include <vector>

namespace tokamak::test {

using Shape = std::vector<int64_t>;

/// A function as text whose last arguments become constants. Values are float32.
class WeightedGraph {
public:
  /// An argument that stays one.
  std::string input(const Shape &shape);
  /// An argument that becomes a constant.
  std::string weight(const Shape &shape);
  /// Appends "%n = tk.OP"; `types` is what stands behind the colon but for the result.
  std::string add(const std::string &operation, const std::string &types, const Shape &result);
  /// A convolution of stride 1 with `padding` all around; a bias where asked for.
  std::string conv(const std::string &x, const Shape &shape, int64_t channels, int64_t kernel,
                   int64_t padding, bool hasBias);
  std::string matmul(const std::string &x, const Shape &shape, int64_t columns);
  std::string binary(const std::string &op, const std::string &a, const std::string &b, const Shape &shape);
  std::string relu(const std::string &x, const Shape &shape);
  /// To int8 and back; once a graph.
  std::string throughInt8(const std::string &x, const Shape &shape);
  void result(const std::string &name, const Shape &shape);
  /// The shape of a value that was made here.
  const Shape &shapeOf(const std::string &name) const;

  /// With weights that are small integers, which depend on the seed.
  mlir::OwningOpRef<mlir::ModuleOp> build(mlir::MLIRContext &context, uint64_t weightSeed) const;
  std::vector<Tensor> integerInputs(uint64_t seed) const;
  std::vector<Tensor> realInputs(uint64_t seed) const;

private:
  struct Value {
    std::string name;
    Shape shape;
  };
  std::vector<Value> inputs, weights, values, results;
  std::string body;
};

std::string typeOf(const Shape &shape);

/// x [batch, 5, 7, 6] -> three convolutions 3x3, of 6, 16 and 3 channels, each with its ReLU.
WeightedGraph threeConvolutions(int64_t batch);
/// x [2, 5, 8] -> three matrix products with a bias each, one of them scaled.
WeightedGraph projections();
/// conv(x) + conv(y), one with a bias.
WeightedGraph summedConvolutions();
/// x A + y B.
WeightedGraph summedProducts();
/// x -> {conv 1x1, conv 3x3} of `channels`; relu(conv 3x3(the latter) + the former), all on `extent` squared.
/// With `fromIntegers`, x was int8.
WeightedGraph lectureExample(int64_t extent, int64_t channels, bool fromIntegers = false);

} // namespace tokamak::test
