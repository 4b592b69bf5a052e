// expect: a sentence
// SPDX-License-Identifier: MIT
static_assert(sizeof(int) != 0, "a sentence");
