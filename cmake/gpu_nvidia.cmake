# SPDX-License-Identifier: MIT
# NVIDIA: the CUDA language, with nvcc.
set(fusekit_gpu_suffix .cu)

if(NOT CMAKE_CUDA_COMPILER)
  find_program(CMAKE_CUDA_COMPILER nvcc PATHS $ENV{CUDA_PATH}/bin /usr/local/cuda/bin REQUIRED)
endif()

if(NOT CMAKE_CUDA_ARCHITECTURES)
  execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
                  RESULT_VARIABLE status OUTPUT_VARIABLE capabilities ERROR_QUIET)
  string(REGEX MATCHALL "[0-9]+\\.[0-9]" capabilities "${capabilities}")
  if(NOT status EQUAL 0 OR NOT capabilities)
    set(capabilities 9.0)
  endif()
  list(REMOVE_DUPLICATES capabilities)
  list(TRANSFORM capabilities REPLACE "\\." "")
  # From 9.0 on, some instructions exist only in the architecture-specific target, with suffix `a`.
  list(TRANSFORM capabilities APPEND a REGEX "^(9|1[0-9])[0-9]$")
  list(TRANSFORM capabilities APPEND -real)
  set(CMAKE_CUDA_ARCHITECTURES ${capabilities} CACHE STRING "Architectures that CUDA sources are compiled for" FORCE)
endif()
enable_language(CUDA)

function(fusekit_gpu_compile target)
  set_target_properties(${target} PROPERTIES CUDA_RUNTIME_LIBRARY Static)
  set(options --Werror=all-warnings -Xcompiler=-Wall,-Wextra,-Werror)
  target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:${options}>")
endfunction()
