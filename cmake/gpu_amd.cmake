# SPDX-License-Identifier: MIT
# AMD: the C++ compiler itself, which must be a clang++ with HIP support: ROCm's, or a distribution's from version 19 on
# (on Debian by the path /usr/lib/llvm-19/bin/clang++: it looks for its tools in its own folder).
set(fusekit_gpu_suffix .hip.cpp)
include(${CMAKE_CURRENT_LIST_DIR}/amd_compiler.cmake)

if(NOT CMAKE_CXX_COMPILER_ID MATCHES Clang)
  message(FATAL_ERROR "FUSEKIT_GPU=amd: the C++ compiler ${CMAKE_CXX_COMPILER} is not clang")
endif()

if(NOT CMAKE_HIP_ARCHITECTURES)
  get_filename_component(bin ${CMAKE_CXX_COMPILER} DIRECTORY)
  execute_process(COMMAND ${bin}/amdgpu-arch RESULT_VARIABLE status OUTPUT_VARIABLE targets ERROR_QUIET)
  string(REGEX MATCHALL "gfx[0-9a-f]+" targets "${targets}")
  if(NOT status EQUAL 0 OR NOT targets)
    set(targets gfx90a gfx942 gfx1100 gfx1201)
  endif()
  list(REMOVE_DUPLICATES targets)
  set(CMAKE_HIP_ARCHITECTURES ${targets} CACHE STRING "Architectures that HIP sources are compiled for" FORCE)
endif()

fusekit_amd_options(fusekit_amd_options ${CMAKE_CXX_COMPILER} ${CMAKE_HIP_ARCHITECTURES})
if(NOT DEFINED fusekit_amd_options)
  message(FATAL_ERROR "FUSEKIT_GPU=amd: ${CMAKE_CXX_COMPILER} finds no ROCm device libraries; set FUSEKIT_ROCM_PATH")
endif()
find_library(FUSEKIT_AMDHIP64 amdhip64 HINTS ${FUSEKIT_ROCM_PATH}/lib /opt/rocm/lib REQUIRED)

function(fusekit_gpu_compile target)
  list(TRANSFORM CMAKE_HIP_ARCHITECTURES PREPEND --offload-arch= OUTPUT_VARIABLE targets)
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS "-xhip;${targets};${fusekit_amd_options}")
  target_link_options(${target} PRIVATE --hip-link ${targets} ${fusekit_amd_options})
  target_link_libraries(${target} PRIVATE ${FUSEKIT_AMDHIP64})
endfunction()
