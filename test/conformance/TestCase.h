//===- TestCase.h - cases in the layout of the ONNX backend tests --------------------------===//
// A case is a folder with model.onnx and test_data_set_K/{input,output}_I.pb, each file one TensorProto.
#pragma once
#include "ir/Tensor.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace tokamak::conformance {

struct TestCase {
  std::string name;   ///< of the folder
  std::string folder; ///< its path
  std::string model() const { return folder + "/model.onnx"; }
};

struct DataSet {
  std::vector<Tensor> inputs,
      outputs; ///< in the order of the graph's inputs (without initializers) and outputs
};

/// The cases directly below `root`, by name.
std::vector<TestCase> findCases(const std::string &root);

/// All data sets of a case, by number. Fails where a file holds anything but a tensor of a known element
/// type.
llvm::Expected<std::vector<DataSet>> readDataSets(const TestCase &test);

/// Data written from NumPy, which has no bfloat16, hold its bits as uint16: they become bfloat16 where the
/// model declares that. Any other tensor is returned as it is.
Tensor asDeclared(const Tensor &tensor, DataType declared);

/// How close floating-point results must be: |a - e| <= absolute + relative * |e|. For bfloat16 `relative` is
/// at least one unit in its last place.
struct Tolerance {
  double relative = 1e-3, absolute = 1e-5;
};

/// Empty where `actual` is `expected`, else the first difference in words. Types, shapes, integers and bools
/// must agree exactly; NaN equals NaN.
std::string difference(const Tensor &actual, const Tensor &expected, Tolerance tolerance = {});
/// The same for all outputs of a case.
std::string difference(llvm::ArrayRef<Tensor> actual, llvm::ArrayRef<Tensor> expected,
                       Tolerance tolerance = {});

} // namespace tokamak::conformance
