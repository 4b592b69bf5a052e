// SPDX-License-Identifier: MIT
//
// fusekit-info: prints the version, what the library was built with, the CPU, GPUs and compilers of this machine, and
// one line on how to go on. Installs nothing, compiles nothing, and needs no GPU.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <string>
#include <thread>

#include "fusekit/config.hpp"
#include "fusekit/runtime/c/fusekit.h"
#include "gpus.hpp"

namespace {

namespace info = fusekit::info;

void print(char const* what, std::string const& value) { std::printf("%-11s %s\n", what, value.c_str()); }

std::string version() {
    using namespace fusekit::config;
    return std::to_string(version_major) + "." + std::to_string(version_minor) + "." + std::to_string(version_patch);
}

/// Backends of the library and the number of their plans: "host 12 plans, GPU none, run-time compiler none".
std::string backends() {
    struct Backend {
        char const* name;
        fusekit_backend number;
    };
    std::string text;
    for (Backend const& each :
         {Backend{"host", FUSEKIT_HOST}, {"GPU", FUSEKIT_GPU}, {"run-time compiler", FUSEKIT_JIT}}) {
        text += std::string(text.empty() ? "" : ", ") + each.name + " ";
        std::int32_t plans = 0;
        if (!fusekit_has_backend(each.number)) text += "none";
        else if (fusekit_set_size(each.number, &plans) == FUSEKIT_SUCCESS) text += std::to_string(plans) + " plans";
        else text += "yes";
    }
    return text;
}

/// Bytes of the CPU's vector registers for which g++ and clang++ can compile on this machine.
int cpu_vector_bytes() {
#if defined(__x86_64__)
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx512f") ? 64 : __builtin_cpu_supports("avx") ? 32 : 16;
#else
    return 16;
#endif
}

/// Path of a program in PATH or in `folder`; "" if there is none.
std::string find(std::string name, char const* folder = "") {
#if defined(_WIN32)
    name += ".exe";
    constexpr char separator = ';';
#else
    constexpr char separator = ':';
#endif
    char const* const path = std::getenv("PATH");
    std::istringstream folders(std::string(path ? path : "") + separator + folder);
    for (std::string each; std::getline(folders, each, separator);) {
        std::error_code error;
        std::filesystem::path const file = std::filesystem::path(each) / name;
        if (!each.empty() && std::filesystem::is_regular_file(file, error)) return file.string();
    }
    return "";
}

std::string join(std::string list, std::string const& item) {
    if (item.empty()) return list;
    return list.empty() ? item : list + ", " + item;
}

void print(char const* what, info::Gpus const& gpus) {
    print(what, gpus.names.empty() ? "no GPU (" + gpus.driver + ")"
                                   : std::to_string(gpus.names.size()) + " (" + gpus.driver + ")");
    for (std::size_t i = 0; i < gpus.names.size(); ++i) print("", std::to_string(i) + ": " + gpus.names[i]);
}

std::string next(bool nvidia, bool amd, std::string const& nvcc, std::string const& hipcc, std::string const& host) {
    if (nvidia && !nvcc.empty())
        return "compile for the NVIDIA GPU: cmake --preset cuda && cmake --build --preset cuda";
    if (amd && !hipcc.empty()) return "compile for the AMD GPU: cmake --preset rocm && cmake --build --preset rocm";
    if (nvidia) return "install the CUDA toolkit 12 or later, whose nvcc compiles plans for the NVIDIA GPU";
    if (amd) return "install ROCm or Debian's clang-19 and libamdhip64-dev, which compile plans for the AMD GPU";
    if (host.empty())
        return "install g++ 12 or clang++ 14, or later, or use the C library: fusekit/runtime/c/fusekit.h";
    return "compile for this CPU: " + host + " -std=c++20 -O3 -march=native -pthread -I include program.cpp";
}

}  // namespace

int main(int count, char** arguments) {
    if (count > 1) {
        bool const help = std::strcmp(arguments[1], "--help") == 0;
        std::fprintf(help ? stdout : stderr,
                     "Usage: fusekit-info\nPrints fusekit's version and build, this machine's CPU, GPUs and compilers, "
                     "and how to go on.\n");
        return help ? 0 : 2;
    }
    print("fusekit", version());
    print("library", backends());
    print("built for", std::to_string(8 * fusekit::config::vector_bytes) + "-bit vectors");
    int const bits = 8 * cpu_vector_bytes();
    unsigned const processors = std::thread::hardware_concurrency();
    print("CPU", std::to_string(bits) + "-bit vectors, " + std::to_string(processors) + " processors" +
                     (cpu_vector_bytes() > fusekit::config::vector_bytes
                          ? "; compile with -march=native to use the whole vectors"
                          : ""));
    info::Gpus const nvidia = info::nvidia_gpus(), amd = info::amd_gpus();
    print("NVIDIA", nvidia);
    print("AMD", amd);
    std::string const gxx = find("g++"), clang = find("clang++"), nvcc = find("nvcc", "/usr/local/cuda/bin"),
                      hipcc = find("clang++", "/opt/rocm/llvm/bin");
    std::string const of_hip = join(find("hipcc", "/opt/rocm/bin"), find("clang++-19", "/usr/lib/llvm-19/bin"));
    std::string const compilers = join(join(join(join("", gxx), clang), nvcc), of_hip);
    print("compilers", compilers.empty() ? "none of g++, clang++, nvcc, hipcc" : compilers);
    print("next", next(!nvidia.names.empty(), !amd.names.empty(), nvcc, join(of_hip, hipcc),
                       gxx.empty() ? (clang.empty() ? "" : "clang++") : "g++"));
}
