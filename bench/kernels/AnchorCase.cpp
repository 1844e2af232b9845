//===- AnchorCase.cpp - one anchor kernel of the suite ----------------------------------------===//
#include "AnchorCase.h"
#include "ConvolutionCase.h"
#include "codegen/anchors/MatMul.h"
#include <random>
#include <vector>

namespace tokamak::bench {

using codegen::ConvolutionPlan;
using codegen::ConvolutionShape;
using codegen::MatMulPlan;
using codegen::MatMulShape;
using test::CompiledKernel;
using test::ResultShape;

namespace {

/// 64-byte aligned floats of small random values.
class Buffer {
public:
  explicit Buffer(int64_t count) : values(static_cast<size_t>(count) + 16) {
    auto address = reinterpret_cast<uintptr_t>(values.data());
    floats = values.data() + (64 - address % 64) % 64 / sizeof(float);
    std::mt19937 random(1);
    std::uniform_real_distribution<float> unit(-1, 1);
    for (float &value : values)
      value = unit(random);
  }
  float *data() { return floats; }

private:
  std::vector<float> values;
  float *floats;
};

/// A kernel and what it works on.
struct Operands {
  CompiledKernel kernel;
  Buffer lhs, rhs, scratch, result;
};

std::unique_ptr<AnchorCase> makeCase(std::shared_ptr<Operands> operands, int64_t tasks) {
  auto made = std::make_unique<AnchorCase>();
  made->spills = test::countInnerLoopSpills(operands->kernel.assembly);
  made->run = [operands, tasks] {
    operands->kernel.run(operands->lhs.data(), operands->rhs.data(), operands->scratch.data(),
                         operands->result.data(), 0, tasks);
  };
  return made;
}

} // namespace

std::unique_ptr<AnchorCase> convolutionCase(const ConvolutionShape &shape, const TargetDescription &target) {
  auto plan = llvm::cantFail(ConvolutionPlan::create(shape, target));
  ResultShape result =
      plan->lanesAreChannels() ? test::resultShape(shape, true) : test::rowsResultShape(shape);
  result.hasRelu = true;
  const int64_t weights = test::weightSize(shape), results = result.bufferSize(target.lanes());
  const Tensor packed = plan->pack(test::tensorOf(std::vector<float>(static_cast<size_t>(weights), 0.5F)));
  // Lanes of the last channel block are read.
  const int64_t inputs = test::inputSize(shape) + shape.input[1] * shape.input[2] * target.lanes();
  auto made = makeCase(std::make_shared<Operands>(test::compileConvolution(*plan, result, target, true),
                                                  Buffer(inputs), Buffer(packed.size()),
                                                  Buffer(plan->scratchBytes() / 4), Buffer(results)),
                       plan->taskCount());
  made->flops = 2 * codegen::multiplyAdds(shape);
  made->bytes = 4.0 * static_cast<double>(test::inputSize(shape) + packed.size() + results);
  return made;
}

std::unique_ptr<AnchorCase> matmulCase(const MatMulShape &shape, const TargetDescription &target) {
  auto plan = llvm::cantFail(MatMulPlan::create(shape, target));
  const int64_t batch = shape.batch.front(), rhsBatch = shape.rhsBatch.front();
  ResultShape result;
  result.before = {batch, shape.m};
  result.vectorExtent = shape.n;
  const int64_t lhs = batch * shape.m * shape.k, results = batch * shape.m * shape.n;
  CompiledKernel kernel = test::compileKernel(
      [&](mlir::OpBuilder &builder, mlir::Location loc, mlir::Value left, mlir::Value right,
          mlir::Value scratch, mlir::Value begin, mlir::Value end, const codegen::EpilogueFn &epilogue) {
        plan->emit(builder, loc, left, right, scratch, begin, end, epilogue);
      },
      result, target, true);
  // A packed operand is as large as its panels.
  const int64_t rhs = rhsBatch * shape.k * (shape.n + 8 * target.lanes());
  auto made = makeCase(std::make_shared<Operands>(std::move(kernel), Buffer(lhs), Buffer(rhs),
                                                  Buffer(plan->scratchBytes() / 4), Buffer(results)),
                       plan->taskCount());
  made->flops = 2.0 * static_cast<double>(batch * shape.m) * static_cast<double>(shape.n * shape.k);
  made->bytes = 4.0 * static_cast<double>(lhs + rhsBatch * shape.k * shape.n + results);
  return made;
}

} // namespace tokamak::bench
