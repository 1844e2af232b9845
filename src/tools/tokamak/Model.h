//===- Model.h - a model on its way to code, without a session --------------------------------===//
#pragma once
#include "Options.h"
#include "driver/Pipeline.h"

namespace tokamak::tool {

struct LoadedModel {
  std::unique_ptr<import::Model> model;
  driver::CompileOptions options;  ///< shapes resolved, bindings made
  std::vector<NamedTensor> values; ///< of the inputs that have a file
};

/// Loads the model that `options` name, for `compile`, `explain` and `verify`. `files`: NAME=FILE.npy, whose
/// shapes count as given.
Result<LoadedModel> loadModel(const ModelOptions &options, const std::vector<std::string> &files = {});

} // namespace tokamak::tool
