// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/arch/target.hpp"
#include "fusekit/backend/hip/arch/tensor_map.hpp"

/// PTX instructions of sm_90a, one function each, under PTX's names; "tma" stands for cp.async.bulk.tensor. Shared
/// memory is passed as a 32-bit shared::cta address. The emulator defines the same functions; other compiler passes see
/// only the declarations, because nothing that they compile calls them. Source: NVIDIA, PTX ISA 8.7, sections 9.7.9.27
/// (cp.async.bulk), 9.7.13 (barriers), 9.7.15 (wgmma).
#if defined(HIP_ON_CPU)
namespace fusekit::hip {
namespace ptx = hip_on_cpu::sm90a;
}
#else
namespace fusekit::hip::ptx {

__device__ std::uint32_t shared_address(void const* memory);

/// Operations on an mbarrier at shared-memory address `barrier`. Its current phase completes after `arrivals` arrivals
/// and after all expected transaction bytes. mbarrier_wait() spins until the phase with the given parity (0 or 1,
/// alternating from 0) has completed. fence_mbarrier_init() makes initialized mbarriers visible to TMA.
__device__ void mbarrier_init(std::uint32_t barrier, unsigned arrivals);
__device__ void mbarrier_arrive(std::uint32_t barrier);
__device__ void mbarrier_arrive_expect_tx(std::uint32_t barrier, unsigned bytes);
__device__ void mbarrier_wait(std::uint32_t barrier, unsigned parity);
__device__ void fence_mbarrier_init();
/// mapa: the shared::cluster address, in CTA `rank` of the cluster, of what is at `address` in this CTA.
/// mbarrier_arrive_cluster() arrives on an mbarrier at such an address; this CTA's own addresses are shared::cluster
/// addresses, too.
__device__ std::uint32_t mapa(std::uint32_t address, unsigned rank);
__device__ void mbarrier_arrive_cluster(std::uint32_t barrier);

/// Synchronizes `threads` threads on named barrier `number` (0 is that of __syncthreads). bar_sync() waits until all
/// have arrived; bar_arrive() counts the calling threads as arrived without blocking them.
__device__ void bar_sync(unsigned number, unsigned threads);
__device__ void bar_arrive(unsigned number, unsigned threads);
/// Like bar_sync(); returns the OR of all threads' `predicate`.
__device__ bool bar_red_or(unsigned number, unsigned threads, bool predicate);

/// elect.sync: returns true in one lane of a converged warp. TMA instructions issue at full rate only from a lane
/// elected by it.
__device__ bool elect_sync();
/// __syncwarp(): converges the warp and orders its lanes' accesses of shared memory.
__device__ void bar_warp_sync();
/// Returns lane 0's `number` in all lanes, so that the compiler keeps it in a uniform register.
__device__ unsigned warp_uniform(unsigned number);

/// setmaxnreg: raises (inc) or lowers (dec) the register count of each thread of the executing warpgroup to Count.
template <int Count>
__device__ void setmaxnreg_inc();
template <int Count>
__device__ void setmaxnreg_dec();

/// Prefetches a tensor map into the descriptor cache.
__device__ void prefetch_tensormap(TensorMap const* map);
/// TMA load and store (tma_store() below) of one box, the tile shape in the tensor map. `at`: coordinates of the box's
/// first element, fastest tensor mode first. A load completes on the mbarrier `barrier`, which counts its bytes, and
/// zero-fills elements out of bounds of the tensor; a store omits them.
template <int Rank>
__device__ void tma_load(std::uint32_t to, TensorMap const* map, std::uint32_t barrier, std::int32_t const (&at)[Rank]);
/// TMA load of an im2col box. `column`, `row`: offset of the filter tap, in pixels of x, from the first element of each
/// pixel's window. In a map of five modes, windows have one index of the fourth.
template <int Rank>
__device__ void tma_load_im2col(std::uint32_t to, TensorMap const* map, std::uint32_t barrier,
                                std::int32_t const (&at)[Rank], unsigned column, unsigned row);
/// The same loads with .multicast::cluster: into shared memory at the same offset of each CTA of the cluster whose rank
/// is a bit of `ctas`; each CTA's bytes complete on its mbarrier at the offset of `barrier`.
template <int Rank>
__device__ void tma_load_multicast(std::uint32_t to, TensorMap const* map, std::uint32_t barrier,
                                   std::int32_t const (&at)[Rank], unsigned ctas);
__device__ void tma_load_im2col_multicast(std::uint32_t to, TensorMap const* map, std::uint32_t barrier,
                                          std::int32_t const (&at)[4], unsigned column, unsigned row, unsigned ctas);
/// cp.async.bulk: copies `bytes` contiguous bytes between global and shared memory. Precondition: `bytes` and both
/// addresses are multiples of 16. A load completes on the mbarrier `barrier`.
__device__ void bulk_load(std::uint32_t to, void const* from, unsigned bytes, std::uint32_t barrier);
__device__ void bulk_store(void* to, std::uint32_t from, unsigned bytes);
template <int Rank>
__device__ void tma_store(TensorMap const* map, std::uint32_t from, std::int32_t const (&at)[Rank]);
/// TMA store of an im2col box (.im2col_no_offs): consecutive pixels from `at` on, columns fastest, within the corners
/// of the tensor map's bounding box. Pixels past the last image are not written.
__device__ void tma_store_im2col(TensorMap const* map, std::uint32_t from, std::int32_t const (&at)[4]);
__device__ void bulk_commit_group();
/// Waits until this thread's committed bulk and TMA stores have read their shared memory, which may then be
/// overwritten.
__device__ void bulk_wait_group_read();
/// Orders this thread's generic writes to shared memory before later accesses through the async proxy (TMA, wgmma).
__device__ void fence_proxy_async();

/// atom.add.acq_rel.gpu in global memory; returns the value before the addition. Acquires everything that earlier
/// additions released; with a __syncthreads before and after the call this extends to all threads of both CTAs.
__device__ unsigned atom_add_acq_rel(unsigned* number, unsigned count);
/// ld.acquire.gpu, ld.relaxed.gpu and st.relaxed.gpu. Each call accesses memory, so that a polling loop sees the stores
/// of other CTAs.
__device__ unsigned ld_acquire(unsigned const* number);
__device__ unsigned ld_relaxed(unsigned const* number);
__device__ void st_relaxed(unsigned* number, unsigned value);
/// atom.add.acq_rel.cta of 1 in shared memory; returns the value before the addition.
__device__ unsigned atom_add_one_acq_rel_cta(std::uint32_t number);

/// stmatrix.x4: stores four 8 x 8 matrices of 16-bit elements. Lane l passes the address of row l % 8 of matrix l / 8,
/// and holds elements 2 (l % 4) and 2 (l % 4) + 1 of row l / 4 of each matrix; of column l / 4 if `transposed`.
template <bool transposed>
__device__ void stmatrix_x4(std::uint32_t address, std::uint32_t const (&elements)[4]);

/// ldmatrix.x4: loads four 8 x 8 matrices of 16-bit elements, with the addresses and the layout of stmatrix_x4().
template <bool transposed>
__device__ void ldmatrix_x4(std::uint32_t address, std::uint32_t (&elements)[4]);

/// ex2.approx.ftz: 2^x to 2 ulp. rcp.approx.ftz: 1 / x to 1 ulp. Subnormal arguments and results are 0.
__device__ float ex2_approx_ftz(float x);
__device__ float rcp_approx_ftz(float x);

/// wgmma_fence() orders register accesses before the first asynchronous wgmma, wgmma_commit() closes a group of them,
/// and wgmma_wait<Pending>() waits until at most Pending groups are in flight. fence_operands() is only a compiler
/// fence: it keeps the accumulators `acc` in their registers and orders their uses around it.
__device__ void wgmma_fence();
__device__ void wgmma_commit();
template <int Pending>
__device__ void wgmma_wait();
template <class Acc, int Count>
__device__ void fence_operands(Acc (&acc)[Count]);

/// wgmma.mma_async of one warpgroup: acc (64, N) = a (64, K) b (K, N), added to acc if `accumulate`. K is 32 bytes of
/// elements. `a` and `b` are SMEM matrix descriptors; acc has std::int32_t for int8 and float otherwise. MN-major
/// operands (contiguous along M or N instead of K) must have 16-bit elements.
enum class Factor { half, bfloat16, int8, tf32, e4m3, e5m2 };
enum class Major { k, mn };
template <Factor factor, int N, Major a_major = Major::k, Major b_major = Major::k, class Acc>
__device__ void wgmma(Acc (&acc)[N / 2], std::uint64_t a, std::uint64_t b, bool accumulate);
/// wgmma.mma_async with 16-bit elements of `a` in registers, which must not change before wgmma_wait().
template <Factor factor, int N, Major b_major = Major::k>
__device__ void wgmma(float (&acc)[N / 2], std::uint32_t const (&a)[4], std::uint64_t b, bool accumulate);

}  // namespace fusekit::hip::ptx

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#include "fusekit/backend/hip/arch/sm90a_instructions.hpp"
#include "fusekit/backend/hip/arch/sm90a_wgmma.hpp"
#endif
#endif
