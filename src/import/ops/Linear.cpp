//===- Linear.cpp - import entries ---===//
#include "import/NodeContext.h"

namespace tokamak::import {

void registerLinear(Registry &registry) {}

} // namespace tokamak::import
