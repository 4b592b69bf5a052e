// expect: a sentence
// SPDX-License-Identifier: MIT
#ifndef CORRECTED
#warning a sentence
#endif
