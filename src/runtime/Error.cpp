//===- Error.cpp - what went wrong in a library call ----------------------------------===//
#include "runtime/Library.h"

const char *tk_library_error(int code) {
  switch (code & ((1 << TK_FAULT_BITS) - 1)) {
  case TK_OK:
    return "no error";
  case TK_INDEX_OUT_OF_RANGE:
    return "an index is out of range; give indices that fit the axis they select from (tokamak verify names "
           "the "
           "index)";
  case TK_OUT_OF_MEMORY:
    return "out of memory; free some, or run less at a time";
  case TK_UNSUPPORTED:
    return "element type or parameter not supported";
  case TK_NULL_POINTER:
    return "the model, an input or an output is a null pointer";
  default:
    return "unknown error";
  }
}
