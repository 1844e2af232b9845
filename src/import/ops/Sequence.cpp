//===- Sequence.cpp - sequences and optional values, refused --------------------------------===//
#include "import/NodeContext.h"

namespace tokamak::import {

void registerSequence(Registry &registry) {
  for (const char *op :
       {"SequenceConstruct", "SequenceEmpty", "SequenceInsert", "SequenceErase", "SequenceAt",
        "SequenceLength", "SequenceMap", "SplitToSequence", "ConcatFromSequence"})
    registry.refuse(op, "sequences of tensors are not supported; use separate tensors (Split, Concat)");
  for (const char *op : {"Optional", "OptionalGetElement", "OptionalHasElement"})
    registry.refuse(op, "optional values are not supported; use tensors");
}

} // namespace tokamak::import
