# SPDX-License-Identifier: MIT
# GPUs that the repository's programs are compiled for. Projects that use fusekit do not need this file.
#
#     fusekit_gpu_sources(target file.cpp...)
#
# compiles the files for the GPU and adds them to `target`, with the options and the runtime library that they need.
# Each is compiled through a file that includes it, so that the same .cpp can be a host source of another target.
# Without FUSEKIT_GPU nothing is added. The target `fusekit_gpu` builds all targets that have such sources, and
# `fusekit_gpu_samples` a few, which show on a machine without a GPU that the compiler takes them.
#
#     fusekit_gpu_sanitizers(target argument...)
#
# adds a test, labelled compute_sanitizer, for each tool of NVIDIA's compute-sanitizer that runs `target` with the
# arguments under it. Like all GPU tests, `target` returns 4 to say that it skips.
#
# The architectures are CMAKE_CUDA_ARCHITECTURES or CMAKE_HIP_ARCHITECTURES; default: those of this machine's GPUs.
set(FUSEKIT_GPU "" CACHE STRING "Compile programs for GPUs too: nvidia (nvcc), amd (a C++ compiler that knows HIP)")
set_property(CACHE FUSEKIT_GPU PROPERTY STRINGS "" nvidia amd)

if(FUSEKIT_GPU STREQUAL "nvidia")
  include(${CMAKE_CURRENT_LIST_DIR}/gpu_nvidia.cmake)
elseif(FUSEKIT_GPU STREQUAL "amd")
  include(${CMAKE_CURRENT_LIST_DIR}/gpu_amd.cmake)
elseif(FUSEKIT_GPU)
  message(FATAL_ERROR "FUSEKIT_GPU is '${FUSEKIT_GPU}': expected nvidia, amd or nothing")
endif()

if(FUSEKIT_GPU)
  add_custom_target(fusekit_gpu)
  add_custom_target(fusekit_gpu_samples)
endif()

function(fusekit_gpu_sources target)
  if(NOT FUSEKIT_GPU)
    return()
  endif()
  set(wrappers "")
  foreach(source IN LISTS ARGN)
    get_filename_component(source ${source} ABSOLUTE)
    file(RELATIVE_PATH wrapper ${PROJECT_BINARY_DIR} ${source})
    if(wrapper MATCHES "^\\.\\./")
      file(RELATIVE_PATH wrapper ${PROJECT_SOURCE_DIR} ${source})
    endif()
    set(wrapper ${CMAKE_CURRENT_BINARY_DIR}/gpu/${target}/${wrapper}${fusekit_gpu_suffix})
    file(CONFIGURE OUTPUT ${wrapper} CONTENT "#include \"${source}\"\n" @ONLY)
    list(APPEND wrappers ${wrapper})
  endforeach()
  target_sources(${target} PRIVATE ${wrappers})
  add_dependencies(fusekit_gpu ${target})
  fusekit_gpu_compile(${target} ${wrappers})
endfunction()

function(fusekit_gpu_sanitizers target)
  if(NOT FUSEKIT_GPU STREQUAL "nvidia")
    return()
  endif()
  get_filename_component(beside_nvcc ${CMAKE_CUDA_COMPILER} DIRECTORY)
  find_program(FUSEKIT_COMPUTE_SANITIZER compute-sanitizer HINTS ${beside_nvcc})
  foreach(tool memcheck racecheck initcheck synccheck)
    set(command ${FUSEKIT_COMPUTE_SANITIZER} --tool ${tool} --error-exitcode 9 --require-cuda-init no
                $<TARGET_FILE:${target}> ${ARGN})
    if(NOT FUSEKIT_COMPUTE_SANITIZER)
      set(command ${CMAKE_COMMAND} -E echo "skipped: no compute-sanitizer on this machine")
    endif()
    add_test(NAME ${target}_${tool} COMMAND ${command})
    set_tests_properties(${target}_${tool} PROPERTIES LABELS compute_sanitizer RUN_SERIAL ON TIMEOUT 1200
      SKIP_RETURN_CODE 4 SKIP_REGULAR_EXPRESSION "skipped: no;Device not supported")
  endforeach()
endfunction()
