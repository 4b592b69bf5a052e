// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/arch/target.hpp"
#include "fusekit/backend/hip/arch/tensor_map.hpp"

/// Instructions that only sm_90a has, a function each. Shared memory is named by its 32-bit address. The emulator has
/// the same functions; other passes of a compiler see declarations, because nothing calls them there. Source: NVIDIA,
/// PTX ISA 8.7, sections 9.7.9.27 (bulk copies), 9.7.13 (barriers), 9.7.15 (wgmma).
#if defined(HIP_ON_CPU)
namespace fusekit::hip {
namespace ptx = hip_on_cpu::sm90a;
}
#else
namespace fusekit::hip::ptx {

__device__ std::uint32_t shared_address(void const* memory);

/// mbarrier: a phase ends when `arrivals` threads have arrived and all expected bytes have landed. wait() returns when
/// the phase of this parity is over.
__device__ void barrier_init(std::uint32_t barrier, unsigned arrivals);
__device__ void barrier_arrive(std::uint32_t barrier);
__device__ void barrier_arrive_expect_bytes(std::uint32_t barrier, unsigned bytes);
__device__ void barrier_wait(std::uint32_t barrier, unsigned parity);
__device__ void fence_barrier_init();

/// Barriers for `threads` of the block, those that only arrive among them.
__device__ void named_barrier_sync(unsigned number, unsigned threads);
__device__ void named_barrier_arrive(unsigned number, unsigned threads);
/// Whether any of these threads said so: what one knows reaches all without shared memory.
__device__ bool named_barrier_any(unsigned number, unsigned threads, bool said);

/// True in one lane of a wave; all lanes call it. A lane that was chosen so issues bulk copies at full speed, others do
/// not.
__device__ bool elect();
/// Returns when all lanes of a wave have called it, with what they wrote to shared memory.
__device__ void sync_wave();
/// A number that all lanes of a wave have, as one register of the wave.
__device__ unsigned uniform(unsigned number);

/// Registers of each thread of this warpgroup from here on.
template <int Count>
__device__ void raise_registers();
template <int Count>
__device__ void lower_registers();

/// Asks for a map, so that the first copy does not wait for it.
__device__ void prefetch_map(TensorMap const* map);
/// Bulk copies of a box, which begins at `at`, fastest mode first.
template <int Rank>
__device__ void load_tiled(std::uint32_t to, TensorMap const* map, std::uint32_t barrier,
                           std::int32_t const (&at)[Rank]);
__device__ void load_im2col(std::uint32_t to, TensorMap const* map, std::uint32_t barrier, std::int32_t const (&at)[4],
                            unsigned column, unsigned row);
/// Bulk copies of bytes as they lie: their number and both places are multiples of 16.
__device__ void load_linear(std::uint32_t to, void const* from, unsigned bytes, std::uint32_t barrier);
__device__ void store_linear(void* to, std::uint32_t from, unsigned bytes);
template <int Rank>
__device__ void store_tiled(TensorMap const* map, std::uint32_t from, std::int32_t const (&at)[Rank]);
__device__ void commit_stores();
/// Waits until the thread's stores have read shared memory.
__device__ void wait_for_stores();
/// Shows what this thread wrote to shared memory to bulk copies and products.
__device__ void fence_shared_memory();

/// Adds to a number in memory, and gives its value before. A thread that finds what others have added, by this or by
/// load_acquired, can read what they wrote before. A barrier of a block before it and one after it extend this to all
/// threads of the block.
__device__ unsigned add(unsigned* number, unsigned count);
/// Each call reads or writes memory: a loop of loads sees what another block stores.
__device__ unsigned load_acquired(unsigned const* number);
__device__ unsigned load_relaxed(unsigned const* number);
__device__ void store_relaxed(unsigned* number, unsigned value);
/// Adds one to a number in shared memory likewise, among the threads of a block.
__device__ unsigned add_one_in_block(std::uint32_t number);

/// Stores four 8 x 8 matrices of 16-bit elements. Lane l has the address of row l % 8 of matrix l / 8, and of each
/// matrix elements 2 (l % 4) and the next of row l / 4; where `transposed`, of column l / 4.
template <bool transposed>
__device__ void store_matrices(std::uint32_t address, std::uint32_t const (&elements)[4]);

/// Loads them likewise.
template <bool transposed>
__device__ void load_matrices(std::uint32_t address, std::uint32_t (&elements)[4]);

/// Products are asynchronous: a fence before the first, and groups to wait for. hold() keeps sums where they are.
__device__ void fence_products();
__device__ void commit_products();
template <int Pending>
__device__ void wait_for_products();
template <class Sum, int Count>
__device__ void hold(Sum (&sums)[Count]);

/// A warpgroup's product of factors of 64 and of N rows, 32 bytes each, named by descriptors: sums += a b, or = a b.
/// Sums of int8 are std::int32_t, others float. Elements of a factor that neighbour in memory are of one row (K-major),
/// or of one index of GemmK (MN-major, which 8 bits and TF32 cannot be).
enum class Factor { half, bfloat16, int8, tf32, e4m3, e5m2 };
enum class Major { k, mn };
template <Factor factor, int N, Major a_major = Major::k, Major b_major = Major::k, class Sum>
__device__ void multiply(Sum (&sums)[N / 2], std::uint64_t a, std::uint64_t b, bool adds);
/// The same of 16-bit factors of 64 rows in registers, which stay as they are until the product is waited for.
template <Factor factor, int N>
__device__ void multiply(float (&sums)[N / 2], std::uint32_t const (&a)[4], std::uint64_t b, bool adds);

}  // namespace fusekit::hip::ptx

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#include "fusekit/backend/hip/arch/sm90a_instructions.hpp"
#include "fusekit/backend/hip/arch/sm90a_multiply.hpp"
#endif
#endif
