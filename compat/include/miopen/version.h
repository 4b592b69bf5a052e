// SPDX-License-Identifier: MIT
#ifndef MIOPEN_VERSION_H
#define MIOPEN_VERSION_H

/* Version of MIOpen whose interface this header declares; not a version of fusekit. */
#define MIOPEN_VERSION_MAJOR 3
#define MIOPEN_VERSION_MINOR 5
#define MIOPEN_VERSION_PATCH 0
#define MIOPEN_VERSION (MIOPEN_VERSION_MAJOR * 1000000 + MIOPEN_VERSION_MINOR * 1000 + MIOPEN_VERSION_PATCH)

#endif
