//===- Shape.cpp - import entries ---===//
#include "import/NodeContext.h"

namespace tokamak::import {

void registerShape(Registry &registry) {}

} // namespace tokamak::import
