//===- ThreadPool.cpp - the threads that run kernels ----------------------------------===//
// A network is hundreds of kernels of some microseconds each, so what counts is the time to start and to
// join: the workers spin on a counter between jobs (0.2 us to dispatch, against 25 us from a futex) and park
// after a while.
//
// A job is open or closed. Workers join an open job and leave it again; the caller works too, closes the job
// when no task is left, and waits only for those that joined. So a worker that the system has not scheduled
// yet, or that does not exist because the process forked, delays nobody.
#include "runtime/ThreadPool.h"
#include <atomic>
#include <linux/futex.h>
#include <new>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

// Between 0.2 and 3 ms, by processor: longer than the gaps between kernels, shorter than anybody minds.
constexpr int spinPauses = 20000;
constexpr uint32_t openBit = 1u << 31; // of TkPool::state; the other bits count the workers in the job

void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

// std::atomic<uint32_t> has the representation of uint32_t (asserted), which is what the kernel reads.
static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t) &&
              std::atomic<uint32_t>::is_always_lock_free);

void futexWait(std::atomic<uint32_t> &word, uint32_t expected) {
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0);
}

void futexWakeAll(std::atomic<uint32_t> &word) {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, INT32_MAX, nullptr, nullptr, 0);
}

struct Worker {
  TkPool *pool;
  int index; // of its scratch slice; the caller's is 0
  pthread_t thread;
};

/// A wave: its kernels' pieces are numbered through, kernel by kernel.
struct Job {
  TkContext *context;
  const TkWaveKernel *kernels;
  int64_t count;
};

} // namespace

struct TkPool {
  // What workers spin on has a cache line of its own, and so has what everybody writes.
  alignas(64) std::atomic<uint32_t> ticket{0}; // counts jobs; changes when one opens
  std::atomic<uint32_t> parked{0};             // workers that wait for `ticket` in the kernel
  std::atomic<bool> stopping{false};
  alignas(64) std::atomic<uint32_t> state{0}; // openBit and the number of workers in the job
  std::atomic<uint32_t> callerParked{0};
  std::atomic<bool> busy{false};
  Job job{};                                // written by the caller while the job is closed and empty
  alignas(64) std::atomic<int64_t> next{0}; // the first piece that nobody took
  alignas(64) int threads = 1;
  pid_t owner = 0;
  Worker *workers = nullptr;
};

namespace {

// Set in workers only, so that a kernel which runs another one stays in its thread's scratch slice.
thread_local const Worker *currentWorker = nullptr;

char *scratchOf(const TkContext &context, int index) {
  return context.scratch ? context.scratch + static_cast<size_t>(index) * context.scratch_stride : nullptr;
}

void runPieces(const TkWaveKernel &kernel, int64_t begin, int64_t end, void *scratch) {
  if (kernel.pieces == kernel.tasks)
    kernel.kernel(kernel.buffers, begin, end, scratch);
  else
    kernel.kernel(kernel.buffers, 0, kernel.tasks, scratch); // in one piece
}

/// Takes blocks of pieces until none is left. Blocks of a kernel shrink as its work runs out (guided
/// self-scheduling: Polychronopoulos and Kuck, 1987): few atomic operations, and nobody waits long for the
/// last block.
void runBlocks(TkPool &pool, const Job &job, int index) {
  char *scratch = scratchOf(*job.context, index);
  int64_t first = 0; // piece of the kernel in hand
  int64_t begin = pool.next.load(std::memory_order_relaxed);
  for (const TkWaveKernel *kernel = job.kernels; kernel != job.kernels + job.count;) {
    int64_t behind = first + kernel->pieces;
    if (begin >= behind) {
      first = behind;
      ++kernel;
      continue;
    }
    int64_t block = (behind - begin) / (2 * pool.threads);
    int64_t end = begin + (block > 1 ? block : 1);
    if (!pool.next.compare_exchange_weak(begin, end, std::memory_order_relaxed))
      continue;
    runPieces(*kernel, begin - first, end - first, scratch);
    begin = pool.next.load(std::memory_order_relaxed);
  }
}

/// Enters the job if it is open.
bool join(TkPool &pool) {
  uint32_t state = pool.state.load(std::memory_order_relaxed);
  while (state & openBit)
    if (pool.state.compare_exchange_weak(state, state + 1, std::memory_order_acquire,
                                         std::memory_order_relaxed))
      return true;
  return false;
}

void leave(TkPool &pool) {
  // Sequentially consistent with the caller's parking: one of the two sees the other.
  if (pool.state.fetch_sub(1) == 1 && pool.callerParked.load())
    futexWakeAll(pool.state);
}

/// Waits until `ticket` differs from `seen`; returns its value.
uint32_t awaitTicket(TkPool &pool, uint32_t seen) {
  for (int i = 0; i < spinPauses; ++i) {
    uint32_t ticket = pool.ticket.load(std::memory_order_acquire);
    if (ticket != seen)
      return ticket;
    pause();
  }
  pool.parked.fetch_add(1);
  uint32_t ticket;
  while ((ticket = pool.ticket.load()) == seen)
    futexWait(pool.ticket, seen);
  pool.parked.fetch_sub(1);
  return ticket;
}

void *workerMain(void *argument) {
  const Worker &worker = *static_cast<const Worker *>(argument);
  TkPool &pool = *worker.pool;
  currentWorker = &worker;
  uint32_t seen = 0;
  while (true) {
    seen = awaitTicket(pool, seen);
    if (pool.stopping.load(std::memory_order_acquire))
      return nullptr;
    if (join(pool)) {
      runBlocks(pool, pool.job, worker.index);
      leave(pool);
    }
  }
}

/// Closes the job and waits for the workers in it.
void closeJob(TkPool &pool) {
  uint32_t state = pool.state.fetch_and(~openBit, std::memory_order_acq_rel) & ~openBit;
  for (int i = 0; state && i < spinPauses; ++i) {
    pause();
    state = pool.state.load(std::memory_order_acquire);
  }
  if (!state)
    return;
  pool.callerParked.store(1);
  while ((state = pool.state.load()))
    futexWait(pool.state, state);
  pool.callerParked.store(0);
}

int usableProcessors() {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof(set), &set) ? 1 : CPU_COUNT(&set);
}

void announce(TkPool &pool) {
  pool.ticket.fetch_add(1);
  if (pool.parked.load())
    futexWakeAll(pool.ticket);
}

} // namespace

extern "C" {

TkPool *tk_pool_create(int threads) {
  constexpr int most = 1024;
  if (threads <= 0)
    threads = usableProcessors();
  threads = threads < most ? threads : most;
  void *memory = nullptr;
  if (posix_memalign(&memory, alignof(TkPool), sizeof(TkPool)))
    return nullptr;
  auto *pool = new (memory) TkPool;
  pool->workers =
      static_cast<Worker *>(calloc(static_cast<size_t>(threads), sizeof(Worker))); // never of size 0
  if (!pool->workers) {
    free(memory);
    return nullptr;
  }
  pool->owner = getpid();
  // The application's signal handlers are not to run on these threads.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int started = 0;
  while (started < threads - 1) {
    Worker &worker = pool->workers[started];
    worker.pool = pool;
    worker.index = started + 1;
    if (pthread_create(&worker.thread, nullptr, workerMain, &worker))
      break;
    ++started;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  // Workers read it only in a job, which opens later.
  pool->threads = started + 1;
  return pool;
}

void tk_pool_destroy(TkPool *pool) {
  if (!pool)
    return;
  if (pool->owner == getpid()) {
    pool->stopping.store(true, std::memory_order_release);
    announce(*pool);
    for (int i = 0; i < pool->threads - 1; ++i)
      pthread_join(pool->workers[i].thread, nullptr);
  }
  free(pool->workers);
  pool->~TkPool();
  free(pool);
}

int tk_pool_threads(const TkPool *pool) { return pool ? pool->threads : 1; }

void tk_parallel_for(TkContext *context, TkKernelFn kernel, void *const *buffers, int64_t tasks) {
  TkWaveKernel only = {kernel, buffers, tasks, tasks};
  tk_parallel_wave(context, &only, 1);
}

void tk_parallel_wave(TkContext *context, const TkWaveKernel *kernels, int64_t count) {
  int64_t pieces = 0;
  for (int64_t i = 0; i < count; ++i)
    pieces += kernels[i].pieces;
  if (pieces <= 0)
    return;
  TkPool *pool = context->pool;
  // Another caller's job, or this thread's own (a nested call), keeps the pool busy.
  if (!pool || pool->threads == 1 || pieces == 1 || pool->busy.exchange(true, std::memory_order_acquire)) {
    bool nested = currentWorker && currentWorker->pool == pool;
    char *scratch = scratchOf(*context, nested ? currentWorker->index : 0);
    for (int64_t i = 0; i < count; ++i)
      kernels[i].kernel(kernels[i].buffers, 0, kernels[i].tasks, scratch);
    return;
  }
  pool->job = {context, kernels, count};
  pool->next.store(0, std::memory_order_relaxed);
  pool->state.store(openBit, std::memory_order_release);
  announce(*pool);
  runBlocks(*pool, pool->job, 0);
  closeJob(*pool);
  pool->busy.store(false, std::memory_order_release);
}

} // extern "C"
