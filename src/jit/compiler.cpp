// SPDX-License-Identifier: MIT
#include "compiler.hpp"

#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "cubin.hpp"
#include "embedded.hpp"
#include "fusekit/runtime/c/fusekit.h"
#include "loaded_library.hpp"

namespace fusekit::jit {

namespace {

/// Oldest libnvrtc with which the library is tested: 100 major + minor.
constexpr int oldest_version = 1300;

}  // namespace

/// Functions of NVRTC (CUDA Toolkit documentation) and of hipRTC (HIP documentation), which has the same with its own
/// prefix.
struct CompilerFunctions {
    using Program = void*;
    LoadedLibrary library;
    int (*version)(int*, int*) = nullptr;
    int (*create)(Program*, char const*, char const*, int, char const* const*, char const* const*) = nullptr;
    int (*compile)(Program, int, char const* const*) = nullptr;
    int (*destroy)(Program*) = nullptr;
    int (*log_size)(Program, std::size_t*) = nullptr;
    int (*log)(Program, char*) = nullptr;
    int (*code_size)(Program, std::size_t*) = nullptr;
    int (*code)(Program, char*) = nullptr;
    char const* (*words)(int) = nullptr;
    bool complete = false;

    template <std::size_t count>
    CompilerFunctions(char const* const (&libraries)[count], std::string const& prefix, std::string const& kind)
        : library(libraries) {
        auto const find = [&](std::string const& name, auto& function) {
            return library.find((prefix + name).c_str(), function);
        };
        complete = library && find("Version", version) && find("CreateProgram", create) &&
                   find("CompileProgram", compile) && find("DestroyProgram", destroy) &&
                   find("GetProgramLogSize", log_size) && find("GetProgramLog", log) &&
                   find("Get" + kind + "Size", code_size) && find("Get" + kind, code) && find("GetErrorString", words);
    }
    /// 100 major + minor; 0 if the library does not say.
    int number() const {
        int major = 0, minor = 0;
        return version(&major, &minor) == 0 ? 100 * major + minor : 0;
    }
};

namespace {

CompilerFunctions const& nvrtc() {
    static auto const* const own =
        new CompilerFunctions({"libnvrtc.so.13", "libnvrtc.so", "/usr/local/cuda/lib64/libnvrtc.so"}, "nvrtc", "CUBIN");
    return *own;
}
/// Debian 12 has hipRTC in libamdhip64, ROCm has a library for it.
CompilerFunctions const& hiprtc() {
    static auto const* const own = new CompilerFunctions(
        {"libhiprtc.so.7", "libhiprtc.so.6", "libhiprtc.so.5", "libamdhip64.so.5", "/opt/rocm/lib/libhiprtc.so"},
        "hiprtc", "Code");
    return *own;
}

std::string version_text(int version) { return std::to_string(version / 100) + "." + std::to_string(version % 100); }

/// Sets `failure` and returns true if FUSEKIT_JIT=0 is set.
bool is_disabled(Failure& failure) {
    char const* const wish = secure_getenv("FUSEKIT_JIT");
    if (!wish || std::strcmp(wish, "0") != 0) return false;
    failure = {"leave to compile", "FUSEKIT_JIT=0 in the environment"};
    return true;
}

struct OwnedProgram {
    CompilerFunctions const& of;
    CompilerFunctions::Program program = nullptr;

    explicit OwnedProgram(CompilerFunctions const& functions) : of(functions) {}
    OwnedProgram(OwnedProgram const&) = delete;
    OwnedProgram& operator=(OwnedProgram const&) = delete;
    ~OwnedProgram() {
        if (program) of.destroy(&program);
    }

    /// Compiles a unit. Returns the compiler's status.
    int compile(std::string const& unit, std::vector<std::string> const& options) {
        Embedded const& headers = Embedded::all();
        int const status = of.create(&program, unit.c_str(), "a plan", static_cast<int>(headers.names.size()),
                                     headers.contents.data(), headers.names.data());
        if (status != 0) return status;
        std::vector<char const*> all;
        for (std::string const& option : options) all.push_back(option.c_str());
        return of.compile(program, static_cast<int>(all.size()), all.data());
    }
    std::string log() const {
        std::string text;
        std::size_t size = 0;
        if (program && of.log_size(program, &size) == 0 && size > 1) {
            text.resize(size);
            of.log(program, text.data());
            text.resize(std::strlen(text.c_str()));
        }
        return text;
    }
};

}  // namespace

Compiler::Compiler(CompilerFunctions const& the_functions, std::string the_name, std::vector<std::string> the_options)
    : functions(&the_functions), name(std::move(the_name)), options(std::move(the_options)) {}

Compiler const* Compiler::find(Failure& failure) {
    if (is_disabled(failure)) return nullptr;
    if (!nvrtc().complete) {
        failure = {"NVIDIA's run-time compiler, libnvrtc.so.13",
                   nvrtc().library ? "a libnvrtc without its functions" : "none"};
        return nullptr;
    }
    static int const version = nvrtc().number();
    if (version < oldest_version) {
        failure = {"libnvrtc of version " + version_text(oldest_version) + " or later", version_text(version)};
        return nullptr;
    }
    // -default-device: functions without an execution space, as lambdas and defaulted members, are for the device.
    // --no-cache: libnvrtc has a disk cache of its own, with the driver's.
    static Compiler const own(nvrtc(), "nvrtc " + version_text(version),
                              {"-std=c++20", "-arch=sm_90a", "-default-device", "--builtin-move-forward=false",
                               "-diag-suppress=161,1097,2648,2651", "-D__CUDA_ARCH_LIST__=900", "--no-cache"});
    return &own;
}

Compiler const* Compiler::find_amd(std::string const& architecture, Failure& failure) {
    if (is_disabled(failure)) return nullptr;
    if (!hiprtc().complete) {
        failure = {"AMD's run-time compiler, libhiprtc.so",
                   hiprtc().library ? "a library without its functions" : "none"};
        return nullptr;
    }
    if (architecture.compare(0, 3, "gfx") != 0 ||
        architecture.find_first_not_of("0123456789abcdef", 3) != std::string::npos || architecture.size() < 6) {
        failure = {"an architecture of AMD, such as gfx90a", architecture};
        return nullptr;
    }
    static std::mutex mutex;
    static auto* const all = new std::map<std::string, Compiler>;
    std::lock_guard const lock(mutex);
    Compiler const own(hiprtc(), "hiprtc " + version_text(hiprtc().number()),
                       {"-std=c++20", "-O3", "--gpu-architecture=" + architecture, "-D__HIP_PLATFORM_AMD__=1"});
    return &all->emplace(architecture, own).first->second;
}

std::string Compiler::identity() const {
    std::string text = "fusekit " + std::to_string(FUSEKIT_VERSION_MAJOR) + "." +
                       std::to_string(FUSEKIT_VERSION_MINOR) + ", headers " + std::to_string(headers_hash) + ", " +
                       name;
    for (std::string const& option : options) text += " " + option;
    return text + "\n";
}

bool Compiler::compile(std::string const& unit, Code& code, Failure& failure) const {
    OwnedProgram own(*functions);
    int const status = own.compile(unit, options);
    if (status != 0) {
        std::string const log = own.log();
        failure = {"a unit that compiles", log.empty() ? functions->words(status) : first_error(log)};
        return false;
    }
    std::size_t size = 0;
    if (functions->code_size(own.program, &size) == 0 && size > 0) {
        code.cubin.resize(size);
        if (functions->code(own.program, code.cubin.data()) == 0) code.name = kernel_name(code.cubin);
    }
    if (!code.name.empty()) return true;
    failure = {"machine code with one kernel", "none from " + name};
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
