# SPDX-License-Identifier: MIT
# cmake -D code=N -D output=REGEX -P expect.cmake -- COMMAND...
# Fails unless COMMAND exits with N and its output, errors included, matches REGEX.

set(command "")
set(seen FALSE)
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(i RANGE 1 ${last})
  if(seen)
    list(APPEND command "${CMAKE_ARGV${i}}")
  elseif(CMAKE_ARGV${i} STREQUAL "--")
    set(seen TRUE)
  endif()
endforeach()

execute_process(COMMAND ${command} RESULT_VARIABLE result OUTPUT_VARIABLE printed ERROR_VARIABLE errors)
string(APPEND printed "${errors}")
message("${printed}")
if(NOT result STREQUAL "${code}")
  message(FATAL_ERROR "expected exit code ${code}, got ${result}")
endif()
if(NOT printed MATCHES "${output}")
  message(FATAL_ERROR "expected output that matches '${output}'")
endif()
