# SPDX-License-Identifier: MIT
# cmake -D PORT=FOLDER -D PACKAGE=FOLDER -D WORK=FOLDER [-D FEATURES=runtime] -P vcpkg.cmake
#
# Runs a port's portfile.cmake where there is no vcpkg: the functions below do what vcpkg's documentation says of those
# with their names, for one build type and CMake's own generator. It does not resolve dependencies or triplets.
cmake_minimum_required(VERSION 3.25)
set(CURRENT_PACKAGES_DIR ${PACKAGE})

# run(COMMAND...): stops at a failure.
function(run)
  execute_process(COMMAND ${ARGV} OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
endfunction()

function(vcpkg_check_features)
  cmake_parse_arguments(PARSE_ARGV 0 of "" "OUT_FEATURE_OPTIONS" "FEATURES")
  set(options "")
  while(of_FEATURES)
    list(POP_FRONT of_FEATURES feature variable)
    set(value OFF)
    if(feature IN_LIST FEATURES)
      set(value ON)
    endif()
    list(APPEND options -D${variable}=${value})
  endwhile()
  set(${of_OUT_FEATURE_OPTIONS} ${options} PARENT_SCOPE)
endfunction()

function(vcpkg_cmake_configure)
  cmake_parse_arguments(PARSE_ARGV 0 of "" "SOURCE_PATH" "OPTIONS")
  run(${CMAKE_COMMAND} -S ${of_SOURCE_PATH} -B ${WORK} -D CMAKE_BUILD_TYPE=Release -D CMAKE_INSTALL_PREFIX=${PACKAGE} ${of_OPTIONS})
endfunction()

function(vcpkg_cmake_install)
  run(${CMAKE_COMMAND} --build ${WORK} --target install)
endfunction()

# Moves a CMake package to share/PACKAGE_NAME and mends the number of folders to the prefix.
function(vcpkg_cmake_config_fixup)
  cmake_parse_arguments(PARSE_ARGV 0 of "" "PACKAGE_NAME;CONFIG_PATH" "")
  if(NOT EXISTS ${PACKAGE}/${of_CONFIG_PATH})
    message(FATAL_ERROR "vcpkg_cmake_config_fixup: CONFIG_PATH: expected a folder of the package, got ${of_CONFIG_PATH}")
  endif()
  file(MAKE_DIRECTORY ${PACKAGE}/share)
  file(RENAME ${PACKAGE}/${of_CONFIG_PATH} ${PACKAGE}/share/${of_PACKAGE_NAME})
  file(GLOB targets ${PACKAGE}/share/${of_PACKAGE_NAME}/*Targets.cmake)
  foreach(file IN LISTS targets)
    file(READ ${file} text)
    string(REGEX REPLACE "(get_filename_component\\(_IMPORT_PREFIX [^\n]+\n)+"
      "get_filename_component(_IMPORT_PREFIX \"\${CMAKE_CURRENT_LIST_DIR}/../..\" ABSOLUTE)\n" text "${text}")
    file(WRITE ${file} "${text}")
  endforeach()
endfunction()

function(vcpkg_fixup_pkgconfig)
endfunction()

function(vcpkg_install_copyright)
  cmake_parse_arguments(PARSE_ARGV 0 of "" "" "FILE_LIST")
  file(COPY_FILE ${of_FILE_LIST} ${PACKAGE}/share/fusekit/copyright)
endfunction()

include(${PORT}/portfile.cmake)
