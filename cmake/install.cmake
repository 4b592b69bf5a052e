# SPDX-License-Identifier: MIT
# Installs headers, a CMake package and a pkg-config file (component headers); all are architecture-independent and
# relocatable. The compiled library is in the components runtime, which programs load, and runtime_dev, which they are
# built with.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)
include(${CMAKE_CURRENT_LIST_DIR}/install_export.cmake)

set(package_dir ${CMAKE_INSTALL_DATADIR}/cmake/fusekit)
install(TARGETS fusekit EXPORT fusekitTargets
        FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT headers
        FILE_SET hip_headers DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT headers)
fusekit_install_export(fusekitTargets ${package_dir} COMPONENT headers)

write_basic_package_version_file(${PROJECT_BINARY_DIR}/fusekitConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES ${CMAKE_CURRENT_LIST_DIR}/fusekitConfig.cmake ${PROJECT_BINARY_DIR}/fusekitConfigVersion.cmake
        DESTINATION ${package_dir} COMPONENT headers)

# pc_path(RESULT FOLDER KIND): CMAKE_INSTALL_<KIND>DIR as a path in a .pc file in FOLDER: relative to that folder, or
# absolute if given as absolute.
function(pc_path result folder kind)
  set(path ${CMAKE_INSTALL_${kind}DIR})
  if(NOT IS_ABSOLUTE "${path}")
    file(RELATIVE_PATH path ${folder} ${CMAKE_INSTALL_FULL_${kind}DIR})
    string(PREPEND path "\${pcfiledir}/")
  endif()
  set(${result} ${path} PARENT_SCOPE)
endfunction()

pc_path(pc_include ${CMAKE_INSTALL_FULL_DATADIR}/pkgconfig INCLUDE)
configure_file(${CMAKE_CURRENT_LIST_DIR}/fusekit.pc.in ${PROJECT_BINARY_DIR}/fusekit.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/fusekit.pc DESTINATION ${CMAKE_INSTALL_DATADIR}/pkgconfig COMPONENT headers)

# The compiled library depends on the machine: its package and its .pc file are installed beside it.
if(TARGET fusekit_runtime_shared)
  install(FILES ${PROJECT_SOURCE_DIR}/include/fusekit/runtime/c/fusekit.h
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/fusekit/runtime/c COMPONENT runtime_dev)
  install(TARGETS fusekit_info RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT runtime OPTIONAL)
  install(TARGETS fusekit_runtime_shared fusekit_runtime_static EXPORT fusekitRuntimeTargets
          RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT runtime
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT runtime_dev
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime_dev)
  install(EXPORT fusekitRuntimeTargets NAMESPACE fusekit:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/fusekit_runtime
          COMPONENT runtime_dev)
  file(WRITE ${PROJECT_BINARY_DIR}/fusekit_runtimeConfig.cmake "# SPDX-License-Identifier: MIT
include(CMakeFindDependencyMacro)
find_dependency(Threads)
include(\${CMAKE_CURRENT_LIST_DIR}/fusekitRuntimeTargets.cmake)
")
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/fusekit_runtimeConfigVersion.cmake
                                   COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/fusekit_runtimeConfig.cmake
                ${PROJECT_BINARY_DIR}/fusekit_runtimeConfigVersion.cmake
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/fusekit_runtime COMPONENT runtime_dev)
  set(pc_dir ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig)
  pc_path(pc_lib ${pc_dir} LIB)
  pc_path(pc_include ${pc_dir} INCLUDE)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/fusekit_runtime.pc.in ${PROJECT_BINARY_DIR}/fusekit_runtime.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/fusekit_runtime.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
          COMPONENT runtime_dev)
endif()

if(TARGET fusekit_jit)
  install(FILES ${PROJECT_SOURCE_DIR}/include/fusekit/runtime/c/fusekit.h
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/fusekit/runtime/c)
  install(TARGETS fusekit_jit EXPORT fusekitJitTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT fusekitJitTargets NAMESPACE fusekit:: FILE fusekit_jitConfig.cmake
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/fusekit_jit)
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/fusekit_jitConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/fusekit_jitConfigVersion.cmake
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/fusekit_jit)
endif()
