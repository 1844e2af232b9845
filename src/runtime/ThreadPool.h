/*===- ThreadPool.h - the threads that run kernels ------------------------------------===*/
/* Plain C, like all that a compiled model links. */
#ifndef TOKAMAK_RUNTIME_THREADPOOL_H
#define TOKAMAK_RUNTIME_THREADPOOL_H
#include "runtime/Abi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A pool of `threads` threads in all (0 or less: one for each processor that the process may use): the caller
 * of tk_parallel_for is one of them, so `threads - 1` are started (fewer where the system refuses). NULL
 * where memory is short. */
TkPool *tk_pool_create(int threads);

/* Ends and joins the threads. No tk_parallel_for may be running on the pool. NULL is allowed; so is a pool
 * that was made before a fork, whose threads do not exist in the child. */
void tk_pool_destroy(TkPool *pool);

/* Threads that run kernels, the caller included; 1 for NULL. A context needs as many scratch slices. */
int tk_pool_threads(const TkPool *pool);

#ifdef __cplusplus
}
#endif
#endif
