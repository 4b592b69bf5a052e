# SPDX-License-Identifier: MIT
# Toolchain file of the pages' CMake blocks: libraries are compiled in few units and not optimised, which takes half the
# time. The programs' results do not depend on either; the pages' own g++ lines optimise.
set(CMAKE_UNITY_BUILD ON CACHE BOOL "")
foreach(language C CXX)
  set(CMAKE_${language}_FLAGS_RELEASE "-O0 -DNDEBUG" CACHE STRING "")
endforeach()
