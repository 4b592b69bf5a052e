// expect: a sentence
// SPDX-License-Identifier: MIT
#ifndef CORRECTED
static_assert(sizeof(int) == 0, "a sentence");
static_assert(sizeof(int) == 0, "a sentence");
static_assert(sizeof(int) == 0, "a sentence");
static_assert(sizeof(int) == 0, "a sentence");
static_assert(sizeof(int) == 0, "a sentence");
#endif
