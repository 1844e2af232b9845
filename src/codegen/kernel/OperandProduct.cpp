//===- OperandProduct.cpp - operands that a product of the same kernel computes matrix by matrix ----===//
#include "codegen/kernel/OperandProduct.h"
#include "codegen/anchors/LoopBuilder.h"
#include "codegen/kernel/AnchorOperands.h"
#include "codegen/kernel/IndexProbe.h"
#include "codegen/kernel/MatrixChain.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <numeric>

namespace tokamak::codegen {

using namespace mlir;

namespace {

int64_t product(ArrayRef<int64_t> extents) {
  return std::accumulate(extents.begin(), extents.end(), int64_t(1), std::multiplies<>());
}

/// The coefficient of each axis in an index, if it has no other terms.
std::optional<SmallVector<int64_t>> coefficients(const IndexProbe &probe, const Index &index) {
  SmallVector<int64_t> result(probe.rank(), 0);
  for (auto [atom, coefficient] : index.terms) {
    bool isAxis = false;
    for (size_t axis = 0; axis < probe.rank(); ++axis)
      if (!probe.axis(axis).isConstant() && probe.axis(axis).terms[0].first == atom)
        result[axis] = coefficient, isAxis = true;
    if (!isAxis)
      return std::nullopt;
  }
  return result;
}

} // namespace

std::optional<OperandProduct> OperandProduct::create(KernelBody &body, const KernelMemory &memory,
                                                     Value operand, ArrayRef<int64_t> batch,
                                                     const TargetDescription &target) {
  OperandProduct result;
  result.operand = operand;
  auto sources = sourcesOf(operand);
  for (Operation *op : body.heavyOperators())
    if (sources.contains(op)) {
      if (result.origin || !isa<tk::MatMulOp>(op))
        return std::nullopt;
      result.origin = cast<tk::MatMulOp>(op);
    }
  tk::MatMulOp source = result.origin;
  auto type = tk::tensorType(operand);
  if (!source || type.getRank() < 2 || type.getNumElements() == 0 || !type.getElementType().isF32())
    return std::nullopt;
  AnchorOperands operands = operandsOf(memory, source);
  auto shape = source.getType().getShape();
  if (!source.getType().getElementType().isF32() || source.getTransposeLhs() || source.getTransposeRhs() ||
      tk::tensorType(source.getRhs()).getRank() != 2 || !operands.input ||
      memory.arguments[*operands.input].layout.isBlocked() || !mayPack(body, memory, operands.weight, source))
    return std::nullopt;
  result.input = *operands.input, result.weight = *operands.weight;

  auto leading = type.getShape().drop_back(2);
  result.matrices = product(leading);
  if (result.matrices != product(batch) || leading.size() > batch.size())
    return std::nullopt;
  IndexProbe probe(operand, [&](Value value) { return value == source.getResult(); });
  const Access *access = nullptr;
  for (const Access &one : probe.accesses())
    if (one.tensor == source.getResult()) {
      if (access && access->index != one.index)
        return std::nullopt;
      access = &one;
    }
  if (!access)
    return std::nullopt;
  ArrayRef<Index> index(access->index);
  Index row = linearize(probe.space(), index.drop_back(), shape.drop_back());
  auto rowTerms = coefficients(probe, row), columnTerms = coefficients(probe, index.back());
  if (!rowTerms || !columnTerms)
    return std::nullopt;
  // One of the last two axes runs along the columns of the product, the other one along its rows.
  const size_t last = probe.rank() - 1;
  result.isTransposed = (*columnTerms)[last] == 0 && (*columnTerms)[last - 1] != 0;
  const size_t columnAxis = result.isTransposed ? last - 1 : last,
               rowAxis = result.isTransposed ? last : last - 1;
  result.columns = type.getShape()[columnAxis], result.rows = type.getShape()[rowAxis];
  if (result.columns < 2 || (*columnTerms)[columnAxis] != 1 || (*columnTerms)[rowAxis] != 0 ||
      (*rowTerms)[columnAxis] != 0 || (result.rows > 1 && (*rowTerms)[rowAxis] != 1) ||
      index.back().constant % result.columns != 0 || shape.back() % result.columns != 0)
    return std::nullopt;
  result.firstRow.offset = row.constant;
  result.segment.offset = index.back().constant / result.columns;
  for (size_t axis = 0; axis < leading.size(); ++axis) {
    if ((*columnTerms)[axis] % result.columns != 0)
      return std::nullopt;
    result.firstRow.strides.push_back((*rowTerms)[axis]);
    result.segment.strides.push_back((*columnTerms)[axis] / result.columns);
  }

  MatMulShape segments;
  segments.batch = segments.rhsBatch = {shape.back() / result.columns};
  segments.lhsBatch = {1};
  segments.m = result.rows, segments.n = result.columns;
  segments.k = tk::tensorType(source.getLhs()).getShape().back();
  segments.rhsIsConstant = true;
  auto plan = MatMulPlan::create(segments, target);
  if (!plan) {
    llvm::consumeError(plan.takeError());
    return std::nullopt;
  }
  result.plan = std::move(*plan);
  result.rowStride = (result.columns + target.lanes() - 1) / target.lanes() * target.lanes();
  return result;
}

double OperandProduct::weightPasses() const {
  const int64_t segments = tk::tensorType(origin->getResult(0)).getShape().back() / columns;
  return std::max(1.0, static_cast<double>(matrices) / static_cast<double>(segments));
}

void OperandProduct::addPacking(std::vector<std::function<Tensor(const Tensor &)>> &packing) const {
  packing.resize(std::max(packing.size(), weight + 1));
  packing[weight] = [shared = plan, width = columns](const Tensor &whole) {
    const int64_t depth = whole.shape()[0], segments = whole.shape()[1] / width;
    Tensor cut(DataType::Float32, {segments, depth, width});
    auto *to = reinterpret_cast<float *>(cut.mutableBytes());
    const auto *from = reinterpret_cast<const float *>(whole.bytes());
    for (int64_t segment = 0; segment < segments; ++segment)
      for (int64_t k = 0; k < depth; ++k) {
        const float *first = from + (k * segments + segment) * width;
        to = std::copy(first, first + width, to);
      }
    return shared->pack(cut);
  };
}

Buffer OperandProduct::buffer() const {
  Buffer buffer;
  buffer.type = DataType::Float32;
  auto shape = tk::tensorType(operand).getShape();
  buffer.shape.assign(shape.begin(), shape.end());
  buffer.position = [stride = rowStride, swaps = isTransposed](IndexSpace &space, ArrayRef<Index> index) {
    const Index &row = swaps ? index.back() : index[index.size() - 2];
    const Index &column = swaps ? index[index.size() - 2] : index.back();
    return space.add(space.scale(row, stride), column);
  };
  return buffer;
}

Value OperandProduct::at(LoopBuilder &loops, const Base &base, ArrayRef<RegionAxis> batchIndex) const {
  Value sum = loops.index(base.offset);
  for (size_t axis = 0; axis < base.strides.size() && !batchIndex.empty(); ++axis)
    if (base.strides[axis] != 0)
      sum = loops.add(sum, loops.mul(batchIndex[batchIndex.size() - base.strides.size() + axis].begin,
                                     base.strides[axis]));
  return sum;
}

Buffer OperandProduct::emit(KernelContext &k, Value scratch, ArrayRef<RegionAxis> batchIndex) const {
  LoopBuilder loops(k.builder, k.loc, k.lanes());
  Buffer target = buffer();
  target.pointer = scratch;
  Value segmentIndex = at(loops, segment, batchIndex), rowBase = at(loops, firstRow, batchIndex);
  auto sourceShape = tk::tensorType(origin->getResult(0)).getShape();
  auto shape = tk::tensorType(operand).getShape();
  Value input = loops.at(k.arguments[this->input].pointer,
                         loops.mul(rowBase, tk::tensorType(origin->getOperand(0)).getShape().back()));
  auto store = [&](OpBuilder &builder, Location loc, const AccumulatorPoint &point) {
    IndexSpace space;
    const int64_t lanes = k.lanes();
    ElementBuilder e(builder, loc, space, lanes);
    k.bindArguments(e);
    if (point.validLanes < lanes) {
      SmallVector<bool> bits(static_cast<size_t>(lanes));
      std::fill_n(bits.begin(), point.validLanes, true);
      auto mask = VectorType::get({lanes}, builder.getI1Type());
      e.setMask(builder.create<arith::ConstantOp>(loc, DenseElementsAttr::get(mask, bits)));
    }
    const PointIndex &at = point.before.back();
    Index row = space.add(space.uniform(at.base, 0, rows - 1 - at.offset), Index(at.offset));
    Index block = space.add(space.uniform(point.block.base, 0, (columns - 1) / lanes - point.block.offset),
                            Index(point.block.offset));
    Index column = space.add(space.scale(block, lanes), e.laneIndex());
    SmallVector<Index> index;
    const size_t leading = shape.size() - 2;
    for (size_t axis = 0; axis < leading; ++axis)
      index.push_back(
          shape[axis] == 1 || batchIndex.empty()
              ? Index(0)
              : space.uniform(batchIndex[batchIndex.size() - leading + axis].begin, 0, shape[axis] - 1));
    index.push_back(isTransposed ? column : row);
    index.push_back(isTransposed ? row : column);
    // The plan has shown that an element of the operand needs this element of the origin.
    e.bindSource(origin->getResult(0), [&](ArrayRef<Index>) { return point.value; });
    e.store(e.element(operand, index), target, index);
  };
  MatMulBand all;
  all.batch.push_back(RegionAxis{segmentIndex, {}, sourceShape.back() / columns});
  all.firstTile = loops.index(0);
  all.lastTile = loops.index(plan->tileCount());
  plan->emitBand(k.builder, k.loc, input, k.arguments[weight].pointer, scratch, all, store);
  return target;
}

} // namespace tokamak::codegen
