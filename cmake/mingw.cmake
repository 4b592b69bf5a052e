# SPDX-License-Identifier: MIT
# Toolchain file: compiles for 64-bit Windows with Debian's g++-mingw-w64-x86-64-posix, and runs tests under wine.
# Programs and libraries need no DLL of the compiler.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(prefix x86_64-w64-mingw32)
set(CMAKE_C_COMPILER ${prefix}-gcc-posix)
set(CMAKE_CXX_COMPILER ${prefix}-g++-posix)
set(CMAKE_RC_COMPILER ${prefix}-windres)
set(CMAKE_FIND_ROOT_PATH /usr/${prefix})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
foreach(kind IN ITEMS LIBRARY INCLUDE PACKAGE)
  set(CMAKE_FIND_ROOT_PATH_MODE_${kind} ONLY)
endforeach()
# g++ stores 32-byte vectors on the stack with aligned instructions, but aligns the stack to 16 bytes: GCC bug 54412.
set(CMAKE_CXX_FLAGS_INIT "-Wa,-muse-unaligned-vector-move")
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)
set(CMAKE_SHARED_LINKER_FLAGS_INIT -static)
find_program(FUSEKIT_WINE NAMES wine wine64)
if(FUSEKIT_WINE)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${FUSEKIT_WINE})
endif()
