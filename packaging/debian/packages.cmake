# SPDX-License-Identifier: MIT
# Debian packages, made by `cpack -G DEB` in a build folder that was configured with CMAKE_INSTALL_PREFIX=/usr: libfusekit-dev
# has the headers; with FUSEKIT_BUILD_RUNTIME, libfusekit-runtime<SOVERSION> has the compiled library and
# libfusekit-runtime-dev what programs are built with.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME fusekit)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "The fusekit developers <fusekit@localhost>")
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ
    WORLD_EXECUTE)
if(CMAKE_CROSSCOMPILING)
  string(REGEX REPLACE "^aarch64$" arm64 CPACK_DEBIAN_PACKAGE_ARCHITECTURE ${CMAKE_SYSTEM_PROCESSOR})
endif()

# fusekit_debian_package(COMPONENT NAME SECTION TEXT): describes the package of a component.
function(fusekit_debian_package component name section text)
  string(TOUPPER ${component} key)
  set(CPACK_DEBIAN_${key}_PACKAGE_NAME ${name} PARENT_SCOPE)
  set(CPACK_DEBIAN_${key}_PACKAGE_SECTION ${section} PARENT_SCOPE)
  set(CPACK_COMPONENT_${key}_DESCRIPTION "${text}" PARENT_SCOPE)
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${name} RENAME copyright
          COMPONENT ${component} EXCLUDE_FROM_ALL)
endfunction()

set(CPACK_COMPONENTS_ALL headers)
fusekit_debian_package(headers libfusekit-dev libdevel
  "Headers, a CMake package and a pkg-config file. Nothing is linked: the\n library is its headers.")
set(CPACK_DEBIAN_HEADERS_PACKAGE_ARCHITECTURE all)

if(TARGET fusekit_runtime_shared)
  list(APPEND CPACK_COMPONENTS_ALL runtime runtime_dev)
  set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
  set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")  # functions are only added
  set(CPACK_STRIP_FILES ON)
  set(library libfusekit-runtime${PROJECT_VERSION_MAJOR})
  fusekit_debian_package(runtime ${library} libs "The compiled library of plans that a program selects at run time.")
  if(CMAKE_CROSSCOMPILING)
    # dpkg-shlibdeps knows this machine's libraries only.
    set(CPACK_DEBIAN_RUNTIME_PACKAGE_DEPENDS "libc6, libgcc-s1, libstdc++6 (>= 12)")
  else()
    set(CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS ON)
  endif()
  fusekit_debian_package(runtime_dev libfusekit-runtime-dev libdevel
    "The C header of the compiled library, the static library, a CMake package\n and a pkg-config file.")
  set(CPACK_DEBIAN_RUNTIME_DEV_PACKAGE_DEPENDS "${library} (= ${PROJECT_VERSION})")
endif()
include(CPack)
