//===- Model.h - a model on its way to code, without a session --------------------------------===//
#pragma once
#include "Options.h"
#include "driver/Pipeline.h"

namespace tokamak::tool {

struct LoadedModel {
  std::unique_ptr<import::Model> model;
  driver::CompileOptions options; ///< shapes resolved, bindings made
};

/// Loads the model that `options` name, for `compile` and `explain`.
Result<LoadedModel> loadModel(const ModelOptions &options);

} // namespace tokamak::tool
