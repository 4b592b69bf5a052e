// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/plan/epilogue.hpp"

namespace fusekit::hip {

/// FP32 running sums of a thread's MMA accumulators (an atom's Fragment). add() promotes the accumulators to the
/// running sums after every range of GemmK, so that the rounding error grows with the length of a range instead of
/// GemmK. The running sums are in registers (`in_registers`) or in SMEM.
template <class Fragment, int threads, bool in_registers>
class FragmentTotals {
    using Accumulators = decltype(Fragment::acc);
    using Acc = std::remove_all_extents_t<Accumulators>;
    static constexpr int lines = std::extent_v<Accumulators, 0>, columns = std::extent_v<Accumulators, 1>;
    struct OfThreads {
        Acc totals[lines * columns][threads];
    };

public:
    using Shared = std::conditional_t<in_registers, detail::Nothing, OfThreads>;

    __device__ FragmentTotals(Shared& the_shared, unsigned the_thread) : shared(&the_shared), thread(the_thread) {
        each(*this, [](Acc& total, int, int) { total = Acc{}; });
    }
    /// Adds the fragment's accumulators to the running sums, and zeroes the accumulators.
    __device__ void add(Fragment& fragment) {
        each(*this, [&](Acc& total, int i, int j) {
            Acc& sum = fragment.acc[i][j];
            if constexpr (requires { total += sum; }) {
                total += sum;
            } else {
#pragma unroll
                for (int e = 0; e < static_cast<int>(sizeof(Acc) / sizeof(float)); ++e) total[e] += sum[e];
            }
            sum = Acc{};
        });
    }
    /// Overwrites the running sums with the fragment's accumulators. The first range of GemmK calls it instead of
    /// add().
    __device__ void set(Fragment const& fragment) {
        each(*this, [&](Acc& total, int i, int j) { total = fragment.acc[i][j]; });
    }
    __device__ Fragment get() const {
        if constexpr (in_registers) return own;
        Fragment result;
        each(*this, [&](Acc const& total, int i, int j) { result.acc[i][j] = total; });
        return result;
    }
    /// If the running sums are in registers, calls atom.wait() on them, so that the compiler keeps them in the
    /// registers that asynchronous MMAs write.
    template <class Atom>
    __device__ void wait(Atom const& atom) {
        if constexpr (in_registers) atom.wait(own);
    }

private:
    Shared* shared;
    unsigned thread;
    std::conditional_t<in_registers, Fragment, detail::Nothing> own;

    template <class Totals, class F>
    __device__ static void each(Totals& of, F const& f) {
#pragma unroll
        for (int i = 0; i < lines; ++i)
#pragma unroll
            for (int j = 0; j < columns; ++j)
                if constexpr (in_registers) f(of.own.acc[i][j], i, j);
                else f(of.shared->totals[i * columns + j][of.thread], i, j);
    }
};

}  // namespace fusekit::hip
