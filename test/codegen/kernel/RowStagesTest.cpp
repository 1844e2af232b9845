//===- RowStagesTest.cpp - which values of a row are computed once -------------------------------===//
#include "codegen/kernel/RowStages.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"
#include <ctime>

namespace {

using namespace mlir;
using namespace tokamak;
using codegen::KernelBody;
using codegen::RowStages;

class RowStagesTest : public testing::Test {
protected:
  RowStagesTest() { context.loadDialect<tk::TkDialect>(); }

  /// The operators that become stages, of a group with these operators on %x (8x256) and %r (8x1).
  std::vector<std::string> stages(const std::string &body, const std::string &result,
                                  int64_t budget = 1 << 20) {
    std::string text = "%x, %r = builtin.unrealized_conversion_cast to tensor<8x256xf32>, tensor<8x1xf32>\n"
                       "%0 = tk.fusion(%x, %r) {\n^bb0(%a: tensor<8x256xf32>, %b: tensor<8x1xf32>):\n" +
                       body + "tk.yield " + result + " : tensor<8x256xf32>\n} : " +
                       "(tensor<8x256xf32>, tensor<8x1xf32>) -> tensor<8x256xf32>\n";
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module) << text;
    std::vector<std::string> names;
    module->walk([&](tk::FusionOp group) {
      KernelBody kernel(group);
      RowStages chosen(kernel);
      chosen.addExpensive();
      chosen.addWorthwhile(
          [](Value value) -> std::optional<int64_t> {
            return tk::tensorType(value).getNumElements() / 8 * 4;
          },
          budget);
      for (Value value : chosen.values())
        names.push_back(value.getDefiningOp()->getName().stripDialect().str());
    });
    return names;
  }

  static std::string unary(const std::string &result, const std::string &name, const std::string &x,
                           const std::string &type = "tensor<8x256xf32>") {
    return result + " = tk." + name + " " + x + " : (" + type + ") -> " + type + "\n";
  }
  static std::string binary(const std::string &result, const std::string &name, const std::string &x,
                            const std::string &y, const std::string &yType = "tensor<8x256xf32>") {
    return result + " = tk." + name + " " + x + ", " + y + " : (tensor<8x256xf32>, " + yType +
           ") -> tensor<8x256xf32>\n";
  }
  static std::string sum(const std::string &result, const std::string &x) {
    return result + " = tk.reduce " + x +
           " {axes = array<i64: 1>, keep_dims = true, kind = #tk.reduce_kind<sum>} : "
           "(tensor<8x256xf32>) -> tensor<8x1xf32>\n";
  }

  MLIRContext context;
};

using Names = std::vector<std::string>;
const std::string small = "tensor<8x1xf32>";

TEST_F(RowStagesTest, ExpensiveValueThatTwoLoopsRead) {
  // Softmax without its maximum: exp is read by the sum and by the division.
  std::string body = unary("%e", "exp", "%a") + sum("%s", "%e") + binary("%d", "div", "%e", "%s", small);
  EXPECT_EQ(stages(body, "%d"), (Names{"exp", "reduce"}));
}

TEST_F(RowStagesTest, ExpensiveValueThatOneLoopReads) {
  std::string body = unary("%e", "exp", "%a") + sum("%s", "%e") + binary("%d", "div", "%a", "%s", small);
  EXPECT_EQ(stages(body, "%d"), (Names{"reduce"}));
}

TEST_F(RowStagesTest, OneCheapOperatorIsComputedAgain) {
  std::string body =
      binary("%c", "sub", "%a", "%b", small) + sum("%s", "%c") + binary("%d", "mul", "%c", "%s", small);
  EXPECT_EQ(stages(body, "%d"), (Names{"reduce"}));
}

std::string chain(int64_t length) {
  std::string text, last = "%a";
  for (int64_t i = 0; i < length; ++i) {
    std::string next = "%c" + std::to_string(i);
    text +=
        next + " = tk.sub " + last + ", %a : (tensor<8x256xf32>, tensor<8x256xf32>) -> tensor<8x256xf32>\n";
    last = next;
  }
  return text;
}

TEST_F(RowStagesTest, AChainOfCheapOperatorsIsKeptWhereItForks) {
  std::string body = chain(6) + sum("%s", "%c5") + binary("%d", "mul", "%c5", "%s", small);
  EXPECT_EQ(stages(body, "%d"), (Names{"sub", "reduce"})); // the last one only
  EXPECT_EQ(stages(body, "%d", 1023), (Names{"reduce"}));  // no room for 1024 bytes
}

TEST_F(RowStagesTest, AResidualStreamIsNotComputedAnewByEachStage) {
  // x += (x - sum x) * r + r, several times: every sum needs the x before it, the last one all of them.
  std::string body, x = "%a";
  const int64_t layers = 5;
  for (int64_t i = 0; i < layers; ++i) {
    std::string n = std::to_string(i);
    body += sum("%s" + n, x) + binary("%m" + n, "sub", x, "%s" + n, small) +
            binary("%p" + n, "mul", "%m" + n, "%b", small) + binary("%q" + n, "add", "%p" + n, "%b", small) +
            binary("%x" + n, "add", x, "%q" + n);
    x = "%x" + n;
  }
  Names kept = stages(body, x);
  EXPECT_EQ(llvm::count(kept, "reduce"), layers);
  EXPECT_EQ(llvm::count(kept, "add"), layers - 1); // the last x is the result
  EXPECT_EQ(kept.size(), size_t(2 * layers - 1));
}

TEST_F(RowStagesTest, AScaleOfTheRowIsComputedOnce) {
  // 1 / sqrt(sum): one value a row, which the loop over the row would compute 256 times.
  std::string body =
      sum("%s", "%a") + unary("%q", "sqrt", "%s", small) + binary("%d", "mul", "%a", "%q", small);
  EXPECT_EQ(stages(body, "%d"), (Names{"reduce", "sqrt"}));
}

TEST_F(RowStagesTest, TimeIsLinear) {
  auto seconds = [&](int64_t length) {
    std::string body;
    std::string x = "%a";
    for (int64_t i = 0; i < length; ++i) {
      std::string n = std::to_string(i);
      body += unary("%e" + n, "exp", x) + sum("%s" + n, "%e" + n) +
              binary("%x" + n, "sub", "%e" + n, "%s" + n, small);
      x = "%x" + n;
    }
    std::clock_t start = std::clock(); // of this process: other work on the machine does not count
    EXPECT_EQ(stages(body, x, 1 << 30).size(), size_t(2 * length));
    return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  };
  seconds(10);
  // Both too large for the caches. Quadratic would be 64 times as long.
  double some = seconds(1000), many = seconds(8000);
  EXPECT_LT(many, 24 * some);
}

} // namespace
