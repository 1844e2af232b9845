//===- Normalization.cpp - import entries ---===//
#include "import/NodeContext.h"

namespace tokamak::import {

void registerNormalization(Registry &registry) {}

} // namespace tokamak::import
