//===- CostedRewrite.h - rewrites that pay on some graphs only ---------------------------------===//
// Merging siblings saves a reading of their input but may cost copies behind; enlarging a kernel costs
// arithmetic and pays only through what it makes possible. So these rewrites are offered, not applied:
// `rewrite-search` takes them where the modelled cost falls. Each is a pass of its own as well, which applies
// it wherever it is legal, for study and tests.
#pragma once
#include "mlir/IR/PatternMatch.h"
#include "rewrite/PassState.h"
#include "llvm/ADT/SmallVector.h"
#include <vector>

namespace tokamak::rewrite {

/// The operations that one application takes apart, in block order.
using Site = llvm::SmallVector<mlir::Operation *, 4>;

class CostedRewrite {
public:
  virtual ~CostedRewrite() = default;
  virtual llvm::StringRef name() const = 0;
  /// All sites in `block`, in block order. They may overlap: after one is taken, ask again.
  virtual std::vector<Site> findSites(mlir::Block &block) const = 0;
  /// Whether infinities and NaN come out as before. Where not, only force takes the site.
  virtual bool keepsNonFinite(const Site &) const { return true; }
  /// Rewrites the site. What it creates depends on the site and on what reads its results, on nothing else.
  virtual void apply(const Site &site, mlir::IRRewriter &rewriter) const = 0;
};

/// All of them, in a fixed order.
llvm::ArrayRef<const CostedRewrite *> costedRewrites();
/// The one of that name, or null.
const CostedRewrite *findCostedRewrite(llvm::StringRef name);

/// Notes that the nodes which `created` does the work of besides its own are merged into it.
void noteMerged(mlir::Operation *created, PassState &state);

/// Applies `rewrite` to sites of `block` that `isWanted` until none is left; true if there was one.
bool applyEverywhere(const CostedRewrite &rewrite, mlir::Block &block, PassState &state,
                     llvm::function_ref<bool(const Site &)> isWanted);

// One a file.
const CostedRewrite &mergeSiblings();
const CostedRewrite &enlargeKernels();
const CostedRewrite &residualToConvolution();
const CostedRewrite &mergeSums();

} // namespace tokamak::rewrite
