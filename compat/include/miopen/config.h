// SPDX-License-Identifier: MIT
#ifndef MIOPEN_CONFIG_H
#define MIOPEN_CONFIG_H

/* Macros that programs for MIOpen test: streams are HIP's, not OpenCL's. */
#define MIOPEN_BACKEND_HIP 1
#define MIOPEN_BACKEND_OPENCL 0

#endif
