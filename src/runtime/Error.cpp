//===- Error.cpp - what went wrong in a library call ----------------------------------===//
#include "runtime/Library.h"

const char *tk_library_error(int code) {
  switch (code) {
  case TK_OK:
    return "no error";
  case TK_INDEX_OUT_OF_RANGE:
    return "an index is out of range";
  case TK_OUT_OF_MEMORY:
    return "out of memory";
  case TK_UNSUPPORTED:
    return "element type or parameter not supported";
  case TK_NULL_POINTER:
    return "the model, an input or an output is a null pointer";
  default:
    return "unknown error";
  }
}
