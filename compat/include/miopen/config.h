// SPDX-License-Identifier: MIT
#ifndef MIOPEN_CONFIG_H
#define MIOPEN_CONFIG_H

/* What existing sources ask: streams are HIP's. */
#define MIOPEN_BACKEND_HIP 1
#define MIOPEN_BACKEND_OPENCL 0

#endif
