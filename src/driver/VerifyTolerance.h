//===- VerifyTolerance.h - when a compiled value counts as the evaluator's -------------------===//
// An element is right where |got - expected| <= atol + rtol * max(|expected|, rms), rms being the root mean
// square of the expected tensor's finite elements: a sum that cancels errs by what was added up, not by what
// remains. Of a tensor whose rms is below 1, atol is that part of it. Numbers too small for relative rounding
// count as the smallest that is not. NaN equals NaN, infinities must match, integers and bools must be equal.
//
// What the contract of a kernel leaves open is right as well: values within given bounds, or one of some
// others (VerifyFiltering.h).
//
// What is still wrong then may be ill-conditioned: a difference of large numbers, a rounding at a tie, the
// arg-max of two equal elements. So the evaluator runs again on inputs that are moved by a few units in their
// last places, and an element may also be off by four times as much as that moves it.
#pragma once
#include "ir/Tensor.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <optional>
#include <string>
#include <vector>

namespace tokamak::driver {

struct Tolerance {
  double relative = 0, absolute = 0;
};

/// Of one kernel: some hundred units in the last place of float32 (2e-5), four of the half types (4e-3 and
/// 3e-2), 1e-12 for float64; the absolute one is a twentieth of it. 0 for other types.
Tolerance kernelTolerance(DataType type);

/// What a value is off by.
struct Deviation {
  int64_t elements = 0;
  int64_t wrong = 0;      ///< beyond the tolerance
  int64_t open = 0;       ///< beyond it, but one of the values that the contract leaves open
  int64_t unstable = 0;   ///< beyond it, but no further than the input's last places explain
  double maxAbsolute = 0; ///< over finite elements
  double maxRelative = 0; ///< the same by max(|expected|, rms)
  std::string firstWrong; ///< "element [1,3]: 2.5 instead of 2"; empty where none is
  bool isSame() const { return wrong == 0; }
  void add(const Deviation &other);
};

/// What else is right, element by element; the tensors are of the expected one's type and shape.
struct Latitude {
  Tensor low, high;            ///< all between them, and the tolerance beyond
  std::vector<Tensor> instead; ///< within the tolerance of one of them
};

/// `latitude` and `perturbed` are only called where an element is wrong otherwise. `perturbed(i)`: the value
/// from moved inputs, for i = 0, 1, ...; nothing where there are no more.
Deviation compare(const Tensor &got, const Tensor &expected, Tolerance tolerance,
                  llvm::function_ref<std::optional<Tensor>(int)> perturbed,
                  llvm::function_ref<std::optional<Latitude>()> latitude = nullptr);

/// How often inputs are moved: often enough to meet almost every tie, and every sum that cancels.
inline constexpr int mostMoves = 8;

/// A copy of a float tensor with each element moved by up to two units in its last place, at random but the
/// same for the same seed; zeros, infinities and NaN stay. Other types are not moved.
Tensor moved(const Tensor &tensor, uint64_t seed);

} // namespace tokamak::driver
