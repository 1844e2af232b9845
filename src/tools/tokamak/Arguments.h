//===- Arguments.h - NAME=VALUE arguments of the command ------------------------------------===//
#pragma once
#include "tokamak/Session.h"
#include <map>
#include <string>
#include <vector>

namespace tokamak::tool {

/// "NAME=REST". Names of values may hold '='. Of the ways to split, the one whose name is longest and among
/// `inputs` is taken; a name that is no input is an error, as is an argument without '='.
Result<std::pair<std::string, std::string>>
splitAssignment(const std::string &option, const std::string &argument, const std::vector<ValueInfo> &inputs);

/// "1x3x224x224", or nothing for rank 0.
Result<Shape> parseShape(const std::string &argument, const std::string &text);

/// A value for `input`: a number, a list "1,2,3", or FILE.npy. Numbers must be representable in the input's
/// type; a list fills the declared shape in row-major order, of which one dimension may be symbolic.
Result<HostTensor> parseValue(const std::string &argument, const std::string &text, const ValueInfo &input);

/// `--shape` arguments as a map; an input may be given once.
Result<std::map<std::string, Shape>> parseShapes(const std::vector<std::string> &arguments,
                                                 const std::vector<ValueInfo> &inputs);
/// `--bind` arguments.
Result<std::vector<NamedTensor>> parseBindings(const std::vector<std::string> &arguments,
                                               const std::vector<ValueInfo> &inputs);
/// `--input` arguments: the files are read.
Result<std::vector<NamedTensor>> readInputs(const std::vector<std::string> &arguments,
                                            const std::vector<ValueInfo> &inputs);
/// Moves the values of optional inputs to the bindings: a value overrides the default like a bound one.
void bindOptional(const std::vector<ValueInfo> &optional, std::vector<NamedTensor> &values,
                  std::vector<NamedTensor> &bindings);

} // namespace tokamak::tool
