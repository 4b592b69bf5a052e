# SPDX-License-Identifier: MIT
# The sentence of every rule of a plan stands in README's table, in the order in which rules are asked, and is what a file
# of compile_fail/rules expects:
#     cmake -D ROOT=the/repository -P rules.cmake
cmake_minimum_required(VERSION 3.25)

# What is in brackets or ends in a semicolon would be a list to CMake.
function(read_text file result)
  file(READ ${file} text)
  string(REGEX REPLACE "[][;]" " " text "${text}")
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

read_text(${ROOT}/include/fusekit/plan/ordering.hpp ordering)
string(REGEX REPLACE "\"[ \n]+\"" "" ordering "${ordering}")
string(REGEX MATCHALL "struct [A-Za-z]+ {[^}]*static_assert\\([ \n]*kept,[ \n]*\"[^\"]*\"" rules "${ordering}")
string(REGEX MATCH "struct BrokenBy<Ops...>[ \n]*: FirstBroken<([^{]*)> {}" order "${ordering}")
string(REGEX MATCHALL "[A-Za-z]+<Ops" order "${CMAKE_MATCH_1}")

read_text(${ROOT}/README.md readme)
string(REGEX MATCH "\n## Rules\n(.*)" readme "${readme}")
string(REGEX REPLACE "\n## .*" "" readme "${CMAKE_MATCH_1}")
string(REGEX MATCHALL "\n\\| `[^\n]*" rows "${readme}")

set(expected "")
file(GLOB files ${ROOT}/tests/compile_fail/rules/*.cpp)
foreach(file IN LISTS files)
  read_text(${file} text)
  string(APPEND expected "${text}")
endforeach()

list(LENGTH rules count)
list(LENGTH order asked)
list(LENGTH rows told)
if(count LESS 5 OR NOT asked EQUAL count OR NOT told EQUAL count)
  message(SEND_ERROR "plan/ordering.hpp has ${count} rules and asks ${asked}; README.md has rows for ${told}")
endif()
foreach(rule word row IN ZIP_LISTS rules order rows)
  string(REGEX REPLACE "struct ([A-Za-z]+) .*\"([^\"]*)\"$" "\\1" name "${rule}")
  set(sentence "${CMAKE_MATCH_2}")
  if(NOT word STREQUAL "${name}<Ops")
    message(SEND_ERROR "${name} is written where ${word}...> is asked")
  endif()
  if(NOT row STREQUAL "\n| `${name}` | ${sentence} |")
    message(SEND_ERROR "README.md has ${row}\nwhere plan/ordering.hpp has the rule ${name}: ${sentence}")
  endif()
  string(FIND "${expected}" "// expect: ${sentence}\n" at)
  if(at EQUAL -1)
    message(SEND_ERROR "no file of compile_fail/rules expects the sentence of ${name}: ${sentence}")
  endif()
endforeach()
message(STATUS "${count} rules")
