//===- Resize.cpp - import entries ---===//
#include "import/NodeContext.h"

namespace tokamak::import {

void registerResize(Registry &registry) {}

} // namespace tokamak::import
