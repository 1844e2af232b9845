//===- Summary.cpp - a tensor in a line -------------------------------------------------------===//
#include "Summary.h"
#include "driver/Shapes.h"
#include "ir/Tensor.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>

namespace tokamak::tool {

Summary summarize(const HostTensor &tensor) {
  Tensor values(static_cast<DataType>(tensor.type), tensor.shape);
  if (!tensor.bytes.empty())
    std::memcpy(values.mutableBytes(), tensor.bytes.data(), tensor.bytes.size());
  constexpr int64_t shown = 6;
  Summary summary;
  double sum = 0;
  for (int64_t i = 0; i < values.size(); ++i) {
    double value = values.doubleAt(i);
    if (i < shown)
      summary.first.push_back(value);
    if (std::isnan(value)) {
      ++summary.nans;
      continue;
    }
    if (std::isinf(value)) {
      ++summary.infinities;
      continue;
    }
    summary.min = summary.finite ? std::min(summary.min, value) : value;
    summary.max = summary.finite ? std::max(summary.max, value) : value;
    sum += value;
    ++summary.finite;
  }
  if (summary.finite)
    summary.mean = sum / static_cast<double>(summary.finite);
  return summary;
}

std::string describe(const std::string &name, const HostTensor &tensor) {
  Summary summary = summarize(tensor);
  std::string text =
      fmt::format("{}: {}{}", name, elementTypeName(tensor.type), driver::shapeText(tensor.shape));
  size_t count = tensor.elements();
  if (count == 0)
    return text + "  no elements";
  if (count > 1 && summary.finite)
    text += fmt::format("  min {:.6g}  max {:.6g}  mean {:.6g}", summary.min, summary.max, summary.mean);
  if (summary.nans)
    text += fmt::format("  NaN {} of {}", summary.nans, count);
  if (summary.infinities)
    text += fmt::format("  inf {} of {}", summary.infinities, count);
  text += count > summary.first.size() ? "  first" : "  values";
  for (double value : summary.first)
    text += fmt::format(" {:.6g}", value);
  return text;
}

} // namespace tokamak::tool
