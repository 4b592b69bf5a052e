// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <type_traits>

#include "hip_on_cpu/block.hpp"
#include "hip_on_cpu/factor.hpp"
#include "hip_on_cpu/kernel.hpp"

/// PTX instructions of NVIDIA's sm_90a, one function each, under PTX's names; "tma" stands for cp.async.bulk.tensor. A
/// shared memory address is an offset in bytes from the start of the launch's dynamic shared memory. Warps have 32
/// lanes. Source: NVIDIA, PTX ISA 8.7, sections 9.7.9.27 (cp.async.bulk), 9.7.13.15 (mbarrier), 9.7.15 (wgmma).
///
/// Asynchronous operations complete at one of two extremes, which the environment variable HIP_ON_CPU_ASYNC selects:
/// "lazy", when a thread waits for them; "eager", at their issue; by default "mixed": loads at their issue, wgmma and
/// stores when a thread waits for them; "random": each operation at either, by a pseudo-random sequence of its block.
/// Results of incomplete operations are NaN. The execution is deterministic.
namespace hip_on_cpu::sm90a {

/// shared_address() and shared_pointer() convert between pointers and shared memory addresses. In a cluster, bits 24
/// and up of an address are the CTA's rank, as on an H200.
std::uint32_t shared_address(void const* memory);
void* shared_pointer(std::uint32_t address);

/// Tensor map, as cuTensorMapEncodeTiled or cuTensorMapEncodeIm2col encode it, for elements of 1, 2 or 4 bytes.
/// `swizzle` is CUtensorMapSwizzle: 0 for none; 1, 2 and 3 for 32, 64 and 128 bytes, the maximum width of a box's row.
struct TensorMap {
    std::uint64_t memory;
    std::uint64_t strides[4];  ///< bytes from one index to the next, for all modes except the first
    std::uint32_t extents[5];
    std::uint16_t box[5];
    /// lower and upper corner of the im2col bounding box: [0] along columns, [1] along rows
    std::int8_t lower[2], upper[2];
    std::uint8_t element_strides[2], rank, element_bytes, is_im2col, swizzle;
};

/// encode_tiled() and encode_im2col() return false if the driver would return an error. Modes are listed fastest first.
bool encode_tiled(TensorMap* map, int element_bytes, unsigned rank, void* memory, std::uint64_t const* extents,
                  std::uint64_t const* strides, std::uint32_t const* box, int swizzle);
/// Encodes an im2col map of (C, W, H, N) or, with `rank` 5, of (C, W, H, D, N), whose bounding box has all of D; a box
/// has `channels` channels of `pixels` pixels.
bool encode_im2col(TensorMap* map, int element_bytes, void* memory, std::uint64_t const* extents,
                   std::uint64_t const* strides, int const* lower, int const* upper, unsigned channels, unsigned pixels,
                   std::uint32_t const* element_strides, int swizzle, unsigned rank = 4);

void mbarrier_init(std::uint32_t barrier, unsigned arrivals, SourceLocation location = SourceLocation::current());
void mbarrier_arrive(std::uint32_t barrier, SourceLocation location = SourceLocation::current());
void mbarrier_arrive_expect_tx(std::uint32_t barrier, unsigned bytes,
                               SourceLocation location = SourceLocation::current());
/// mapa: the address in block `rank` of the cluster; mbarrier_arrive_cluster() arrives on an mbarrier at such an
/// address.
std::uint32_t mapa(std::uint32_t address, unsigned rank);
void mbarrier_arrive_cluster(std::uint32_t barrier, SourceLocation location = SourceLocation::current());
/// Waits until the phase with this parity has completed.
void mbarrier_wait(std::uint32_t barrier, unsigned parity, SourceLocation location = SourceLocation::current());

/// Named barrier `number` of `threads` threads of the block: bar_sync() and bar_red_or() wait until `threads` threads
/// have arrived, including those that called bar_arrive(), which does not wait. bar_red_or() returns the OR of the
/// predicates of all threads that called it.
void bar_sync(unsigned number, unsigned threads, SourceLocation location = SourceLocation::current());
void bar_arrive(unsigned number, unsigned threads, SourceLocation location = SourceLocation::current());
bool bar_red_or(unsigned number, unsigned threads, bool predicate, SourceLocation location = SourceLocation::current());

/// Returns true in one lane of a converged warp.
bool elect_sync(SourceLocation location = SourceLocation::current());
/// Waits until all lanes of the warp have called it.
void bar_warp_sync(SourceLocation location = SourceLocation::current());
/// Returns `number`, which must be equal in all lanes of the warp.
inline unsigned warp_uniform(unsigned number) { return number; }

/// Proxy fences, register counts and prefetches have no effect in the emulator.
inline void fence_mbarrier_init() {}
inline void fence_proxy_async() {}
template <int>
void setmaxnreg_inc() {}
template <int>
void setmaxnreg_dec() {}
inline void prefetch_tensormap(TensorMap const*) {}

/// TMA loads and stores of one box; `at` is the coordinate of its first element, fastest mode first. A load completes
/// on the mbarrier `barrier`.
void tma_load(std::uint32_t to, TensorMap const* map, std::uint32_t barrier, std::int32_t const* at, unsigned rank,
              SourceLocation const& location);
template <int Rank>
void tma_load(std::uint32_t to, TensorMap const* map, std::uint32_t barrier, std::int32_t const (&at)[Rank],
              SourceLocation location = SourceLocation::current()) {
    tma_load(to, map, barrier, at, Rank, location);
}
void tma_load_im2col(std::uint32_t to, TensorMap const* map, std::uint32_t barrier, std::int32_t const* at,
                     unsigned rank, unsigned column, unsigned row, SourceLocation const& location);
template <int Rank>
void tma_load_im2col(std::uint32_t to, TensorMap const* map, std::uint32_t barrier, std::int32_t const (&at)[Rank],
                     unsigned column, unsigned row, SourceLocation location = SourceLocation::current()) {
    tma_load_im2col(to, map, barrier, at, Rank, column, row, location);
}
/// The same loads with .multicast::cluster: into each block of the cluster whose rank is a bit of `ctas`.
void tma_load_multicast(std::uint32_t to, TensorMap const* map, std::uint32_t barrier, std::int32_t const* at,
                        unsigned rank, unsigned ctas, SourceLocation const& location);
template <int Rank>
void tma_load_multicast(std::uint32_t to, TensorMap const* map, std::uint32_t barrier, std::int32_t const (&at)[Rank],
                        unsigned ctas, SourceLocation location = SourceLocation::current()) {
    tma_load_multicast(to, map, barrier, at, Rank, ctas, location);
}
void tma_load_im2col_multicast(std::uint32_t to, TensorMap const* map, std::uint32_t barrier,
                               std::int32_t const (&at)[4], unsigned column, unsigned row, unsigned ctas,
                               SourceLocation location = SourceLocation::current());
void tma_store(TensorMap const* map, std::uint32_t from, std::int32_t const* at, unsigned rank,
               SourceLocation const& location);
/// cp.async.bulk: copies `bytes` contiguous bytes. The program aborts unless `bytes` and both addresses are multiples
/// of 16.
void bulk_load(std::uint32_t to, void const* from, unsigned bytes, std::uint32_t barrier,
               SourceLocation location = SourceLocation::current());
void bulk_store(void* to, std::uint32_t from, unsigned bytes, SourceLocation location = SourceLocation::current());
template <int Rank>
void tma_store(TensorMap const* map, std::uint32_t from, std::int32_t const (&at)[Rank],
               SourceLocation location = SourceLocation::current()) {
    tma_store(map, from, at, Rank, location);
}
/// TMA store of an im2col box: consecutive pixels from `at` on, as tma_load_im2col() loads them without a tap's offset.
void tma_store_im2col(TensorMap const* map, std::uint32_t from, std::int32_t const (&at)[4],
                      SourceLocation location = SourceLocation::current());
void bulk_commit_group();
/// Waits until this thread's committed stores have read their shared memory.
void bulk_wait_group_read();

/// atom.acq_rel.gpu.add; returns the value before the addition.
inline unsigned atom_add_acq_rel(unsigned* number, unsigned count) {
    return __atomic_fetch_add(number, count, __ATOMIC_ACQ_REL);
}
/// ld.acquire.gpu, ld.relaxed.gpu, st.relaxed.gpu. A load yields the CPU, because kernels poll with it.
inline unsigned ld_acquire(unsigned const* number) {
    yield_when_polling();
    return __atomic_load_n(number, __ATOMIC_ACQUIRE);
}
inline unsigned ld_relaxed(unsigned const* number) {
    yield_when_polling();
    return __atomic_load_n(number, __ATOMIC_RELAXED);
}
inline void st_relaxed(unsigned* number, unsigned value) { __atomic_store_n(number, value, __ATOMIC_RELAXED); }
/// atom.acq_rel.cta.add of 1 in shared memory; returns the value before the addition.
inline unsigned atom_add_one_acq_rel_cta(std::uint32_t number) {
    return atom_add_acq_rel(static_cast<unsigned*>(shared_pointer(number)), 1);
}

/// stmatrix.x4: stores four 8 x 8 matrices of 16-bit elements. Lane l passes the address of row l % 8 of matrix l / 8.
/// A lane's two elements of a matrix are adjacent in a row, or in a column if `transposed`.
void stmatrix_x4(std::uint32_t address, std::uint32_t const (&elements)[4], bool transposed,
                 SourceLocation const& location);
template <bool transposed>
void stmatrix_x4(std::uint32_t address, std::uint32_t const (&elements)[4],
                 SourceLocation location = SourceLocation::current()) {
    stmatrix_x4(address, elements, transposed, location);
}

/// ex2.approx.ftz and rcp.approx.ftz, rounded to nearest; subnormal results are kept.
inline float ex2_approx_ftz(float x) { return __builtin_exp2f(x); }
inline float rcp_approx_ftz(float x) { return 1 / x; }

/// ldmatrix.x4: loads four 8 x 8 matrices, with the addresses and the layout of stmatrix_x4().
void ldmatrix_x4(std::uint32_t address, std::uint32_t (&elements)[4], bool transposed, SourceLocation const& location);
template <bool transposed>
void ldmatrix_x4(std::uint32_t address, std::uint32_t (&elements)[4],
                 SourceLocation location = SourceLocation::current()) {
    ldmatrix_x4(address, elements, transposed, location);
}

using hip_on_cpu::Factor;
inline void wgmma_fence() {}
template <class Acc, int N>
void fence_operands(Acc (&)[N]) {}
/// wgmma.mma_async.m64nNk16 (8-bit elements: k32, TF32: k8) of operands in shared memory, which the descriptors `a` and
/// `b` describe: acc (64, N) = a b, added to acc if `accumulate`. acc has std::int32_t for int8 and float otherwise.
/// 16-bit operands may be MN-major.
enum class Major { k, mn };
struct Majors {
    Major a = Major::k, b = Major::k;
    bool operator==(Majors const&) const = default;
};
void wgmma(void* acc, int n, std::uint64_t a, std::uint64_t b, bool accumulate, Factor factor, Majors majors = {},
           SourceLocation location = SourceLocation::current());
template <Factor factor, int N, Major a_major = Major::k, Major b_major = Major::k, class Acc>
void wgmma(Acc (&acc)[N / 2], std::uint64_t a, std::uint64_t b, bool accumulate,
           SourceLocation location = SourceLocation::current()) {
    static_assert(std::is_same_v<Acc, std::conditional_t<factor == Factor::int8, std::int32_t, float>>);
    wgmma(acc, N, a, b, accumulate, factor, {a_major, b_major}, location);
}
/// wgmma with 16-bit elements of `a` in registers, which are read at issue. Lane l of warp w has elements 2 (l % 4) and
/// 2 (l % 4) + 1 of row 16 w + l / 4 (in a[0]) and of the row 8 below (a[1]), then the elements 8 to the right of both
/// (a[2], a[3]).
void wgmma_registers(float* acc, int n, std::uint32_t const* a, std::uint64_t b, bool accumulate, Factor factor,
                     Major b_major, SourceLocation const& location);
template <Factor factor, int N, Major b_major = Major::k>
void wgmma(float (&acc)[N / 2], std::uint32_t const (&a)[4], std::uint64_t b, bool accumulate,
           SourceLocation location = SourceLocation::current()) {
    wgmma_registers(acc, N, a, b, accumulate, factor, b_major, location);
}
void wgmma_commit();
/// Waits until at most `pending` groups are in flight.
void wgmma_wait(unsigned pending, SourceLocation const& location);
template <int Pending>
void wgmma_wait(SourceLocation location = SourceLocation::current()) {
    wgmma_wait(Pending, location);
}

}  // namespace hip_on_cpu::sm90a
