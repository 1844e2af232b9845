//===- ErrorLine.h - the importer's one-line errors ----------------------------------------===//
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"
#include <string>

namespace tokamak::import {

/// `text` fit for one line of a terminal: control characters become '?', runs beyond `limit` bytes are cut.
/// Names come from the file, so they may hold anything.
std::string oneLine(llvm::StringRef text, size_t limit = 400);

/// The error "FILE: WHERE: REASON", or "FILE: REASON" where `where` is empty.
llvm::Error errorLine(llvm::StringRef file, const llvm::Twine &where, const llvm::Twine &reason);

/// "node 'NAME' (OpType)".
std::string nodePlace(llvm::StringRef name, llvm::StringRef opType);

/// "[2, 3]", "[]" for a scalar; of a long list its beginning and its length.
std::string shapeText(llvm::ArrayRef<int64_t> shape, llvm::StringRef separator = ", ");

} // namespace tokamak::import
