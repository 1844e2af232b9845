//===- Shapes.h - what a model declares against what it is given --------------------------===//
#pragma once
#include "driver/Fault.h"
#include "import/Import.h"
#include "tokamak/Session.h"

namespace tokamak::driver {

/// "[1,3,224,224]"; symbols by name, unknown extents as "?".
std::string shapeText(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<std::string> symbols = {});

/// Elements of a shape, or nothing where an extent is negative or the bytes (at `elementBytes` each) do not
/// fit in 63 bits.
std::optional<int64_t> elementCount(llvm::ArrayRef<int64_t> shape, size_t elementBytes);

/// The inputs (or outputs) that a model declares, without those named in `bound`.
std::vector<ValueInfo> publicValues(llvm::ArrayRef<import::ModelSignature::Value> declared,
                                    const std::map<std::string, Tensor> &bound = {});

/// The inputs that a model declares, bound ones included, with the optional ones that `bound` overrides.
std::vector<ValueInfo> inputsWith(const import::ModelSignature &signature,
                                  const std::map<std::string, Tensor> &bound);

struct ResolvedShapes {
  std::map<std::string, Shape> shapes;
  std::set<std::string> assumed; ///< inputs with symbols that nobody gave, which took 1
};

/// The concrete shape of each of `inputs`, bound ones included: as given (by name), else as declared, with
/// the symbols that given shapes bind, else 1. Fails on names that are no input, and on shapes that do not
/// fit the declaration or each other.
llvm::Expected<ResolvedShapes> resolveShapes(llvm::ArrayRef<ValueInfo> inputs,
                                             const std::map<std::string, Shape> &given);

/// Fails where the type of `value` is not the input's, or its shape does not fit its bytes. Its shape against
/// the declaration is `resolveShapes`' matter.
llvm::Error checkValue(const ValueInfo &input, const HostTensor &value);

/// A tensor of the compiler with a copy of the bytes.
Tensor toTensor(ElementType type, llvm::ArrayRef<int64_t> shape, const void *bytes);

/// A fault of the user's input with the model's name in front, unless it is there.
Status inModel(llvm::StringRef model, Status status);

/// " (inputs: 'a', 'b')", for messages about a name that is not there.
std::string listNames(llvm::StringRef what, llvm::ArrayRef<ValueInfo> values);

} // namespace tokamak::driver
