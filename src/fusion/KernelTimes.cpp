//===- KernelTimes.cpp - how long kernels take under the ways a program may run -------------===//
#include "fusion/KernelTimes.h"

using namespace tokamak;

std::string fusion::comparison(const KernelTimes &together, const KernelTimes &apart) {
  if (together.woken <= apart.woken && together.awake < apart.awake && !together.isBalanced(apart))
    return comparison(together.alone, apart.alone) + " on one thread";
  if (together.woken <= apart.woken && together.awake >= apart.awake)
    return comparison(together.awake, apart.awake) + " but for dispatches";
  return comparison(together.woken, apart.woken);
}
