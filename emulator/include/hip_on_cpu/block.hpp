// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "hip_on_cpu/dim3.hpp"
#include "hip_on_cpu/fiber.hpp"

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
    std::array<std::uint64_t, widest_wave> value;
    std::bitset<widest_wave> present;  // the lanes that have not finished
};

class Asynchrony;
class Cluster;

/// One block of a grid: a fiber for each of its threads, run by one thread of the system, wave by wave.
class Block {
public:
    dim3 index, size, grid;
    std::size_t shared_bytes = 0;  ///< of the shared memory that the launch asked for
    Cluster* cluster = nullptr;  ///< that the block is one of
    unsigned cluster_rank = 0;

    Block();
    ~Block();

    /// Runs body in every thread. Ends the program where threads of the block wait at different barriers, or lanes
    /// of a wave at different shuffles, or where some have finished and others wait at a barrier, or where all wait for
    /// what none of them does.
    void run(std::function<void()> const& body);

    dim3 thread() const { return current->index; }
    unsigned lane() const { return current->lane; }

    /// Called within a thread: returns when every thread of the block has called it from the same place.
    void barrier(Place const& place);
    /// The same for the lanes of a wave that have not finished; returns what each of them brought.
    Exchange const& exchange(std::uint64_t value, Place const& place);
    /// Returns when happened() is true. It is asked again and again while other threads run; `what` is named where they
    /// all wait.
    void wait_until(std::function<bool()> happened, char const* what, Place const& place);

    /// The number of the thread in the block.
    unsigned thread_number() const { return static_cast<unsigned>(current - threads.data()); }
    /// The shared memory that the launch asked for, at a multiple of 1024 bytes.
    std::byte* shared_memory() { return reinterpret_cast<std::byte*>(shared.data()); }
    /// Makes it NaN.
    void poison_shared();
    /// What the block's threads have begun and not waited for.
    Asynchrony& asynchrony() { return *begun; }

private:
    enum class State : std::uint8_t { ready, at_barrier, at_exchange, waiting, finished };
    struct alignas(1024) SharedLine {
        std::byte bytes[1024];
    };
    struct Thread {
        std::unique_ptr<Fiber> fiber;
        dim3 index;
        unsigned lane = 0, wave = 0;
        unsigned exchanges = 0;
        State state = State::finished;
        Place place;
        std::function<bool()> happened;
        char const* awaited = nullptr;
    };
    struct Wave {
        Thread *first, *last;
        Exchange exchange[2];  // in turn: a lane brings its next value before others have read this one's
    };

    std::vector<Thread> threads;
    std::vector<std::unique_ptr<Fiber>> idle;  // of blocks that had more threads
    std::vector<Wave> waves;
    Thread* current = nullptr;
    std::function<void()> const* body = nullptr;
    std::vector<SharedLine> shared;
    std::unique_ptr<Asynchrony> begun;

    void arrange();
    bool run_until_waiting(Wave& wave);
    bool pass_barrier();
    void wait(State state, Place const& place);
    [[noreturn]] void diverged(char const* what, Thread const* first, Thread const* last) const;
    static void work(void* self);
};

/// The block that this thread of the system runs.
extern constinit thread_local Block* running;

/// What the environment's HIP_ON_CPU_ARCH says that the device is, such as "gfx90a"; with waves of 64 lanes "gfx90a"
/// where it says nothing, and with waves of 32 none of AMD's.
std::string const& architecture();
/// Compute capability, times ten: what HIP_ON_CPU_ARCH says, as "sm_80", or 90. A device of AMD's says 10.
int compute_capability();
/// Lanes of a wave: what the environment's HIP_ON_CPU_WAVE says, which is 32 or 64, or those of HIP_ON_CPU_ARCH, or 32.
unsigned wave_width();

}  // namespace hip_on_cpu
