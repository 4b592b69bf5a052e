// SPDX-License-Identifier: MIT
//
// A libnvrtc.so.13 that compiles nothing: a compilation ends after fake_compiler_holds is zero. With
// fake_compiler_works it gives machine code that the fake driver loads, otherwise it fails.
#include <atomic>
#include <cstddef>
#include <cstring>

#include <unistd.h>

#include "code.hpp"

namespace {

std::string const& cubin() {
    static std::string const code = test::code_of("a_kernel", 64, 1024, "fusekit_dynamic_shared_bytes").cubin;
    return code;
}

}  // namespace

extern "C" {

/// Compilations that were begun, and flags by which a test holds them and lets them succeed. Tests read and write all.
std::atomic<int> fake_compiler_begun{0}, fake_compiler_holds{0}, fake_compiler_works{0};

/// No real libnvrtc has this version: its entries of a disk cache are others.
int nvrtcVersion(int* major, int* minor) { return *major = 13, *minor = 99, 0; }
int nvrtcCreateProgram(void** program, char const*, char const*, int, char const* const*, char const* const*) {
    return *program = &fake_compiler_begun, 0;
}
int nvrtcCompileProgram(void*, int, char const* const*) {
    ++fake_compiler_begun;
    while (fake_compiler_holds) usleep(1000);
    return fake_compiler_works ? 0 : 6;
}
int nvrtcDestroyProgram(void**) { return 0; }
int nvrtcGetProgramLogSize(void*, std::size_t* size) { return *size = sizeof "a fake error", 0; }
int nvrtcGetProgramLog(void*, char* text) { return std::strcpy(text, "a fake error"), 0; }
int nvrtcGetCUBINSize(void*, std::size_t* size) { return *size = cubin().size(), 0; }
int nvrtcGetCUBIN(void*, char* code) { return std::memcpy(code, cubin().data(), cubin().size()), 0; }
char const* nvrtcGetErrorString(int) { return "NVRTC_ERROR_FAKE"; }

}  // extern "C"
