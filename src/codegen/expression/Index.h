//===- Index.h - affine indices with value ranges ------------------------------------------===//
// An index is a sum of atoms times constants. Atoms are loop variables and floor divisions of such sums; a
// remainder is x - k * floor(x / k). With the range of each variable known, divisions that a reshape or a
// blocked layout brings in cancel again, so that an address shows whether neighbouring lanes lie next to each
// other.
#pragma once
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <map>
#include <vector>

namespace tokamak::codegen {

using AtomId = int;

/// sum(coefficient * atom) + constant; terms sorted by atom, no zero coefficients.
struct Index {
  llvm::SmallVector<std::pair<AtomId, int64_t>, 4> terms;
  int64_t constant = 0;

  Index() = default;
  Index(int64_t constant) : constant(constant) {} // NOLINT(google-explicit-constructor): numbers are indices
  bool isConstant() const { return terms.empty(); }
  bool operator==(const Index &) const = default;
  bool operator<(const Index &other) const {
    return constant != other.constant ? constant < other.constant : terms < other.terms;
  }
};

/// Closed interval.
struct Range {
  int64_t low, high;
};

/// The atoms of one kernel and the arithmetic on indices over them.
class IndexSpace {
public:
  enum class Kind {
    Uniform, ///< an SSA value of type index, the same for all lanes
    Lane,    ///< the lane number 0..lanes-1
    Varying, ///< a vector of index values, one a lane
    Quotient ///< floor(numerator / divisor); the divisor may be 1, which makes one atom of a sum
  };

  /// A loop variable with values in [low, high].
  Index uniform(mlir::Value value, int64_t low, int64_t high);
  /// Values that differ by lane in a way unknown here (loaded indices).
  Index varying(mlir::Value values, int64_t low, int64_t high);
  /// The lane number, 0..lanes-1.
  Index lane(int64_t lanes);

  Index add(const Index &a, const Index &b) const;
  Index sub(const Index &a, const Index &b) const { return add(a, scale(b, -1)); }
  Index scale(const Index &a, int64_t factor) const;
  Index floorDiv(const Index &a, int64_t divisor);
  Index mod(const Index &a, int64_t divisor);
  /// The same value in numbers that stay small: a sum whose terms have grown large or many becomes one atom.
  /// Each transposition of a reshaped tensor multiplies the coefficients, though not the value.
  Index tamed(const Index &a);

  Range range(const Index &a) const;
  /// True if all lanes have the same value.
  bool isUniform(const Index &a) const;
  /// The difference between the values of neighbouring lanes where it is one number for all of them.
  std::optional<int64_t> laneStride(const Index &a) const;

  struct Atom {
    Kind kind;
    Range range;
    mlir::Value value;    ///< Uniform, Varying
    Index numerator = {}; ///< Quotient
    int64_t divisor = 0;
    bool uniform = true; ///< no lane or varying atom inside
  };
  const Atom &atom(AtomId id) const { return atoms[static_cast<size_t>(id)]; }

private:
  Index single(AtomId id) const {
    Index result;
    result.terms.push_back({id, 1});
    return result;
  }
  friend Index linearize(IndexSpace &space, llvm::ArrayRef<Index> index, llvm::ArrayRef<int64_t> shape);
  Index divide(const Index &a, int64_t divisor);
  Index quotientAtom(const Index &numerator, int64_t divisor, Range range);
  /// Notes that `a` lies in `r`, for whoever asks for its range later, and returns it.
  Index known(const Index &a, Range r);

  std::vector<Atom> atoms;
  std::map<std::pair<Index, int64_t>, AtomId> quotients;
  std::map<Index, Range> facts; ///< of sums whose terms show less than what they were made from
};

/// Row-major position of `index` in a tensor of `shape`.
Index linearize(IndexSpace &space, llvm::ArrayRef<Index> index, llvm::ArrayRef<int64_t> shape);
/// The inverse.
llvm::SmallVector<Index> delinearize(IndexSpace &space, Index position, llvm::ArrayRef<int64_t> shape);

} // namespace tokamak::codegen
