// SPDX-License-Identifier: MIT
#pragma once

#include <mutex>
#include <string>

#include "disk_cache.hpp"

namespace fusekit::jit {

/// Use of libnvrtc's precompiled header, device/precompiled.hpp, in one compilation.
///
/// libnvrtc reads the file at the addresses at which it wrote it, so that it is of use in one process only. The second
/// compilation of a process writes it, through a file in the disk cache's folder that is then removed; later ones use
/// it. One compilation uses it at a time; others do without, as do all without a disk cache.
class Precompiled {
public:
    /// For a compilation of this unit.
    Precompiled(std::string const& unit, DiskCache const& disk);
    /// Keeps the file, if this compilation wrote it.
    ~Precompiled();
    Precompiled(Precompiled const&) = delete;
    Precompiled& operator=(Precompiled const&) = delete;

    explicit operator bool() const { return !option.empty(); }
    /// Stops its use in this process, after a compilation that it made fail, or that did not use it.
    void give_up();

    /// libnvrtc's option; "" for a compilation without the header.
    std::string option;
    /// Part of libnvrtc's log if the header was written or used.
    static constexpr char const* message = "ing precompiled header file \"/proc/self/fd/";

    /// Text before a unit that is compiled with it.
    static constexpr char const* prefix = "#include \"precompiled.hpp\"\n#pragma nv_hdrstop\n";

private:
    std::unique_lock<std::mutex> lock;
    int directory = -1;  ///< folder in which this compilation writes the file
    std::string name;    ///< of the file in it
};

}  // namespace fusekit::jit
