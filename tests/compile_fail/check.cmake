# cmake -DCOMPILER=... -DOPTIONS=... -DFAMILY=... -DSOURCE=... [-DLINES=... -DBYTES=...] -P check.cmake
#
# SOURCE compiles with -DCORRECTED and does not without; what the compiler then says holds the words of each leading
# line "// expect: words" ("// expect g++: ..." and "// expect clang: ..." are for one family), in at most LINES
# lines and BYTES bytes. Runs where `include` is, so that the message has the paths a user's would have.
set(ENV{LC_ALL} C)
get_filename_component(name ${SOURCE} NAME_WE)

set(expected "")
file(STRINGS ${SOURCE} head LIMIT_COUNT 8)
foreach(line IN LISTS head)
  if(line MATCHES "^// expect( g\\+\\+| clang| nvcc)?: (.+)$")
    set(words "${CMAKE_MATCH_2}")
    string(STRIP "${CMAKE_MATCH_1}" family)
    if(family STREQUAL "" OR family STREQUAL FAMILY)
      list(APPEND expected "${words}")
    endif()
  endif()
endforeach()
if(NOT expected)
  message(FATAL_ERROR "${name}: expects no words")
endif()

separate_arguments(OPTIONS UNIX_COMMAND "${OPTIONS}")
set(compile ${COMPILER} -std=c++20 ${OPTIONS} -Iinclude ${SOURCE})
execute_process(COMMAND ${compile} -DCORRECTED RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(NOT code EQUAL 0)
  message(FATAL_ERROR "${name}: the corrected twin must compile, but does not:\n${output}")
endif()

string(TIMESTAMP begin "%s%f")
execute_process(COMMAND ${compile} RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
string(TIMESTAMP end "%s%f")
if(code EQUAL 0)
  message(FATAL_ERROR "${name}: must not compile, but does")
endif()

math(EXPR milliseconds "(${end} - ${begin}) / 1000")
string(LENGTH "${output}" bytes)
string(REGEX REPLACE "[^\n]" "" newlines "${output}")
string(LENGTH "${newlines}" lines)
message(STATUS "${name}, ${FAMILY}: ${milliseconds} ms, ${lines} lines, ${bytes} bytes")

foreach(words IN LISTS expected)
  string(FIND "${output}" "${words}" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "${name}: the compiler does not say \"${words}\":\n${output}")
  endif()
endforeach()
if((LINES AND lines GREATER LINES) OR (BYTES AND bytes GREATER BYTES))
  message(FATAL_ERROR "${name}: more than ${LINES} lines or ${BYTES} bytes:\n${output}")
endif()
