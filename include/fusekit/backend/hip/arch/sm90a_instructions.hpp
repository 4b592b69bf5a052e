// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <type_traits>

#include "fusekit/math_instructions.hpp"

/// Definitions of the functions that sm90a.hpp declares; sm90a.hpp includes this header when compiling for sm_90a.
namespace fusekit::hip::ptx {

__device__ inline std::uint32_t shared_address(void const* memory) {
    return static_cast<std::uint32_t>(__cvta_generic_to_shared(memory));
}

__device__ inline void mbarrier_init(std::uint32_t barrier, unsigned arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}
__device__ inline void mbarrier_arrive(std::uint32_t barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
__device__ inline void mbarrier_arrive_expect_tx(std::uint32_t barrier, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
__device__ inline void mbarrier_wait(std::uint32_t barrier, unsigned parity) {
    int over = 0;
    while (!over)
        asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.s32 %0, 1, 0, p;}"
                     : "=r"(over)
                     : "r"(barrier), "r"(parity)
                     : "memory");
}
__device__ inline std::uint32_t mapa(std::uint32_t address, unsigned rank) {
    std::uint32_t there;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
    return there;
}
__device__ inline void mbarrier_arrive_cluster(std::uint32_t barrier) {
    asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(barrier) : "memory");
}
__device__ inline void fence_mbarrier_init() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }

__device__ inline void bar_sync(unsigned number, unsigned threads) {
    asm volatile("bar.sync %0, %1;" ::"r"(number), "r"(threads) : "memory");
}
__device__ inline void bar_arrive(unsigned number, unsigned threads) {
    asm volatile("bar.arrive %0, %1;" ::"r"(number), "r"(threads) : "memory");
}
__device__ inline bool bar_red_or(unsigned number, unsigned threads, bool predicate) {
    int any = 0;
    asm volatile("{.reg .pred p, q; setp.ne.s32 p, %3, 0; bar.red.or.pred q, %1, %2, p; selp.s32 %0, 1, 0, q;}"
                 : "=r"(any)
                 : "r"(number), "r"(threads), "r"(static_cast<int>(predicate))
                 : "memory");
    return any;
}

__device__ inline bool elect_sync() {
    int elected = 0;
    asm volatile("{.reg .pred p; elect.sync _|p, 0xffffffff; selp.s32 %0, 1, 0, p;}" : "=r"(elected));
    return elected;
}
__device__ inline void bar_warp_sync() { __syncwarp(); }
__device__ inline unsigned warp_uniform(unsigned number) { return __shfl_sync(~0u, number, 0); }

template <int Count>
__device__ void setmaxnreg_inc() {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Count));
}
template <int Count>
__device__ void setmaxnreg_dec() {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Count));
}

__device__ inline void prefetch_tensormap(TensorMap const* map) { asm volatile("prefetch.tensormap [%0];" ::"l"(map)); }
template <int Rank>
__device__ void tma_load(std::uint32_t to, TensorMap const* map, std::uint32_t barrier,
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
template <int Rank>
__device__ void tma_load_im2col(std::uint32_t to, TensorMap const* map, std::uint32_t barrier,
                                std::int32_t const (&at)[Rank], unsigned column, unsigned row) {
    static_assert(Rank == 4 || Rank == 5);
    if constexpr (Rank == 4)
        asm volatile(
            "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, "
            "%5, %6}], [%2], {%7, %8};" ::"r"(to),
            "l"(map), "r"(barrier), "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]),
            "h"(static_cast<std::uint16_t>(column)), "h"(static_cast<std::uint16_t>(row))
            : "memory");
    else
        asm volatile(
            "cp.async.bulk.tensor.5d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, "
            "%5, %6, %7}], [%2], {%8, %9, %10};" ::"r"(to),
            "l"(map), "r"(barrier), "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]), "r"(at[4]),
            "h"(static_cast<std::uint16_t>(column)), "h"(static_cast<std::uint16_t>(row)),
            "h"(static_cast<std::uint16_t>(0))
            : "memory");
}
template <int Rank>
__device__ void tma_load_multicast(std::uint32_t to, TensorMap const* map, std::uint32_t barrier,
                                   std::int32_t const (&at)[Rank], unsigned ctas) {
    static_assert(Rank == 2 || Rank == 4);
    if constexpr (Rank == 2)
        asm volatile(
            "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, "
            "{%3, %4}], [%2], %5;" ::"r"(to),
            "l"(map), "r"(barrier), "r"(at[0]), "r"(at[1]), "h"(static_cast<std::uint16_t>(ctas))
            : "memory");
    else
        asm volatile(
            "cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, "
            "{%3, %4, %5, %6}], [%2], %7;" ::"r"(to),
            "l"(map), "r"(barrier), "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]),
            "h"(static_cast<std::uint16_t>(ctas))
            : "memory");
}
__device__ inline void tma_load_im2col_multicast(std::uint32_t to, TensorMap const* map, std::uint32_t barrier,
                                                 std::int32_t const (&at)[4], unsigned column, unsigned row,
                                                 unsigned ctas) {
    asm volatile(
        "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes.multicast::cluster [%0], "
        "[%1, {%3, %4, %5, %6}], [%2], {%7, %8}, %9;" ::"r"(to),
        "l"(map), "r"(barrier), "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]), "h"(static_cast<std::uint16_t>(column)),
        "h"(static_cast<std::uint16_t>(row)), "h"(static_cast<std::uint16_t>(ctas))
        : "memory");
}
__device__ inline void bulk_load(std::uint32_t to, void const* from, unsigned bytes, std::uint32_t barrier) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
                 "l"(from), "r"(bytes), "r"(barrier)
                 : "memory");
}
template <int Rank>
__device__ void tma_store(TensorMap const* map, std::uint32_t from, std::int32_t const (&at)[Rank]) {
    static_assert(Rank >= 2 && Rank <= 5);
    if constexpr (Rank == 2)
        asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%2, %3}], [%1];" ::"l"(map),
                     "r"(from), "r"(at[0]), "r"(at[1])
                     : "memory");
    else if constexpr (Rank == 3)
        asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%2, %3, %4}], [%1];" ::"l"(map),
                     "r"(from), "r"(at[0]), "r"(at[1]), "r"(at[2])
                     : "memory");
    else if constexpr (Rank == 4)
        asm volatile("cp.async.bulk.tensor.4d.global.shared::cta.bulk_group [%0, {%2, %3, %4, %5}], [%1];" ::"l"(map),
                     "r"(from), "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3])
                     : "memory");
    else
        asm volatile(
            "cp.async.bulk.tensor.5d.global.shared::cta.bulk_group [%0, {%2, %3, %4, %5, %6}], [%1];" ::"l"(map),
            "r"(from), "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]), "r"(at[4])
            : "memory");
}
__device__ inline void tma_store_im2col(TensorMap const* map, std::uint32_t from, std::int32_t const (&at)[4]) {
    asm volatile(
        "cp.async.bulk.tensor.4d.global.shared::cta.im2col_no_offs.bulk_group [%0, {%2, %3, %4, %5}], [%1];" ::"l"(map),
        "r"(from), "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3])
        : "memory");
}
__device__ inline void bulk_store(void* to, std::uint32_t from, unsigned bytes) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(from), "r"(bytes)
                 : "memory");
}
__device__ inline void bulk_commit_group() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
__device__ inline void bulk_wait_group_read() { asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }
__device__ inline unsigned atom_add_acq_rel(unsigned* number, unsigned count) {
    unsigned old;
    asm volatile("atom.acq_rel.gpu.add.u32 %0, [%1], %2;" : "=r"(old) : "l"(number), "r"(count) : "memory");
    return old;
}
__device__ inline unsigned ld_acquire(unsigned const* number) {
    unsigned now;
    asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(now) : "l"(number) : "memory");
    return now;
}
__device__ inline unsigned ld_relaxed(unsigned const* number) {
    unsigned now;
    asm volatile("ld.relaxed.gpu.u32 %0, [%1];" : "=r"(now) : "l"(number));
    return now;
}
__device__ inline void st_relaxed(unsigned* number, unsigned value) {
    asm volatile("st.relaxed.gpu.u32 [%0], %1;" ::"l"(number), "r"(value) : "memory");
}
__device__ inline unsigned atom_add_one_acq_rel_cta(std::uint32_t number) {
    unsigned old;
    asm volatile("atom.acq_rel.cta.shared::cta.add.u32 %0, [%1], 1;" : "=r"(old) : "r"(number) : "memory");
    return old;
}
__device__ inline void fence_proxy_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

__device__ inline float ex2_approx_ftz(float x) { return config::power_of_two(x); }
__device__ inline float rcp_approx_ftz(float x) { return config::reciprocal(x); }

template <bool transposed>
__device__ void stmatrix_x4(std::uint32_t address, std::uint32_t const (&elements)[4]) {
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
__device__ void ldmatrix_x4(std::uint32_t address, std::uint32_t (&elements)[4]) {
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

__device__ inline void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ inline void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int Pending>
__device__ void wgmma_wait() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Pending) : "memory");
}
template <class Acc, int Count>
__device__ void fence_operands(Acc (&acc)[Count]) {
#pragma unroll
    for (int i = 0; i < Count; ++i)
        if constexpr (std::is_same_v<Acc, float>) asm volatile("" : "+f"(acc[i])::"memory");
        else asm volatile("" : "+r"(acc[i])::"memory");
}

}  // namespace fusekit::hip::ptx
