//===- TestCase.cpp - cases in the layout of the ONNX backend tests ------------------------===//
#include "TestCase.h"
#include "import/Weights.h"
#include "onnx/onnx_pb.h"
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace tokamak::conformance {

namespace fs = std::filesystem;

std::vector<TestCase> findCases(const std::string &root) {
  std::vector<TestCase> cases;
  std::error_code error;
  for (const fs::directory_entry &entry : fs::directory_iterator(root, error))
    if (fs::exists(entry.path() / "model.onnx"))
      cases.push_back({entry.path().filename().string(), entry.path().string()});
  llvm::sort(cases, [](const TestCase &a, const TestCase &b) { return a.name < b.name; });
  return cases;
}

static llvm::Expected<Tensor> readTensor(const fs::path &path) {
  std::ifstream file(path, std::ios::binary);
  onnx::TensorProto proto;
  if (!file || !proto.ParseFromIstream(&file))
    return llvm::createStringError(path.string() + ": holds no tensor");
  llvm::Expected<Tensor> tensor = import::decodeTensor(proto, path.parent_path().string());
  if (!tensor)
    return llvm::createStringError(path.string() + ": " + llvm::toString(tensor.takeError()));
  return tensor;
}

/// STEM_0.pb, STEM_1.pb, ... as far as they exist.
static llvm::Error readAll(const fs::path &folder, const std::string &stem, std::vector<Tensor> &tensors) {
  for (int i = 0;; ++i) {
    fs::path path = folder / (stem + "_" + std::to_string(i) + ".pb");
    if (!fs::exists(path))
      return llvm::Error::success();
    llvm::Expected<Tensor> tensor = readTensor(path);
    if (!tensor)
      return tensor.takeError();
    tensors.push_back(*tensor);
  }
}

llvm::Expected<std::vector<DataSet>> readDataSets(const TestCase &test) {
  std::vector<DataSet> sets;
  for (int i = 0;; ++i) {
    fs::path folder = fs::path(test.folder) / ("test_data_set_" + std::to_string(i));
    if (!fs::exists(folder))
      break;
    DataSet set;
    if (llvm::Error error = readAll(folder, "input", set.inputs))
      return error;
    if (llvm::Error error = readAll(folder, "output", set.outputs))
      return error;
    sets.push_back(std::move(set));
  }
  if (sets.empty())
    return llvm::createStringError(test.folder + ": has no test_data_set_0");
  return sets;
}

Tensor asDeclared(const Tensor &tensor, DataType declared) {
  if (tensor.type() != DataType::UInt16 || declared != DataType::BFloat16)
    return tensor;
  Tensor result(DataType::BFloat16, tensor.shape());
  if (tensor.byteCount() > 0)
    std::memcpy(result.mutableBytes(), tensor.bytes(), tensor.byteCount());
  return result;
}

static std::string text(llvm::ArrayRef<int64_t> shape) {
  std::string s = "[";
  for (int64_t e : shape)
    s += (s.size() > 1 ? "," : "") + std::to_string(e);
  return s + "]";
}

std::string difference(const Tensor &actual, const Tensor &expected, Tolerance tolerance) {
  if (actual.type() != expected.type())
    return ("type " + name(actual.type()) + " instead of " + name(expected.type())).str();
  if (actual.shape() != expected.shape())
    return "shape " + text(actual.shape()) + " instead of " + text(expected.shape());
  // One unit in the last place of bfloat16, which has 8 bits: producers of expected values truncate or round.
  double relative = tolerance.relative;
  if (actual.type() == DataType::BFloat16)
    relative = std::max(relative, 1.0 / 128);
  for (int64_t i = 0; i < actual.size(); ++i) {
    bool equal;
    if (isFloat(actual.type())) {
      double a = actual.doubleAt(i), e = expected.doubleAt(i);
      equal = a == e || (std::isnan(a) && std::isnan(e)) ||
              (std::isfinite(e) && std::fabs(a - e) <= tolerance.absolute + relative * std::fabs(e));
    } else {
      equal = actual.intAt(i) == expected.intAt(i);
    }
    if (!equal)
      return "element " + std::to_string(i) + " of " + text(actual.shape()) + " is " +
             std::to_string(actual.doubleAt(i)) + " instead of " + std::to_string(expected.doubleAt(i));
  }
  return "";
}

std::string difference(llvm::ArrayRef<Tensor> actual, llvm::ArrayRef<Tensor> expected, Tolerance tolerance) {
  if (actual.size() != expected.size())
    return std::to_string(actual.size()) + " outputs instead of " + std::to_string(expected.size());
  for (size_t i = 0; i < actual.size(); ++i)
    if (std::string reason = difference(actual[i], expected[i], tolerance); !reason.empty())
      return "output " + std::to_string(i) + ": " + reason;
  return "";
}

} // namespace tokamak::conformance
