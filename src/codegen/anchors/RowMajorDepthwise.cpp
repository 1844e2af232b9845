//===- RowMajorDepthwise.cpp - depthwise convolutions of row-major images -------------------===//
#include "codegen/anchors/RowMajorDepthwise.h"
#include "codegen/anchors/LoopBuilder.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <map>

using namespace mlir;

namespace tokamak::codegen {
namespace {

using Values = LoopBuilder::Values;

/// Multiply-adds that a task has at least, so that handing it out costs nothing beside it.
constexpr int64_t kTaskMulAdds = 1 << 16;
/// Rows (of blocks) and vectors of columns on the border that are written out, each with the taps that it
/// has.
constexpr int64_t kMostBorderRows = 24, kMostBorderVectors = 4;
/// Taps that are written out for each vector; more take seconds to compile.
constexpr int64_t kMostTaps = 225;
/// Rows of a block, and multiply-adds of one vector of columns of it.
constexpr int64_t kMostBlockRows = 8, kMostBlockTaps = 128;
/// Registers beside the weights, and those of them that are no sums: inputs, constants of the epilogue.
constexpr int64_t kOtherRegisters = 6, kInputRegisters = 4;

/// [first, last) of the outputs, all of whose taps lie inside the input.
std::pair<int64_t, int64_t> interior(const AxisTaps &axis) {
  int64_t first = 0, last = axis.outCount;
  while (first < last && !axis.isInside(first, 0))
    ++first;
  while (last > first && !axis.isInside(last - 1, axis.tapCount - 1))
    --last;
  return {first, last};
}

class RowMajorDepthwise final : public ConvolutionPlan {
public:
  RowMajorDepthwise(const ConvolutionShape &shape, const TargetDescription &target)
      : shape(shape), lanes(target.lanes()), rows(axisPhases(shape, 1).front()),
        columns(axisPhases(shape, 2).front()),
        keepsWeights(kernelSize() + kOtherRegisters <= target.vectorRegisters) {
    const int64_t ofChannel = std::max<int64_t>(shape.output[1] * shape.output[2] * kernelSize(), 1);
    channelsPerTask = std::clamp<int64_t>(kTaskMulAdds / ofChannel, 1, shape.outChannels);
    // Weights that are not kept live from the first row of a block that reads them to the last. So few rows,
    // but two in any case, which is a load in two saved.
    const int64_t forRows = target.vectorRegisters - kInputRegisters,
                  most = keepsWeights ? forRows - kernelSize()
                                      : std::max<int64_t>(2, forRows / (1 + shape.kernel[2]));
    const int64_t atOnce =
        std::max<int64_t>(1, std::min({most, kMostBlockRows, kMostBlockTaps / kernelSize()}));
    // Blocks of about one size: 14 rows as 7 and 7.
    const int64_t count = std::max<int64_t>(1, rows.outCount);
    blockRows = llvm::divideCeilSigned(count, llvm::divideCeilSigned(count, atOnce));
    auto [firstRow, lastRow] = interior(rows);
    firstBlock = std::min(llvm::divideCeilSigned(firstRow, blockRows), blocks());
    lastBlock = std::max(lastRow / blockRows, firstBlock);
    auto [first, last] = interior(columns);
    firstVector = std::min(llvm::divideCeilSigned(first, lanes), vectors());
    lastVector = std::max(last / lanes, firstVector);
  }

  bool isSmall() const {
    return (blocks() - (lastBlock - firstBlock)) * blockRows <= kMostBorderRows &&
           vectors() - (lastVector - firstVector) <= kMostBorderVectors;
  }

  Tensor pack(const Tensor &weight) const override { return weight.reshaped({weight.size()}); }
  bool lanesAreChannels() const override { return false; }
  int64_t taskCount() const override { return shape.batch * tasksPerImage(); }
  void emit(OpBuilder &builder, Location loc, Value input, Value packedWeight, Value scratch, Value begin,
            Value end, const EpilogueFn &epilogue, const ConvolutionInputFn &compute) const override;
  int64_t blocksAtOnce() const override { return 1; }
  void emitRegion(OpBuilder &, Location, Value, Value, Value, const ConvolutionRegion &, const EpilogueFn &,
                  const ConvolutionInputFn &) const override {
    llvm_unreachable("there is no such plan for bands of rows");
  }

private:
  int64_t kernelSize() const { return shape.kernel[1] * shape.kernel[2]; }
  int64_t blocks() const { return llvm::divideCeilSigned(rows.outCount, blockRows); }
  int64_t vectors() const { return llvm::divideCeilSigned(columns.outCount, lanes); }
  int64_t tasksPerImage() const { return llvm::divideCeilSigned(shape.outChannels, channelsPerTask); }

  /// One plane of the result, of which `before` are the axes in front.
  struct Plane {
    Value input, weight;
    Values kept; ///< the weights in all lanes, where there are registers for them
    SmallVector<PointIndex> before;
  };
  void emitPlane(LoopBuilder &loops, Plane plane, const EpilogueFn &epilogue) const;
  /// `count` rows from `row` on. `known` where the first is a number; otherwise all have all taps.
  void emitRows(LoopBuilder &loops, const Plane &plane, Value row, std::optional<int64_t> known,
                int64_t count, const EpilogueFn &epilogue) const;
  /// A row of the input that some rows of the result read, which all get it from one load.
  struct InputRow {
    int64_t offset = 0; ///< in rows, from what the first row's first tap reads
    struct Reader {
      int64_t row, rowTap;
    };
    SmallVector<Reader> readers;
  };
  std::vector<InputRow> inputRows(std::optional<int64_t> known, int64_t count) const;
  /// One vector of each row. The first tap of the first row reads `first`. `known`: the vector where that is
  /// a number; the others have all taps.
  void emitVector(LoopBuilder &loops, const Plane &plane, ArrayRef<InputRow> reads, int64_t count,
                  Value first, Value row, Value vector, std::optional<int64_t> known,
                  const EpilogueFn &epilogue) const;

  ConvolutionShape shape;
  int64_t lanes;
  AxisTaps rows, columns;
  bool keepsWeights;
  int64_t channelsPerTask = 1;
  int64_t blockRows = 1;                   ///< rows that are computed together, since they share inputs
  int64_t firstBlock = 0, lastBlock = 0;   ///< blocks of as many rows, with all taps
  int64_t firstVector = 0, lastVector = 0; ///< vectors of columns with all taps
};

std::vector<RowMajorDepthwise::InputRow> RowMajorDepthwise::inputRows(std::optional<int64_t> known,
                                                                      int64_t count) const {
  std::map<int64_t, InputRow> byOffset;
  for (int64_t row = 0; row < count; ++row)
    for (int64_t tap = 0; tap < rows.tapCount; ++tap)
      if (!known || rows.isInside(*known + row, tap)) {
        const int64_t offset = row * rows.inStep + tap * rows.inTapStep;
        InputRow &read = byOffset[offset];
        read.offset = offset;
        read.readers.push_back({row, tap});
      }
  std::vector<InputRow> reads;
  for (auto &[offset, read] : byOffset)
    reads.push_back(std::move(read));
  return reads;
}

void RowMajorDepthwise::emitVector(LoopBuilder &loops, const Plane &plane, ArrayRef<InputRow> reads,
                                   int64_t count, Value first, Value row, Value vector,
                                   std::optional<int64_t> known, const EpilogueFn &epilogue) const {
  Values sums(count, loops.zero());
  for (const InputRow &read : reads)
    for (int64_t tap = 0; tap < columns.tapCount; ++tap) {
      // Lanes whose tap lies on padding, or that no column has.
      int64_t low = 0, high = lanes;
      if (known) {
        const int64_t start = columns.inputIndex(*known * lanes, tap);
        low = std::max<int64_t>(0, -start);
        high = std::min({lanes, columns.inExtent - start, columns.outCount - *known * lanes});
      }
      if (low >= high)
        continue;
      Value input = loops.loadLanes(first, read.offset * shape.input[2] + tap * columns.inTapStep, low, high);
      for (auto [reader, rowTap] : read.readers) {
        const int64_t number = rowTap * columns.tapCount + tap;
        Value weight =
            keepsWeights ? plane.kept[static_cast<size_t>(number)] : loops.broadcast(plane.weight, number);
        sums[reader] = loops.fma(input, weight, sums[reader]);
      }
    }
  for (int64_t i = 0; i < count; ++i) {
    AccumulatorPoint point;
    point.value = sums[i];
    point.before = plane.before;
    if (shape.spatialRank > 1)
      point.before.push_back(PointIndex{row, i});
    point.block.base = vector;
    point.validLanes = known ? std::min(lanes, columns.outCount - *known * lanes) : lanes;
    point.endsTile = i + 1 == count;
    epilogue(loops.opBuilder(), loops.location(), point);
  }
}

void RowMajorDepthwise::emitRows(LoopBuilder &loops, const Plane &plane, Value row,
                                 std::optional<int64_t> known, int64_t count,
                                 const EpilogueFn &epilogue) const {
  const std::vector<InputRow> reads = inputRows(known, count);
  Value first = loops.at(loops.at(plane.input, loops.mul(row, rows.inStep * shape.input[2])),
                         rows.inStart * shape.input[2] + columns.inStart);
  auto at = [&](Value vector, std::optional<int64_t> number) {
    emitVector(loops, plane, reads, count, loops.at(first, loops.mul(vector, lanes)), row, vector, number,
               epilogue);
  };
  for (int64_t vector = 0; vector < firstVector; ++vector)
    at(loops.index(vector), vector);
  if (firstVector < lastVector)
    loops.loop(loops.index(firstVector), loops.index(lastVector), 1,
               [&](Value vector) { at(vector, std::nullopt); });
  for (int64_t vector = lastVector; vector < vectors(); ++vector)
    at(loops.index(vector), vector);
}

void RowMajorDepthwise::emitPlane(LoopBuilder &loops, Plane plane, const EpilogueFn &epilogue) const {
  for (int64_t tap = 0; keepsWeights && tap < kernelSize(); ++tap)
    plane.kept.push_back(loops.broadcast(plane.weight, tap));
  auto border = [&](int64_t block) {
    const int64_t row = block * blockRows;
    emitRows(loops, plane, loops.index(row), row, std::min(blockRows, rows.outCount - row), epilogue);
  };
  for (int64_t block = 0; block < firstBlock; ++block)
    border(block);
  if (firstBlock < lastBlock)
    loops.loop(loops.index(firstBlock), loops.index(lastBlock), 1, [&](Value block) {
      emitRows(loops, plane, loops.mul(block, blockRows), std::nullopt, blockRows, epilogue);
    });
  for (int64_t block = lastBlock; block < blocks(); ++block)
    border(block);
}

void RowMajorDepthwise::emit(OpBuilder &builder, Location loc, Value input, Value packedWeight,
                             Value /*scratch*/, Value begin, Value end, const EpilogueFn &epilogue,
                             const ConvolutionInputFn & /*compute*/) const {
  LoopBuilder loops(builder, loc, lanes);
  const int64_t planeSize = shape.input[1] * shape.input[2];
  loops.loop(begin, end, 1, [&](Value task) {
    Value image = loops.div(task, tasksPerImage());
    Value from = loops.mul(loops.rem(task, tasksPerImage()), channelsPerTask);
    Value to = loops.min(loops.add(from, channelsPerTask), loops.index(shape.outChannels));
    loops.loop(from, to, 1, [&](Value channel) {
      Plane plane;
      Value source =
          loops.add(loops.mul(image, shape.inChannels), loops.div(channel, shape.outChannelsPerGroup()));
      plane.input = loops.at(input, loops.mul(source, planeSize));
      plane.weight = loops.at(packedWeight, loops.mul(channel, kernelSize()));
      plane.before = {PointIndex{image}, PointIndex{channel}};
      emitPlane(loops, plane, epilogue);
    });
  });
}

} // namespace

llvm::Expected<std::unique_ptr<ConvolutionPlan>> createRowMajorDepthwise(const ConvolutionShape &shape,
                                                                         const TargetDescription &target) {
  if (shape.bandRows > 0 || shape.transposed || shape.inChannelsPerGroup() != 1 ||
      shape.outChannelsPerGroup() == 0 || shape.spatialRank > 2 || shape.strides[2] != 1)
    return llvm::createStringError("a row-major input, but no depthwise convolution of adjacent columns");
  if (shape.kernel[1] * shape.kernel[2] > kMostTaps)
    return llvm::createStringError("a row-major input, but too many taps to write out");
  auto plan = std::make_unique<RowMajorDepthwise>(shape, target);
  if (!plan->isSmall())
    return llvm::createStringError("too much of its result lies on the border");
  return plan;
}

} // namespace tokamak::codegen
