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

/// Block with one fiber per thread; one OS thread runs all fibers, wave by wave.
class FiberBlock : public Block {
public:
    Cluster* cluster = nullptr;  ///< cluster that contains the block, or null
    unsigned cluster_rank = 0;

    FiberBlock();
    ~FiberBlock();

    /// Runs `body` in every thread. Aborts if threads wait at different barriers or lanes of a wave at different
    /// shuffles, if some threads have finished while others wait at a barrier, or if all threads wait for events that
    /// none of them causes.
    void run(std::function<void()> const& body);

    /// Waits until happened() returns true: polls it while other threads run. Called by a thread; a deadlock report
    /// names `what`.
    template <class Happened>
    void wait_until(Happened const& happened, char const* what, SourceLocation const& location) {
        if (happened()) return;
        // On the thread's stack meanwhile: nothing is allocated.
        active().happened = [](void const* closure) { return (*static_cast<Happened const*>(closure))(); };
        active().closure = &happened, active().awaited = what;
        wait(State::waiting, location);
    }

    /// Index of the running thread in the block.
    unsigned thread_number() const { return static_cast<unsigned>(&active() - threads.data()); }
    /// Fills dynamic shared memory with NaN.
    void poison_shared();
    /// The block's outstanding asynchronous operations.
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
        SourceLocation location;
        bool (*happened)(void const* closure) = nullptr;
        void const* closure = nullptr;
        char const* awaited = nullptr;
    };
    struct Wave {
        Thread *first, *last;
        Exchange exchange[2];  // double-buffered: a lane may write its next value before others have read this one
    };

    std::vector<Thread> threads;
    std::vector<std::unique_ptr<Fiber>> idle;  // fibers of earlier, larger blocks
    std::vector<Wave> waves;
    std::function<void()> const* body = nullptr;
    std::vector<SharedLine> lines;
    std::unique_ptr<Asynchrony> begun;

    Thread& active() const { return static_cast<Thread&>(*current); }  // the running thread
    void arrange();
    bool run_until_waiting(Wave& wave);
    bool pass_barrier();
    /// True if a thread waits for an event, which another block of the cluster may cause.
    bool waits_for_event() const;
    void wait(State state, SourceLocation const& location);
    /// With AddressSanitizer, makes accesses beyond the first `bytes` of dynamic shared memory errors.
    void bound_shared(std::size_t bytes);
    [[noreturn]] void diverged(char const* what, Thread const* first, Thread const* last) const;
    static void work(void* self);
};

/// Returns the block that this OS thread runs, with the members that kernels do not use.
inline FiberBlock& running_block() { return static_cast<FiberBlock&>(*running); }

}  // namespace hip_on_cpu
