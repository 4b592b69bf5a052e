// expect: a sentence that no compiler prints
// SPDX-License-Identifier: MIT
#ifndef CORRECTED
static_assert(sizeof(int) == 0, "another sentence");
#endif
