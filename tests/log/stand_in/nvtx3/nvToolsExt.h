/* SPDX-License-Identifier: MIT */
/* Stand-in for the CUDA toolkit's header: prints each call. */
#ifndef FUSEKIT_TESTS_LOG_STAND_IN_NVTX
#define FUSEKIT_TESTS_LOG_STAND_IN_NVTX

#include <stdio.h>

static inline int nvtxRangePushA(char const* name) { return printf("push %s\n", name); }
static inline int nvtxRangePop(void) { return printf("pop\n"); }

#endif
