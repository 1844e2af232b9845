//===- Npy.cpp - NumPy's array files -------------------------------------------------------===//
#include "Npy.h"
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>

namespace tokamak::tool {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "arrays are written as they lie in memory");

constexpr std::string_view magic("\x93NUMPY", 6);

namespace {
struct TypeCode {
  std::string_view code;
  ElementType type;
};
} // namespace

// One-byte types have no byte order; NumPy writes '|'.
constexpr TypeCode typeCodes[] = {
    {"<f4", ElementType::Float32},  {"<f8", ElementType::Float64},  {"<f2", ElementType::Float16},
    {"<V2", ElementType::BFloat16}, {"|V2", ElementType::BFloat16}, {"|i1", ElementType::Int8},
    {"<i2", ElementType::Int16},    {"<i4", ElementType::Int32},    {"<i8", ElementType::Int64},
    {"|u1", ElementType::UInt8},    {"<u2", ElementType::UInt16},   {"<u4", ElementType::UInt32},
    {"<u8", ElementType::UInt64},   {"|b1", ElementType::Bool}};

static Status fault(const std::string &path, const std::string &reason) {
  return {StatusCode::InvalidInput, path + ": " + reason};
}

/// What the dictionary of the header holds.
namespace {
struct Header {
  std::string descr;
  bool fortranOrder = false;
  Shape shape;
};

/// Reads the header's dictionary, a Python literal of a fixed form. No quotation marks are escaped in it.
class HeaderParser {
public:
  explicit HeaderParser(std::string_view text) : text(text) {}

  std::optional<Header> parse() {
    Header header;
    bool descr = false, order = false, shape = false;
    if (!take('{'))
      return std::nullopt;
    while (!take('}')) {
      std::optional<std::string> key = string();
      if (!key || !take(':'))
        return std::nullopt;
      if (*key == "descr") {
        std::optional<std::string> value = string();
        if (!value)
          return std::nullopt;
        header.descr = *value;
        descr = true;
      } else if (*key == "fortran_order") {
        if (word("True"))
          header.fortranOrder = true;
        else if (!word("False"))
          return std::nullopt;
        order = true;
      } else if (*key == "shape") {
        if (!tuple(header.shape))
          return std::nullopt;
        shape = true;
      } else {
        return std::nullopt;
      }
      take(',');
    }
    if (!descr || !order || !shape)
      return std::nullopt;
    return header;
  }

private:
  void skipSpace() {
    while (!text.empty() && (text[0] == ' ' || text[0] == '\n' || text[0] == '\t'))
      text.remove_prefix(1);
  }
  bool take(char c) {
    skipSpace();
    if (text.empty() || text[0] != c)
      return false;
    text.remove_prefix(1);
    return true;
  }
  bool word(std::string_view expected) {
    skipSpace();
    if (!text.starts_with(expected))
      return false;
    text.remove_prefix(expected.size());
    return true;
  }
  std::optional<std::string> string() {
    skipSpace();
    if (text.empty() || (text[0] != '\'' && text[0] != '"'))
      return std::nullopt;
    size_t end = text.find(text[0], 1);
    if (end == std::string_view::npos)
      return std::nullopt;
    std::string result(text.substr(1, end - 1));
    text.remove_prefix(end + 1);
    return result;
  }
  bool tuple(Shape &shape) {
    if (!take('('))
      return false;
    while (!take(')')) {
      skipSpace();
      int64_t value = 0;
      size_t digits = 0;
      for (; digits < text.size() && text[digits] >= '0' && text[digits] <= '9'; ++digits) {
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, text[digits] - '0', &value))
          return false;
      }
      if (digits == 0)
        return false;
      text.remove_prefix(digits);
      take('L'); // Python 2 wrote long integers so
      shape.push_back(value);
      take(',');
    }
    return true;
  }

  std::string_view text;
};
} // namespace

/// Column-major to row-major.
static void transposeFortran(HostTensor &tensor) {
  size_t size = elementBytes(tensor.type), count = tensor.elements(), rank = tensor.shape.size();
  std::vector<std::byte> result(tensor.bytes.size());
  std::vector<size_t> index(rank, 0);
  for (size_t to = 0; to < count; ++to) {
    size_t from = 0;
    for (size_t axis = rank; axis-- > 0;)
      from = from * static_cast<size_t>(tensor.shape[axis]) + index[axis];
    std::memcpy(result.data() + to * size, tensor.bytes.data() + from * size, size);
    for (size_t axis = rank; axis-- > 0;) {
      if (++index[axis] < static_cast<size_t>(tensor.shape[axis]))
        break;
      index[axis] = 0;
    }
  }
  tensor.bytes = std::move(result);
}

Result<HostTensor> readNpy(const std::string &path) {
  // A pipe that nobody writes to has no first byte either.
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored))
    return fault(path, "is not a regular file; give a .npy file");
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return fault(path, std::string("cannot be read: ") + std::strerror(errno));
  char start[12] = {};
  if (!file.read(start, 10))
    return fault(path, "is no .npy file: it is shorter than a header");
  if (std::string_view(start, 6) != magic)
    return fault(path, "is no .npy file: it does not begin with \\x93NUMPY");
  auto byte = [&](int i) { return static_cast<size_t>(static_cast<unsigned char>(start[i])); };
  size_t version = byte(6), length = byte(8) | byte(9) << 8;
  if (version < 1 || version > 3)
    return fault(path,
                 "has version " + std::to_string(version) + " of the .npy format; only 1 to 3 can be read");
  if (version >= 2) {
    if (!file.read(start + 10, 2))
      return fault(path, "ends inside its header");
    length |= byte(10) << 16 | byte(11) << 24;
  }
  // A header describes one array of a plain type; far longer ones are structured types or damage.
  if (length > (1 << 20))
    return fault(path, "has a header of " + std::to_string(length) + " bytes, which no plain array needs");
  std::string text(length, '\0');
  if (!file.read(text.data(), static_cast<std::streamsize>(length)))
    return fault(path, "ends inside its header");
  std::optional<Header> header = HeaderParser(text).parse();
  if (!header)
    return fault(path, "has a header that is not of a plain array");

  const std::string_view descr = header->descr;
  const bool isNative = descr.starts_with('<') || descr.starts_with('=');
  const TypeCode *code = nullptr;
  for (const TypeCode &candidate : typeCodes) {
    if (candidate.code == descr ||
        (isNative && candidate.code[0] == '|' && candidate.code.substr(1) == descr.substr(1)))
      code = &candidate;
  }
  if (!code)
    return fault(path, "holds elements of type '" + header->descr +
                           "', which no model input has (big-endian files: convert them)");
  size_t elementSize = elementBytes(code->type), bytes = elementSize;
  for (int64_t extent : header->shape) {
    if (__builtin_mul_overflow(bytes, static_cast<size_t>(extent), &bytes))
      return fault(path, "has a shape that is too large");
  }
  std::streamoff begin = file.tellg();
  file.seekg(0, std::ios::end);
  std::streamoff available = file.tellg() - begin;
  file.seekg(begin);
  if (begin < 0 || available < 0)
    return fault(path, "cannot be read: it is not a regular file");
  if (static_cast<size_t>(available) < bytes)
    return fault(path, "is truncated: its shape needs " + std::to_string(bytes) + " bytes, it holds " +
                           std::to_string(available));
  HostTensor tensor(code->type, header->shape);
  if (bytes && !file.read(reinterpret_cast<char *>(tensor.bytes.data()), static_cast<std::streamsize>(bytes)))
    return fault(path, "cannot be read to its end");
  if (header->fortranOrder)
    transposeFortran(tensor);
  return tensor;
}

Status writeNpy(const std::string &path, const HostTensor &tensor) {
  std::string_view code;
  for (const TypeCode &candidate : typeCodes) {
    if (candidate.type == tensor.type && code.empty())
      code = candidate.code;
  }
  std::string text = "{'descr': '" + std::string(code) + "', 'fortran_order': False, 'shape': (";
  for (int64_t extent : tensor.shape)
    text += std::to_string(extent) + ",";
  text += "), }";
  // The data begin at a multiple of 64 bytes, the header ends in a line break.
  size_t prefix = 10 + text.size() + 1 > 65000 ? 12 : 10;
  text.append((64 - (prefix + text.size() + 1) % 64) % 64, ' ');
  text += '\n';
  std::string start(magic);
  start += static_cast<char>(prefix == 12 ? 2 : 1);
  start += '\0';
  for (size_t i = 0; i < prefix - 8; ++i)
    start += static_cast<char>(text.size() >> 8 * i & 255);

  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << start << text;
  file.write(reinterpret_cast<const char *>(tensor.bytes.data()),
             static_cast<std::streamsize>(tensor.bytes.size()));
  file.close();
  if (!file)
    return fault(path, std::string("cannot be written: ") + std::strerror(errno));
  return {};
}

} // namespace tokamak::tool
