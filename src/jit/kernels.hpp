// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backend.hpp"
#include "disk_cache.hpp"
#include "driver.hpp"
#include "unit.hpp"

namespace fusekit::jit {

/// Numbers of this process: kernels compiled, found in the disk cache, and found in memory, by other plans or before.
struct Counts {
    std::uint64_t compiled, from_disk, from_memory;
};
Counts counts();

/// Selects the disk cache of the process (DiskCache's constructor).
void use_disk_cache(std::string folder, std::uint64_t bytes);

/// Machine code of a unit: from memory, from the disk cache, or compiled. Threads that ask for the same unit at once
/// compile it once. Null, with the reason in `failure`, if it does not compile; a later call then tries again.
std::shared_ptr<Code const> code_of(std::string const& unit, Failure& failure);

/// Machine code of a unit if memory has it. Null with a `failure` if there is no compiler, and without if only the code
/// is missing.
std::shared_ptr<Code const> code_in_memory(std::string const& unit, Failure& failure);

/// Thread that compiles a kernel that memory does not have; the library's is in background.hpp.
using runtime::c::Compile;

/// The kernels of one plan, each compiled when it is first needed, and loaded once per device.
class Kernels {
public:
    /// The kernel on the current device, `device`. None, with the reason in `failure`, if it is not compiled or loaded;
    /// with Compile::never also if this plan has not loaded it yet.
    driver::Kernel find(Spec const& spec, KernelEntry const& kernel, Filter<2> const& filter, int device, Compile how,
                        Failure& failure);

private:
    struct Loaded {
        KernelEntry const* kernel;
        Filter<2> filter;
        int device;
        driver::Kernel loaded;
    };
    std::mutex mutex;  // guards `all`
    std::vector<Loaded> all;
};

}  // namespace fusekit::jit
