//===- MatrixChain.cpp - rows of a product that another product reads from scratch ------------------===//
#include "codegen/kernel/MatrixChain.h"
#include "codegen/anchors/LoopBuilder.h"
#include "codegen/kernel/IndexProbe.h"
#include "codegen/kernel/MatMulKernel.h"

namespace tokamak::codegen {

using namespace mlir;

llvm::DenseSet<Operation *> sourcesOf(Value value, ArrayRef<Value> stop) {
  llvm::DenseSet<Operation *> sources;
  SmallVector<Value> pending{value};
  while (!pending.empty()) {
    Value next = pending.pop_back_val();
    Operation *op = next.getDefiningOp();
    if (op && !llvm::is_contained(stop, next) && sources.insert(op).second)
      pending.append(op->operand_begin(), op->operand_end());
  }
  return sources;
}

bool hasHeavySource(KernelBody &body, const KernelMemory &memory, Value value) {
  auto sources = sourcesOf(value, llvm::to_vector(llvm::make_first_range(memory.computed)));
  return llvm::any_of(body.heavyOperators(), [&](Operation *op) { return sources.contains(op); });
}

namespace {

/// Elements of all axes but the last.
int64_t rowsOf(Value value) {
  int64_t rows = 1;
  for (int64_t extent : tk::tensorType(value).getShape().drop_back())
    rows *= extent;
  return rows;
}

int64_t columnsOf(Value value) { return tk::tensorType(value).getShape().back(); }

/// Rows [first, ...) of a value in scratch; its rows count through all axes but the last.
struct ScratchRows {
  Value memory; ///< of row `first`
  Value first;
  int64_t rowStride; ///< in elements

  Buffer bufferOf(Value value, LoopBuilder &loops) const {
    Buffer buffer;
    buffer.type = DataType::Float32;
    auto shape = tk::tensorType(value).getShape();
    buffer.shape.assign(shape.begin(), shape.end());
    buffer.pointer = loops.at(memory, loops.sub(loops.index(0), loops.mul(first, rowStride)));
    SmallVector<int64_t> leading(shape.drop_back());
    buffer.position = [leading, stride = rowStride](IndexSpace &space, ArrayRef<Index> index) {
      Index row = linearize(space, index.drop_back(), leading);
      return space.add(space.scale(row, stride), index.back());
    };
    return buffer;
  }
};

/// An optional product, then row-wise work.
class ProductChain final : public MatrixChain {
public:
  static std::shared_ptr<ProductChain> create(KernelBody &body, const KernelMemory &memory,
                                              tk::MatMulOp reader, const MatMulRows &rows,
                                              const TargetDescription &target);

  int64_t scratchBytes() const override {
    return bandBytes + std::max(inner ? inner->scratchBytes() : 0, between ? between->scratchBytes : 0);
  }
  double accesses() const override {
    return (inner ? inner->accesses : 0) + (between ? between->accesses : 0);
  }
  void addAnchors(std::vector<ChainedAnchor> &anchors) const override {
    if (inner)
      inner->addAnchors(anchors);
  }
  void addPacking(std::vector<std::function<Tensor(const Tensor &)>> &packing) const override {
    if (inner)
      inner->addPacking(packing);
  }
  MatrixInputFn compute(KernelContext &k, Value scratch) const override {
    return
        [this, &k, scratch](OpBuilder &, Location, const MatrixRegion &region) { emit(k, scratch, region); };
  }

private:
  /// Follows the elementwise operators behind the inner product that may run on its accumulators.
  static Value lastOfEpilogue(tk::MatMulOp product, Value operand);
  static bool isReadBy(tk::MatMulOp reader, Value operand, Value start);
  bool planProduct(KernelBody &body, const KernelMemory &memory, tk::MatMulOp product, const MatMulRows &rows,
                   const TargetDescription &target);
  bool planRows(KernelBody &body, const KernelMemory &memory, const TargetDescription &target);
  bool mayOverwrite() const;
  MatMulBand bandOf(LoopBuilder &loops, const MatrixRegion &region, Value firstRow) const;
  void emit(KernelContext &k, Value scratch, const MatrixRegion &region) const;

  std::optional<ProductPlan> inner; ///< nothing: the rows start from memory
  Value operand;                    ///< what the reader wants
  Value rowResult;                  ///< the operand, in the shape in which its rows are computed
  Value stored; ///< what the inner product's epilogue stores: the operand, or what the rows start from
  std::shared_ptr<KernelBody> rowBody;   ///< from `stored` to `rowResult`
  std::optional<KernelStrategy> between; ///< of `rowBody`
  int64_t bandBytes = 0;                 ///< where `stored` has memory of its own
  int64_t storedStride = 0;
};

std::shared_ptr<ProductChain> ProductChain::create(KernelBody &body, const KernelMemory &memory,
                                                   tk::MatMulOp reader, const MatMulRows &rows,
                                                   const TargetDescription &target) {
  auto chain = std::make_shared<ProductChain>();
  Value operand = chain->operand = reader.getLhs();
  if (reader.getTransposeLhs() || !tk::tensorType(operand).getElementType().isF32())
    return nullptr;
  // Reshaping leaves rows where they are as long as it does not cut them.
  chain->rowResult = operand;
  while (auto reshape = chain->rowResult.getDefiningOp<tk::ReshapeOp>()) {
    auto shape = tk::tensorType(reshape.getInput()).getShape();
    if (shape.empty() || shape.back() != columnsOf(operand))
      break;
    chain->rowResult = reshape.getInput();
  }
  auto sources = sourcesOf(operand);
  tk::MatMulOp product;
  for (Operation *op : body.heavyOperators())
    if (auto candidate = dyn_cast<tk::MatMulOp>(op); candidate && sources.contains(op))
      product = candidate;
  if (!isReadBy(reader, operand, product ? product.getResult() : operand))
    return nullptr;
  if (product && !chain->planProduct(body, memory, product, rows, target))
    return nullptr;
  auto behind = sourcesOf(operand, chain->stored);
  for (Operation *op : body.heavyOperators())
    if (behind.contains(op) && !isa<tk::ReduceOp>(op))
      return nullptr;
  if (chain->stored == operand || chain->stored == chain->rowResult)
    return chain;
  if (!chain->planRows(body, memory, target))
    return nullptr;
  if (chain->stored && !chain->mayOverwrite()) {
    const int64_t lanes = target.lanes();
    chain->storedStride = (columnsOf(chain->stored) + lanes - 1) / lanes * lanes;
    chain->bandBytes = std::min(rows.tile * rows.tilesPerBand, rowsOf(operand)) * chain->storedStride *
                       static_cast<int64_t>(sizeof(float));
  }
  return chain;
}

/// Whether nobody but `reader` needs the operand, nor what it is computed from as far as that depends on
/// `start`.
bool ProductChain::isReadBy(tk::MatMulOp reader, Value operand, Value start) {
  auto sources = sourcesOf(operand);
  for (Operation *op : sources) {
    if (op->getResult(0) != start && !sourcesOf(op->getResult(0)).contains(start.getDefiningOp()))
      continue;
    for (Operation *user : op->getUsers())
      if (!sources.contains(user) && user != reader)
        return false;
  }
  return operand != reader.getRhs();
}

bool ProductChain::planProduct(KernelBody &body, const KernelMemory &memory, tk::MatMulOp product,
                               const MatMulRows &rows, const TargetDescription &target) {
  auto type = tk::tensorType(product.getResult());
  if (!type.getElementType().isF32() || rowsOf(product.getResult()) != rowsOf(operand) ||
      type.getShape().end()[-2] != tk::tensorType(operand).getShape().end()[-2])
    return false;
  stored = lastOfEpilogue(product, operand);
  inner = ProductPlan::create(body, product, memory, rows, target);
  return inner.has_value();
}

Value ProductChain::lastOfEpilogue(tk::MatMulOp product, Value operand) {
  Value last = product.getResult();
  while (last != operand && last.hasOneUse()) {
    Operation *user = *last.user_begin();
    if (user->getNumResults() != 1 || !isa<tk::FusionKindInterface>(user))
      break;
    FusionKind kind = cast<tk::FusionKindInterface>(user).getFusionKind();
    Value next = user->getResult(0);
    auto type = tk::tensorType(next);
    const bool keepsRows =
        type.getRank() >= 2 && type.getElementType().isF32() &&
        type.getShape().take_back(2) == tk::tensorType(product.getResult()).getShape().take_back(2);
    if (kind > FusionKind::Injective || !keepsRows || !readInPlace(next, product))
      break;
    // Its other operands are computed for each element: nothing with loops.
    auto sources = sourcesOf(next, product.getResult());
    if (llvm::any_of(sources, [](Operation *op) {
          auto source = dyn_cast<tk::FusionKindInterface>(op);
          return source && source.getFusionKind() > FusionKind::Injective;
        }))
      break;
    last = next;
  }
  return last;
}

bool ProductChain::planRows(KernelBody &body, const KernelMemory &memory, const TargetDescription &target) {
  rowBody = std::make_shared<KernelBody>(body, rowResult, stored);
  KernelMemory rowMemory;
  for (Value source : rowBody->argumentSources()) {
    if (auto argument = dyn_cast<BlockArgument>(source)) {
      rowMemory.arguments.push_back(memory.arguments[argument.getArgNumber()]);
    } else {
      Buffer buffer;
      buffer.type = DataType::Float32;
      buffer.shape.assign(tk::tensorType(source).getShape().begin(), tk::tensorType(source).getShape().end());
      rowMemory.arguments.push_back(buffer);
    }
    rowMemory.constantArgument.push_back(false);
  }
  Buffer result;
  result.type = DataType::Float32;
  result.shape.assign(tk::tensorType(rowResult).getShape().begin(),
                      tk::tensorType(rowResult).getShape().end());
  rowMemory.outputs.push_back(result);
  Value start;
  if (stored) {
    auto place = llvm::find(rowBody->argumentSources(), stored) - rowBody->argumentSources().begin();
    start = rowBody->arguments()[static_cast<unsigned>(place)];
  }
  between = planRowsInScratch(*rowBody, rowMemory, target, start);
  return between.has_value();
}

/// Whether the operand's rows may take the place of the rows they are computed from: reductions have read
/// those before, and an element of the operand needs the element in its place at most.
bool ProductChain::mayOverwrite() const {
  if (tk::tensorType(stored).getShape() != tk::tensorType(rowResult).getShape())
    return false;
  IndexProbe probe(rowResult,
                   [&](Value value) { return value == stored || value.getDefiningOp<tk::ReduceOp>(); });
  return llvm::all_of(probe.accesses(), [&](const Access &access) {
    return access.tensor != stored || probe.isIdentity(access.index);
  });
}

MatMulBand ProductChain::bandOf(LoopBuilder &loops, const MatrixRegion &region, Value firstRow) const {
  MatMulBand band;
  band.firstTile = region.firstTile;
  band.lastTile = region.lastTile;
  if (region.batch.empty())
    return band;
  auto shape = tk::tensorType(inner->product->getResult(0)).getShape();
  Value matrix = loops.div(firstRow, shape.end()[-2]);
  for (int64_t extent : llvm::reverse(shape.drop_back(2))) {
    band.batch.insert(band.batch.begin(), RegionAxis{loops.rem(matrix, extent), {}, extent});
    matrix = loops.div(matrix, extent);
  }
  return band;
}

void ProductChain::emit(KernelContext &k, Value scratch, const MatrixRegion &region) const {
  LoopBuilder loops(k.builder, k.loc, k.lanes());
  // Rows count through all matrices of the operand.
  auto shape = tk::tensorType(operand).getShape();
  Value firstRow = region.rows.begin;
  if (!region.batch.empty()) {
    Value matrix = loops.index(0);
    size_t leading = shape.size() - 2;
    for (size_t axis = 0; axis < leading; ++axis) {
      matrix = loops.mul(matrix, shape[axis]);
      if (shape[axis] != 1)
        matrix = loops.add(matrix, region.batch[region.batch.size() - leading + axis].begin);
    }
    firstRow = loops.add(loops.mul(matrix, shape[leading]), firstRow);
  }
  Value count = loops.sub(region.rows.end, region.rows.begin);
  ScratchRows wanted{region.memory, firstRow, region.rowStride};
  ScratchRows first = bandBytes ? ScratchRows{scratch, firstRow, storedStride} : wanted;
  Value rest = loops.at(scratch, bandBytes / static_cast<int64_t>(sizeof(float)));
  Buffer memory;
  if (inner) {
    memory = first.bufferOf(stored, loops);
    inner->emitBand(k, rest, bandOf(loops, region, firstRow),
                    epilogueInto(k, inner->product, {}, {stored}, {memory}));
  }
  if (!between)
    return;
  KernelContext rows{k.builder, k.loc,
                     k.target,  *rowBody,
                     {},        {wanted.bufferOf(rowResult, loops)},
                     firstRow,  loops.add(firstRow, count),
                     rest,      k.fault};
  for (Value source : rowBody->argumentSources()) {
    auto argument = dyn_cast<BlockArgument>(source);
    rows.arguments.push_back(argument ? k.arguments[argument.getArgNumber()] : memory);
  }
  between->emit(rows);
}

} // namespace

std::shared_ptr<MatrixChain> planMatrixChain(KernelBody &body, const KernelMemory &memory,
                                             tk::MatMulOp reader, const MatMulRows &rows,
                                             const TargetDescription &target) {
  return ProductChain::create(body, memory, reader, rows, target);
}

} // namespace tokamak::codegen
