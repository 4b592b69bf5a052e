// SPDX-License-Identifier: MIT
#pragma once

#include <sched.h>

#include <cstdint>
#include <type_traits>

#include "hip_on_cpu/block.hpp"
#include "hip_on_cpu/factor.hpp"

/// What kernels for NVIDIA's sm_90a may ask for beside HIP, as functions that do what one instruction of PTX does.
/// Shared memory is named by bytes from the start of what the launch asked for, as registers name it there. Waves have
/// 32 lanes. Source: NVIDIA, PTX ISA 8.7, sections 9.7.9.27 (bulk copies), 9.7.13.15 (mbarrier), 9.7.15 (wgmma).
///
/// Work that nobody has waited for is done at the latest moment, or at the earliest: HIP_ON_CPU_ASYNC in the
/// environment is "lazy", "eager", or, by default, "mixed": loads land at once; products read shared memory, and stores
/// do, when they are waited for. What is not there yet is NaN. Unlike a GPU, no result depends on chance.
namespace hip_on_cpu::sm90a {

/// An address of shared memory as a number, and back. In a cluster it names the block, too, in bits 24 and up, as an
/// H200's do.
std::uint32_t shared_address(void const* memory);
void* shared_pointer(std::uint32_t address);

/// Encoded as cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col do, for elements of 1, 2 or 4 bytes. A `swizzle` is as
/// the driver numbers them: 0 for none, 1, 2 and 3 for those of 32, 64 and 128 bytes, which a row of a box fills at
/// most.
struct TensorMap {
    std::uint64_t memory;
    std::uint64_t strides[4];  ///< bytes from one index to the next, of all modes but the first
    std::uint32_t extents[5];
    std::uint16_t box[5];
    std::int8_t lower[2], upper[2];  ///< corners of im2col, columns first
    std::uint8_t element_strides[2], rank, element_bytes, is_im2col, swizzle;
};

/// False where the driver would refuse the map. Modes are listed fastest first.
bool encode_tiled(TensorMap* map, int element_bytes, unsigned rank, void* memory, std::uint64_t const* extents,
                  std::uint64_t const* strides, std::uint32_t const* box, int swizzle);
/// Of (C, W, H, N): a box has `channels` of `pixels`.
bool encode_im2col(TensorMap* map, int element_bytes, void* memory, std::uint64_t const* extents,
                   std::uint64_t const* strides, int const* lower, int const* upper, unsigned channels, unsigned pixels,
                   std::uint32_t const* element_strides, int swizzle);

void barrier_init(std::uint32_t barrier, unsigned arrivals, Place place = Place::current());
void barrier_arrive(std::uint32_t barrier, Place place = Place::current());
void barrier_arrive_expect_bytes(std::uint32_t barrier, unsigned bytes, Place place = Place::current());
/// Returns when the phase of this parity is over.
void barrier_wait(std::uint32_t barrier, unsigned parity, Place place = Place::current());

/// bar.sync, bar.arrive and bar.red.or: a barrier for `threads` of the block, those that only arrive among them; and
/// whether any of them said so.
void named_barrier_sync(unsigned number, unsigned threads, Place place = Place::current());
void named_barrier_arrive(unsigned number, unsigned threads, Place place = Place::current());
bool named_barrier_any(unsigned number, unsigned threads, bool said, Place place = Place::current());

/// True in one lane of a wave that all of it calls.
bool elect(Place place = Place::current());
/// Returns when all lanes of a wave have called it.
void sync_wave(Place place = Place::current());
/// A number that all lanes of a wave have.
inline unsigned uniform(unsigned number) { return number; }

/// What has no effect here: fences between the proxies of memory, how many registers a thread has, and what is asked
/// for ahead.
inline void fence_barrier_init() {}
inline void fence_shared_memory() {}
template <int>
void raise_registers() {}
template <int>
void lower_registers() {}
inline void prefetch_map(TensorMap const*) {}

/// Bulk copies of one box, which begins at `at` in the coordinates of the map.
void load_tiled(std::uint32_t to, TensorMap const* map, std::uint32_t barrier, std::int32_t const* at, unsigned rank,
                Place const& place);
template <int Rank>
void load_tiled(std::uint32_t to, TensorMap const* map, std::uint32_t barrier, std::int32_t const (&at)[Rank],
                Place place = Place::current()) {
    load_tiled(to, map, barrier, at, Rank, place);
}
void load_im2col(std::uint32_t to, TensorMap const* map, std::uint32_t barrier, std::int32_t const (&at)[4],
                 unsigned column, unsigned row, Place place = Place::current());
void store_tiled(TensorMap const* map, std::uint32_t from, std::int32_t const* at, unsigned rank, Place const& place);
/// Bulk copies of `bytes` as they lie, a multiple of 16, between places that are multiples of 16.
void load_linear(std::uint32_t to, void const* from, unsigned bytes, std::uint32_t barrier,
                 Place place = Place::current());
void store_linear(void* to, std::uint32_t from, unsigned bytes, Place place = Place::current());
template <int Rank>
void store_tiled(TensorMap const* map, std::uint32_t from, std::int32_t const (&at)[Rank],
                 Place place = Place::current()) {
    store_tiled(map, from, at, Rank, place);
}
void commit_stores();
/// Waits until the thread's stores have read shared memory.
void wait_for_stores();

/// atom.acq_rel.gpu.add: gives the number before.
inline unsigned add(unsigned* number, unsigned count) { return __atomic_fetch_add(number, count, __ATOMIC_ACQ_REL); }
/// ld.acquire.gpu, ld.relaxed.gpu, st.relaxed.gpu. A load gives other blocks a turn, because a thread that waits for
/// them loads again and again.
inline unsigned load_acquired(unsigned const* number) {
    sched_yield();
    return __atomic_load_n(number, __ATOMIC_ACQUIRE);
}
inline unsigned load_relaxed(unsigned const* number) {
    sched_yield();
    return __atomic_load_n(number, __ATOMIC_RELAXED);
}
inline void store_relaxed(unsigned* number, unsigned value) { __atomic_store_n(number, value, __ATOMIC_RELAXED); }
/// atom.acq_rel.cta.add of one to a number in shared memory.
inline unsigned add_one_in_block(std::uint32_t number) {
    return add(static_cast<unsigned*>(shared_pointer(number)), 1);
}

/// stmatrix.x4: four 8 x 8 matrices of 16-bit elements; lane l has the address of row l % 8 of matrix l / 8. A lane's
/// two elements of each neighbour in a row, or, where `transposed`, in a column.
void store_matrices(std::uint32_t address, std::uint32_t const (&elements)[4], bool transposed, Place const& place);
template <bool transposed>
void store_matrices(std::uint32_t address, std::uint32_t const (&elements)[4], Place place = Place::current()) {
    store_matrices(address, elements, transposed, place);
}

/// ldmatrix.x4: the same, loaded.
void load_matrices(std::uint32_t address, std::uint32_t (&elements)[4], bool transposed, Place const& place);
template <bool transposed>
void load_matrices(std::uint32_t address, std::uint32_t (&elements)[4], Place place = Place::current()) {
    load_matrices(address, elements, transposed, place);
}

using hip_on_cpu::Factor;
inline void fence_products() {}
template <class Sum, int N>
void hold(Sum (&)[N]) {}
/// wgmma.mma_async.m64nNk16, or k32 of int8, or k8 of TF32, on operands in shared memory: sums += A B, or, where `adds`
/// is false, A B. Sums are float, or std::int32_t of int8. Factors of 16 bits may be MN-major.
enum class Major { k, mn };
struct Majors {
    Major a = Major::k, b = Major::k;
    bool operator==(Majors const&) const = default;
};
void multiply(void* sums, int n, std::uint64_t a, std::uint64_t b, bool adds, Factor factor, Majors majors = {},
              Place place = Place::current());
template <Factor factor, int N, Major a_major = Major::k, Major b_major = Major::k, class Sum>
void multiply(Sum (&sums)[N / 2], std::uint64_t a, std::uint64_t b, bool adds, Place place = Place::current()) {
    static_assert(std::is_same_v<Sum, std::conditional_t<factor == Factor::int8, std::int32_t, float>>);
    multiply(sums, N, a, b, adds, factor, {a_major, b_major}, place);
}
/// The same of 16-bit factors of A in registers, of which the product takes what they are when it is begun: lane l of
/// wave w has of rows 16 w + l / 4 and 8 further, in turns, elements 2 (l % 4) and the next, then those 8 further.
void multiply_registers(float* sums, int n, std::uint32_t const* a, std::uint64_t b, bool adds, Factor factor,
                        Place const& place);
template <Factor factor, int N>
void multiply(float (&sums)[N / 2], std::uint32_t const (&a)[4], std::uint64_t b, bool adds,
              Place place = Place::current()) {
    multiply_registers(sums, N, a, b, adds, factor, place);
}
void commit_products();
/// Waits for all groups of products but the last Pending.
void wait_for_products(unsigned pending, Place const& place);
template <int Pending>
void wait_for_products(Place place = Place::current()) {
    wait_for_products(Pending, place);
}

}  // namespace hip_on_cpu::sm90a
