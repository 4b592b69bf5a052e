# SPDX-License-Identifier: MIT
# The drop-in whose plans are compiled at run time, over the fakes of tests/jit and, where there is one, on a GPU.
set(fakes ${PROJECT_BINARY_DIR}/tests/jit)
set(path_of_driver "${fakes}/fake:$ENV{LD_LIBRARY_PATH}")

# fusekit_compat_fake_test(TARGET SOURCE...): a program over the fakes.
function(fusekit_compat_fake_test target)
  add_executable(${target} ${ARGN})
  add_dependencies(${target} fusekit_jit_fake_driver fusekit_jit_fake_compiler)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests ${CMAKE_CURRENT_SOURCE_DIR}/fake)
  target_compile_options(${target} PRIVATE ${fusekit_test_options})
  target_link_libraries(${target} PRIVATE fusekit_dev Catch2::Catch2WithMain ${CMAKE_DL_LIBS})
  catch_discover_tests(${target} PROPERTIES LABELS host
    ENVIRONMENT "LD_LIBRARY_PATH=${fakes}/fake_compiler:${path_of_driver}")
endfunction()
fusekit_compat_fake_test(fusekit_compat_jit ${tests_of_compat_jit})
target_link_libraries(fusekit_compat_jit PRIVATE fusekit_miopen_jit)

file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/no_functions.cpp CONTENT "")
add_library(fusekit_compat_no_compiler SHARED ${CMAKE_CURRENT_BINARY_DIR}/no_functions.cpp)
set_target_properties(fusekit_compat_no_compiler PROPERTIES
  OUTPUT_NAME nvrtc SUFFIX .so.13 LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/no_compiler)
add_test(NAME "MIOpen jit: no compiler" COMMAND fusekit_compat_jit [no_compiler])
set_tests_properties("MIOpen jit: no compiler" PROPERTIES LABELS host
  ENVIRONMENT "LD_LIBRARY_PATH=${CMAKE_CURRENT_BINARY_DIR}/no_compiler:${path_of_driver}")

# NVIDIA's driver, for programs whose library does not export it.
add_library(fusekit_compat_driver OBJECT ${PROJECT_SOURCE_DIR}/src/jit/driver.cpp ${PROJECT_SOURCE_DIR}/src/jit/loaded_library.cpp)
fusekit_jit_over_driver(fusekit_compat_driver)
target_link_libraries(fusekit_compat_driver PRIVATE fusekit_dev)
# The test has backends of its own, and the drop-in's objects.
fusekit_compat_fake_test(fusekit_compat_found_plan ${tests_of_compat_found_plan} $<TARGET_OBJECTS:fusekit_miopen_objects>
  $<TARGET_OBJECTS:fusekit_miopen_jit_queue> $<TARGET_OBJECTS:fusekit_compat_driver>)
target_include_directories(fusekit_compat_found_plan PRIVATE ${FUSEKIT_MIOPEN_INCLUDES})

if(CMAKE_BUILD_TYPE STREQUAL "Release")
  add_test(NAME "MIOpen jit: symbols" COMMAND ${CMAKE_COMMAND} -D LIBRARY=$<TARGET_FILE:fusekit_miopen_jit>
    -D INCLUDE=${PROJECT_SOURCE_DIR}/compat/include -P ${CMAKE_CURRENT_SOURCE_DIR}/symbols.cmake)
  set_tests_properties("MIOpen jit: symbols" PROPERTIES LABELS host)
endif()

# Results on a GPU, in a program of the host's compiler, whose memory is that of NVIDIA's driver. Tests of the
# tag ready_made need backward passes, or the sentences of ready-made plans.
if(FUSEKIT_FEWER_KERNELS OR NOT "float" IN_LIST FUSEKIT_JIT_TYPES)
  return()
endif()
set(tests_of_results ${tests})
list(FILTER tests_of_results INCLUDE REGEX "/(broadcast|driver|empty|example|guide|immediate|plans|property|threads)\\.cpp$")
add_executable(fusekit_compat_jit_gpu ${tests_of_results} $<TARGET_OBJECTS:fusekit_compat_driver>)
fusekit_jit_over_driver(fusekit_compat_jit_gpu)
target_include_directories(fusekit_compat_jit_gpu PRIVATE hip)
target_compile_options(fusekit_compat_jit_gpu PRIVATE ${fusekit_test_options})
target_link_libraries(fusekit_compat_jit_gpu PRIVATE fusekit_miopen_jit fusekit_test_support fusekit_dev Catch2::Catch2WithMain
                                                     ${CMAKE_DL_LIBS})
catch_discover_tests(fusekit_compat_jit_gpu TEST_PREFIX "GPU jit: " TEST_SPEC "~[ready_made]"
  PROPERTIES LABELS gpu SKIP_RETURN_CODE 4)
