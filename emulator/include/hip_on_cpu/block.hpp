// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include "hip_on_cpu/dim3.hpp"

namespace hip_on_cpu {

/// A line of source. As std::source_location, which clang has from version 16 on.
struct Place {
    char const* file = nullptr;
    unsigned line = 0;

    static constexpr Place current(char const* file = __builtin_FILE(), unsigned line = __builtin_LINE()) {
        return {file, line};
    }
};

inline constexpr unsigned most_threads = 1024, widest_wave = 64;

/// What each lane of a wave brought to a shuffle or a vote.
struct Exchange {
    std::uint64_t value[widest_wave];
    std::uint64_t present;  ///< one bit for each lane that has not finished

    bool has(unsigned lane) const { return present >> lane & 1; }
};

/// One block of a grid, as its threads know it.
class Block {
public:
    dim3 index, size, grid;
    std::size_t shared_bytes = 0;  ///< of the shared memory that the launch asked for

    Block(Block const&) = delete;
    Block& operator=(Block const&) = delete;

    dim3 thread() const { return current->index; }
    unsigned lane() const { return current->lane; }

    /// Called within a thread: returns when every thread of the block has called it from the same place.
    void barrier(Place const& place);
    /// The same for the lanes of a wave that have not finished; returns what each of them brought.
    Exchange const& exchange(std::uint64_t value, Place const& place);

    /// The shared memory that the launch asked for, at a multiple of 1024 bytes.
    std::byte* shared_memory() const { return shared; }

protected:
    struct Position {
        dim3 index;
        unsigned lane = 0;
    };
    Position* current = nullptr;  // of the thread that runs
    std::byte* shared = nullptr;

    Block() = default;
    ~Block() = default;
};

/// The block that this thread of the system runs.
extern constinit thread_local Block* running;

/// What the environment's HIP_ON_CPU_ARCH says that the device is, such as "gfx90a"; with waves of 64 lanes "gfx90a"
/// where it says nothing, and with waves of 32 none of AMD's, "".
char const* architecture();
/// Compute capability, times ten: what HIP_ON_CPU_ARCH says, as "sm_80", or 90. A device of AMD's says 10.
int compute_capability();
/// Lanes of a wave: what the environment's HIP_ON_CPU_WAVE says, which is 32 or 64, or those of HIP_ON_CPU_ARCH, or 32.
unsigned wave_width();

}  // namespace hip_on_cpu
