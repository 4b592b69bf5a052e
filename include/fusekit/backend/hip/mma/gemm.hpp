// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <type_traits>

#include "fusekit/backend/hip/atom/wgmma.hpp"

/// The issue loop of wgmma, with its fences and waits. `acc` is one accumulator tile (64, N), an `Atom::Accumulators`,
/// or an array of them. `a(k, i)` and `b(k, i)` return the operands of k-block k (`Atom::k` indices of GemmK) for
/// accumulator tile i: SMEM matrix descriptors or, for `a`, fragments in registers.
namespace fusekit::hip::mma {

/// Functor that returns the SMEM matrix descriptor of an operand: `descriptor` + k * `k_step` + i * `tile_step` for
/// k-block k and accumulator tile i. Both steps are in units of a descriptor's address field, 16 bytes.
template <std::uint64_t k_step, std::uint64_t tile_step = 0>
struct SmemOperand {
    std::uint64_t descriptor;

    /// Changes only the lower 32 bits, which have the address, so that uniform registers hold the upper ones.
    __device__ std::uint64_t operator()(unsigned k, unsigned i) const {
        return descriptor >> 32 << 32 | static_cast<std::uint32_t>(descriptor + i * tile_step + k * k_step);
    }
};

/// OperandA: SmemOperand with one SMEM tile per accumulator tile, `tile_step` apart. OperandB: by default one SMEM tile
/// for all accumulator tiles.
template <class Atom, std::uint64_t tile_step = 0>
using OperandA = SmemOperand<Atom::a_k_step, tile_step>;
template <class Atom, std::uint64_t tile_step = 0>
using OperandB = SmemOperand<Atom::b_k_step, tile_step>;

/// A thread's fragment of operand a in registers, in a struct so that it can be returned by value; Wgmma::multiply()
/// takes the array.
struct RegisterOperand {
    std::uint32_t words[4];
};

namespace detail {

template <class T>
constexpr unsigned accumulators = std::rank_v<T> == 1 ? 1 : static_cast<unsigned>(std::extent_v<T>);

template <class Acc, int size>
__device__ Acc (&accumulator(Acc (&acc)[size], unsigned))[size] {
    return acc;
}
template <class Acc, int count, int size>
__device__ Acc (&accumulator(Acc (&acc)[count][size], unsigned i))[size] {
    return acc[i];
}
__device__ inline std::uint64_t words_of(std::uint64_t descriptor) { return descriptor; }
__device__ inline auto words_of(std::uint32_t const (&words)[4]) -> std::uint32_t const (&)[4] { return words; }
__device__ inline auto words_of(RegisterOperand const& operand) -> std::uint32_t const (&)[4] { return operand.words; }

}  // namespace detail

/// Calls ptx::fence_operands() on all accumulator tiles in `acc`, so that the compiler does not move their registers
/// across asynchronous MMAs.
template <class Acc>
__device__ void fence_operands(Acc& acc) {
#pragma unroll
    for (unsigned i = 0; i < detail::accumulators<Acc>; ++i) ptx::fence_operands(detail::accumulator(acc, i));
}

/// Issues acc[i] (64, N) += a(k, i) (64, K) b(k, i) (K, N) for k = 0 to `k_blocks` - 1 and all accumulator tiles i,
/// without committing a wgmma group. Unless `accumulate`, k-block 0 overwrites acc.
template <class Atom, int k_blocks, class Acc, class A, class B>
__device__ void issue(Acc& acc, A const& a, B const& b, bool accumulate) {
    fence_operands(acc);
    ptx::wgmma_fence();
#pragma unroll
    for (unsigned k = 0; k < k_blocks; ++k)
#pragma unroll
        for (unsigned i = 0; i < detail::accumulators<Acc>; ++i)
            Atom::multiply(detail::accumulator(acc, i), detail::words_of(a(k, i)), detail::words_of(b(k, i)),
                           accumulate || k > 0);
}
/// Issues the MMAs of `k_blocks` k-blocks, by default a whole k-tile, and commits them as one wgmma group. Unless
/// `accumulate`, overwrites acc.
template <class Atom, int k_blocks = Atom::tile_k / Atom::k, class Acc, class A, class B>
__device__ void gemm(Acc& acc, A const& a, B const& b, bool accumulate) {
    issue<Atom, k_blocks>(acc, a, b, accumulate);
    ptx::wgmma_commit();
}

/// Issues the MMAs of a k-tile's first `count` k-blocks and commits them as one wgmma group; the other k-blocks are
/// zero in an operand. `count` is the same in all threads; if it is 0, acc is not written.
template <class Atom, class Acc, class A, class B>
__device__ void gemm_first(Acc& acc, A const& a, B const& b, bool accumulate, unsigned count) {
    constexpr int all = Atom::tile_k / Atom::k;
    static_assert(all == 2 || all == 4);
    // Each branch commits its own group: after a merge of the branches ptxas would add an empty MMA that ends the
    // group.
    auto const multiply_first = [&]<int k_blocks>(std::integral_constant<int, k_blocks>) {
        issue<Atom, k_blocks>(acc, a, b, accumulate);
        ptx::wgmma_commit();
    };
    if (count >= all) [[likely]] {
        multiply_first(std::integral_constant<int, all>{});
    } else if (count == 1) {
        multiply_first(std::integral_constant<int, 1>{});
    } else if constexpr (all == 4) {
        if (count == 2) multiply_first(std::integral_constant<int, 2>{});
        else if (count == 3) multiply_first(std::integral_constant<int, 3>{});
        else ptx::wgmma_commit();
    } else {
        ptx::wgmma_commit();
    }
}

/// Waits until all committed wgmma groups, which accumulate in `acc`, have completed.
template <class Acc>
__device__ void wait(Acc& acc) {
    ptx::wgmma_wait<0>();
    fence_operands(acc);
}

/// Promotes the sums of a k-tile: acc += step in FP32, rounded to nearest. Precondition: wait(step) has returned.
template <class Acc, int count, class Step>
__device__ void promote(Acc (&acc)[count], Step const& step) {
#pragma unroll
    for (int i = 0; i < count; ++i)
        if constexpr (std::is_array_v<Acc>) promote(acc[i], step[i]);
        else acc[i] += step[i];
}
/// Sets all accumulators in `acc` to 0.
template <class Acc, int count>
__device__ void clear(Acc (&acc)[count]) {
#pragma unroll
    for (int i = 0; i < count; ++i)
        if constexpr (std::is_array_v<Acc>) clear(acc[i]);
        else acc[i] = 0;
}

}  // namespace fusekit::hip::mma
