// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include "hip_on_cpu/dim3.hpp"

namespace hip_on_cpu {

/// Source location. Replaces std::source_location, which clang supports from version 16 on.
struct SourceLocation {
    char const* file = nullptr;
    unsigned line = 0;

    static constexpr SourceLocation current(char const* file = __builtin_FILE(), unsigned line = __builtin_LINE()) {
        return {file, line};
    }
};

inline constexpr unsigned max_threads = 1024, widest_wave = 64;

/// Values of all lanes of a wave in a shuffle or a vote.
struct Exchange {
    std::uint64_t value[widest_wave];
    std::uint64_t present;  ///< bit mask of the lanes that have not finished

    bool has(unsigned lane) const { return present >> lane & 1; }
};

/// One block of a grid, as seen by its threads.
class Block {
public:
    dim3 index, size, grid;
    std::size_t shared_bytes = 0;  ///< of dynamic shared memory

    Block(Block const&) = delete;
    Block& operator=(Block const&) = delete;

    dim3 thread() const { return current->index; }
    unsigned lane() const { return current->lane; }

    /// Called by a thread: returns when every thread of the block has called it from the same place.
    void barrier(SourceLocation const& location);
    /// Barrier among the unfinished lanes of a wave; returns each lane's value.
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

/// Block that this OS thread runs.
extern constinit thread_local Block* running;

/// Device architecture from HIP_ON_CPU_ARCH, such as "gfx90a"; if unset, "gfx90a" with 64-lane waves, and "" (not AMD)
/// with 32-lane waves.
char const* architecture();
/// Compute capability times ten: from HIP_ON_CPU_ARCH, as "sm_80", or 90. AMD devices report 10.
int compute_capability();
/// Wave size: HIP_ON_CPU_WAVE, 32 or 64; else that of HIP_ON_CPU_ARCH; else 32.
unsigned wave_width();

}  // namespace hip_on_cpu
