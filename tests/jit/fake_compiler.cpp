// SPDX-License-Identifier: MIT
//
// A libnvrtc.so.13 that compiles nothing: every compilation fails, after fake_compiler_holds is zero.
#include <atomic>
#include <cstddef>
#include <cstring>

#include <unistd.h>

extern "C" {

/// Compilations that were begun, and a flag by which a test holds them. Tests read and write both.
std::atomic<int> fake_compiler_begun{0}, fake_compiler_holds{0};

int nvrtcVersion(int* major, int* minor) { return *major = 13, *minor = 0, 0; }
int nvrtcCreateProgram(void** program, char const*, char const*, int, char const* const*, char const* const*) {
    return *program = &fake_compiler_begun, 0;
}
int nvrtcCompileProgram(void*, int, char const* const*) {
    ++fake_compiler_begun;
    while (fake_compiler_holds) usleep(1000);
    return 6;
}
int nvrtcDestroyProgram(void**) { return 0; }
int nvrtcGetProgramLogSize(void*, std::size_t* size) { return *size = sizeof "a fake error", 0; }
int nvrtcGetProgramLog(void*, char* text) { return std::strcpy(text, "a fake error"), 0; }
int nvrtcGetCUBINSize(void*, std::size_t*) { return 1; }
int nvrtcGetCUBIN(void*, char*) { return 1; }
char const* nvrtcGetErrorString(int) { return "NVRTC_ERROR_FAKE"; }

}  // extern "C"
