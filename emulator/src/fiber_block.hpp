// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "fiber.hpp"
#include "hip_on_cpu/block.hpp"

namespace hip_on_cpu {

class Asynchrony;
class Cluster;

/// A block: a fiber for each of its threads, run by one thread of the system, wave by wave.
class FiberBlock : public Block {
public:
    Cluster* cluster = nullptr;  ///< that the block is one of
    unsigned cluster_rank = 0;

    FiberBlock();
    ~FiberBlock();

    /// Runs body in every thread. Ends the program where threads of the block wait at different barriers, or lanes
    /// of a wave at different shuffles, or where some have finished and others wait at a barrier, or where all wait for
    /// what none of them does.
    void run(std::function<void()> const& body);

    /// Within a thread: returns when happened() is true. It is asked again and again while other threads run; `what` is
    /// named where they all wait.
    void wait_until(std::function<bool()> happened, char const* what, Place const& place);

    /// The number of the thread in the block.
    unsigned thread_number() const { return static_cast<unsigned>(&active() - threads.data()); }
    /// Makes the shared memory that the launch asked for NaN.
    void poison_shared();
    /// What the block's threads have begun and not waited for.
    Asynchrony& asynchrony() { return *begun; }

private:
    friend class Block;

    enum class State : std::uint8_t { ready, at_barrier, at_exchange, waiting, finished };
    struct alignas(1024) SharedLine {
        std::byte bytes[1024];
    };
    struct Thread : Position {
        std::unique_ptr<Fiber> fiber;
        unsigned wave = 0;
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
    std::function<void()> const* body = nullptr;
    std::vector<SharedLine> lines;
    std::unique_ptr<Asynchrony> begun;

    Thread& active() const { return static_cast<Thread&>(*current); }  // that runs
    void arrange();
    bool run_until_waiting(Wave& wave);
    bool pass_barrier();
    void wait(State state, Place const& place);
    [[noreturn]] void diverged(char const* what, Thread const* first, Thread const* last) const;
    static void work(void* self);
};

/// The block that this thread of the system runs, with what is not for kernels.
inline FiberBlock& running_block() { return static_cast<FiberBlock&>(*running); }

}  // namespace hip_on_cpu
