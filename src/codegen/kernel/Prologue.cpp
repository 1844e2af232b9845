//===- Prologue.cpp - operands of anchors as expressions --------------------------------------------===//
#include "codegen/kernel/Prologue.h"
#include "codegen/anchors/PackTransposed.h"
#include "codegen/kernel/ScratchFunction.h"
#include "codegen/kernel/VectorLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tokamak::codegen {

using namespace mlir;

Buffer vectorAt(Value memory, const Index &position) {
  Buffer buffer;
  buffer.type = DataType::Float32;
  buffer.pointer = memory;
  buffer.shape = {1}; // the position says it all
  buffer.position = [position](IndexSpace &, ArrayRef<Index>) { return position; };
  return buffer;
}

namespace {

/// Computes a ConvolutionRegion.
class ConvolutionInputEmitter {
public:
  ConvolutionInputEmitter(KernelContext &k, const ConvolutionInput &input, OpBuilder &builder, Location loc,
                          const ConvolutionRegion &region)
      : input(input), region(region), lanes(k.lanes()), e(builder, loc, space, k.lanes()),
        shape(tk::tensorType(input.value).getShape()) {
    k.bindArguments(e);
    image = space.uniform(region.image, 0, region.images - 1);
  }

  void emit() {
    OpBuilder &builder = e.builder();
    const int64_t raggedBlock = shape[1] % lanes ? shape[1] / lanes : -1;
    std::set<int64_t> ends = input.cuts;
    ends.insert(region.blocks.extent);
    if (raggedBlock > 0)
      ends.insert(raggedBlock);
    Index firstBlock = space.uniform(region.blocks.begin, 0, region.blocks.extent);
    int64_t low = 0;
    for (int64_t high : ends) {
      Value from = builder.create<arith::MaxSIOp>(e.location(), region.blocks.begin, e.indexConstant(low)),
            to = builder.create<arith::MinSIOp>(e.location(), region.blocks.end, e.indexConstant(high));
      e.loop(from, to, {low, high - 1}, {}, [&](const Index &block, ValueRange) {
        channels = low == raggedBlock ? shape[1] % lanes : lanes;
        firstChannel = space.scale(block, lanes);
        emitAxes(space.scale(space.sub(block, firstBlock), region.blockStride));
        return SmallVector<Value>();
      });
      low = high;
    }
  }

private:
  /// Loops over the spatial axes from the next one on; `target` is the position in scratch.
  void emitAxes(const Index &target) {
    size_t axis = spatial.size();
    if (axis == region.spatial.size()) {
      emitVector(space.add(target, e.laneIndex()));
      return;
    }
    const RegionAxis &range = region.spatial[axis];
    const bool inSquares = input.alongColumns && axis + 1 == region.spatial.size() && range.extent >= lanes;
    if (!inSquares) {
      emitAxis(range, target);
      return;
    }
    OpBuilder &b = e.builder();
    Value columns = b.create<arith::SubIOp>(e.location(), range.end, range.begin);
    Value isWide =
        b.create<arith::CmpIOp>(e.location(), arith::CmpIPredicate::sge, columns, e.indexConstant(lanes));
    auto branch = b.create<scf::IfOp>(e.location(), isWide, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    ElementBuilder::Scope scope(e);
    b.setInsertionPointToStart(branch.thenBlock());
    emitSquares(range, columns, target);
    b.setInsertionPointToStart(branch.elseBlock());
    emitAxis(range, target);
  }

  void emitAxis(const RegionAxis &range, const Index &target) {
    Index first = space.uniform(range.begin, 0, range.extent);
    int64_t stride = region.spatialStrides[spatial.size()];
    e.loop(range.begin, range.end, {0, range.extent - 1}, {}, [&](const Index &i, ValueRange) {
      spatial.push_back(i);
      emitAxes(space.add(target, space.scale(space.sub(i, first), stride)));
      spatial.pop_back();
      return SmallVector<Value>();
    });
  }

  void emitVector(const Index &target) {
    if (channels < lanes)
      e.setMask(firstLanes(e, channels));
    SmallVector<Index> index{image, space.add(firstChannel, e.laneIndex())};
    llvm::append_range(index, spatial);
    Value element = e.element(input.value, index);
    e.setMask(nullptr); // the scratch has room for the whole vector
    e.store(element, vectorAt(region.memory, target), {});
  }

  /// At least `lanes` columns. The last square is moved back over the one before it where they do not divide.
  void emitSquares(const RegionAxis &range, Value columns, const Index &target) {
    OpBuilder &b = e.builder();
    Location loc = e.location();
    LoopBuilder loops(b, loc, lanes);
    int64_t stride = region.spatialStrides.back();
    Index first = space.uniform(range.begin, 0, range.extent);
    Value squares = loops.div(loops.add(columns, lanes - 1), lanes);
    Value last = loops.add(range.end, -lanes);
    e.loop(e.indexConstant(0), squares, {0, (range.extent - 1) / lanes}, {}, [&](const Index &i, ValueRange) {
      Value at = loops.min(e.materialize(space.add(first, space.scale(i, lanes))), last);
      Index start = space.uniform(at, 0, range.extent - lanes);
      LoopBuilder::Values vectors;
      for (int64_t channel = 0; channel < lanes; ++channel) {
        SmallVector<Index> index{image, space.add(firstChannel, Index(channel))};
        llvm::append_range(index, spatial);
        index.push_back(space.add(start, e.laneIndex()));
        vectors.push_back(channel < channels ? e.element(input.value, index) : loops.zero());
      }
      transposeSquare(loops, vectors);
      Index square = space.add(target, space.scale(space.sub(start, first), stride));
      for (int64_t column = 0; column < lanes; ++column)
        e.store(vectors[static_cast<size_t>(column)],
                vectorAt(region.memory, space.add(space.add(square, Index(column * stride)), e.laneIndex())),
                {});
      return SmallVector<Value>();
    });
  }

  const ConvolutionInput &input;
  const ConvolutionRegion &region;
  int64_t lanes;
  IndexSpace space;
  ElementBuilder e;
  ArrayRef<int64_t> shape;
  Index image, firstChannel;
  int64_t channels = 0; ///< of the present block
  SmallVector<Index> spatial;
};

/// The part of an operand's index that a row has in common: batch and row.
SmallVector<Index> rowIndex(ElementBuilder &e, ArrayRef<int64_t> shape, ArrayRef<Index> batch,
                            const Index &row, bool isTransposed) {
  size_t leading = shape.size() - 2;
  SmallVector<Index> index;
  if (batch.empty()) { // the row counts through all matrices
    SmallVector<int64_t> extents(shape.take_front(leading));
    extents.push_back(isTransposed ? shape.back() : shape[leading]);
    index = delinearize(e.space(), row, extents);
    // One SSA value an axis, so that the divisions happen once a row.
    for (auto [at, extent] : llvm::zip(index, extents))
      at = e.space().uniform(e.materialize(at), 0, extent - 1);
    return index;
  }
  for (size_t axis = 0; axis < leading; ++axis)
    index.push_back(shape[axis] == 1 ? Index(0) : batch[batch.size() - leading + axis]);
  index.push_back(row);
  return index;
}

/// Computes a MatrixRegion.
class MatrixEmitter {
public:
  MatrixEmitter(KernelContext &k, const MatrixInput &input, OpBuilder &builder, Location loc,
                const MatrixRegion &region)
      : input(input), region(region), lanes(k.lanes()), e(builder, loc, space, 1),
        loops(builder, loc, k.lanes()), shape(tk::tensorType(input.operand).getShape()) {
    k.bindArguments(e);
    for (const RegionAxis &axis : region.batch)
      batch.push_back(space.uniform(axis.begin, 0, axis.extent - 1));
    firstColumn = space.uniform(region.firstColumn, 0, region.lastFirst);
  }

  /// Row by row, lanes over columns.
  void emitRows() {
    Index firstRow = space.uniform(region.rows.begin, 0, region.rows.extent);
    VectorNest nest;
    nest.extents = {region.valid};
    nest.lanes = lanes;
    e.loop(region.rows.begin, region.rows.end, {0, region.rows.extent - 1}, {},
           [&](const Index &row, ValueRange) {
             Index start = space.scale(space.sub(row, firstRow), region.rowStride);
             e.setLanes(1);
             SmallVector<Index> index = rowIndex(e, shape, batch, row, input.isTransposed);
             emitNest(e, nest, {}, [&](ArrayRef<Index> inner, ValueRange) {
               Value element = e.element(input.operand, at(index, space.add(firstColumn, inner[0])));
               store(element, space.add(start, inner[0]));
               return SmallVector<Value>();
             });
             return SmallVector<Value>();
           });
  }

  /// Square by square, lanes over rows, of a whole matrix.
  void emitSquares() {
    SmallVector<Index> leading;
    for (size_t axis = 0; axis + 2 < shape.size(); ++axis)
      leading.push_back(shape[axis] == 1 ? Index(0) : batch[batch.size() - (shape.size() - 2) + axis]);
    auto overColumns = [&](const Index &rowBlock, int64_t rows) {
      if (int64_t full = region.valid / lanes)
        e.loop(full, {}, [&](const Index &columnBlock, ValueRange) {
          emitSquare(leading, rowBlock, columnBlock, rows, lanes);
          return SmallVector<Value>();
        });
      if (region.valid % lanes)
        emitSquare(leading, rowBlock, Index(region.valid / lanes), rows, region.valid % lanes);
    };
    e.setLanes(lanes);
    if (int64_t full = region.rows.extent / lanes)
      e.loop(full, {}, [&](const Index &rowBlock, ValueRange) {
        overColumns(rowBlock, lanes);
        return SmallVector<Value>();
      });
    if (region.rows.extent % lanes)
      overColumns(Index(region.rows.extent / lanes), region.rows.extent % lanes);
  }

private:
  SmallVector<Index> at(ArrayRef<Index> row, const Index &column) {
    SmallVector<Index> index(row);
    index.push_back(column);
    if (input.isTransposed)
      std::swap(index.back(), index[index.size() - 2]);
    return index;
  }

  void store(Value element, const Index &position) {
    Value saved = e.mask();
    e.setMask(nullptr); // rows have room for whole vectors
    e.store(element, vectorAt(region.memory, position), {});
    e.setMask(saved);
  }

  void emitSquare(ArrayRef<Index> leading, const Index &rowBlock, const Index &columnBlock, int64_t rows,
                  int64_t columns) {
    ElementBuilder::Scope scope(e);
    if (rows < lanes)
      e.setMask(firstLanes(e, rows));
    SmallVector<Index> row(leading);
    row.push_back(space.add(space.scale(rowBlock, lanes), e.laneIndex()));
    Index start = space.add(firstColumn, space.scale(columnBlock, lanes));
    LoopBuilder::Values vectors;
    for (int64_t column = 0; column < lanes; ++column)
      vectors.push_back(column < columns ? e.element(input.operand, at(row, space.add(start, Index(column))))
                                         : loops.zero());
    e.setMask(nullptr);
    transposeSquare(loops, vectors);
    Index target =
        space.add(space.scale(rowBlock, lanes * region.rowStride), space.scale(columnBlock, lanes));
    for (int64_t i = 0; i < rows; ++i)
      store(vectors[static_cast<size_t>(i)],
            space.add(space.add(target, Index(i * region.rowStride)), e.laneIndex()));
  }

  const MatrixInput &input;
  const MatrixRegion &region;
  int64_t lanes;
  IndexSpace space;
  ElementBuilder e;
  LoopBuilder loops;
  ArrayRef<int64_t> shape;
  SmallVector<Index> batch;
  Index firstColumn;
};

} // namespace

/// Says where values lie, in code that is never lowered.
static void bindSomewhere(ElementBuilder &e, KernelBody &body, const KernelMemory &memory) {
  Value unknown = e.indexConstant(0);
  auto bind = [&](Value value, Buffer buffer) {
    buffer.pointer = unknown;
    e.bindBuffer(value, std::move(buffer));
  };
  for (auto [argument, buffer] : llvm::zip(body.arguments(), memory.arguments))
    bind(argument, buffer);
  for (const auto &[inside, buffer] : memory.computed)
    bind(inside, buffer);
}

/// The same for vectors whose elements lie in `box`.
static double loadsInBox(KernelBody &body, const KernelMemory &memory, Value value, size_t laneAxis,
                         int64_t lanes, const IndexBox &box) {
  ScratchFunction scratch(value.getContext(), value.getLoc());
  IndexSpace space;
  ElementBuilder e(scratch.builder, value.getLoc(), space, lanes);
  Value unknown = e.indexConstant(0); // code that is never lowered
  bindSomewhere(e, body, memory);
  SmallVector<Index> index;
  for (auto [axis, extent] : llvm::enumerate(box.extents)) {
    int64_t vectors = (extent + lanes - 1) / lanes;
    if (axis == laneAxis)
      index.push_back(space.add(space.scale(space.uniform(unknown, 0, vectors - 1), lanes), e.laneIndex()));
    else
      index.push_back(space.uniform(unknown, 0, extent - 1));
  }
  e.element(value, box.absolute(space, index));
  auto [regular, irregular] = e.accessCounts();
  return static_cast<double>(regular) + static_cast<double>(lanes * irregular);
}

double loadsOfVector(KernelBody &body, const KernelMemory &memory, Value value, size_t laneAxis,
                     int64_t lanes) {
  return loadsInBox(body, memory, value, laneAxis, lanes, IndexBox::whole(tk::tensorType(value).getShape()));
}

/// Where the loop over blocks of channels is cut.
static std::set<int64_t> blockCuts(KernelBody &body, const KernelMemory &memory, Value value, int64_t lanes) {
  auto shape = tk::tensorType(value).getShape();
  SmallVector<int64_t> extents = Layout{lanes}.physicalShape(shape);
  auto cuts =
      findCuts(value.getContext(), value.getLoc(), extents, [&](ElementBuilder &e, ArrayRef<Index> physical) {
        bindSomewhere(e, body, memory);
        SmallVector<Index> index(physical.drop_back());
        index[1] = e.space().add(e.space().scale(physical[1], lanes), physical.back());
        e.element(value, index);
      });
  return cuts[1];
}

/// Shuffles that a transposition takes for one vector.
static constexpr double transposition = 4;

ConvolutionInput planConvolutionInput(KernelBody &body, const KernelMemory &memory, Value value,
                                      int64_t lanes) {
  ConvolutionInput input{value, false, blockCuts(body, memory, value, lanes)};
  const IndexBox whole = IndexBox::whole(tk::tensorType(value).getShape());
  const int64_t channels = whole.extents[1];
  auto loads = [&](size_t laneAxis) {
    std::set<int64_t> ends = input.cuts;
    ends.insert((channels + lanes - 1) / lanes);
    double sum = 0;
    IndexBox piece = whole;
    for (int64_t end : ends) {
      piece.extents[1] = std::min(end * lanes, channels) - piece.begin[1];
      sum += loadsInBox(body, memory, value, laneAxis, lanes, piece) * static_cast<double>(piece.extents[1]);
      piece.begin[1] = end * lanes;
    }
    return sum / static_cast<double>(channels);
  };
  input.loads = loads(1);
  const size_t last = whole.extents.size() - 1;
  if (whole.extents[last] < lanes)
    return input;
  double alongColumns = loads(last) + transposition;
  if (alongColumns < input.loads)
    input.alongColumns = true, input.loads = alongColumns;
  return input;
}

ConvolutionInputFn computeConvolutionInput(KernelContext &k, const ConvolutionInput &input) {
  return [&k, input](OpBuilder &builder, Location loc, const ConvolutionRegion &region) {
    ConvolutionInputEmitter(k, input, builder, loc, region).emit();
  };
}

MatrixInput planMatrixInput(KernelBody &body, const KernelMemory &memory, Value operand, bool isTransposed,
                            bool isWhole, int64_t lanes) {
  auto last = static_cast<size_t>(tk::tensorType(operand).getRank()) - 1;
  size_t columns = isTransposed ? last - 1 : last, rows = isTransposed ? last : last - 1;
  MatrixInput input{operand, isTransposed, false, loadsOfVector(body, memory, operand, columns, lanes)};
  double alongRows = loadsOfVector(body, memory, operand, rows, lanes) + transposition;
  if (isWhole && alongRows < input.loads)
    input.alongRows = true, input.loads = alongRows;
  return input;
}

MatrixInputFn computeMatrix(KernelContext &k, const MatrixInput &input) {
  return [&k, input](OpBuilder &builder, Location loc, const MatrixRegion &region) {
    MatrixEmitter emitter(k, input, builder, loc, region);
    if (input.alongRows && region.isWhole)
      emitter.emitSquares();
    else
      emitter.emitRows();
  };
}

} // namespace tokamak::codegen
