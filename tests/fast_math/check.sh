#!/bin/sh
# SPDX-License-Identifier: MIT
# Compiles PROGRAM with the flags, and the oracle, where it has one, without them, and runs it.
# usage: check.sh COMPILER ROOT FOLDER PROGRAM FLAG...
set -e
compiler=$1 root=$2 folder=$3 program=$4
shift 4
mkdir -p "$folder"
include() { "$@" -std=c++20 -I"$root/include" -I"$root/tests"; }
include "$compiler" "$@" -c "$root/tests/fast_math/$program.cpp" -o "$folder/$program.o"
set -- "$@" -pthread "$folder/$program.o"
if [ "$program" = functions ]; then
  include "$compiler" -O1 -w -c "$root/tests/support/oracle_modes.cpp" -o "$folder/oracle.o"
  set -- "$@" "$folder/oracle.o"
fi
"$compiler" "$@" -o "$folder/$program"
"$folder/$program"
