//===- Npy.h - NumPy's array files ---------------------------------------------------------===//
// Format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html, versions 1 to 3. bfloat16,
// which NumPy does not have, is '<V2': its two bytes as they are, as the ml_dtypes package writes it.
#pragma once
#include "tokamak/Session.h"

namespace tokamak::tool {

/// Reads a file of one array; Fortran order is transposed to row-major and big-endian files are refused. The
/// message of a failure names the file.
Result<HostTensor> readNpy(const std::string &path);

/// Writes an array (format version 1, or 2 where the header is long).
Status writeNpy(const std::string &path, const HostTensor &tensor);

} // namespace tokamak::tool
