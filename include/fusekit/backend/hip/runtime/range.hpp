// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/text.hpp"

#if FUSEKIT_NVTX + 0 == 1
#include <nvtx3/nvToolsExt.h>
#elif FUSEKIT_ROCTX + 0 == 1
#include <dlfcn.h>
#endif

/// Ranges of profilers: a launch is inside a range of the plan's name if the program is compiled with FUSEKIT_NVTX=1
/// (Nsight; the CUDA toolkit's header, nothing to link) or FUSEKIT_ROCTX=1 (rocprof; libroctx64, loaded if present).
/// Without these macros a Range is empty. See docs/profiling.md.
namespace fusekit::hip {

#if FUSEKIT_NVTX + 0 == 1

class Range {
public:
    FUSEKIT_H explicit Range(Text (*plan)()) { nvtxRangePushA(plan().c_str()); }
    Range(Range const&) = delete;
    Range& operator=(Range const&) = delete;
    FUSEKIT_H ~Range() { nvtxRangePop(); }
};

#elif FUSEKIT_ROCTX + 0 == 1

/// Functions of libroctx64; null without the library, which programs need not link.
struct Roctx {
    int (*push)(char const*) = nullptr;
    int (*pop)() = nullptr;

    /// Loads the library at the first call.
    FUSEKIT_H static Roctx const& instance() {
        static Roctx const loaded = load();
        return loaded;
    }

private:
    FUSEKIT_H static Roctx load() {
        Roctx found{};
        void* library = nullptr;
        for (char const* name : {"libroctx64.so.4", "libroctx64.so", "librocprofiler-sdk-roctx.so"})
            if (!library) library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
        if (!library) return found;
        found.push = reinterpret_cast<int (*)(char const*)>(dlsym(library, "roctxRangePushA"));
        found.pop = reinterpret_cast<int (*)()>(dlsym(library, "roctxRangePop"));
        return found.push && found.pop ? found : Roctx{};
    }
};

class Range {
public:
    FUSEKIT_H explicit Range(Text (*plan)()) {
        if (Roctx::instance().push) Roctx::instance().push(plan().c_str());
    }
    Range(Range const&) = delete;
    Range& operator=(Range const&) = delete;
    FUSEKIT_H ~Range() {
        if (Roctx::instance().pop) Roctx::instance().pop();
    }
};

#else

struct Range {
    FUSEKIT_H explicit Range(Text (*)()) {}
};

#endif

}  // namespace fusekit::hip
