/*===- main.c - runs any ONNX model through the C interface ------------------------------===*/
/* usage: run_model MODEL.onnx      Inputs are zeros; symbolic dimensions are 1. Links libtokamak. */
#include <stdio.h>
#include <stdlib.h>
#include <tokamak/tokamak.h>

enum { MOST = 16 };

static int fail(const char *what) {
  fprintf(stderr, "%s: %s\n", what, tokamak_last_error());
  return 1;
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: run_model MODEL.onnx\n");
    return 2;
  }
  tokamak_session *session;
  if (tokamak_load_file(argv[1], NULL, &session) != TOKAMAK_OK)
    return fail("loading");
  size_t input_count = tokamak_input_count(session), output_count = tokamak_output_count(session);
  tokamak_tensor inputs[MOST], outputs[MOST] = {0};
  if (input_count > MOST || output_count > MOST) {
    fprintf(stderr, "too many inputs or outputs\n");
    return 1;
  }
  for (size_t i = 0; i < input_count; ++i) {
    tokamak_value_info info;
    if (tokamak_input_info(session, i, &info) != TOKAMAK_OK)
      return fail("describing an input");
    inputs[i].dtype = info.dtype;
    inputs[i].rank = info.rank;
    for (int axis = 0; axis < info.rank; ++axis)
      inputs[i].dims[axis] = info.dims[axis] < 0 ? 1 : info.dims[axis];
    /* One byte at least: calloc(0) may return NULL, which means "value unknown" to tokamak_prepare. */
    inputs[i].data = calloc(tokamak_tensor_bytes(&inputs[i]) + 1, 1);
  }
  if (tokamak_prepare(session, inputs, input_count, outputs, output_count) != TOKAMAK_OK)
    return fail("compiling");
  for (size_t i = 0; i < output_count; ++i)
    outputs[i].data = calloc(tokamak_tensor_bytes(&outputs[i]) + 1, 1);
  if (tokamak_run(session, inputs, input_count, outputs, output_count) != TOKAMAK_OK)
    return fail("running");

  for (size_t i = 0; i < output_count; ++i) {
    tokamak_value_info info;
    if (tokamak_output_info(session, i, &info) != TOKAMAK_OK)
      return fail("describing an output");
    printf("%s:", info.name);
    for (int axis = 0; axis < outputs[i].rank; ++axis)
      printf(" %lld", (long long)outputs[i].dims[axis]);
    if (outputs[i].dtype == TOKAMAK_FLOAT32 && tokamak_tensor_bytes(&outputs[i]) > 0)
      printf(", begins with %g", ((const float *)outputs[i].data)[0]);
    printf("\n");
    free(outputs[i].data);
  }
  for (size_t i = 0; i < input_count; ++i)
    free(inputs[i].data);
  tokamak_free(session);
  return 0;
}
