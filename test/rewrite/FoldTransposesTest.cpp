//===- FoldTransposesTest.cpp - products of transposed operands, by value -----------------------===//
#include "PassTest.h"

using namespace tokamak;

namespace {
struct FoldTransposesTest : PassTest {};
} // namespace

TEST_F(FoldTransposesTest, ReadsTheSameElements) {
  for (const std::string left : {"true", "false"})
    for (const std::string right : {"true", "false"}) {
      const std::string lhs = left == "true" ? "tensor<2x5x3xf32>" : "tensor<2x3x5xf32>";
      const std::string lhsFrom = left == "true" ? "tensor<2x3x5xf32>" : "tensor<2x5x3xf32>";
      const std::string rhs = right == "true" ? "tensor<4x5xf32>" : "tensor<5x4xf32>";
      const std::string rhsFrom = right == "true" ? "tensor<5x4xf32>" : "tensor<4x5xf32>";
      rewrite("func.func @main(%x: " + lhsFrom + ", %y: " + rhsFrom + ") -> tensor<2x3x4xf32> {\n" +
                  "%0 = tk.transpose %x {permutation = array<i64: 0, 2, 1>} : (" + lhsFrom + ") -> " + lhs +
                  "\n" + "%1 = tk.transpose %y {permutation = array<i64: 1, 0>} : (" + rhsFrom + ") -> " +
                  rhs + "\n" + "%2 = tk.matmul %0, %1 {transpose_lhs = " + left +
                  ", transpose_rhs = " + right + "} : (" + lhs + ", " + rhs +
                  ") -> tensor<2x3x4xf32>\nreturn %2 : tensor<2x3x4xf32>\n}",
              {createFoldTransposesPass});
      EXPECT_EQ(count(), 1);
      expectEqualOnIntegers();
      expectClose(0);
      expectSameOnSpecialValues();
    }
}
