// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include "hip_on_cpu/dim3.hpp"

namespace hip_on_cpu {

/// File and line of a call. Replaces std::source_location, which clang supports from version 16 on.
struct SourceLocation {
    char const* file = nullptr;
    unsigned line = 0;

    static constexpr SourceLocation current(char const* file = __builtin_FILE(), unsigned line = __builtin_LINE()) {
        return {file, line};
    }
};

inline constexpr unsigned max_threads = 1024, widest_wave = 64;

/// Values that the lanes of a wave pass to a shuffle or a vote.
struct Exchange {
    std::uint64_t value[widest_wave];
    std::uint64_t present;  ///< mask with a bit for each lane that has not finished

    bool has(unsigned lane) const { return present >> lane & 1; }
};

/// One block of a grid, as its threads access it.
class Block {
public:
    dim3 index, size, grid;
    std::size_t shared_bytes = 0;  ///< bytes of dynamic shared memory

    Block(Block const&) = delete;
    Block& operator=(Block const&) = delete;

    dim3 thread() const { return current->index; }
    unsigned lane() const { return current->lane; }

    /// Waits until every thread of the block has called it from the same source line. Called by a thread.
    void barrier(SourceLocation const& location);
    /// Waits until all unfinished lanes of the running thread's wave have called it; returns the `value` of each.
    Exchange const& exchange(std::uint64_t value, SourceLocation const& location);

    /// Dynamic shared memory, aligned to 1024 bytes.
    std::byte* shared_memory() const { return shared; }

protected:
    struct Position {
        dim3 index;
        unsigned lane = 0;
    };
    Position* current = nullptr;  // the running thread
    std::byte* shared = nullptr;

    Block() = default;
    ~Block() = default;
};

/// The block that this OS thread runs.
extern constinit thread_local Block* running;

/// Architecture of AMD devices: the value of HIP_ON_CPU_ARCH, such as "gfx90a"; "" if the devices are not AMD's. If
/// HIP_ON_CPU_ARCH is not set, "gfx90a" with 64-lane waves, and "" with 32-lane waves.
char const* architecture();
/// Compute capability of the devices, times ten: 80 if HIP_ON_CPU_ARCH is "sm_80"; 90 if it is not set; 10 for AMD
/// devices.
int compute_capability();
/// Number of lanes per wave: the value of HIP_ON_CPU_WAVE, 32 or 64; if it is not set, that of HIP_ON_CPU_ARCH;
/// otherwise 32.
unsigned wave_width();

}  // namespace hip_on_cpu
