# SPDX-License-Identifier: MIT
# Installs BUILD and moves it to WORK/prefix: an installed tree is relocatable.
file(REMOVE_RECURSE ${WORK})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/before_the_move
                OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
file(RENAME ${WORK}/before_the_move ${WORK}/prefix)

# Checks that every header of the source tree is installed.
file(GLOB_RECURSE headers RELATIVE ${HEADERS} ${HEADERS}/*.hpp)
foreach(header IN LISTS headers)
  if(NOT EXISTS ${WORK}/prefix/include/${header})
    message(SEND_ERROR "${header} is not installed")
  endif()
endforeach()
