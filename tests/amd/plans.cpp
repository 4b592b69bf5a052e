// SPDX-License-Identifier: MIT
#include "plans_bfloat16.cpp"
#include "plans_float.cpp"
#include "plans_half.cpp"
#include "plans_int8.cpp"
