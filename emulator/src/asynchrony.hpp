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

/// Completion time of asynchronous operations: at issue or at the wait.
struct Moments {
    bool loads_late, rest_late;  ///< rest: products and stores

    /// Selected by HIP_ON_CPU_ASYNC.
    static Moments const& chosen();
};

/// Aborts with an error of the running thread.
[[noreturn]] void fault(char const* what, SourceLocation const& location);

/// Outstanding asynchronous operations of a block's threads.
class Asynchrony {
public:
    void reset(unsigned threads);
    /// Called when all threads have finished: no outstanding operation may still read the block's shared memory.
    void check_finished() const;

    /// Load that completes a phase of the barrier; finish_loads() performs deferred loads.
    void load(std::uint32_t barrier, std::function<void()> copy);
    void finish_loads(std::uint32_t barrier);

    /// cp.async of the running thread, zero-filled if `is_read` is false; commit of its copies as a group; wait for all
    /// groups but the last `pending`.
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

    /// Arrivals at a named barrier.
    struct NamedBarrier {
        unsigned arrived = 0, threads = 0;
        std::uint64_t generation = 0;
        bool said = false, any_said = false;  ///< OR over the current arrivals; over the previous phase
    };
    NamedBarrier& named_barrier(unsigned number) { return named[number]; }

    /// One wgmma of a warpgroup: performed once all 128 threads have issued it. `registers`, if given: A in registers,
    /// four per thread.
    void multiply(void* acc, int n, std::uint64_t a, std::uint32_t const* registers, std::uint64_t b, bool adds,
                  Factor factor, sm90a::Majors majors, SourceLocation const& location);
    void commit_products();
    void wait_for_products(unsigned pending, SourceLocation const& location);

private:
    static constexpr unsigned group = 128;  // threads

    struct Product {
        std::uint64_t a, b;
        int n;
        bool adds;
        Factor factor;
        sm90a::Majors majors;
        bool of_registers;
        unsigned arrived = 0;
        void* acc[group] = {};
        std::vector<std::array<std::uint32_t, 4>> registers = {};  ///< per thread
    };
    /// Bits of a thread's accumulators while products are outstanding: the thread's variables are NaN meanwhile.
    struct Kept {
        std::vector<std::uint32_t> acc;
        unsigned products = 0;
    };
    struct Thread {
        std::size_t begun = 0;  ///< issued products, and their number at the end of each committed group
        std::vector<std::size_t> groups;
        std::map<void*, Kept> kept;
        std::vector<std::function<void()>> stores;
        std::vector<Copy> copies;  ///< outstanding, and their number at the end of each group
        std::vector<std::size_t> copy_groups;
    };

    std::vector<Thread> threads;
    std::vector<std::vector<Product>> products;  // per warpgroup, in order
    std::vector<std::size_t> done;  // per warpgroup
    std::multimap<std::uint32_t, std::function<void()>> loads;
    std::map<unsigned, NamedBarrier> named;

    void multiply_now(unsigned warpgroup, Product const& product);
};

}  // namespace hip_on_cpu
