# cmake -DREADME=... -DCOMPILER=... -DSCRATCH=<a folder to write in> -P check.cmake, where the repository is
#
# The README's program is examples/conv_bias_relu.cpp, its operator is one of examples/custom_operator.cpp, and the
# plan that it says is refused is refused, with the line that it shows.
set(ENV{LC_ALL} C)
file(READ ${README} readme)

# Sets `out` to what stands between the first `begin` and the next `end`.
function(between out text begin end)
  string(FIND "${text}" "${begin}" from)
  if(from EQUAL -1)
    message(FATAL_ERROR "README: lacks ${begin}")
  endif()
  string(LENGTH "${begin}" length)
  math(EXPR from "${from} + ${length}")
  string(SUBSTRING "${text}" ${from} -1 rest)
  string(FIND "${rest}" "${end}" to)
  string(SUBSTRING "${rest}" 0 ${to} found)
  set(${out} "${found}" PARENT_SCOPE)
endfunction()

between(program "${readme}" "```cpp\n" "```\n")
file(READ examples/conv_bias_relu.cpp example)
if(NOT program STREQUAL example)
  message(FATAL_ERROR "README: its program is not examples/conv_bias_relu.cpp")
endif()

between(operator "${readme}" "```cpp\n/// y = min" "```\n")
file(READ examples/custom_operator.cpp example)
string(FIND "${example}" "/// y = min${operator}" at)
if(at EQUAL -1)
  message(FATAL_ERROR "README: its operator is not in examples/custom_operator.cpp")
endif()

between(refused "${readme}" "```cpp\nusing Wrong" "```\n")
between(sentence "${readme}" "```\nerror: static assertion failed: " "\n```\n")
string(RANDOM LENGTH 12 name)
set(source ${SCRATCH}/${name}.cpp)
file(WRITE ${source} "#include <fusekit/fusekit.hpp>\nnamespace fk = fusekit;\nusing Wrong${refused}")
execute_process(COMMAND ${COMPILER} -std=c++20 -fsyntax-only -Iinclude ${source}
                RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
file(REMOVE ${source})
string(FIND "${output}" "${sentence}" at)
if(code EQUAL 0 OR at EQUAL -1)
  message(FATAL_ERROR "README: the compiler does not say \"${sentence}\" but\n${output}")
endif()
