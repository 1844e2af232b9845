//===- MatMulTest.cpp - emitted matrix products against the plain sum -----------------------===//
#include "codegen/anchors/MatMul.h"
#include "KernelHarness.h"
#include "llvm/Support/raw_ostream.h"
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <numeric>
#include <random>

namespace tokamak::test {
namespace {

using codegen::MatMulPlan;
using codegen::MatMulShape;

struct Case {
  std::string name;
  MatMulShape shape;
  friend void PrintTo(const Case &c, std::ostream *stream) { *stream << c.name; }
};

std::vector<Case> cases() {
  auto product = [](std::string name, int64_t m, int64_t k, int64_t n) {
    Case c{std::move(name), {}};
    c.shape.m = m;
    c.shape.n = n;
    c.shape.k = k;
    return c;
  };
  auto batched = [](Case c, llvm::ArrayRef<int64_t> lhs, llvm::ArrayRef<int64_t> rhs) {
    for (auto [l, r] : llvm::zip(lhs, rhs))
      c.shape.batch.push_back(l == 1 ? r : l);
    c.shape.lhsBatch.assign(lhs.begin(), lhs.end());
    c.shape.rhsBatch.assign(rhs.begin(), rhs.end());
    return c;
  };
  std::vector<Case> base = {
      product("square", 40, 37, 64),
      product("ragged", 29, 50, 45),
      product("one_row", 1, 130, 100),
      product("one_row_one_vector", 1, 67, 9),
      product("two_rows", 2, 31, 500),
      product("one_column", 50, 33, 1),
      product("one_element", 1, 1, 1),
      product("no_depth", 5, 0, 20),
      product("no_rows", 0, 4, 20),
      product("no_columns", 5, 4, 0),
      product("power_of_two_pitch", 30, 1024, 33),
      product("many_tasks", 200, 64, 130),
      batched(product("batch", 7, 12, 20), {3}, {3}),
      batched(product("batch_broadcast_lhs", 7, 12, 20), {1, 2}, {4, 1}),
      batched(product("batch_broadcast_rhs", 7, 12, 20), {4, 3}, {1, 1}),
      batched(product("batch_of_rows", 1, 19, 40), {6}, {1}),
      batched(product("batch_broadcast_both", 5, 9, 17), {2, 1, 3}, {2, 4, 1}),
      batched(product("batch_of_none", 5, 9, 17), {0}, {1}),
      batched(product("batch_no_rows", 0, 9, 17), {3}, {1}),
  };
  std::vector<Case> list;
  for (const Case &c : base)
    for (bool constant : {false, true})
      for (bool lhs : {false, true})
        for (bool rhs : {false, true}) {
          Case variant = c;
          variant.name += std::string(constant ? "_packed" : "") + (lhs ? "_tl" : "") + (rhs ? "_tr" : "");
          variant.shape.transposeLhs = lhs;
          variant.shape.transposeRhs = rhs;
          variant.shape.rhsIsConstant = constant;
          list.push_back(variant);
        }
  return list;
}

int64_t elementCount(llvm::ArrayRef<int64_t> extents) {
  return std::accumulate(extents.begin(), extents.end(), int64_t(1), std::multiplies<>());
}

/// Number of an operand's matrix for matrix `number` of the result.
int64_t operandMatrix(int64_t number, llvm::ArrayRef<int64_t> batch, llvm::ArrayRef<int64_t> operand) {
  int64_t result = 0, stride = 1;
  for (size_t axis = batch.size(); axis-- > 0; number /= batch[axis]) {
    result += operand[axis] == 1 ? 0 : number % batch[axis] * stride;
    stride *= operand[axis];
  }
  return result;
}

std::vector<double> reference(const MatMulShape &s, const std::vector<float> &lhs,
                              const std::vector<float> &rhs) {
  std::vector<double> result(static_cast<size_t>(elementCount(s.batch) * s.m * s.n));
  for (int64_t b = 0; b < elementCount(s.batch); ++b) {
    const float *left = lhs.data() + operandMatrix(b, s.batch, s.lhsBatch) * s.m * s.k;
    const float *right = rhs.data() + operandMatrix(b, s.batch, s.rhsBatch) * s.k * s.n;
    for (int64_t i = 0; i < s.m; ++i)
      for (int64_t j = 0; j < s.n; ++j)
        for (int64_t k = 0; k < s.k; ++k)
          result[(b * s.m + i) * s.n + j] +=
              static_cast<double>(left[s.transposeLhs ? k * s.m + i : i * s.k + k]) *
              static_cast<double>(right[s.transposeRhs ? j * s.k + k : k * s.n + j]);
  }
  return result;
}

class MatMulTest : public testing::TestWithParam<std::tuple<const char *, Case>> {};

TEST_P(MatMulTest, EqualsThePlainSum) {
  auto [cpu, c] = GetParam();
  llvm::Expected<TargetDescription> target = TargetDescription::forCpu(cpu);
  ASSERT_TRUE(static_cast<bool>(target)) << llvm::toString(target.takeError());
  if (!canRun(*target))
    GTEST_SKIP() << "this machine does not run " << cpu;
  const MatMulShape &s = c.shape;
  std::unique_ptr<MatMulPlan> plan = llvm::cantFail(MatMulPlan::create(s, *target));

  std::mt19937 random(7);
  std::uniform_int_distribution<int> digit(-4, 4);
  std::vector<float> lhs(static_cast<size_t>(elementCount(s.lhsBatch) * s.m * s.k));
  std::vector<float> rhs(static_cast<size_t>(elementCount(s.rhsBatch) * s.k * s.n));
  for (float &x : lhs)
    x = static_cast<float>(digit(random));
  for (float &x : rhs)
    x = static_cast<float>(digit(random));
  std::vector<double> expected = reference(s, lhs, rhs);

  ResultShape result;
  result.before.assign(s.batch.begin(), s.batch.end());
  result.before.push_back(s.m);
  result.vectorExtent = s.n;
  CompiledKernel kernel = compileKernel(
      [&](mlir::OpBuilder &builder, mlir::Location loc, mlir::Value left, mlir::Value right,
          mlir::Value scratch, mlir::Value begin, mlir::Value end, const codegen::EpilogueFn &epilogue) {
        plan->emit(builder, loc, left, right, scratch, begin, end, epilogue);
      },
      result, *target);

  ASSERT_EQ(plan->packsRhs(), s.rhsIsConstant);
  std::vector<float> stored = rhs;
  if (plan->packsRhs()) {
    Tensor tensor(DataType::Float32, {static_cast<int64_t>(rhs.size())});
    if (!rhs.empty())
      std::memcpy(tensor.mutableBytes(), rhs.data(), tensor.byteCount());
    Tensor packed = plan->pack(tensor);
    stored.resize(static_cast<size_t>(packed.size()));
    if (!stored.empty())
      std::memcpy(stored.data(), packed.bytes(), packed.byteCount());
  }
  for (bool atEnd : {true, false}) {
    GuardedBuffer a(static_cast<int64_t>(lhs.size()), atEnd), b(static_cast<int64_t>(stored.size()), atEnd),
        y(result.bufferSize(target->lanes()), atEnd), scratch(plan->scratchBytes() / 4, atEnd);
    std::copy(lhs.begin(), lhs.end(), a.data());
    std::copy(stored.begin(), stored.end(), b.data());
    std::fill_n(y.data(), y.size(), std::numeric_limits<float>::quiet_NaN());
    int64_t tasks = plan->taskCount();
    for (int64_t begin = 0, step = tasks / 3 + 1; begin < tasks; begin += step)
      kernel.run(a.data(), b.data(), scratch.data(), y.data(), begin, std::min(begin + step, tasks));
    int64_t wrong = 0;
    for (size_t i = 0; i < expected.size(); ++i)
      if (!(y.data()[i] == expected[i]) && ++wrong <= 5)
        ADD_FAILURE() << "element " << i << ": " << y.data()[i] << ", not " << expected[i];
    ASSERT_EQ(wrong, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Grid, MatMulTest,
                         testing::Combine(testing::Values("native", "x86-64-v3"), testing::ValuesIn(cases())),
                         [](const testing::TestParamInfo<std::tuple<const char *, Case>> &info) {
                           std::string cpu = std::get<0>(info.param);
                           return std::get<1>(info.param).name + (cpu == "native" ? "" : "_v3");
                         });

} // namespace
} // namespace tokamak::test
