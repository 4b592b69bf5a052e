// SPDX-License-Identifier: MIT
#include "compiler.hpp"

#include <cstdlib>
#include <cstring>
#include <vector>

#include "cubin.hpp"
#include "embedded.hpp"
#include "fusekit/runtime/c/fusekit.h"
#include "loaded_library.hpp"
#include "precompiled.hpp"

namespace fusekit::jit {

namespace {

/// Oldest libnvrtc with which the library is tested: 100 major + minor.
constexpr int oldest_version = 1300;

// -default-device: functions without an execution space, as lambdas and defaulted members, are for the device.
// --no-cache: libnvrtc has a disk cache of its own, with the driver's.
constexpr char const* options[] = {"-std=c++20",
                                   "-arch=sm_90a",
                                   "-default-device",
                                   "--builtin-move-forward=false",
                                   "-diag-suppress=161,1097,2648,2651",
                                   "-D__CUDA_ARCH_LIST__=900",
                                   "--no-cache"};
constexpr int option_count = sizeof options / sizeof *options;

/// NVRTC's functions: NVRTC, CUDA Toolkit documentation.
struct Nvrtc {
    using Program = void*;
    LoadedLibrary library{{"libnvrtc.so.13", "libnvrtc.so", "/usr/local/cuda/lib64/libnvrtc.so"}};
    int (*version)(int*, int*) = nullptr;
    int (*create)(Program*, char const*, char const*, int, char const* const*, char const* const*) = nullptr;
    int (*compile)(Program, int, char const* const*) = nullptr;
    int (*destroy)(Program*) = nullptr;
    int (*log_size)(Program, std::size_t*) = nullptr;
    int (*log)(Program, char*) = nullptr;
    int (*cubin_size)(Program, std::size_t*) = nullptr;
    int (*cubin)(Program, char*) = nullptr;
    char const* (*words)(int) = nullptr;
    bool complete = false;

    Nvrtc() {
        complete = library && library.find("nvrtcVersion", version) && library.find("nvrtcCreateProgram", create) &&
                   library.find("nvrtcCompileProgram", compile) && library.find("nvrtcDestroyProgram", destroy) &&
                   library.find("nvrtcGetProgramLogSize", log_size) && library.find("nvrtcGetProgramLog", log) &&
                   library.find("nvrtcGetCUBINSize", cubin_size) && library.find("nvrtcGetCUBIN", cubin) &&
                   library.find("nvrtcGetErrorString", words);
    }
};

Nvrtc const& nvrtc() {
    static Nvrtc const* const own = new Nvrtc;
    return *own;
}

std::string version_text(int version) { return std::to_string(version / 100) + "." + std::to_string(version % 100); }

struct OwnedProgram {
    Nvrtc::Program program = nullptr;
    ~OwnedProgram() { destroy(); }

    /// Compiles a unit, with one more option unless it is null. Returns libnvrtc's status.
    int compile(std::string const& unit, char const* option) {
        destroy();
        Embedded const& headers = Embedded::all();
        int const status = nvrtc().create(&program, unit.c_str(), "a plan", static_cast<int>(headers.names.size()),
                                          headers.contents.data(), headers.names.data());
        if (status != 0) return status;
        std::vector<char const*> all(options, options + option_count);
        if (option) all.push_back(option);
        return nvrtc().compile(program, static_cast<int>(all.size()), all.data());
    }
    std::string log() const {
        std::string text;
        std::size_t size = 0;
        if (program && nvrtc().log_size(program, &size) == 0 && size > 1) {
            text.resize(size);
            nvrtc().log(program, text.data());
            text.resize(std::strlen(text.c_str()));
        }
        return text;
    }
    void destroy() {
        if (program) nvrtc().destroy(&program);
        program = nullptr;
    }
};

}  // namespace

Compiler const* Compiler::find(Failure& failure) {
    char const* const wish = secure_getenv("FUSEKIT_JIT");
    if (wish && std::strcmp(wish, "0") == 0) {
        failure = {"leave to compile", "FUSEKIT_JIT=0 in the environment"};
        return nullptr;
    }
    if (!nvrtc().complete) {
        failure = {"NVIDIA's run-time compiler, libnvrtc.so.13",
                   nvrtc().library ? "a libnvrtc without its functions" : "none"};
        return nullptr;
    }
    static Compiler const own = [] {
        Compiler compiler;
        int major = 0, minor = 0;
        if (nvrtc().version(&major, &minor) == 0) compiler.version = 100 * major + minor;
        return compiler;
    }();
    if (own.version < oldest_version) {
        failure = {"libnvrtc of version " + version_text(oldest_version) + " or later", version_text(own.version)};
        return nullptr;
    }
    return &own;
}

std::string Compiler::identity() const {
    std::string text = "fusekit " + std::to_string(FUSEKIT_VERSION_MAJOR) + "." +
                       std::to_string(FUSEKIT_VERSION_MINOR) + ", headers " + std::to_string(headers_hash) +
                       ", nvrtc " + version_text(version);
    for (char const* const option : options) text += std::string(" ") + option;
    return text + "\n";
}

bool Compiler::compile(std::string const& unit, DiskCache const& disk, Code& code, Failure& failure) const {
    OwnedProgram own;
    int status = -1;
    if (Precompiled header(unit, disk); header) {
        status = own.compile(Precompiled::prefix + unit, header.option.c_str());
        bool const fails = status != 0, is_used = own.log().find(header.message) != std::string::npos;
        if (fails) status = own.compile(unit, nullptr);
        if (!is_used || (fails && status == 0)) header.give_up();
    } else {
        status = own.compile(unit, nullptr);
    }
    if (status != 0) {
        std::string const log = own.log();
        failure = {"a unit that compiles", log.empty() ? nvrtc().words(status) : first_error(log)};
        return false;
    }
    std::size_t size = 0;
    if (nvrtc().cubin_size(own.program, &size) == 0 && size > 0) {
        code.cubin.resize(size);
        if (nvrtc().cubin(own.program, code.cubin.data()) == 0) code.name = kernel_name(code.cubin);
    }
    if (!code.name.empty()) return true;
    failure = {"machine code with one kernel", "none from libnvrtc"};
    return false;
}

std::string first_error(std::string const& log) {
    constexpr int most_lines = 12;
    std::size_t const error = log.find("error:");
    if (error == std::string::npos) return log.substr(0, log.find('\n'));
    std::size_t const before = log.rfind('\n', error), begin = before == std::string::npos ? 0 : before + 1;
    std::size_t end = begin;
    for (int line = 0; line < most_lines && end < log.size(); ++line) {
        std::size_t const next = log.find('\n', end);
        if (line > 0 && (next == end || log.compare(end, 6, "1 error") == 0)) break;
        end = next == std::string::npos ? log.size() : next + 1;
    }
    while (end > begin && log[end - 1] == '\n') --end;
    return log.substr(begin, end - begin);
}

}  // namespace fusekit::jit
