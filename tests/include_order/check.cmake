# SPDX-License-Identifier: MIT
# Checks rules for the headers under ROOT that the compiler does not check:
#     cmake -D ROOT=include/fusekit [-D ONLY=plan/plan.hpp] -P check.cmake
cmake_minimum_required(VERSION 3.25)

# Layers from the lowest to the highest, one regular expression each: a header includes its own layer and lower ones.
set(layers
    "^abi\\.hpp$"
    "^config\\.hpp$"
    "^(text|error|result|math|math_division|math_double|math_instructions|math_select)\\.hpp$"
    "^tensor/"
    "^layer\\.hpp$"
    "^ops/"
    "^plan/"
    "^problem/"
    "^backend/(device|integer)\\.hpp$"
    "^backend/host/"
    # The HIP backend: the platform, its architectures, pipelines of stages, fragment layouts, the MMA issue loop, the runtime, what is computed, the constants of
    # the model, schedules, kernels' parameters, the parts of mainloops, statistics, epilogues, mainloops, the tables of schedules, and launches.
    "^backend/hip/runtime/(platform|cuda_names)\\.hpp$"
    "^backend/hip/arch/"
    "^backend/hip/pipeline/"
    "^backend/hip/atom/"
    "^backend/hip/mma/"
    "^backend/hip/runtime/"
    "^backend/hip/tuning/tile_costs\\.hpp$"
    "^backend/hip/collective/grid_group\\.hpp$"
    "^backend/hip/(integer|image_order|thread_coord|offset_coord|unmet|tma_limits|multicast|bulk_maps|conv_problem|conv_limits|slabs|stem_shape|halo_(maps|shape)|[a-z0-9_]+_(tiles|gradient)|grouped_taps|plane_grid|tile_order|stride_phases|phase_maps)\\.hpp$"
    "^backend/hip/tuning/(rates|cost)\\.hpp$"
    "^backend/hip/schedule/"
    "^backend/hip/(params|row_params|row_gradient_params|image_packet_params|conv_phases)\\.hpp$"
    "^backend/hip/(collective|copy)/"
    "^backend/hip/statistics/"
    "^backend/hip/epilogue/"
    "^backend/hip/mainloop/"
    "^backend/hip/tuning/"
    "^backend/hip/dispatch/"
    "^(fusekit|hip|hip_conv)\\.hpp$"
    # Plans selected at run time: templates over the device, independent of backends.
    "^runtime/"
    "^runtime\\.hpp$")
set(max_lines 300)
set(may_use_preprocessor "^((abi|config|fusekit|hip|hip_conv|math_instructions|runtime|layer)\\.hpp$|backend/host/platform\\.hpp$|backend/hip/arch/|backend/hip/runtime/(platform|cuda_names|range)\\.hpp$)")
# Lists that the preprocessor repeats: LIST(X) is X(...) for each entry. Other headers define what they call with it, and
# undefine it.
set(lists "^(tensor/dtype\\.hpp FUSEKIT_([A-Z0-9]+_)?ELEMENTS|ops/activation\\.hpp FUSEKIT_([A-Z]+_)?ACTIVATIONS)$")
# How often words stand in the HIP backend: there is one kernel, in two forms, which declares shared memory
# in one place, and its threads' maxima in another.
set(kernel_words __global__=2 __shared__=2)

function(report file sentence)
  message(SEND_ERROR "${file}: ${sentence}")
endfunction()

# Index of the layer of `file`, or -1.
function(layer_of file result)
  set(index 0)
  foreach(layer IN LISTS layers)
    if(file MATCHES "${layer}")
      set(${result} ${index} PARENT_SCOPE)
      return()
    endif()
    math(EXPR index "${index} + 1")
  endforeach()
  set(${result} -1 PARENT_SCOPE)
endfunction()

function(check_include file included)
  if(NOT EXISTS ${ROOT}/${included})
    report(${file} "includes fusekit/${included}, which does not exist")
  endif()
  layer_of(${file} from)
  layer_of(${included} to)
  if(to GREATER from)
    report(${file} "includes fusekit/${included}, which stands in a higher layer")
  endif()
  string(REGEX REPLACE "^(ops/[a-z_]+)(\\.hpp|/.*)$" "\\1/" parts "${file}")
  if(file MATCHES "^ops/" AND included MATCHES "^ops/" AND NOT included STREQUAL "ops/operator.hpp"
     AND NOT included MATCHES "^${parts}")
    report(${file} "includes fusekit/${included}, but operators know only ops/operator.hpp and parts of their own")
  endif()
  if("${file} ${included}" MATCHES "^runtime/.* (backend/|fusekit\\.hpp|hip\\.hpp)")
    report(${file} "includes fusekit/${included}, but runtime/ knows no backend")
  endif()
  if("${file} ${included}" MATCHES "^backend/(host/.* backend/hip|hip/.* backend/host)/")
    report(${file} "includes fusekit/${included}, but the host and HIP backends do not know each other")
  endif()
endfunction()

function(check_header file)
  layer_of(${file} layer)
  if(layer EQUAL -1)
    report(${file} "stands in no layer; add it to the list in check.cmake")
  endif()

  file(READ ${ROOT}/${file} text)
  string(REGEX REPLACE "[^\n]" "" line_ends "${text}")
  string(LENGTH "${line_ends}" lines)
  if(lines GREATER max_lines)
    report(${file} "has ${lines} lines; ${max_lines} is the limit")
  endif()
  if(NOT text MATCHES "^// SPDX-License-Identifier: MIT\n#pragma once\n")
    report(${file} "does not begin with the SPDX line and #pragma once")
  endif()

  set(loop "\n *(#pragma[^\n]*\n *)?(for|while) ")
  if(file MATCHES "^backend/hip/" AND text MATCHES "(if constexpr [^\n]*\\)|if constexpr [^\n]*;\n *else)${loop}")
    report(${file} "has a loop without braces as a branch of if constexpr, which nvcc 13.0 may drop")
  endif()

  file(STRINGS ${ROOT}/${file} directives REGEX "^[ \t]*#")
  foreach(directive IN LISTS directives)
    if(directive MATCHES "#[ \t]*include[ \t]*[\"<]fusekit/([^\">]*)")
      check_include(${file} "${CMAKE_MATCH_1}")
    elseif(directive MATCHES "#[ \t]*include[ \t]*\"")
      report(${file} "has ${directive}, but the library includes its headers as \"fusekit/...\"")
    elseif(directive MATCHES "#[ \t]*include[ \t]*<(fmt|catch2)/")
      report(${file} "has ${directive}, but users need no other package")
    elseif(directive MATCHES "#[ \t]*(if|ifdef|ifndef)" AND NOT file MATCHES "${may_use_preprocessor}")
      report(${file} "has ${directive}, but only abi.hpp, config.hpp, math_instructions.hpp, the umbrellas, layer.hpp and the platform headers do that")
    endif()
  endforeach()

  string(REGEX MATCHALL "#[ \t]*define[ \t]+[A-Za-z0-9_]+" defines "${text}")
  foreach(define IN LISTS defines)
    string(REGEX REPLACE ".*[ \t]" "" name "${define}")
    if(NOT file MATCHES "${may_use_preprocessor}" AND NOT "${file} ${name}" MATCHES "${lists}"
       AND NOT text MATCHES "#undef ${name}\n")
      report(${file} "defines ${name} and does not undefine it, but only abi.hpp, config.hpp, math_instructions.hpp, the umbrellas, layer.hpp, the platform headers and lists do that")
    endif()
  endforeach()
endfunction()

function(check_kernel_words)
  foreach(expected IN LISTS kernel_words)
    string(REGEX MATCH "^(.*)=(.*)$" whole "${expected}")
    set(word ${CMAKE_MATCH_1})
    set(right ${CMAKE_MATCH_2})
    set(found "")
    foreach(header IN LISTS ARGN)
      file(READ ${ROOT}/${header} text)
      string(REGEX MATCHALL "${word}" words "${text}")
      list(TRANSFORM words REPLACE ".+" "${header}")
      list(APPEND found ${words})
    endforeach()
    list(LENGTH found count)
    if(NOT count EQUAL right)
      string(REPLACE ";" ", " found "${found}")
      report("${word}" "stands ${count} times in the headers, and ${right} is right: ${found}")
    endif()
  endforeach()
endfunction()

get_filename_component(ROOT "${ROOT}" ABSOLUTE)
file(GLOB_RECURSE headers RELATIVE ${ROOT} ${ROOT}/*.hpp)
if(NOT headers)
  message(FATAL_ERROR "no headers under ${ROOT}")
endif()
if(NOT DEFINED ONLY)
  set(ONLY ${headers})
endif()
foreach(header IN LISTS ONLY)
  check_header(${header})
endforeach()
if("backend/hip/runtime/kernel.hpp" IN_LIST headers)
  list(FILTER headers EXCLUDE REGEX "/cuda_names\\.hpp$")  # says how CUDA spells them
  check_kernel_words(${headers})
endif()
list(LENGTH ONLY count)
message(STATUS "checked ${count} headers")
