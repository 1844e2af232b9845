//===- Recurrent.cpp - import entries ---===//
#include "import/NodeContext.h"

namespace tokamak::import {

void registerRecurrent(Registry &registry) {}

} // namespace tokamak::import
