/*===- Model.h - a compiled program with the memory that its runs need ----------------===*/
/* What both the JIT session and ahead-of-time compiled models call to run: it owns a free list of contexts
 * (arena, scratch), one for each run that is under way, so several threads can run one model at once. Plain
 * C. */
#ifndef TOKAMAK_RUNTIME_MODEL_H
#define TOKAMAK_RUNTIME_MODEL_H
#include "runtime/Abi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An input or output of a model. In ahead-of-time output the generated header declares the same struct under
 * its own name: keep the two in step (src/driver/aot/Header.cpp). */
typedef struct TkValueInfo {
  const char *name; /* the ONNX value name */
  int32_t dtype;    /* as ONNX TensorProto.DataType numbers it */
  int32_t rank;
  const int64_t *dims;
  size_t bytes;
} TkValueInfo;

/* A compiled program; everything lives as long as the models made of it. */
typedef struct TkModelInfo {
  TkProgramFn run;
  const char *weights; /* 64-byte aligned */
  size_t arena_bytes, scratch_bytes;
  int32_t input_count, output_count;
  const TkValueInfo *inputs, *outputs;
} TkModelInfo;

typedef struct TkModel TkModel;

/* A model that runs on `pool` (borrowed; NULL: on the calling thread). NULL if memory is short. */
TkModel *tk_model_create(const TkModelInfo *info, TkPool *pool);
/* The same with a pool of its own of `threads` threads, the caller's included; 0 or less: one a core. */
TkModel *tk_model_open(const TkModelInfo *info, int threads);
/* Cores that this process may run on: what "0 threads" means. */
int tk_core_count(void);
/* NULL is allowed. No run may be under way. */
void tk_model_destroy(TkModel *model);
/* Runs once; see TkProgramFn for the buffers and the result (TK_OUT_OF_MEMORY where there is none for the
 * run; TK_NULL_POINTER for a null model, array or buffer, but for buffers of no bytes). Several threads may
 * run one model at once. */
int tk_model_run(TkModel *model, void *const *inputs, void *const *outputs);

#ifdef __cplusplus
}
#endif
#endif
