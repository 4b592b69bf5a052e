// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "fiber_block.hpp"
#include "hip_on_cpu/sm90a.hpp"

namespace hip_on_cpu {

/// Completion times of asynchronous operations: at their issue, late, when a thread waits for them, or either, by a
/// pseudo-random sequence. `loads`: of bulk and TMA loads. `rest`: of wgmma, of bulk and TMA stores, and of cp.async.
struct Moments {
    enum Moment : std::uint8_t { at_issue, late, random };
    Moment loads, rest;

    /// Returns the completion times that HIP_ON_CPU_ASYNC selects.
    static Moments const& chosen();
};

/// Prints `what`, the running thread and `location`, and aborts the program.
[[noreturn]] void fault(char const* what, SourceLocation const& location);

/// Outstanding asynchronous operations of a block's threads.
class Asynchrony {
public:
    /// Starts block number `block`, on which alone its random completion times depend.
    void reset(unsigned threads, std::size_t block);
    /// Aborts if operations are outstanding that may still access the block's shared memory. Called when all threads of
    /// the block have finished.
    void check_finished() const;

    /// load() issues a load, which `copy` performs and which completes on the mbarrier at shared address `barrier`.
    /// finish_loads() performs the deferred loads of this mbarrier.
    void load(std::uint32_t barrier, std::function<void()> copy);
    void finish_loads(std::uint32_t barrier);

    /// cp.async of the running thread: copy() issues one, which zero-fills if `is_read` is false; commit_copies() makes
    /// the thread's copies since the last commit a group; wait_for_groups() completes all groups except the last
    /// `pending`.
    struct Copy {
        void* to;
        void const* from;
        unsigned bytes;
        bool is_read;
    };
    void copy(Copy const& one);
    void commit_copies();
    void wait_for_groups(std::size_t pending);

    void store(std::function<void()> copy);
    void finish_stores();

    /// State of a named barrier: its arrivals in the current phase, and the number of completed phases (generation).
    struct NamedBarrier {
        unsigned arrived = 0, threads = 0;
        std::uint64_t generation = 0;
        /// OR of the predicates of this phase's arrivals (said), and of the previous phase's (any_said)
        bool said = false, any_said = false;
    };
    NamedBarrier& named_barrier(unsigned number) { return named[number]; }

    /// Issues one wgmma of a warpgroup for the running thread; it is performed once all 128 threads have issued it.
    /// `registers`: null, or the thread's four registers of operand A.
    void multiply(void* acc, int n, std::uint64_t a, std::uint32_t const* registers, std::uint64_t b, bool adds,
                  Factor factor, sm90a::Majors majors, SourceLocation const& location);
    void commit_products();
    void wait_for_products(unsigned pending, SourceLocation const& location);

private:
    static constexpr unsigned group = 128;  // threads of a warpgroup

    struct Product {
        std::uint64_t a, b;
        int n;
        bool adds;
        Factor factor;
        sm90a::Majors majors;
        bool of_registers;
        unsigned arrived = 0;
        void* acc[group] = {};
        std::vector<std::array<std::uint32_t, 4>> registers = {};  ///< registers of operand A, per thread
    };
    /// Bits of a thread's accumulators while wgmma is outstanding; the thread's variables are NaN meanwhile.
    struct Kept {
        std::vector<std::uint32_t> acc;
        unsigned products = 0;
    };
    struct Thread {
        std::size_t begun = 0;  ///< number of wgmma that the thread has issued, and this number at each commit (groups)
        std::vector<std::size_t> groups;
        std::map<void*, Kept> kept;
        std::vector<std::function<void()>> stores;
        std::vector<Copy> copies;  ///< outstanding cp.async, and their number at each commit (copy_groups)
        std::vector<std::size_t> copy_groups;
    };

    std::vector<Thread> threads;
    std::vector<std::vector<Product>> products;  // issued wgmma of each warpgroup, in order
    std::vector<std::size_t> done;  // number of performed wgmma of each warpgroup
    std::multimap<std::uint32_t, std::function<void()>> loads;
    std::map<unsigned, NamedBarrier> named;
    std::uint64_t drawn = 0;  // state of the pseudo-random sequence

    bool is_late(Moments::Moment moment);
    void multiply_now(unsigned warpgroup, Product const& product);
};

}  // namespace hip_on_cpu
