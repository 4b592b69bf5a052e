# SPDX-License-Identifier: MIT
# cmake -D CLANG=... -D OPTIONS=... -D UNPACK=... -D INCLUDE=... -D UNIT=... -D FOLDER=... -P amd_code.cmake: fails
# unless clang++ writes the same assembly for gfx90a from the embedded headers as from those of INCLUDE.
file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER})
execute_process(COMMAND ${UNPACK} ${FOLDER}/embedded COMMAND_ERROR_IS_FATAL ANY)
foreach(headers IN ITEMS ${INCLUDE} ${FOLDER}/embedded)
  get_filename_component(name ${headers} NAME)
  execute_process(COMMAND ${CLANG} -xhip -std=c++20 -O3 --cuda-device-only --offload-arch=gfx90a -cuid=unit ${OPTIONS}
                          -I${headers} -S ${UNIT} -o ${FOLDER}/${name}.s
                  COMMAND_ERROR_IS_FATAL ANY)
  file(READ ${FOLDER}/${name}.s ${name})
endforeach()
if(NOT include MATCHES "v_mfma_f32")
  message(FATAL_ERROR "the kernel has no matrix instruction: ${FOLDER}/include.s")
endif()
if(NOT include STREQUAL embedded)
  message(FATAL_ERROR "the assembly differs: ${FOLDER}/include.s, embedded.s")
endif()
message("the same assembly")
