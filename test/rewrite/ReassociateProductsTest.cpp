//===- ReassociateProductsTest.cpp - chains of products before and after, by value --------------===//
#include "PassTest.h"

using namespace tokamak;

namespace {
struct ReassociateProductsTest : PassTest {
  /// x (A B) of %z, which `make` computes from %x.
  void reassociate(const std::string &make, llvm::StringRef element) {
    std::string text = R"(func.func @main(%x: tensor<3x2x4xE>) -> tensor<3x2x2xE> {
      %a = tk.constant dense<[[1.0, 2.0, -1.0, 3.0], [2.0, 0.0, 1.0, 1.0], [-3.0, 1.0, 4.0, 2.0]]> : tensor<3x4xE>
      %b = tk.constant dense<[[1.0, -2.0], [2.0, 0.0], [3.0, 5.0]]> : tensor<3x2xE>
      MAKE
      %0 = tk.matmul %z, %a {transpose_rhs = true} : (tensor<3x2x4xE>, tensor<3x4xE>) -> tensor<3x2x3xE>
      %1 = tk.matmul %0, %b : (tensor<3x2x3xE>, tensor<3x2xE>) -> tensor<3x2x2xE>
      return %1 : tensor<3x2x2xE>
    })";
    auto replaceAll = [&](const std::string &from, const std::string &to) {
      for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
        text.replace(at, from.size(), to);
    };
    replaceAll("MAKE", make);
    replaceAll("xE>", "x" + element.str() + ">");
    if (element.starts_with("i"))
      replaceAll(".0", "");
    rewrite(text, {createReassociateProductsPass});
  }
};
} // namespace

TEST_F(ReassociateProductsTest, IntegersWrap) {
  for (llvm::StringRef element : {"i8", "i64"}) {
    reassociate("%z = tk.neg %x : (tensor<3x2x4xE>) -> tensor<3x2x4xE>", element);
    EXPECT_EQ(count("matmul"), 1);
    expectEqualOnWrappingIntegers();
  }
}

TEST_F(ReassociateProductsTest, FromTheLeft) {
  // A (B z^T) with A stored by columns, in batches.
  const char *const text = R"(func.func @main(%x: tensor<3x2x4xf32>) -> tensor<3x2x2xf32> {
    %a = tk.constant dense<[[1.0, 3.0], [2.0, -1.0], [0.5, 4.0]]> : tensor<3x2xf32>
    %b = tk.constant dense<[[1.0, 2.0, -1.0, 3.0], [2.0, 0.0, 1.0, 1.0], [-3.0, 1.0, 4.0, 2.0]]> : tensor<3x4xf32>
    %z = tk.FUNCTION %x : (tensor<3x2x4xf32>) -> tensor<3x2x4xf32>
    %0 = tk.matmul %b, %z {transpose_rhs = true} : (tensor<3x4xf32>, tensor<3x2x4xf32>) -> tensor<3x3x2xf32>
    %1 = tk.matmul %a, %0 {transpose_lhs = true} : (tensor<3x2xf32>, tensor<3x3x2xf32>) -> tensor<3x2x2xf32>
    return %1 : tensor<3x2x2xf32>
  })";
  auto with = [&](const std::string &function) {
    std::string one = text;
    return one.replace(one.find("FUNCTION"), 8, function);
  };
  rewrite(with("tanh"), {createReassociateProductsPass});
  EXPECT_EQ(count("matmul"), 1);
  expectClose(1e-5);
  expectSameOnSpecialValues();
  rewrite(with("neg"), {createReassociateProductsPass}); // may be infinite
  EXPECT_EQ(count("matmul"), 2);
}

TEST_F(ReassociateProductsTest, OfWhatIsNeverInfinite) {
  const char *const clip = "%low = tk.constant dense<-3.0> : tensor<f32>\n%high = tk.constant dense<2.0> : "
                           "tensor<f32>\n%c = tk.max %x, %low : (tensor<3x2x4xf32>, tensor<f32>) -> "
                           "tensor<3x2x4xf32>\n%z = tk.min %c, %high : (tensor<3x2x4xf32>, tensor<f32>) -> "
                           "tensor<3x2x4xf32>";
  reassociate(clip, "f32");
  EXPECT_EQ(count("matmul"), 1);
  expectEqualOnIntegers();
  expectClose(1e-5);
  expectSameOnSpecialValues();
}

TEST_F(ReassociateProductsTest, NotOfWhatMayBe) {
  const char *const relu = "%low = tk.constant dense<0.0> : tensor<f32>\n%z = tk.max %x, %low : "
                           "(tensor<3x2x4xf32>, tensor<f32>) -> tensor<3x2x4xf32>";
  reassociate(relu, "f32");
  EXPECT_EQ(count("matmul"), 2);
  reassociate("%z = tk.tanh %x : (tensor<3x2x4xE>) -> tensor<3x2x4xE>", "f16"); // rounds between
  EXPECT_EQ(count("matmul"), 2);
}
