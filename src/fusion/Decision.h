//===- Decision.h - what became of each candidate edge ---------------------------------------===//
#pragma once
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>
#include <vector>

namespace tokamak {

/// Why two neighbouring operators share a kernel or not. The list is closed: a partitioner that needs another
/// reason adds it here, with its name and sentence in Decision.cpp.
enum class Reason {
  Fused,            ///< in one group
  FusionOff,        ///< no fusion was asked for
  OutOfFuel,        ///< the limit of applied rewrites and merges is reached
  GraphOutput,      ///< the producer's value must stay visible
  NoPostDominator,  ///< the paths from the producer never meet again
  OpaqueProducer,   ///< the producer is a library call or control flow
  OpaqueConsumer,   ///< something that reads the producer's value is
  ReductionStarts,  ///< the baseline never fuses a reduction into what follows it
  SecondAnchor,     ///< two heavy loop nests would meet in a group
  AnchorNotInPlace, ///< a heavy loop nest is read otherwise than element by element
  AnchorInput,      ///< work in front of a heavy loop nest stays out of it
  KindOnPath,       ///< an operator on the way, or its group, is of too large a kind
  KindOfSink,       ///< the operator where the paths meet, or its group, is
  TooManyOperators, ///< the group would pass the limit of operators
  TooFewRows,       ///< one kernel of both would leave threads without work
  TooMuchScratch,   ///< what the kernel keeps while it works would not stay in the cache
  Cycle,            ///< a path through other groups leads from the one to the other
  CannotEmit,       ///< the kernel emitter cannot do the group; the detail says why
  FarApart,         ///< whether another way leads between them takes too long to find out
  NoGain,           ///< together they would take no less time than apart, as far as the model can tell
  ReadElsewhere,    ///< another kernel reads the producer's value, which would stay inside the kernel of both
  OtherMerge,       ///< one of the two is better off in a kernel without the other
  ReusesElements,   ///< the consumer asks for an element more than once, and it is dear to compute again
};

/// The reason's name in reports ("graph-output") and what it means in one sentence.
llvm::StringRef reasonName(Reason reason);
llvm::StringRef reasonSentence(Reason reason);

/// One producer -> consumer edge. Names are those of ONNX nodes, or of the tk operator where there is none.
struct Decision {
  std::string producer, consumer;
  bool fused = false;
  Reason reason = Reason::Fused;
  std::string detail;    ///< the kinds or numbers that decided
  int64_t edgeBytes = 0; ///< of the value that passes: what fusion saves writing and reading
};

struct DecisionLog {
  std::vector<Decision> decisions; ///< in block order of the producers
};

} // namespace tokamak
