# SPDX-License-Identifier: MIT
# cmake -D SOURCE=... -D WORK=... -D GENERATOR=... -D CXX=... -D KIND=... -D PKG_CONFIG=... -P absolute.cmake
# The package is found where the directory of KIND, INCLUDE or DATA, or of both, was given as an absolute path outside of the prefix,
# by CMake and by pkg-config.
set(work ${WORK}/absolute_${KIND})
file(REMOVE_RECURSE ${work})
set(include ${work}/prefix/include)
set(data ${work}/prefix/share)
if(KIND STREQUAL "INCLUDE" OR KIND STREQUAL "ALL")
  set(include ${work}/elsewhere/headers)
  list(APPEND options -D CMAKE_INSTALL_INCLUDEDIR=${include})
endif()
if(KIND STREQUAL "DATA" OR KIND STREQUAL "ALL")
  set(data ${work}/elsewhere/data/share)
  list(APPEND options -D CMAKE_INSTALL_DATADIR=${data})
endif()
set(configure ${CMAKE_COMMAND} -G ${GENERATOR} -D CMAKE_CXX_COMPILER=${CXX} -D CMAKE_CXX_FLAGS=-O0)
execute_process(COMMAND ${configure} -S ${SOURCE} -B ${work}/build -D FUSEKIT_BUILD_TESTS=OFF
                        -D FUSEKIT_BUILD_EXAMPLES=OFF -D FUSEKIT_BUILD_BENCH=OFF
                        -D CMAKE_INSTALL_PREFIX=${work}/prefix ${options}
                OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --install ${work}/build OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
if(NOT EXISTS ${include}/fusekit/hip.hpp)
  message(FATAL_ERROR "no headers in ${include}")
endif()

cmake_path(GET data PARENT_PATH prefix)
# The package's targets name folders that exist.
execute_process(COMMAND ${configure} -S ${SOURCE}/tests/install/find_package -B ${work}/consumer
                        -D CMAKE_PREFIX_PATH=${prefix}
                OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
if(PKG_CONFIG)
  set(ENV{PKG_CONFIG_LIBDIR} ${data}/pkgconfig)
  execute_process(COMMAND ${PKG_CONFIG} --cflags-only-I fusekit OUTPUT_VARIABLE flag OUTPUT_STRIP_TRAILING_WHITESPACE
                  COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX REPLACE "^-I" "" folder "${flag}")
  file(REAL_PATH "${folder}" folder)
  if(NOT folder STREQUAL include)
    message(FATAL_ERROR "pkg-config says ${flag}, and the headers are in ${include}")
  endif()
endif()
