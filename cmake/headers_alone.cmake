# SPDX-License-Identifier: MIT
# The test headers_alone: every header compiles when nothing is included before it. Those of the HIP backend compile over
# the stand-in for HIP's runtime that runs kernels on the CPU.
set_target_properties(fusekit PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON INTERFACE_HEADER_SETS_TO_VERIFY HEADERS)

set(stand_in ${PROJECT_SOURCE_DIR}/tests/support/hip_on_cpu)
add_library(fusekit_hip_headers INTERFACE)
target_link_libraries(fusekit_hip_headers INTERFACE fusekit)
target_include_directories(fusekit_hip_headers INTERFACE ${stand_in})
target_sources(fusekit_hip_headers INTERFACE FILE_SET HEADERS BASE_DIRS include FILES ${fusekit_hip_headers})
set_target_properties(fusekit_hip_headers PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON)

add_test(NAME headers_alone
         COMMAND ${CMAKE_COMMAND} --build ${PROJECT_BINARY_DIR}
                 --target fusekit_verify_interface_header_sets fusekit_hip_headers_verify_interface_header_sets)
set_tests_properties(headers_alone PROPERTIES LABELS host RUN_SERIAL ON)
