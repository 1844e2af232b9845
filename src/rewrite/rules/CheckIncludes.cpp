//===- CheckIncludes.cpp - rule files that include themselves -------------------------------------===//
#include "rewrite/rules/CheckIncludes.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <map>
#include <optional>

using namespace llvm;
using namespace tokamak::rules;

/// The text after the comment, string or block of code that `text` begins with; `text` where it begins with
/// none of them.
static StringRef skipOpaque(StringRef text) {
  auto after = [&](size_t from, StringRef end) {
    const size_t at = text.find(end, from);
    return at == StringRef::npos ? StringRef() : text.drop_front(at + end.size());
  };
  if (text.starts_with("//"))
    return after(2, "\n");
  if (text.starts_with("[{"))
    return after(2, "}]");
  if (!text.starts_with("\""))
    return text;
  for (size_t i = 1; i < text.size() && text[i] != '\n'; ++i) {
    if (text[i] == '"')
      return text.drop_front(i + 1);
    i += text[i] == '\\';
  }
  return {}; // not closed, as mlir-pdll will say
}

/// The names in #include directives, as parts of `text`.
static SmallVector<StringRef> includesOf(StringRef text) {
  SmallVector<StringRef> names;
  while (!text.empty()) {
    StringRef rest = skipOpaque(text);
    if (rest.size() != text.size()) {
      text = rest;
      continue;
    }
    if (!text.consume_front("#include")) {
      text = text.drop_front();
      continue;
    }
    for (text = text.ltrim(); text.starts_with("//");)
      text = skipOpaque(text).ltrim();
    if (text.starts_with("\"")) {
      rest = skipOpaque(text);
      StringRef name = text.drop_back(rest.size());
      if (name.size() >= 2 && name.ends_with("\""))
        names.push_back(name.drop_front().drop_back());
      text = rest;
    }
  }
  return names;
}

namespace {

class IncludeCheck {
public:
  explicit IncludeCheck(ArrayRef<StringRef> folders) : folders(folders) {}

  Error visit(StringRef path) {
    sys::fs::UniqueID id;
    auto text = MemoryBuffer::getFile(path, /*IsText=*/true);
    if (sys::fs::getUniqueID(path, id) || !text)
      return Error::success();
    states[id] = State::Open;
    for (StringRef name : includesOf((*text)->getBuffer())) {
      std::optional<std::string> included = find(name);
      sys::fs::UniqueID other;
      if (!included || sys::fs::getUniqueID(*included, other))
        continue;
      auto known = states.find(other);
      if (known == states.end()) {
        if (Error error = visit(*included))
          return error;
      } else if (known->second == State::Open) {
        StringRef before((*text)->getBufferStart(),
                         static_cast<size_t>(name.begin() - (*text)->getBufferStart()));
        return createStringError(inconvertibleErrorCode(),
                                 path + ":" + utostr(before.count('\n') + 1) + ":" +
                                     utostr(before.size() - (before.rfind('\n') + 1)) + ": this includes '" +
                                     name + "' in itself");
      }
    }
    states[id] = State::Done;
    return Error::success();
  }

private:
  enum class State { Open, Done };

  std::optional<std::string> find(StringRef name) const {
    if (sys::fs::is_regular_file(name))
      return name.str();
    for (StringRef folder : folders) {
      SmallString<128> path(folder);
      sys::path::append(path, name);
      if (sys::fs::is_regular_file(path))
        return path.str().str();
    }
    return std::nullopt;
  }

  ArrayRef<StringRef> folders;
  std::map<sys::fs::UniqueID, State> states;
};

} // namespace

Error tokamak::rules::checkIncludes(StringRef path, ArrayRef<StringRef> folders) {
  return IncludeCheck(folders).visit(path);
}
