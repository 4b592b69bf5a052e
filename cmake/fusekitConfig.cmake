# SPDX-License-Identifier: MIT
include(CMakeFindDependencyMacro)
find_dependency(Threads)
include(${CMAKE_CURRENT_LIST_DIR}/fusekitTargets.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/fusekitMiopenTargets.cmake OPTIONAL)
include(${CMAKE_CURRENT_LIST_DIR}/fusekitMiopenJitTargets.cmake OPTIONAL)
