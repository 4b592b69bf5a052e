// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace fusekit::jit {

/// Machine code of one kernel: a cubin, or a code object of AMD, and the kernel's name in it.
struct Code {
    std::string name, cubin;
};

/// Reason why there is no code: expected and given, as in an Error.
struct Failure {
    std::string expected, given;
    bool is_pending = false;  ///< true if the code is being compiled
};

struct CompilerFunctions;

/// A GPU vendor's run-time compiler, whose library is loaded at the first call.
class Compiler {
public:
    /// NVIDIA's, libnvrtc, for sm_90a; null, with the reason in `failure`, if there is none, it is too old, or
    /// FUSEKIT_JIT=0 is set.
    static Compiler const* find(Failure& failure);
    /// AMD's, hipRTC, for an architecture such as "gfx90a"; null as above. Kernels with buffer loads need a hipRTC of
    /// clang 17 or later, ROCm 6.
    static Compiler const* find_amd(std::string const& architecture, Failure& failure);

    /// Text of everything besides the unit on which the machine code depends: versions, the hash of the embedded
    /// headers, options.
    std::string identity() const;

    /// Compiles a unit. Returns false, with the compiler's first error in `failure`, if it does not compile.
    bool compile(std::string const& unit, Code& code, Failure& failure) const;

private:
    CompilerFunctions const* functions;
    std::string name;  ///< with its version
    std::vector<std::string> options;

    Compiler(CompilerFunctions const& the_functions, std::string the_name, std::vector<std::string> the_options);
};

/// First error of a compiler's log, at most 12 lines.
std::string first_error(std::string const& log);

}  // namespace fusekit::jit
