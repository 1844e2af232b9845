//===- StreamedProducts.h - attention, one block of keys at a time ----------------------------------===//
// A task that has all scores of its queries needs room for whole rows of them: the more keys, the fewer
// queries can share what is read of keys and values. Here a task sees the keys block by block, and keeps of
// each row its maximum, its sum of exponentials and its result so far, which are rescaled where the maximum
// grows (Milakov & Gimelshein 2018; Dao et al. 2022). So scores take one block by the task's rows, and bytes
// do not grow with the square of the sequence.
//
// Rescaling is not quite the same function where a result is no finite number: whether infinity meets a
// weight that underflows to zero depends on when it does. So a task that finds NaN or infinity among its
// results runs again with the final maxima and sums, which makes each weight what it is by definition.
#pragma once
#include "codegen/kernel/KernelContext.h"
#include "llvm/Support/Error.h"

namespace tokamak::codegen {

/// A kernel that streams, its results computed from those of `reader`; or why there is none.
llvm::Expected<KernelStrategy> planStreamedProducts(KernelBody &body, tk::MatMulOp reader,
                                                    const KernelMemory &memory,
                                                    const TargetDescription &target);

/// For people: "keys in blocks of N", or "no stream of keys: " and why; empty where `group` does not end in a
/// product of what row maxima and another product compute.
std::string describeStream(tk::FusionOp group, const TargetDescription &target);

} // namespace tokamak::codegen
