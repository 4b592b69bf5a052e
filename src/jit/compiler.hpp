// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace fusekit::jit {

class DiskCache;

/// Machine code of one kernel: a cubin, and the kernel's name in it.
struct Code {
    std::string name, cubin;
};

/// Reason why there is no code: expected and given, as in an Error.
struct Failure {
    std::string expected, given;
    bool is_pending = false;  ///< true if the code is being compiled
};

/// NVIDIA's run-time compiler, libnvrtc, which is loaded at the first call.
class Compiler {
public:
    /// The compiler; null, with the reason in `failure`, if there is none, it is too old, or FUSEKIT_JIT=0 is set.
    static Compiler const* find(Failure& failure);

    /// Text of everything besides the unit on which the machine code depends: versions, the hash of the embedded
    /// headers, options.
    std::string identity() const;

    /// Compiles a unit for sm_90a. Returns false, with the compiler's first error in `failure`, if it does not compile.
    /// The folder of `disk` contains a precompiled header while it is written (precompiled.hpp).
    bool compile(std::string const& unit, DiskCache const& disk, Code& code, Failure& failure) const;

private:
    int version = 0;  ///< 100 major + minor
    Compiler() = default;
};

/// First error of a compiler's log, at most 12 lines.
std::string first_error(std::string const& log);

}  // namespace fusekit::jit
