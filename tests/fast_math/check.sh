#!/bin/sh
# SPDX-License-Identifier: MIT
# Compiles PROGRAM with the flags and runs it. ORACLES is the archive of the oracle, which is compiled without them.
# usage: check.sh COMPILER ROOT ORACLES FOLDER PROGRAM FLAG...
set -e
compiler=$1 root=$2 oracles=$3 folder=$4 program=$5
shift 5
mkdir -p "$folder"
"$compiler" "$@" -std=c++20 -I"$root/include" -I"$root/tests" -pthread "$root/tests/fast_math/$program.cpp" "$oracles" \
    -o "$folder/$program"
"$folder/$program"
