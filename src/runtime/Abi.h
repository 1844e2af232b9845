/*===- Abi.h - how compiled programs and the runtime call each other ------------------===*/
/* Plain C. Compiled models link the runtime library and see no more of Tokamak than this file. */
#ifndef TOKAMAK_RUNTIME_ABI_H
#define TOKAMAK_RUNTIME_ABI_H
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A tensor as library functions see it: row-major, element type as ONNX TensorProto.DataType numbers it
 * (bool is one byte, 0 or 1). `dims` has `rank` entries. The caller owns everything. */
typedef struct TkBuffer {
  void *data;
  int32_t dtype;
  int32_t rank;
  const int64_t *dims;
} TkBuffer;

typedef struct TkPool TkPool;

/* What one run of a program needs besides its buffers; one run at a time uses a context. */
typedef struct TkContext {
  TkPool *pool;          /* NULL: everything runs on the calling thread */
  char *scratch;         /* threads * scratch_stride bytes, 64-byte aligned */
  size_t scratch_stride; /* at least the program's scratch_bytes, a multiple of 64 */
} TkContext;

/* One kernel: computes tasks [begin, end). `buffers` are its operands, its results, and for one that may find
 * an index out of range an int32_t that it then sets. `scratch` is private to the calling thread for the
 * duration of the call. Tasks are independent of each other. */
typedef void (*TkKernelFn)(void *const *buffers, int64_t begin, int64_t end, void *scratch);

/* Runs all of [0, tasks) over the pool's threads (or on the caller where the pool is busy, absent, or tasks
 * == 1) and returns when they are done. */
void tk_parallel_for(TkContext *context, TkKernelFn kernel, void *const *buffers, int64_t tasks);

/* One kernel among those of a wave. `pieces` is how many parts it is cut into: its tasks where it is worth
 * sharing among threads, or 1. */
typedef struct TkWaveKernel {
  TkKernelFn kernel;
  void *const *buffers;
  int64_t tasks, pieces;
} TkWaveKernel;

/* Runs all tasks of `count` kernels that do not depend on each other, in one dispatch, and returns when all
 * are done. Threads take the kernels' pieces in the order given, so those whose pieces take longest come
 * first. */
void tk_parallel_wave(TkContext *context, const TkWaveKernel *kernels, int64_t count);

/* An opaque operator. The order of `ints` and `floats` is documented at each function in Library.h. Returns
 * 0, or an error code (see tk_library_error) where the data makes the operator undefined (an index out of
 * range). */
typedef int (*TkLibraryFn)(TkContext *context, const TkBuffer *inputs, const TkBuffer *outputs,
                           const int64_t *ints, const double *floats);
const char *tk_library_error(int code);

/* What a program returns: 0, or a library error code in the lower TK_FAULT_BITS bits and above them the place
 * of the step at fault, counted from 1 (codegen::CompiledProgram::faultPlaces), or 0 where there is none. */
enum { TK_FAULT_BITS = 8 };

/* The compiled program. `arena` (64-byte aligned) holds the intermediate values, `weights` the packed
 * constants, `inputs` and `outputs` the caller's buffers in the order of the signature. */
typedef int (*TkProgramFn)(TkContext *context, char *arena, const char *weights, void *const *inputs,
                           void *const *outputs);

#ifdef __cplusplus
}
#endif
#endif
