//===- Indexing.cpp - import entries ---===//
#include "import/NodeContext.h"

namespace tokamak::import {

void registerIndexing(Registry &registry) {}

} // namespace tokamak::import
