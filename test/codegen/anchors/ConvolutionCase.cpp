//===- ConvolutionCase.cpp - one convolution compiled and run -------------------------------===//
#include "ConvolutionCase.h"
#include <cstring>
#include <limits>

namespace tokamak::test {

using codegen::ConvolutionShape;

ConvolutionShape withOutput(ConvolutionShape shape, ConvolutionShape::Axes padsHigh) {
  for (unsigned axis = 0; axis < 3; ++axis) {
    int64_t reach = (shape.kernel[axis] - 1) * shape.dilations[axis] + 1;
    int64_t pads = shape.padsLow[axis] + padsHigh[axis];
    shape.output[axis] = shape.transposed ? (shape.input[axis] - 1) * shape.strides[axis] + reach - pads
                                          : (shape.input[axis] + pads - reach) / shape.strides[axis] + 1;
  }
  return shape;
}

static int64_t plane(const ConvolutionShape::Axes &extents) { return extents[0] * extents[1] * extents[2]; }
int64_t inputSize(const ConvolutionShape &s) { return s.batch * s.inChannels * plane(s.input); }
int64_t weightSize(const ConvolutionShape &s) {
  return s.inChannelsPerGroup() * s.outChannels * plane(s.kernel);
}

ResultShape resultShape(const ConvolutionShape &shape, bool isBlocked) {
  ResultShape result;
  result.before = {shape.batch};
  result.vectorExtent = shape.outChannels;
  result.after.assign(shape.output.end() - shape.spatialRank, shape.output.end());
  result.isBlocked = isBlocked;
  return result;
}

ResultShape rowsResultShape(const ConvolutionShape &shape) {
  ResultShape result;
  result.before = {shape.batch, shape.outChannels, shape.output[1]};
  result.vectorExtent = shape.output[2];
  return result;
}

/// Calls body(input position, output position) for every pair that kernel position `kernel` joins.
template <class Body>
static void forEachPair(const ConvolutionShape &s, const ConvolutionShape::Axes &kernel, Body body) {
  // The strided side is the output's grid laid over the input, or for a transposed convolution the other way
  // round.
  const ConvolutionShape::Axes &coarse = s.transposed ? s.input : s.output,
                               &fine = s.transposed ? s.output : s.input;
  for (int64_t d = 0; d < coarse[0]; ++d)
    for (int64_t h = 0; h < coarse[1]; ++h)
      for (int64_t w = 0; w < coarse[2]; ++w) {
        ConvolutionShape::Axes at{d, h, w}, other{};
        bool isInside = true;
        for (unsigned axis = 0; axis < 3; ++axis) {
          other[axis] = at[axis] * s.strides[axis] + kernel[axis] * s.dilations[axis] - s.padsLow[axis];
          isInside &= other[axis] >= 0 && other[axis] < fine[axis];
        }
        int64_t a = (d * coarse[1] + h) * coarse[2] + w,
                b = (other[0] * fine[1] + other[1]) * fine[2] + other[2];
        if (isInside)
          s.transposed ? body(a, b) : body(b, a);
      }
}

ConvolutionShape PaddedConvolution::shape() const {
  ConvolutionShape shape;
  shape.inChannels = inChannels;
  shape.outChannels = outChannels;
  shape.group = group;
  shape.input = {1, height, width};
  shape.kernel = {1, kernel, kernel};
  shape.strides = {1, stride, stride};
  shape.transposed = transposed;
  const int64_t pad = transposed ? (kernel - stride) / 2 : kernel / 2;
  shape.padsLow = {0, pad, pad};
  shape.inputBlock = lanes;
  return withOutput(shape, {0, pad, pad});
}

std::vector<double> referenceConvolution(const ConvolutionShape &s, const std::vector<float> &input,
                                         const std::vector<float> &weight) {
  int64_t in = s.inChannelsPerGroup(), out = s.outChannelsPerGroup(), inPlane = plane(s.input),
          outPlane = plane(s.output);
  std::vector<double> result(static_cast<size_t>(s.batch * s.outChannels * outPlane));
  for (int64_t a = 0; a < s.kernel[0]; ++a)
    for (int64_t b = 0; b < s.kernel[1]; ++b)
      for (int64_t c = 0; c < s.kernel[2]; ++c) {
        int64_t k = (a * s.kernel[1] + b) * s.kernel[2] + c;
        forEachPair(s, {a, b, c}, [&](int64_t from, int64_t to) {
          for (int64_t n = 0; n < s.batch; ++n)
            for (int64_t oc = 0; oc < s.outChannels; ++oc)
              for (int64_t ic = 0; ic < in; ++ic) {
                int64_t channel = oc / out * in + ic;
                int64_t w = s.transposed ? (channel * out + oc % out) : (oc * in + ic);
                result[(n * s.outChannels + oc) * outPlane + to] +=
                    static_cast<double>(input[(n * s.inChannels + channel) * inPlane + from]) *
                    static_cast<double>(weight[w * plane(s.kernel) + k]);
              }
        });
      }
  return result;
}

std::vector<float> blocked(const std::vector<float> &values, int64_t images, int64_t channels,
                           int64_t positions, int64_t block) {
  int64_t blocks = (channels + block - 1) / block;
  std::vector<float> result(static_cast<size_t>(images * blocks * positions * block),
                            std::numeric_limits<float>::quiet_NaN());
  for (int64_t n = 0; n < images; ++n)
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t p = 0; p < positions; ++p)
        result[((n * blocks + c / block) * positions + p) * block + c % block] =
            values[(n * channels + c) * positions + p];
  return result;
}

Tensor tensorOf(const std::vector<float> &values) {
  Tensor tensor(DataType::Float32, {static_cast<int64_t>(values.size())});
  if (!values.empty())
    std::memcpy(tensor.mutableBytes(), values.data(), values.size() * sizeof(float));
  return tensor;
}

CompiledKernel compileConvolution(const codegen::ConvolutionPlan &plan, const ResultShape &result,
                                  const TargetDescription &target, bool wantAssembly) {
  return compileKernel(
      [&](mlir::OpBuilder &builder, mlir::Location loc, mlir::Value input, mlir::Value weight,
          mlir::Value scratch, mlir::Value begin, mlir::Value end, const codegen::EpilogueFn &epilogue) {
        plan.emit(builder, loc, input, weight, scratch, begin, end, epilogue);
      },
      result, target, wantAssembly);
}

} // namespace tokamak::test
