//===- PassTest.h - a graph before and after a pass, by value ----------------------------------===//
#pragma once
#include "ir/Tk.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "rewrite/Passes.h"
#include "gtest/gtest.h"
#include <initializer_list>
#include <string>
#include <vector>

namespace tokamak {

class PassTest : public testing::Test {
protected:
  PassTest();

  using Create = std::unique_ptr<mlir::Pass> (*)(PassStatePtr);
  /// Parses func.func @main and runs the passes on a copy of it. In the text $T stands for tensor<2x3x4xE>
  /// and $S for tensor<E>, where E is `element`.
  void rewriteTyped(std::string text, llvm::StringRef element, std::initializer_list<Create> passes);
  void rewrite(const std::string &text, std::initializer_list<Create> passes);

  /// Operators of that name ("mul") after the passes, constants apart, all if the name is empty.
  int64_t count(llvm::StringRef op = "");

  // Of the function before and after the passes, on all inputs of the kind:
  /// equal, on small integers in the element types of the inputs;
  void expectEqualOnIntegers();
  /// max |a - b| <= tolerance * max(1, max |b|), on normally distributed values;
  void expectClose(double tolerance);
  /// NaN, infinities and the signs of zeros alike, and numbers close, on inputs full of NaN, infinities,
  /// zeros and subnormal numbers, and of the largest numbers unless left out.
  enum class Largest { Included, LeftOut };
  void expectSameOnSpecialValues(Largest largest = Largest::Included);

  /// Integers over all of their range give equal results.
  void expectEqualOnWrappingIntegers();

private:
  std::vector<Tensor> inputs(llvm::function_ref<Tensor(DataType, llvm::ArrayRef<int64_t>, uint64_t)> make,
                             uint64_t seed);
  std::vector<Tensor> evaluate(mlir::ModuleOp module, llvm::ArrayRef<Tensor> inputs);

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> before, after;
};

} // namespace tokamak
