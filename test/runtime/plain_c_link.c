/*===- plain_c_link.c - the runtime library used from C alone --------------------------===*/
#include "runtime/Library.h"
#include "runtime/ThreadPool.h"
#include <stdio.h>

int main(void) {
  float input[4] = {1, 2, 3, 4}, output[4] = {0};
  int64_t dims[1] = {4}, parameters[3] = {0, 0, 0};
  TkBuffer from = {input, 1, 1, dims}, to = {output, 1, 1, dims};
  TkPool *pool = tk_pool_create(2);
  TkContext context = {pool, NULL, 0};
  int code = tk_lib_cumsum(&context, &from, &to, parameters, NULL);
  tk_pool_destroy(pool);
  printf("%s: %g\n", tk_library_error(code), output[3]);
  return code != TK_OK || output[3] != 10;
}
