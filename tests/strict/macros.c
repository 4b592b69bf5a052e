/* SPDX-License-Identifier: MIT */
/* The headers for C, after other people's macros. */
#include "other_macros.h"
/* After the macros. */
#include <fusekit/runtime/c/fusekit.h>
#include <miopen/miopen.h>
