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

/// When begun work is done: at once, or when it is waited for.
struct Moments {
    bool loads_late, rest_late;  ///< the rest are products and stores

    /// What the environment's HIP_ON_CPU_ASYNC asks for.
    static Moments const& chosen();
};

/// Ends the program over what the running thread does wrong.
[[noreturn]] void fault(char const* what, Place const& place);

/// What a block's threads have begun and not waited for.
class Asynchrony {
public:
    void reset(unsigned threads);
    /// Called when all threads have finished: nobody may still be about to read the block's shared memory.
    void check_finished() const;

    /// A load that ends a phase of the barrier; finish_loads() does those that were kept.
    void load(std::uint32_t barrier, std::function<void()> copy);
    void finish_loads(std::uint32_t barrier);

    /// The running thread's copy to shared memory, of zeros where `is_read` is false; the group that its copies form;
    /// and the wait for all of its groups but the last `pending`.
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

    /// Arrivals at a named barrier; true where they were the last.
    struct NamedBarrier {
        unsigned arrived = 0, threads = 0;
        std::uint64_t generation = 0;
        bool said = false, any_said = false;  ///< by those who have arrived; by those of the phase before
    };
    NamedBarrier& named_barrier(unsigned number) { return named[number]; }

    /// One product of a warpgroup: done when its 128 threads have all begun it. Factors of A are in the threads'
    /// registers, four of each, where these are given.
    void multiply(void* sums, int n, std::uint64_t a, std::uint32_t const* registers, std::uint64_t b, bool adds,
                  Factor factor, sm90a::Majors majors, Place const& place);
    void commit_products();
    void wait_for_products(unsigned pending, Place const& place);

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
        void* sums[group] = {};
        std::vector<std::array<std::uint32_t, 4>> registers = {};  ///< of each thread
    };
    /// A thread's sums, as bits, while products of them are under way: its own variables are NaN.
    struct Kept {
        std::vector<std::uint32_t> sums;
        unsigned products = 0;
    };
    struct Thread {
        std::size_t begun = 0;  ///< products, and those before the end of each group that it has committed
        std::vector<std::size_t> groups;
        std::map<void*, Kept> kept;
        std::vector<std::function<void()>> stores;
        std::vector<Copy> copies;  ///< begun, and their numbers at the end of each group
        std::vector<std::size_t> copy_groups;
    };

    std::vector<Thread> threads;
    std::vector<std::vector<Product>> products;  // of each warpgroup, in order
    std::vector<std::size_t> done;  // of each warpgroup
    std::multimap<std::uint32_t, std::function<void()>> loads;
    std::map<unsigned, NamedBarrier> named;

    void multiply_now(unsigned warpgroup, Product const& product);
};

}  // namespace hip_on_cpu
