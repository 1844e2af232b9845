//===- RowMajorDepthwise.cpp - depthwise convolutions of row-major images -------------------===//
#include "codegen/anchors/RowMajorDepthwise.h"
#include "codegen/anchors/LoopBuilder.h"
#include "llvm/Support/ErrorHandling.h"
#include <algorithm>

using namespace mlir;

namespace tokamak::codegen {
namespace {

using Values = LoopBuilder::Values;

/// Multiply-adds that a task has at least, so that handing it out costs nothing beside it.
constexpr int64_t kTaskMulAdds = 1 << 16;
/// Rows and vectors of columns on the border that are written out, each with the taps that it has.
constexpr int64_t kMostBorderRows = 8, kMostBorderVectors = 4;
/// Registers beside the weights: sums of rows that overlap in time, inputs.
constexpr int64_t kOtherRegisters = 6;

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
    std::tie(firstRow, lastRow) = interior(rows);
    auto [first, last] = interior(columns);
    firstVector = std::min((first + lanes - 1) / lanes, vectors());
    lastVector = std::max(last / lanes, firstVector);
  }

  bool isSmall() const {
    return rows.outCount - (lastRow - firstRow) <= kMostBorderRows &&
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
  int64_t vectors() const { return (columns.outCount + lanes - 1) / lanes; }
  int64_t tasksPerImage() const { return (shape.outChannels + channelsPerTask - 1) / channelsPerTask; }

  /// One plane of the result, of which `before` are the axes in front.
  struct Plane {
    Value input, weight;
    Values kept; ///< the weights in all lanes, where there are registers for them
    SmallVector<PointIndex> before;
  };
  void emitPlane(LoopBuilder &loops, Plane plane, const EpilogueFn &epilogue) const;
  /// One row; `known` where that is a number.
  void emitRow(LoopBuilder &loops, const Plane &plane, Value row, std::optional<int64_t> known,
               const EpilogueFn &epilogue) const;
  /// One vector of the row whose first tap reads `first`. `known`: the vector where that is a number; the
  /// others have all taps.
  void emitVector(LoopBuilder &loops, const Plane &plane, ArrayRef<int64_t> rowTaps, Value first, Value row,
                  Value vector, std::optional<int64_t> known, const EpilogueFn &epilogue) const;

  ConvolutionShape shape;
  int64_t lanes;
  AxisTaps rows, columns;
  bool keepsWeights;
  int64_t channelsPerTask = 1;
  int64_t firstRow = 0, lastRow = 0;       ///< rows with all taps
  int64_t firstVector = 0, lastVector = 0; ///< vectors of columns with all taps
};

void RowMajorDepthwise::emitVector(LoopBuilder &loops, const Plane &plane, ArrayRef<int64_t> rowTaps,
                                   Value first, Value row, Value vector, std::optional<int64_t> known,
                                   const EpilogueFn &epilogue) const {
  Value sum = loops.zero();
  for (int64_t rowTap : rowTaps)
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
      const int64_t number = rowTap * columns.tapCount + tap;
      Value weight =
          keepsWeights ? plane.kept[static_cast<size_t>(number)] : loops.broadcast(plane.weight, number);
      const int64_t offset = rowTap * rows.inTapStep * shape.input[2] + tap * columns.inTapStep;
      sum = loops.fma(loops.loadLanes(first, offset, low, high), weight, sum);
    }
  AccumulatorPoint point;
  point.value = sum;
  point.before = plane.before;
  if (shape.spatialRank > 1)
    point.before.push_back(PointIndex{row});
  point.block.base = vector;
  point.validLanes = known ? std::min(lanes, columns.outCount - *known * lanes) : lanes;
  epilogue(loops.opBuilder(), loops.location(), point);
}

void RowMajorDepthwise::emitRow(LoopBuilder &loops, const Plane &plane, Value row,
                                std::optional<int64_t> known, const EpilogueFn &epilogue) const {
  SmallVector<int64_t> taps;
  for (int64_t tap = 0; tap < rows.tapCount; ++tap)
    if (!known || rows.isInside(*known, tap))
      taps.push_back(tap);
  Value first = loops.at(loops.at(plane.input, loops.mul(row, rows.inStep * shape.input[2])),
                         rows.inStart * shape.input[2] + columns.inStart);
  auto at = [&](Value vector, std::optional<int64_t> number) {
    emitVector(loops, plane, taps, loops.at(first, loops.mul(vector, lanes)), row, vector, number, epilogue);
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
  for (int64_t row = 0; row < firstRow; ++row)
    emitRow(loops, plane, loops.index(row), row, epilogue);
  if (firstRow < lastRow)
    loops.loop(loops.index(firstRow), loops.index(lastRow), 1,
               [&](Value row) { emitRow(loops, plane, row, std::nullopt, epilogue); });
  for (int64_t row = lastRow; row < rows.outCount; ++row)
    emitRow(loops, plane, loops.index(row), row, epilogue);
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
  auto plan = std::make_unique<RowMajorDepthwise>(shape, target);
  if (!plan->isSmall())
    return llvm::createStringError("too much of its result lies on the border");
  return plan;
}

} // namespace tokamak::codegen
