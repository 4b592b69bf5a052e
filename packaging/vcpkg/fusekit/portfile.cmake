# SPDX-License-Identifier: MIT
# An overlay port: it builds the clone that it is in.
cmake_path(SET source NORMALIZE "${CMAKE_CURRENT_LIST_DIR}/../../..")
vcpkg_check_features(OUT_FEATURE_OPTIONS features FEATURES runtime FUSEKIT_BUILD_RUNTIME)
if(NOT "runtime" IN_LIST FEATURES)
  set(VCPKG_BUILD_TYPE release)  # headers have no debug version
endif()
vcpkg_cmake_configure(SOURCE_PATH "${source}"
  OPTIONS -DFUSEKIT_BUILD_TESTS=OFF -DFUSEKIT_BUILD_EXAMPLES=OFF -DFUSEKIT_BUILD_BENCH=OFF -DFUSEKIT_NATIVE=OFF ${features})
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(PACKAGE_NAME fusekit CONFIG_PATH share/cmake/fusekit)
if("runtime" IN_LIST FEATURES)
  vcpkg_cmake_config_fixup(PACKAGE_NAME fusekit_runtime CONFIG_PATH lib/cmake/fusekit_runtime)
endif()
vcpkg_fixup_pkgconfig()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${source}/LICENSE")
