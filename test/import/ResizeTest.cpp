//===- ResizeTest.cpp - which input position an output position of Resize reads ---------------------===//
// Sizes are whole numbers, so the coordinates are fractions, and whole numbers and ties among them are exact.
#include "ModelBuilder.h"
#include "mlir/Support/LLVM.h"
#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>

using namespace tokamak;
using namespace tokamak::test;

namespace {

int64_t floorDivide(int64_t a, int64_t b) { return a / b - (a % b != 0 && a < 0); }

/// floor(p / q + 1/2) or ceil(p / q - 1/2), or without the half: positive q.
int64_t nearest(const std::string &mode, int64_t p, int64_t q) {
  if (mode == "floor")
    return floorDivide(p, q);
  if (mode == "ceil")
    return -floorDivide(-p, q);
  if (mode == "round_prefer_ceil")
    return floorDivide(2 * p + q, 2 * q);
  return -floorDivide(-(2 * p - q), 2 * q);
}

/// What y[x] reads of `in` elements resized to `out`; the formulas of operator set 13.
int64_t expected(const std::string &coordinates, const std::string &mode, int64_t x, int64_t in,
                 int64_t out) {
  int64_t p = x * in, q = out; // asymmetric
  if (coordinates == "half_pixel") {
    p = (2 * x + 1) * in - out;
    q = 2 * out;
  } else if (coordinates == "align_corners") {
    p = out > 1 ? x * (in - 1) : 0;
    q = std::max<int64_t>(out - 1, 1);
  }
  return std::clamp<int64_t>(nearest(mode, p, q), 0, in - 1);
}

std::vector<Tensor> resized(const std::string &coordinates, const std::string &mode, int64_t in,
                            llvm::ArrayRef<int64_t> sizes) {
  ModelBuilder m;
  m.input("x", {1, in});
  for (int64_t out : sizes) {
    std::string name = std::to_string(out);
    m.initializer("size" + name, ints({1, out})).output("y" + name);
    onnx::NodeProto &node = m.node("Resize", {"x", "", "", "size" + name}, {"y" + name});
    addAttr(node, "mode", std::string("nearest"));
    addAttr(node, "coordinate_transformation_mode", coordinates);
    addAttr(node, "nearest_mode", mode);
  }
  std::vector<double> positions(static_cast<size_t>(in));
  std::iota(positions.begin(), positions.end(), 0);
  return evaluate(m, {{"x", floats({1, in}, positions)}});
}

} // namespace

TEST(Resize, NearestBySizesIsExact) {
  std::vector<int64_t> sizes(30);
  std::iota(sizes.begin(), sizes.end(), 1);
  sizes.insert(sizes.end(), {49, 98, 147});
  for (const std::string coordinates : {"asymmetric", "half_pixel", "align_corners"})
    for (const std::string mode : {"floor", "ceil", "round_prefer_floor", "round_prefer_ceil"})
      for (int64_t in : {3, 6, 7, 10, 14, 49}) {
        std::vector<Tensor> results = resized(coordinates, mode, in, sizes);
        ASSERT_EQ(results.size(), sizes.size());
        for (auto [out, result] : llvm::zip(sizes, results))
          for (int64_t x = 0; x < out; ++x)
            ASSERT_EQ(result.doubleAt(x), static_cast<double>(expected(coordinates, mode, x, in, out)))
                << coordinates << ", " << mode << ", " << in << " to " << out << " at " << x;
      }
}
