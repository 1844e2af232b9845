/*===- tokamak.h - the C interface: load a model, run it ------------------------------===*/
/*
 *   tokamak_session *session;
 *   if (tokamak_load_file("model.onnx", NULL, &session) != TOKAMAK_OK)
 *     fail(tokamak_last_error());
 *   tokamak_tensor in = {TOKAMAK_FLOAT32, 4, {1, 3, 224, 224}, pixels}, out = {0};
 *   tokamak_prepare(session, &in, 1, &out, 1);            // fills in type, rank and dims of `out`
 *   out.data = malloc(tokamak_tensor_bytes(&out));
 *   tokamak_run(session, &in, 1, &out, 1);
 *
 * Tensors are dense and row-major. Every function that may fail returns a status; the message of the last
 * failure of the calling thread is tokamak_last_error(). Functions on one session may be called from several
 * threads at once, except tokamak_bind and tokamak_free.
 */
#ifndef TOKAMAK_TOKAMAK_H
#define TOKAMAK_TOKAMAK_H
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TOKAMAK_API __attribute__((visibility("default")))
#else
#define TOKAMAK_API
#endif

#define TOKAMAK_MAX_RANK 16

/* What a call came to; the numbers are the exit statuses of the command. */
typedef enum tokamak_status {
  TOKAMAK_OK = 0,
  TOKAMAK_INVALID_INPUT = 1, /* the model, a shape, a type or a value is at fault */
  TOKAMAK_MISUSE = 2,        /* a wrong call: a null pointer, an index out of range */
  TOKAMAK_INTERNAL = 3       /* a fault of Tokamak */
} tokamak_status;

/* Element types, numbered as ONNX TensorProto.DataType does. */
typedef enum tokamak_dtype {
  TOKAMAK_FLOAT32 = 1,
  TOKAMAK_UINT8 = 2,
  TOKAMAK_INT8 = 3,
  TOKAMAK_UINT16 = 4,
  TOKAMAK_INT16 = 5,
  TOKAMAK_INT32 = 6,
  TOKAMAK_INT64 = 7,
  TOKAMAK_BOOL = 9, /* one byte, 0 or 1 */
  TOKAMAK_FLOAT16 = 10,
  TOKAMAK_FLOAT64 = 11,
  TOKAMAK_UINT32 = 12,
  TOKAMAK_UINT64 = 13,
  TOKAMAK_BFLOAT16 = 16
} tokamak_dtype;

typedef struct tokamak_session tokamak_session;

/* How to compile. Zero everywhere means the defaults. */
typedef struct tokamak_options {
  int threads;            /* that one run may use, the caller's included; 0: one a core; not negative */
  const char *fusion;     /* "none", "dominator" or "full"; NULL: "full" */
  const char *target_cpu; /* "native" or an x86-64 CPU as LLVM names it; NULL: "native" */
  /* Folder in which compiled programs outlive the process; its files are code, so nobody else should be able
   * to write there. NULL: none. */
  const char *cache_directory;
} tokamak_options;

/* A tensor in the caller's memory. */
typedef struct tokamak_tensor {
  int32_t dtype; /* a tokamak_dtype */
  int32_t rank;  /* 0 to TOKAMAK_MAX_RANK */
  int64_t dims[TOKAMAK_MAX_RANK];
  void *data; /* product of the dims times the element size bytes; may be NULL where that is 0 */
} tokamak_tensor;

/* An input or output as the model declares it. The strings live as long as the session (for an input: until
 * tokamak_bind). */
typedef struct tokamak_value_info {
  const char *name;
  int32_t dtype;
  int32_t rank;                          /* -1 where the model does not say */
  int64_t dims[TOKAMAK_MAX_RANK];        /* -1 where a dimension is symbolic */
  const char *symbols[TOKAMAK_MAX_RANK]; /* the symbol's name, "" where the dimension is a number */
} tokamak_value_info;

/* Reads a model from a file (external data is looked up beside it). On success *session is the caller's, to
 * be freed by tokamak_free; else it is NULL. `options` may be NULL and is not kept. */
TOKAMAK_API tokamak_status tokamak_load_file(const char *path, const tokamak_options *options,
                                             tokamak_session **session);

/* The same from `size` bytes, which may be freed afterwards. */
TOKAMAK_API tokamak_status tokamak_load_memory(const void *data, size_t size, const tokamak_options *options,
                                               tokamak_session **session);

/* Frees a session; NULL is allowed. No call on it may be under way. */
TOKAMAK_API void tokamak_free(tokamak_session *session);

/* How many inputs (without bound ones and initializers) and outputs there are; 0 for NULL. */
TOKAMAK_API size_t tokamak_input_count(const tokamak_session *session);
TOKAMAK_API size_t tokamak_output_count(const tokamak_session *session);

/* Describes input or output number `index`, counted from 0 in the order of the model. */
TOKAMAK_API tokamak_status tokamak_input_info(const tokamak_session *session, size_t index,
                                              tokamak_value_info *info);
TOKAMAK_API tokamak_status tokamak_output_info(const tokamak_session *session, size_t index,
                                               tokamak_value_info *info);

/* Makes the input of that name (one with an initializer included, which is then overridden) a constant (the
 * bytes are copied): it is no input any more, those behind it move up by one, and what was compiled before is
 * forgotten. Not while another call on the session is under way. */
TOKAMAK_API tokamak_status tokamak_bind(tokamak_session *session, const char *input,
                                        const tokamak_tensor *value);

/* Compiles for the shapes of `inputs` (all of them, in order) unless that was done before, and fills in
 * dtype, rank and dims of `outputs`; their `data` is left alone. Where an input's data is not NULL its value
 * is known too: models whose shapes depend on a value need it. `outputs` may be NULL (with a count of 0) to
 * compile only. */
TOKAMAK_API tokamak_status tokamak_prepare(tokamak_session *session, const tokamak_tensor *inputs,
                                           size_t input_count, tokamak_tensor *outputs, size_t output_count);

/* Runs once: reads the inputs, writes the outputs, whose dtype and dims must be those that tokamak_prepare
 * reports. Compiles first where these shapes are new. No output may overlap an input or another output. After
 * a failure the outputs hold anything. */
TOKAMAK_API tokamak_status tokamak_run(tokamak_session *session, const tokamak_tensor *inputs,
                                       size_t input_count, const tokamak_tensor *outputs,
                                       size_t output_count);

/* Bytes of a tensor by its dtype and dims; 0 for an unknown dtype, a negative extent or a product that
 * overflows. */
TOKAMAK_API size_t tokamak_tensor_bytes(const tokamak_tensor *tensor);

/* Why the last failed call of this thread failed, in one line; "" before any did. Valid until the next call
 * here. */
TOKAMAK_API const char *tokamak_last_error(void);

/* "0.1.0" */
TOKAMAK_API const char *tokamak_version(void);

#ifdef __cplusplus
}
#endif
#endif
