//===- Decision.cpp - names and sentences of the reasons ---------------------------------------===//
#include "fusion/Decision.h"
#include "llvm/Support/ErrorHandling.h"

using namespace tokamak;

namespace {
struct Words {
  llvm::StringRef name, sentence;
};
} // namespace

static Words words(Reason reason) {
  switch (reason) {
  case Reason::Fused:
    return {"fused", "Both are in one group."};
  case Reason::FusionOff:
    return {"fusion-off", "No fusion was asked for."};
  case Reason::OutOfFuel:
    return {"out-of-fuel", "The limit of applied rewrites and merges is reached."};
  case Reason::GraphOutput:
    return {"graph-output", "The producer's value is an output and must stay visible."};
  case Reason::NoPostDominator:
    return {"no-post-dominator", "The paths from the producer never meet again."};
  case Reason::OpaqueProducer:
    return {"opaque-producer", "The producer is a library call or control flow."};
  case Reason::OpaqueConsumer:
    return {"opaque-consumer", "A library call or control flow reads the producer's value."};
  case Reason::ReductionStarts:
    return {"reduction-starts", "A reduction is not fused into what follows it."};
  case Reason::SecondAnchor:
    return {"second-anchor",
            "A group holds one heavy loop nest, unless merge-anchors makes a chain of several."};
  case Reason::AnchorNotInPlace:
    return {"anchor-not-in-place",
            "The result of a heavy loop nest is read otherwise than element by element."};
  case Reason::AnchorInput:
    return {"anchor-input", "Work in front of a heavy loop nest stays out of it."};
  case Reason::KindOnPath:
    return {"kind-on-path", "An operator on the way to where the paths meet is of too large a kind."};
  case Reason::KindOfSink:
    return {"kind-of-sink", "The group where the paths meet is of too large a kind."};
  case Reason::TooManyOperators:
    return {"too-many-operators", "The group would pass the limit of operators."};
  case Reason::TooFewRows:
    return {"too-few-rows", "Together they have too few rows in common for the threads to share."};
  case Reason::TooMuchScratch:
    return {"too-much-scratch", "A row of both needs more scratch memory than the cache keeps."};
  case Reason::Cycle:
    return {"cycle", "A path through another kernel leads from the one to the other."};
  case Reason::CannotEmit:
    return {"cannot-emit", "The kernel emitter cannot do the group."};
  case Reason::FarApart:
    return {"far-apart", "Whether another way leads from the one to the other takes too long to find out."};
  case Reason::NoGain:
    return {"no-gain",
            "Together they would take no less time than apart, or less by what the model cannot tell."};
  case Reason::ReadElsewhere:
    return {"read-elsewhere",
            "Another kernel reads the value too, so it cannot stay inside the kernel of both."};
  case Reason::OtherMerge:
    return {"other-merge",
            "One of the two takes less time with another neighbour, or the chain cut elsewhere."};
  case Reason::ReusesElements:
    return {"reuses-elements", "The consumer asks for elements again that are dear to compute."};
  }
  llvm_unreachable("a reason without words");
}

llvm::StringRef tokamak::reasonName(Reason reason) { return words(reason).name; }
llvm::StringRef tokamak::reasonSentence(Reason reason) { return words(reason).sentence; }
