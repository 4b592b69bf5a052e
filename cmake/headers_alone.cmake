# SPDX-License-Identifier: MIT
# Test headers_alone: every header compiles when included first. Headers of the HIP backend compile over emulator/,
# except three for nvcc alone. A quick run omits the HIP backend.
set_target_properties(fusekit PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON INTERFACE_HEADER_SETS_TO_VERIFY HEADERS)

set(targets fusekit_verify_interface_header_sets)
if(TARGET hip_on_cpu AND NOT FUSEKIT_QUICK_TESTS)
  list(FILTER fusekit_hip_headers EXCLUDE REGEX "/(cuda_names|sm90a_instructions|sm90a_wgmma)\\.hpp$")
  add_library(fusekit_hip_headers INTERFACE)
  target_link_libraries(fusekit_hip_headers INTERFACE fusekit hip_on_cpu)
  target_sources(fusekit_hip_headers INTERFACE FILE_SET HEADERS BASE_DIRS include FILES ${fusekit_hip_headers})
  set_target_properties(fusekit_hip_headers PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON)
  list(APPEND targets fusekit_hip_headers_verify_interface_header_sets)
endif()

add_test(NAME headers_alone COMMAND ${CMAKE_COMMAND} --build ${PROJECT_BINARY_DIR} --target ${targets})
set_tests_properties(headers_alone PROPERTIES LABELS host RUN_SERIAL ON)
