//===- Elementwise.cpp - import entries ---===//
#include "import/NodeContext.h"

namespace tokamak::import {

void registerElementwise(Registry &registry) {}

} // namespace tokamak::import
