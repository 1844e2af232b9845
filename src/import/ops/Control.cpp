//===- Control.cpp - import entries ---===//
#include "import/NodeContext.h"

namespace tokamak::import {

void registerControl(Registry &registry) {}

} // namespace tokamak::import
