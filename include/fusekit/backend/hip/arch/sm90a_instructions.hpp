// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <type_traits>

/// The functions of sm90a.hpp, which includes this where they exist.
namespace fusekit::hip::ptx {

__device__ inline std::uint32_t shared_address(void const* memory) {
    return static_cast<std::uint32_t>(__cvta_generic_to_shared(memory));
}

__device__ inline void barrier_init(std::uint32_t barrier, unsigned arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}
__device__ inline void barrier_arrive(std::uint32_t barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
__device__ inline void barrier_arrive_expect_bytes(std::uint32_t barrier, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
__device__ inline void barrier_wait(std::uint32_t barrier, unsigned parity) {
    int over = 0;
    while (!over)
        asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.s32 %0, 1, 0, p;}"
                     : "=r"(over)
                     : "r"(barrier), "r"(parity)
                     : "memory");
}
__device__ inline void fence_barrier_init() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }

__device__ inline void named_barrier_sync(unsigned number, unsigned threads) {
    asm volatile("bar.sync %0, %1;" ::"r"(number), "r"(threads) : "memory");
}
__device__ inline void named_barrier_arrive(unsigned number, unsigned threads) {
    asm volatile("bar.arrive %0, %1;" ::"r"(number), "r"(threads) : "memory");
}
__device__ inline bool named_barrier_any(unsigned number, unsigned threads, bool said) {
    int any = 0;
    asm volatile("{.reg .pred p, q; setp.ne.s32 p, %3, 0; bar.red.or.pred q, %1, %2, p; selp.s32 %0, 1, 0, q;}"
                 : "=r"(any)
                 : "r"(number), "r"(threads), "r"(static_cast<int>(said))
                 : "memory");
    return any;
}

__device__ inline bool elect() {
    int elected = 0;
    asm volatile("{.reg .pred p; elect.sync _|p, 0xffffffff; selp.s32 %0, 1, 0, p;}" : "=r"(elected));
    return elected;
}
__device__ inline void sync_wave() { __syncwarp(); }
__device__ inline unsigned uniform(unsigned number) { return __shfl_sync(~0u, number, 0); }

template <int Count>
__device__ void raise_registers() {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Count));
}
template <int Count>
__device__ void lower_registers() {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Count));
}

__device__ inline void prefetch_map(TensorMap const* map) { asm volatile("prefetch.tensormap [%0];" ::"l"(map)); }
template <int Rank>
__device__ void load_tiled(std::uint32_t to, TensorMap const* map, std::uint32_t barrier,
                           std::int32_t const (&at)[Rank]) {
    static_assert(Rank == 2 || Rank == 4 || Rank == 5);
    if constexpr (Rank == 2)
        asm volatile(
            "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::
                "r"(to),
            "l"(map), "r"(barrier), "r"(at[0]), "r"(at[1])
            : "memory");
    else if constexpr (Rank == 4)
        asm volatile(
            "cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5, %6}], "
            "[%2];" ::"r"(to),
            "l"(map), "r"(barrier), "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3])
            : "memory");
    else
        asm volatile(
            "cp.async.bulk.tensor.5d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5, %6, "
            "%7}], [%2];" ::"r"(to),
            "l"(map), "r"(barrier), "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]), "r"(at[4])
            : "memory");
}
__device__ inline void load_im2col(std::uint32_t to, TensorMap const* map, std::uint32_t barrier,
                                   std::int32_t const (&at)[4], unsigned column, unsigned row) {
    asm volatile(
        "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5, "
        "%6}], [%2], {%7, %8};" ::"r"(to),
        "l"(map), "r"(barrier), "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]), "h"(static_cast<std::uint16_t>(column)),
        "h"(static_cast<std::uint16_t>(row))
        : "memory");
}
__device__ inline void load_linear(std::uint32_t to, void const* from, unsigned bytes, std::uint32_t barrier) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
                 "l"(from), "r"(bytes), "r"(barrier)
                 : "memory");
}
template <int Rank>
__device__ void store_tiled(TensorMap const* map, std::uint32_t from, std::int32_t const (&at)[Rank]) {
    static_assert(Rank == 2 || Rank == 4);
    if constexpr (Rank == 2)
        asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%2, %3}], [%1];" ::"l"(map),
                     "r"(from), "r"(at[0]), "r"(at[1])
                     : "memory");
    else
        asm volatile("cp.async.bulk.tensor.4d.global.shared::cta.bulk_group [%0, {%2, %3, %4, %5}], [%1];" ::"l"(map),
                     "r"(from), "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3])
                     : "memory");
}
__device__ inline void store_linear(void* to, std::uint32_t from, unsigned bytes) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(from), "r"(bytes)
                 : "memory");
}
__device__ inline void commit_stores() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
__device__ inline void wait_for_stores() { asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }
__device__ inline unsigned add(unsigned* number, unsigned count) {
    unsigned before;
    asm volatile("atom.acq_rel.gpu.add.u32 %0, [%1], %2;" : "=r"(before) : "l"(number), "r"(count) : "memory");
    return before;
}
__device__ inline unsigned load_acquired(unsigned const* number) {
    unsigned now;
    asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(now) : "l"(number) : "memory");
    return now;
}
__device__ inline unsigned load_relaxed(unsigned const* number) {
    unsigned now;
    asm volatile("ld.relaxed.gpu.u32 %0, [%1];" : "=r"(now) : "l"(number));
    return now;
}
__device__ inline void store_relaxed(unsigned* number, unsigned value) {
    asm volatile("st.relaxed.gpu.u32 [%0], %1;" ::"l"(number), "r"(value) : "memory");
}
__device__ inline unsigned add_one_in_block(std::uint32_t number) {
    unsigned before;
    asm volatile("atom.acq_rel.cta.shared::cta.add.u32 %0, [%1], 1;" : "=r"(before) : "r"(number) : "memory");
    return before;
}
__device__ inline void fence_shared_memory() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

template <bool transposed>
__device__ void store_matrices(std::uint32_t address, std::uint32_t const (&elements)[4]) {
    if constexpr (transposed)
        asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address),
                     "r"(elements[0]), "r"(elements[1]), "r"(elements[2]), "r"(elements[3])
                     : "memory");
    else
        asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address),
                     "r"(elements[0]), "r"(elements[1]), "r"(elements[2]), "r"(elements[3])
                     : "memory");
}

template <bool transposed>
__device__ void load_matrices(std::uint32_t address, std::uint32_t (&elements)[4]) {
    if constexpr (transposed)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(elements[0]), "=r"(elements[1]), "=r"(elements[2]), "=r"(elements[3])
                     : "r"(address)
                     : "memory");
    else
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(elements[0]), "=r"(elements[1]), "=r"(elements[2]), "=r"(elements[3])
                     : "r"(address)
                     : "memory");
}

__device__ inline void fence_products() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ inline void commit_products() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int Pending>
__device__ void wait_for_products() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Pending) : "memory");
}
template <class Sum, int Count>
__device__ void hold(Sum (&sums)[Count]) {
#pragma unroll
    for (int i = 0; i < Count; ++i)
        if constexpr (std::is_same_v<Sum, float>) asm volatile("" : "+f"(sums[i])::"memory");
        else asm volatile("" : "+r"(sums[i])::"memory");
}

}  // namespace fusekit::hip::ptx
