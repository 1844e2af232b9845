//===- JoinedProducts.cpp - products of which a result needs several columns at once ----------------===//
#include "codegen/kernel/JoinedProducts.h"
#include "codegen/anchors/AxisTiling.h"
#include "codegen/anchors/LoopBuilder.h"
#include "codegen/anchors/RegisterTile.h"
#include "codegen/kernel/AnchorOperands.h"
#include "codegen/kernel/IndexProbe.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <algorithm>
#include <numeric>

namespace tokamak::codegen {

using namespace mlir;

namespace {

int64_t rowsOf(RankedTensorType type) {
  auto leading = type.getShape().drop_back();
  return std::accumulate(leading.begin(), leading.end(), int64_t(1), std::multiplies<>());
}

/// One product, or of one whose left operand is a concatenation, what one part of it gives. Operands lie in
/// memory.
struct Term {
  tk::MatMulOp product;
  size_t lhs, rhs;    ///< kernel arguments
  int64_t depth;      ///< columns of the left operand
  int64_t first;      ///< of the rows of the right operand that belong to it
  int64_t depthOfAll; ///< rows of the right operand
  // From one row, and from one column, of the right operand to the next, in elements.
  int64_t rowStride, columnStride;
};

/// Products that are only ever added: they share their accumulators.
struct Sum {
  Value value;
  SmallVector<Term, 2> terms;
  SmallVector<int64_t, 4> offsets; ///< of the columns that a result needs, from its own
};

class JoinedProducts {
public:
  /// Nothing where the group is of another form.
  static std::optional<JoinedProducts> create(KernelBody &body, const KernelMemory &memory,
                                              const TargetDescription &target);
  KernelStrategy strategy(const std::shared_ptr<JoinedProducts> &self, KernelBody &body) const;

private:
  bool addSums(KernelBody &body, const KernelMemory &memory);
  std::optional<SmallVector<Term, 2>> termsOf(KernelBody &body, const KernelMemory &memory,
                                              tk::MatMulOp product) const;
  bool addOffsets(KernelBody &body);
  bool chooseTile();
  Tensor pack(const Sum &sum, const Term &term, const Tensor &weight) const;
  int64_t panelWidth() const { return vectors * target.lanes(); }
  int64_t panels() const { return (columns + panelWidth() - 1) / panelWidth(); }
  void emit(KernelContext &k) const;
  void emitTile(KernelContext &k, LoopBuilder &loops, Value panel, Value firstRow, int64_t rowsOfTile,
                int64_t valid) const;
  LoopBuilder::Values accumulate(KernelContext &k, LoopBuilder &loops, const Sum &sum, Value panel,
                                 Value firstRow, int64_t rowsOfTile) const;

  TargetDescription target;
  RankedTensorType type; ///< of every result
  int64_t rows = 1, columns = 1;
  std::vector<Sum> sums;
  int64_t vectors = 1; ///< of each gate in a tile
  int64_t bands = 1, tilesPerBand = 1;
  AxisTiling rowTiles;
};

std::optional<JoinedProducts> JoinedProducts::create(KernelBody &body, const KernelMemory &memory,
                                                     const TargetDescription &target) {
  JoinedProducts plan;
  plan.target = target;
  plan.type = tk::tensorType(body.results().front());
  if (plan.type.getRank() == 0 || plan.type.getNumElements() == 0 || plan.type.getShape().back() < 2)
    return std::nullopt;
  plan.rows = rowsOf(plan.type);
  plan.columns = plan.type.getShape().back();
  for (auto [result, buffer] : llvm::zip(body.results(), memory.outputs))
    if (tk::tensorType(result).getShape() != plan.type.getShape() || buffer.layout.isBlocked())
      return std::nullopt;
  if (!plan.addSums(body, memory) || !plan.addOffsets(body) || !plan.chooseTile())
    return std::nullopt;
  return plan;
}

/// Nothing where an operand does not lie in memory as rows.
std::optional<SmallVector<Term, 2>> JoinedProducts::termsOf(KernelBody &body, const KernelMemory &memory,
                                                            tk::MatMulOp product) const {
  auto lhs = tk::tensorType(product.getLhs()), result = product.getType();
  AnchorOperands operands = operandsOf(memory, product);
  if (!result.getElementType().isF32() || product.getTransposeLhs() ||
      tk::tensorType(product.getRhs()).getRank() != 2 || rowsOf(lhs) != rows || rowsOf(result) != rows ||
      !mayPack(body, memory, operands.weight, product))
    return std::nullopt;
  const int64_t depth = lhs.getShape().back();
  Term term{product, 0, *operands.weight, depth, 0, depth, result.getShape().back(), 1};
  if (product.getTransposeRhs())
    term.rowStride = 1, term.columnStride = depth;
  SmallVector<Term, 2> terms;
  auto add = [&](std::optional<size_t> argument, int64_t columnsOfPart) {
    if (!argument || memory.arguments[*argument].layout.isBlocked())
      return false;
    term.lhs = *argument, term.depth = columnsOfPart;
    if (columnsOfPart > 0)
      terms.push_back(term);
    term.first += columnsOfPart;
    return true;
  };
  auto concat = product.getLhs().getDefiningOp<tk::ConcatOp>();
  if (operands.input || !concat)
    return add(operands.input, depth) ? std::optional(terms) : std::nullopt;
  if (concat.getAxis() + 1 != lhs.getRank())
    return std::nullopt;
  for (Value part : concat.getInputs())
    if (!add(argumentOf(memory, part), tk::tensorType(part).getShape().back()))
      return std::nullopt;
  return terms;
}

bool JoinedProducts::addSums(KernelBody &body, const KernelMemory &memory) {
  for (Operation *op : body.heavyOperators()) {
    auto product = dyn_cast<tk::MatMulOp>(op);
    auto terms = product ? termsOf(body, memory, product) : std::nullopt;
    if (!terms)
      return false;
    // The other term of a sum of two stands before it, if at all.
    Operation *reader = product->hasOneUse() ? *product->user_begin() : nullptr;
    if (auto add = dyn_cast_or_null<tk::AddOp>(reader); add && add.getType() == product.getType()) {
      auto sum = llvm::find_if(sums, [&](const Sum &s) { return s.value == add.getResult(); });
      if (sum != sums.end()) {
        llvm::append_range(sum->terms, *terms);
        continue;
      }
      auto isTerm = [](Value value) { return value.hasOneUse() && value.getDefiningOp<tk::MatMulOp>(); };
      if (isTerm(add.getLhs()) && isTerm(add.getRhs())) {
        sums.push_back({add.getResult(), *terms, {}});
        continue;
      }
    }
    sums.push_back({product.getResult(), *terms, {}});
  }
  return !sums.empty();
}

/// Where the results read the sums: in their own rows, at columns a constant away.
bool JoinedProducts::addOffsets(KernelBody &body) {
  auto find = [&](Value value) {
    return llvm::find_if(sums, [&](const Sum &s) { return s.value == value; });
  };
  for (Value result : body.results()) {
    IndexProbe probe(result, [&](Value value) { return find(value) != sums.end(); });
    SmallVector<Index> own;
    for (size_t axis = 0; axis < probe.rank(); ++axis)
      own.push_back(probe.axis(axis));
    IndexSpace &space = probe.space();
    ArrayRef<Index> index(own);
    Index row = linearize(space, index.drop_back(), type.getShape().drop_back());
    if (find(result) != sums.end()) // stored as it is: as wide as the others, so there are no gates
      find(result)->offsets.push_back(0);
    for (const Access &access : probe.accesses()) {
      auto sum = find(access.tensor);
      if (sum == sums.end())
        continue;
      auto shape = tk::tensorType(sum->value).getShape();
      Index offset = space.sub(access.index.back(), index.back());
      ArrayRef<Index> at(access.index);
      if (!offset.isConstant() || offset.constant < 0 || offset.constant + columns > shape.back() ||
          !(linearize(space, at.drop_back(), shape.drop_back()) == row))
        return false;
      if (!llvm::is_contained(sum->offsets, offset.constant))
        sum->offsets.push_back(offset.constant);
    }
  }
  for (Sum &sum : sums)
    llvm::sort(sum.offsets);
  return llvm::none_of(sums, [](const Sum &sum) { return sum.offsets.empty(); });
}

/// As many rows as registers hold, and two vectors of each gate where there are few rows.
bool JoinedProducts::chooseTile() {
  int64_t gates = 0, most = 0;
  for (const Sum &sum : sums) {
    auto count = static_cast<int64_t>(sum.offsets.size());
    gates += count;
    most = std::max(most, count);
  }
  const int64_t inRow = (columns + target.lanes() - 1) / target.lanes();
  auto rowsThatFit = [&](int64_t v) { return (target.vectorRegisters - 2 - most * v) / (gates * v); };
  constexpr int64_t hidesLatency = 8;
  for (int64_t more = 2; more <= inRow && rows * gates * vectors < hidesLatency; ++more)
    if (inRow % more == 0 && rowsThatFit(more) >= 1) // equal shares for the threads
      vectors = more;
  if (rowsThatFit(vectors) < 1)
    return false;
  AxisTaps axis;
  axis.outCount = axis.inExtent = rows;
  rowTiles = AxisTiling::create(axis, std::min(rowsThatFit(vectors), rows), 0);
  constexpr int64_t wantedTasks = 32;
  const int64_t tiles = rowTiles.tileCount();
  bands = std::clamp<int64_t>(wantedTasks / panels(), 1, tiles);
  tilesPerBand = (tiles + bands - 1) / bands;
  bands = (tiles + tilesPerBand - 1) / tilesPerBand;
  return true;
}

/// [panel][depth][gate][column of the panel].
Tensor JoinedProducts::pack(const Sum &sum, const Term &term, const Tensor &weight) const {
  const auto gates = static_cast<int64_t>(sum.offsets.size());
  const int64_t width = panelWidth();
  Tensor packed(DataType::Float32, {panels() * term.depthOfAll * gates * width});
  auto *to = reinterpret_cast<float *>(packed.mutableBytes());
  const auto *from = reinterpret_cast<const float *>(weight.bytes());
  for (int64_t panel = 0; panel < panels(); ++panel)
    for (int64_t k = 0; k < term.depthOfAll; ++k)
      for (int64_t offset : sum.offsets) {
        const int64_t valid = std::min(width, columns - panel * width);
        const float *first = from + k * term.rowStride + (offset + panel * width) * term.columnStride;
        for (int64_t column = 0; column < width; ++column)
          *to++ = column < valid ? first[column * term.columnStride] : 0.0f;
      }
  return packed;
}

/// The sums of a tile: [row][gate][vector].
LoopBuilder::Values JoinedProducts::accumulate(KernelContext &k, LoopBuilder &loops, const Sum &sum,
                                               Value panel, Value firstRow, int64_t rowsOfTile) const {
  const auto inStep = static_cast<int64_t>(sum.offsets.size()) * vectors;
  LoopBuilder::Values sums(static_cast<size_t>(rowsOfTile * inStep), loops.zero());
  for (const Term &term : sum.terms) {
    Value x = loops.at(k.arguments[term.lhs].pointer, loops.mul(firstRow, term.depth));
    const int64_t pitch = inStep * loops.lanes();
    Value w = loops.at(k.arguments[term.rhs].pointer,
                       loops.add(loops.mul(panel, term.depthOfAll * pitch), term.first * pitch));
    sums = loops.loop(loops.index(0), loops.index(term.depth), 1, sums, [&](Value depth, ValueRange carried) {
      LoopBuilder::Values next(carried), weights;
      Value column = loops.at(x, depth), row = loops.at(w, loops.mul(depth, pitch));
      for (int64_t v = 0; v < inStep; ++v)
        weights.push_back(loops.load(row, v * loops.lanes()));
      for (int64_t r = 0; r < rowsOfTile; ++r) {
        Value value = loops.broadcast(column, r * term.depth);
        for (int64_t v = 0; v < inStep; ++v) {
          Value &total = next[static_cast<size_t>(r * inStep + v)];
          total = loops.fma(value, weights[static_cast<size_t>(v)], total);
        }
      }
      return next;
    });
  }
  return sums;
}

void JoinedProducts::emitTile(KernelContext &k, LoopBuilder &loops, Value panel, Value firstRow,
                              int64_t rowsOfTile, int64_t valid) const {
  std::vector<LoopBuilder::Values> totals;
  for (const Sum &sum : sums)
    totals.push_back(accumulate(k, loops, sum, panel, firstRow, rowsOfTile));
  const int64_t lanes = loops.lanes();
  for (int64_t row = 0; row < rowsOfTile; ++row)
    for (int64_t vector = 0; vector * lanes < valid; ++vector) {
      IndexSpace space;
      ElementBuilder e(k.builder, k.loc, space, lanes);
      k.bindArguments(e);
      const int64_t inVector = std::min(lanes, valid - vector * lanes);
      if (inVector < lanes) {
        SmallVector<bool> bits(static_cast<size_t>(lanes));
        std::fill_n(bits.begin(), inVector, true);
        auto mask = VectorType::get({lanes}, k.builder.getI1Type());
        e.setMask(k.builder.create<arith::ConstantOp>(k.loc, DenseElementsAttr::get(mask, bits)));
      }
      Index at = space.add(space.uniform(firstRow, 0, rows - 1 - row), Index(row));
      SmallVector<Index> index = delinearize(space, at, type.getShape().drop_back());
      Index column = space.scale(space.uniform(panel, 0, panels() - 1), panelWidth());
      column = space.add(space.add(column, Index(vector * lanes)), e.laneIndex());
      index.push_back(column);
      for (auto [sum, values] : llvm::zip(sums, totals)) {
        // The plan has shown that the row is this one, and which columns there are.
        e.bindSource(sum.value, [&, row, vector](ArrayRef<Index> asked) {
          const int64_t offset = space.sub(asked.back(), column).constant;
          const auto gate = llvm::find(sum.offsets, offset) - sum.offsets.begin();
          const auto gates = static_cast<int64_t>(sum.offsets.size());
          return values[static_cast<size_t>((row * gates + gate) * vectors + vector)];
        });
      }
      for (auto [result, buffer] : llvm::zip(k.body.results(), k.outputs))
        e.store(e.element(result, index), buffer, index);
    }
}

void JoinedProducts::emit(KernelContext &k) const {
  LoopBuilder loops(k.builder, k.loc, k.lanes());
  loops.loop(k.begin, k.end, 1, [&](Value task) {
    Value panel = loops.rem(task, panels()), band = loops.div(task, panels());
    Value firstTile = loops.mul(band, tilesPerBand);
    Value lastTile = loops.min(loops.add(firstTile, tilesPerBand), loops.index(rowTiles.tileCount()));
    auto emitRows = [&](int64_t valid) {
      rowTiles.forEachTile(loops, firstTile, lastTile, [&](const TileRun &run, Value firstRow) {
        emitTile(k, loops, panel, firstRow, run.width, valid);
      });
    };
    const int64_t last = columns - (panels() - 1) * panelWidth();
    if (panels() == 1 || last == panelWidth())
      emitRows(last);
    else
      loops.ifEqual(
          panel, loops.index(panels() - 1), [&] { emitRows(last); }, [&] { emitRows(panelWidth()); });
  });
}

KernelStrategy JoinedProducts::strategy(const std::shared_ptr<JoinedProducts> &self, KernelBody &body) const {
  KernelStrategy strategy;
  strategy.kind = "matmul";
  strategy.tasks = panels() * bands;
  strategy.packing.resize(body.arguments().size());
  for (const Sum &sum : sums)
    for (const Term &term : sum.terms)
      strategy.packing[term.rhs] = [self, &sum, &term](const Tensor &weight) {
        return self->pack(sum, term, weight);
      };
  for (size_t i = 0; i < body.heavyOperators().size(); ++i)
    strategy.anchors.push_back({1, 1, static_cast<double>(bands), std::nullopt, /*startsAnew=*/false});
  strategy.emit = [self](KernelContext &k) { self->emit(k); };
  return strategy;
}

} // namespace

std::optional<KernelStrategy> planJoinedProducts(KernelBody &body, const KernelMemory &memory,
                                                 const TargetDescription &target) {
  auto plan = JoinedProducts::create(body, memory, target);
  if (!plan)
    return std::nullopt;
  auto shared = std::make_shared<JoinedProducts>(std::move(*plan));
  return shared->strategy(shared, body);
}

} // namespace tokamak::codegen
