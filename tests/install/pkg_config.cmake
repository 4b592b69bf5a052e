# SPDX-License-Identifier: MIT
# Compiles and runs consumer.cpp with the flags that pkg-config reports for WORK/prefix.
if(NOT PKG_CONFIG)
  message(FATAL_ERROR "pkg-config is not installed")
endif()

set(ENV{PKG_CONFIG_LIBDIR} ${WORK}/prefix/share/pkgconfig)
execute_process(COMMAND ${PKG_CONFIG} --exact-version=${VERSION} --print-errors fusekit COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${PKG_CONFIG} --cflags --libs fusekit OUTPUT_VARIABLE flags COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(flags UNIX_COMMAND "${flags}")

set(definition -DFUSEKIT_PACKAGE_VERSION="${VERSION}")
execute_process(COMMAND ${CXX} ${definition} ${CMAKE_CURRENT_LIST_DIR}/consumer.cpp -o ${WORK}/consumer ${flags}
                COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${WORK}/consumer COMMAND_ERROR_IS_FATAL ANY)
