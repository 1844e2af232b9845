//===- Model.cpp - a compiled program with the memory that its runs need ----------------===//
#include "runtime/Model.h"
#include "runtime/Library.h"
#include "runtime/ThreadPool.h"
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>

namespace {

/// One run's memory: the context and the arena are one block, kept on the model's free list between runs.
struct RunMemory {
  RunMemory *next;
  TkContext context;
  char *arena;
};

size_t roundUp(size_t bytes) { return (bytes + 63) / 64 * 64; }

} // namespace

struct TkModel {
  const TkModelInfo *info;
  TkPool *pool;
  bool ownsPool;
  pthread_mutex_t mutex;
  RunMemory *free; // guarded by `mutex`
};

static RunMemory *allocate(const TkModel &model) {
  size_t header = roundUp(sizeof(RunMemory));
  size_t arena = roundUp(model.info->arena_bytes), stride = roundUp(model.info->scratch_bytes), scratch;
  size_t threads = static_cast<size_t>(tk_pool_threads(model.pool));
  size_t total;
  if (__builtin_mul_overflow(threads, stride, &scratch) || __builtin_add_overflow(arena, scratch, &total) ||
      __builtin_add_overflow(total, header, &total))
    return nullptr;
  // Large ones in huge pages where the system has them: fewer to map, and no stream ends at a small page.
  constexpr size_t hugePage = size_t(2) << 20;
  void *block;
  if (posix_memalign(&block, total < hugePage ? 64 : hugePage, total) != 0)
    return nullptr;
  if (total >= hugePage)
    madvise(block, total / hugePage * hugePage, MADV_HUGEPAGE);
  auto *memory = static_cast<RunMemory *>(block);
  memory->next = nullptr;
  memory->arena = static_cast<char *>(block) + header;
  memory->context.pool = model.pool;
  memory->context.scratch = memory->arena + arena;
  memory->context.scratch_stride = stride;
  return memory;
}

TkModel *tk_model_create(const TkModelInfo *info, TkPool *pool) {
  auto *model = static_cast<TkModel *>(malloc(sizeof(TkModel)));
  if (!model)
    return nullptr;
  model->info = info;
  model->pool = pool;
  model->ownsPool = false;
  model->free = nullptr;
  pthread_mutex_init(&model->mutex, nullptr);
  return model;
}

TkModel *tk_model_open(const TkModelInfo *info, int threads) {
  TkPool *pool = tk_pool_create(threads > 0 ? threads : tk_core_count());
  TkModel *model = tk_model_create(info, pool);
  if (!model) {
    tk_pool_destroy(pool);
    return nullptr;
  }
  model->ownsPool = true;
  return model;
}

int tk_core_count(void) {
  // The affinity mask, not the number of processors: containers and taskset narrow it.
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (sched_getaffinity(0, sizeof cores, &cores) != 0)
    return 1;
  int count = CPU_COUNT(&cores);
  return count > 0 ? count : 1;
}

void tk_model_destroy(TkModel *model) {
  if (!model)
    return;
  while (RunMemory *memory = model->free) {
    model->free = memory->next;
    free(memory);
  }
  if (model->ownsPool)
    tk_pool_destroy(model->pool);
  pthread_mutex_destroy(&model->mutex);
  free(model);
}

/// True where a value that has bytes has no buffer for them.
static bool lacksBuffer(const TkValueInfo *values, int32_t count, void *const *buffers) {
  for (int32_t i = 0; i < count; ++i)
    if (values[i].bytes > 0 && (!buffers || !buffers[i]))
      return true;
  return false;
}

int tk_model_run(TkModel *model, void *const *inputs, void *const *outputs) {
  if (!model || lacksBuffer(model->info->inputs, model->info->input_count, inputs) ||
      lacksBuffer(model->info->outputs, model->info->output_count, outputs))
    return TK_NULL_POINTER;
  pthread_mutex_lock(&model->mutex);
  RunMemory *memory = model->free;
  if (memory)
    model->free = memory->next;
  pthread_mutex_unlock(&model->mutex);
  if (!memory)
    memory = allocate(*model);
  if (!memory)
    return TK_OUT_OF_MEMORY;

  int code = model->info->run(&memory->context, memory->arena, model->info->weights, inputs, outputs);

  pthread_mutex_lock(&model->mutex);
  memory->next = model->free;
  model->free = memory;
  pthread_mutex_unlock(&model->mutex);
  return code;
}
