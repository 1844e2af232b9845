//===- SinkTransposesTest.cpp - transposes behind elementwise operators, by value ---------------===//
#include "PassTest.h"

using namespace tokamak;

namespace {
struct SinkTransposesTest : PassTest {};
} // namespace

TEST_F(SinkTransposesTest, ReadsTheSameElements) {
  for (const char *constant :
       {"dense<[1.0, 2.0]> : tensor<2xf32>", "dense<[[[1.0], [2.0], [5.0]]]> : tensor<1x3x1xf32>",
        "dense<[[[[1.0]]], [[[-2.0]]]]> : tensor<2x1x1x1xf32>", "dense<3.0> : tensor<1x1xf32>"}) {
    SCOPED_TRACE(constant);
    const std::string type = std::string(constant).substr(std::string(constant).find("tensor"));
    rewrite(
        "func.func @main(%x: tensor<3x4x2x2xf32>, %z: tensor<3x4x2x2xf32>) -> tensor<3x4x2x2xf32> {\n%c = "
        "tk.constant " +
            std::string(constant) + R"(
      %0 = tk.transpose %x {permutation = array<i64: 3, 1, 0, 2>} : (tensor<3x4x2x2xf32>) -> tensor<2x4x3x2xf32>
      %1 = tk.transpose %z {permutation = array<i64: 3, 1, 0, 2>} : (tensor<3x4x2x2xf32>) -> tensor<2x4x3x2xf32>
      %2 = tk.sub %c, %0 : ()" +
            type + R"(, tensor<2x4x3x2xf32>) -> tensor<2x4x3x2xf32>
      %3 = tk.compare %2, %1 {predicate = #tk.predicate<lt>} : (tensor<2x4x3x2xf32>, tensor<2x4x3x2xf32>) -> tensor<2x4x3x2xi1>
      %4 = tk.cast %3 {to = f32} : (tensor<2x4x3x2xi1>) -> tensor<2x4x3x2xf32>
      %5 = tk.transpose %4 {permutation = array<i64: 2, 1, 3, 0>} : (tensor<2x4x3x2xf32>) -> tensor<3x4x2x2xf32>
      return %5 : tensor<3x4x2x2xf32>
    })",
        {createSinkTransposesPass});
    EXPECT_EQ(count("transpose"), 0);
    expectEqualOnIntegers();
    expectSameOnSpecialValues();
  }
}
