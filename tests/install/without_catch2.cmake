# SPDX-License-Identifier: MIT
# cmake -D SOURCE=... -D WORK=... -D GENERATOR=... -D CXX=... -P without_catch2.cmake
# Without Catch2, the library is configured and installed without tests, with a message; explicitly requested tests are
# an error.
set(build ${WORK}/without_catch2)
set(configure ${CMAKE_COMMAND} -G ${GENERATOR} -S ${SOURCE} -B ${build} -D CMAKE_CXX_COMPILER=${CXX}
                               -D CMAKE_DISABLE_FIND_PACKAGE_Catch2=ON)
execute_process(COMMAND ${configure} OUTPUT_VARIABLE said COMMAND_ERROR_IS_FATAL ANY)
if(NOT said MATCHES "No tests are built: there is no Catch2")
  message(FATAL_ERROR "the configuration does not say that it builds no tests:\n${said}")
endif()
execute_process(COMMAND ${CMAKE_COMMAND} --install ${build} --prefix ${build}/prefix
                OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
if(NOT EXISTS ${build}/prefix/include/fusekit/fusekit.hpp)
  message(FATAL_ERROR "nothing was installed")
endif()

execute_process(COMMAND ${configure} -D FUSEKIT_BUILD_TESTS=ON
                RESULT_VARIABLE status OUTPUT_QUIET ERROR_VARIABLE said)
if(status EQUAL 0 OR NOT said MATCHES "Catch2")
  message(FATAL_ERROR "the configuration does not miss Catch2 for the tests that it is asked for:\n${said}")
endif()
