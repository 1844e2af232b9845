//===- Reduction.cpp - import entries ---===//
#include "import/NodeContext.h"

namespace tokamak::import {

void registerReduction(Registry &registry) {}

} // namespace tokamak::import
