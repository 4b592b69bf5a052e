# SPDX-License-Identifier: MIT
# The library has every function that its header declares and shows no other symbol, and its name is MIOpen's:
#     cmake -D LIBRARY=libMIOpen.so -D INCLUDE=compat/include -P symbols.cmake
cmake_minimum_required(VERSION 3.25)
foreach(header miopen fusion)
  file(READ ${INCLUDE}/miopen/${header}.h text)
  string(REGEX MATCHALL "MIOPEN_EXPORT[^(;]*\\(" found "${text}")
  list(APPEND declared ${found})
endforeach()
list(FILTER declared EXCLUDE REGEX "__attribute__")  # of the definition of MIOPEN_EXPORT
list(TRANSFORM declared REPLACE ".*[ \n*]([A-Za-z0-9_]+)\\($" "\\1@@MIOPEN_1")
list(SORT declared)

execute_process(COMMAND nm -D --defined-only ${LIBRARY} OUTPUT_VARIABLE said COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[0-9a-f]+ [A-Z] [^\n]+" symbols "${said}")
list(TRANSFORM symbols REPLACE "^[0-9a-f]+ [A-Z] " "")
list(FILTER symbols EXCLUDE REGEX "^MIOPEN_1(@|$)")
list(SORT symbols)
if(NOT symbols STREQUAL declared)
  message(SEND_ERROR "declared: ${declared}\nin the library: ${symbols}")
endif()
list(LENGTH declared count)

execute_process(COMMAND readelf -d ${LIBRARY} OUTPUT_VARIABLE said COMMAND_ERROR_IS_FATAL ANY)
if(NOT said MATCHES "SONAME[^\n]*\\[libMIOpen\\.so\\.1\\]")
  message(SEND_ERROR "the library's name is not libMIOpen.so.1: ${said}")
endif()
message(STATUS "${count} functions, and nothing else")
