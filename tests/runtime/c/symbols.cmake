# SPDX-License-Identifier: MIT
# Checks that the shared library exports the functions of its header, with their version, and nothing else:
#     cmake -D NM=nm -D LIBRARY=libfusekit_runtime.so -D HEADER=fusekit.h -P symbols.cmake
cmake_minimum_required(VERSION 3.25)
if(NOT NM)
  message("skipped: no nm on this machine")
  return()
endif()
execute_process(COMMAND ${NM} --dynamic --defined-only --with-symbol-versions ${LIBRARY}
                OUTPUT_VARIABLE given COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL " [A-Z] [^\n]+" given "${given}")
list(FILTER given EXCLUDE REGEX " A FUSEKIT_0\\.1")
list(TRANSFORM given REPLACE "^ T ([a-z_]+)@@FUSEKIT_0\\.1$" "\\1")
file(READ ${HEADER} text)
string(REGEX MATCHALL "[a-z_0-9]+[ *]+fusekit_[a-z_]+\\(" declared "${text}")
list(TRANSFORM declared REPLACE "^.*[ *](fusekit_[a-z_]+)\\($" "\\1")
list(REMOVE_DUPLICATES declared)
list(SORT given)
list(SORT declared)
list(LENGTH declared count)
if(count LESS 20 OR NOT given STREQUAL declared)
  message(FATAL_ERROR "the library gives out ${given}\nand the header declares ${declared}")
endif()
message(STATUS "${count} functions")
