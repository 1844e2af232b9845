/*===- main.c - runs a compiled model of three operators -------------------------------===*/
/* y[2,3] = relu(x[2,4] * w + b); dense.h is written by `tokamak compile dense.onnx --shape x=2x4 -o
 * dense.so`. */
#include "dense.h"
#include <stdio.h>

int main(void) {
  dense_model *model = dense_init(1);
  if (!model) {
    fprintf(stderr, "out of memory\n");
    return 1;
  }
  const float x[2 * 4] = {1, 0, 0, 0, 0, 0, 0, 1};
  float y[2 * 3];
  int code = dense_run(model, x, y);
  dense_free(model);
  if (code) {
    fprintf(stderr, "%s\n", dense_error(code));
    return 1;
  }
  const dense_value *result = dense_output(0);
  printf("%s is %lld x %lld:", result->name, (long long)result->dims[0], (long long)result->dims[1]);
  for (int i = 0; i < 2 * 3; ++i)
    printf(" %g", y[i]);
  printf("\n");
  return 0;
}
