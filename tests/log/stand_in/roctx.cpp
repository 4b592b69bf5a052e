// SPDX-License-Identifier: MIT
// Stand-in for libroctx64: prints each call.
#include <cstdio>

extern "C" int roctxRangePushA(char const* name) { return std::printf("push %s\n", name); }
extern "C" int roctxRangePop() { return std::printf("pop\n"); }
