/*===- Library.h - operators that compiled programs call ------------------------------===*/
/* Operators without a useful loop nest of their own: sorting, scattering with duplicates, data-dependent
 * sampling. Each has the signature TkLibraryFn. Inputs and results come in the order of the operands and
 * results of the operator of the same name in ir/TkOps.td, row-major; a result may not overlap an input.
 * `ints` and `floats` are listed at each. Axes may be negative. Half types compute in float or wider and
 * round once. Integers wrap. */
#ifndef TOKAMAK_RUNTIME_LIBRARY_H
#define TOKAMAK_RUNTIME_LIBRARY_H
#include "runtime/Abi.h"

/* Calls X(name) for each function: for tables of symbols. */
#define TK_LIBRARY_FUNCTIONS(X)                                                                              \
  X(tk_lib_cumsum)                                                                                           \
  X(tk_lib_top_k)                                                                                            \
  X(tk_lib_scatter_elements)                                                                                 \
  X(tk_lib_scatter_nd)                                                                                       \
  X(tk_lib_max_pool_indices)                                                                                 \
  X(tk_lib_roi_align)                                                                                        \
  X(tk_lib_grid_sample)                                                                                      \
  X(tk_lib_det)

#ifdef __cplusplus
extern "C" {
#endif

/* Error codes; tk_library_error gives their text, the place left out. Results are unspecified after one. */
enum {
  TK_OK = 0,
  TK_INDEX_OUT_OF_RANGE = 1,
  TK_OUT_OF_MEMORY = 2,
  TK_UNSUPPORTED = 3, /* an element type or a parameter that the operator does not have */
  TK_NULL_POINTER = 4,
};

#define TK_LIBRARY_SIGNATURE                                                                                 \
  (TkContext * context, const TkBuffer *inputs, const TkBuffer *outputs, const int64_t *ints,                \
   const double *floats)

/* ints: axis, exclusive, reverse. */
int tk_lib_cumsum TK_LIBRARY_SIGNATURE;

/* ints: k, axis, largest, sorted. Of equal elements the one with the lower index comes first; NaN counts as
 * the largest value. The result is in order whether `sorted` or not. */
int tk_lib_top_k TK_LIBRARY_SIGNATURE;

/* ints: axis, reduction (0 none, 1 add, 2 mul, 3 max, 4 min). Updates apply in row-major order, so the last
 * one wins where there is no reduction. Max and min give NaN where either side is NaN. */
int tk_lib_scatter_elements TK_LIBRARY_SIGNATURE;

/* ints: reduction, as above. */
int tk_lib_scatter_nd TK_LIBRARY_SIGNATURE;

/* ints: number of spatial axes, then per spatial axis kernel.., strides.., dilations.., pads_low..,
 * pads_high.., then column_major. Of equal elements the first in row-major order counts; NaN counts as the
 * largest. A window that lies in the padding altogether gives the lowest value of the type (-inf) and index
 * -1. */
int tk_lib_max_pool_indices TK_LIBRARY_SIGNATURE;

/* ints: max_mode, half_pixel, sampling_ratio; floats: spatial_scale. */
int tk_lib_roi_align TK_LIBRARY_SIGNATURE;

/* ints: mode (0 linear, 1 nearest, 2 cubic), padding (0 zeros, 1 border, 2 reflection), align_corners. One to
 * three spatial axes; a NaN coordinate counts as -1. */
int tk_lib_grid_sample TK_LIBRARY_SIGNATURE;

/* No parameters. The determinant of a 0x0 matrix is 1. */
int tk_lib_det TK_LIBRARY_SIGNATURE;

#undef TK_LIBRARY_SIGNATURE
#ifdef __cplusplus
}
#endif
#endif
