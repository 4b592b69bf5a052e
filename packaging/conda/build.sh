#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# conda runs this in a copy of the clone, with the folder of the package in PREFIX.
set -euo pipefail
cmake -S . -B build_conda -D CMAKE_INSTALL_PREFIX="$PREFIX" -D FUSEKIT_BUILD_TESTS=OFF -D FUSEKIT_BUILD_EXAMPLES=OFF \
    -D FUSEKIT_BUILD_BENCH=OFF -D FUSEKIT_NATIVE=OFF
cmake --install build_conda
