// SPDX-License-Identifier: MIT
#include "hip_on_cpu/sm90a.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "asynchrony.hpp"
#include "cluster.hpp"
#include "factor.hpp"
#include "hip_on_cpu/cluster.hpp"

namespace hip_on_cpu::sm90a {

namespace {

constexpr unsigned box_limit = 256;

/// Bit position of the block's rank in a shared memory address; lower bits are the offset in the block's memory.
constexpr unsigned rank_bit = 24;
constexpr std::uint32_t offset_of(std::uint32_t address) { return address & ((1u << rank_bit) - 1); }

/// Coordinates in the modes of a tensor map; 0 for modes past its rank.
using Coord = std::array<std::int64_t, 5>;

/// Layout of the 64 bits of an mbarrier.
struct Barrier {
    std::uint64_t phase : 1, expected : 20, pending : 20;
    std::int64_t bytes : 23;
};
static_assert(sizeof(Barrier) == 8);

Barrier& barrier_at(std::uint32_t address, SourceLocation const& location) {
    if (address % 8 != 0) fault("address of an mbarrier is not a multiple of 8", location);
    auto& barrier = *static_cast<Barrier*>(shared_pointer(address));
    if (barrier.expected == (1u << 20) - 1) fault("an mbarrier is used before mbarrier_init()", location);
    return barrier;
}

void end_phase_if_complete(Barrier& barrier) {
    if (barrier.pending != 0 || barrier.bytes != 0) return;
    barrier.phase ^= 1;
    barrier.pending = barrier.expected;
}

std::uint32_t swizzled(TensorMap const& map, std::uint32_t address) {
    return address ^ (address >> 7 & ((1u << map.swizzle) - 1)) << 4;
}

std::uint32_t row_bytes(TensorMap const& map) { return std::uint32_t{map.box[0]} * map.element_bytes; }

std::uint32_t rows_of(TensorMap const& map) {
    std::uint32_t rows = 1;
    for (unsigned mode = 1; mode < map.rank; ++mode) rows *= map.box[mode];
    return map.is_im2col ? map.box[1] : rows;
}

/// Returns the address of an element in global memory, or null if the coordinate is out of bounds of the tensor.
std::byte* place_of(TensorMap const& map, Coord const& at) {
    auto* const memory = reinterpret_cast<std::byte*>(map.memory);
    std::int64_t offset = at[0] * map.element_bytes;
    for (unsigned mode = 0; mode < map.rank; ++mode) {
        if (at[mode] < 0 || at[mode] >= std::int64_t{map.extents[mode]}) return nullptr;
        if (mode > 0) offset += at[mode] * static_cast<std::int64_t>(map.strides[mode - 1]);
    }
    return memory + offset;
}

void check_copy(TensorMap const& map, std::uint32_t shared, std::int32_t const* at, SourceLocation const& location) {
    if (shared % 128 != 0) fault("shared memory address of a TMA box is not a multiple of 128", location);
    if (offset_of(shared) + row_bytes(map) * rows_of(map) > running->shared_bytes)
        fault("a TMA box exceeds the block's dynamic shared memory", location);
    if (at[0] * map.element_bytes % 16 != 0)
        fault("first coordinate of a TMA box is not a multiple of 16 bytes", location);
}

/// Copies `bytes` of a box. Elements out of bounds of the tensor are loaded as zero, and are not stored.
void move(std::byte* memory, std::uint32_t shared, unsigned bytes, bool to_memory) {
    void* const here = shared_pointer(shared);
    if (!to_memory && memory) std::memcpy(here, memory, bytes);
    else if (!to_memory) std::memset(here, 0, bytes);
    else if (memory) std::memcpy(memory, here, bytes);
}

/// Copies a row of a box, the elements `at` and the following of mode 0, in chunks of 16 bytes: a swizzle permutes
/// whole chunks. One that extends beyond the tensor is copied element by element.
void copy_row(TensorMap const& map, std::uint32_t shared, Coord at, bool to_memory) {
    unsigned const elements = 16u / map.element_bytes;
    std::int64_t const end = at[0] + map.box[0];
    for (; at[0] < end; shared += 16) {
        std::uint32_t const to = swizzled(map, shared);
        Coord last = at;
        last[0] += elements - 1;
        std::byte* const memory = place_of(map, at);
        if (memory && place_of(map, last)) {
            move(memory, to, 16, to_memory);
            at[0] += elements;
            continue;
        }
        for (unsigned i = 0; i < elements; ++i, ++at[0])
            move(place_of(map, at), to + i * map.element_bytes, map.element_bytes, to_memory);
    }
}

void copy_tiled(TensorMap const& map, std::uint32_t shared, Coord const& first, bool to_memory) {
    Coord at = first;
    for (std::uint32_t row = 0; row < rows_of(map); ++row) {
        std::uint32_t rest = row;
        for (unsigned mode = 1; mode < map.rank; ++mode) {
            at[mode] = first[mode] + rest % map.box[mode];
            rest /= map.box[mode];
        }
        copy_row(map, shared + row * row_bytes(map), at, to_memory);
    }
}

/// Copies map.box[1] pixels, from (n, h, w) = (at[3], at[2], at[1]) on, w fastest, within the bounding box's corners;
/// reads each at the filter tap's offset, `column` and `row`. In a map of five modes n is D, and the last mode follows.
void copy_im2col(TensorMap const& map, std::uint32_t shared, Coord const& first, unsigned column, unsigned row,
                 bool to_memory) {
    auto w = first[1], h = first[2], n = first[3], last = first[4];
    for (unsigned pixel = 0; pixel < map.box[1]; ++pixel) {
        copy_row(map, shared + pixel * row_bytes(map), {first[0], w + column, h + row, n, last}, to_memory);
        w += map.element_strides[0];
        if (w <= std::int64_t{map.extents[1]} - 1 + map.upper[0]) continue;
        w = map.lower[0], h += map.element_strides[1];
        if (h <= std::int64_t{map.extents[2]} - 1 + map.upper[1]) continue;
        h = map.lower[1], ++n;
        if (map.rank == 5 && n >= std::int64_t{map.extents[3]}) n = 0, ++last;
    }
}

void load(std::uint32_t to, std::uint32_t bytes, std::uint32_t barrier, std::function<void()> copy,
          SourceLocation const& location) {
    std::memset(shared_pointer(to), 0xff, bytes);
    barrier = mapa(barrier, cluster_rank());  // a multicast has the address in the block that issued it
    auto land = [copy = std::move(copy), barrier, bytes, location] {
        copy();
        Barrier& state = barrier_at(barrier, location);
        state.bytes -= bytes;
        end_phase_if_complete(state);
    };
    running_block().asynchrony().load(barrier, std::move(land));
}

bool encode(TensorMap* map, int element_bytes, unsigned rank, void* memory, std::uint64_t const* extents,
            std::uint64_t const* strides, int swizzle) {
    *map = {};
    map->memory = reinterpret_cast<std::uint64_t>(memory);
    map->rank = static_cast<std::uint8_t>(rank);
    map->element_bytes = static_cast<std::uint8_t>(element_bytes);
    map->swizzle = static_cast<std::uint8_t>(swizzle);
    bool legal = swizzle >= 0 && swizzle <= 3 && map->memory != 0 && map->memory % 16 == 0;
    for (unsigned mode = 0; mode < rank; ++mode) {
        legal = legal && extents[mode] >= 1 && extents[mode] <= std::uint64_t{1} << 32;
        map->extents[mode] = static_cast<std::uint32_t>(extents[mode]);
        if (mode == 0) continue;
        legal = legal && strides[mode - 1] % 16 == 0 && strides[mode - 1] < std::uint64_t{1} << 40;
        map->strides[mode - 1] = strides[mode - 1];
    }
    return legal;
}

/// Performs an operation on the shared memory of block `rank` of the cluster in that block.
void at_block(unsigned rank, std::function<void()> operation, SourceLocation const& location) {
    if (rank >= cluster_size())
        fault("an operation on the shared memory of a block that is not in the cluster", location);
    if (rank == cluster_rank()) operation();
    else running_block().cluster->post(rank, std::move(operation), location);
}

/// Performs an operation in each block of the cluster whose rank is a bit of `blocks`.
void at_blocks(unsigned blocks, std::function<void()> const& operation, SourceLocation const& location) {
    for (unsigned rank = 0; blocks >> rank; ++rank)
        if (blocks >> rank & 1) at_block(rank, operation, location);
}

bool is_legal_box(TensorMap const& map) {
    return row_bytes(map) % 16 == 0 && (map.swizzle == 0 || row_bytes(map) <= 16u << map.swizzle);
}

}  // namespace

std::uint32_t shared_address(void const* memory) {
    auto const offset = static_cast<std::uint32_t>(static_cast<std::byte const*>(memory) - running->shared_memory());
    return in_cluster() ? offset | cluster_rank() << rank_bit : offset;
}
void* shared_pointer(std::uint32_t address) { return running->shared_memory() + offset_of(address); }

bool encode_tiled(TensorMap* map, int element_bytes, unsigned rank, void* memory, std::uint64_t const* extents,
                  std::uint64_t const* strides, std::uint32_t const* box, int swizzle) {
    bool legal = rank >= 1 && rank <= 5 && encode(map, element_bytes, rank, memory, extents, strides, swizzle);
    for (unsigned mode = 0; legal && mode < rank; ++mode) {
        legal = box[mode] >= 1 && box[mode] <= box_limit;
        map->box[mode] = static_cast<std::uint16_t>(box[mode]);
    }
    return legal && is_legal_box(*map);
}

bool encode_im2col(TensorMap* map, int element_bytes, void* memory, std::uint64_t const* extents,
                   std::uint64_t const* strides, int const* lower, int const* upper, unsigned channels, unsigned pixels,
                   std::uint32_t const* element_strides, int swizzle, unsigned rank) {
    int const least = rank == 5 ? -16 : -128, most = rank == 5 ? 15 : 127;
    bool legal = (rank == 4 || (rank == 5 && lower[2] == 0 && upper[2] == 0 && element_strides[3] == 1)) &&
                 encode(map, element_bytes, rank, memory, extents, strides, swizzle);
    legal = legal && channels >= 1 && channels <= box_limit && pixels >= 1 && pixels <= 1024;
    map->is_im2col = true;
    map->box[0] = static_cast<std::uint16_t>(channels), map->box[1] = static_cast<std::uint16_t>(pixels);
    for (int mode = 0; mode < 2; ++mode) {
        legal = legal && lower[mode] >= least && lower[mode] <= most && upper[mode] >= least && upper[mode] <= most;
        legal = legal && element_strides[mode + 1] >= 1 && element_strides[mode + 1] <= 8;
        map->lower[mode] = static_cast<std::int8_t>(lower[mode]);
        map->upper[mode] = static_cast<std::int8_t>(upper[mode]);
        map->element_strides[mode] = static_cast<std::uint8_t>(element_strides[mode + 1]);
    }
    return legal && is_legal_box(*map);
}

void mbarrier_init(std::uint32_t address, unsigned arrivals, SourceLocation location) {
    if (address % 8 != 0) fault("address of an mbarrier is not a multiple of 8", location);
    Barrier barrier{};
    barrier.expected = barrier.pending = arrivals;
    std::memcpy(shared_pointer(address), &barrier, sizeof barrier);
}

void mbarrier_arrive(std::uint32_t address, SourceLocation location) {
    Barrier& barrier = barrier_at(address, location);
    if (barrier.pending == 0) fault("an mbarrier gets more arrivals in a phase than mbarrier_init() expects", location);
    barrier.pending = barrier.pending - 1;
    end_phase_if_complete(barrier);
}

std::uint32_t mapa(std::uint32_t address, unsigned rank) { return offset_of(address) | rank << rank_bit; }

void mbarrier_arrive_cluster(std::uint32_t address, SourceLocation location) {
    at_block(address >> rank_bit, [=] { mbarrier_arrive(address, location); }, location);
}

void mbarrier_arrive_expect_tx(std::uint32_t address, unsigned bytes, SourceLocation location) {
    barrier_at(address, location).bytes += bytes;
    mbarrier_arrive(address, location);
}

void mbarrier_wait(std::uint32_t address, unsigned parity, SourceLocation location) {
    auto const over = [=] {
        running_block().asynchrony().finish_loads(address);
        return barrier_at(address, location).phase != parity;
    };
    running_block().wait_until(over, "an mbarrier", location);
}

void bar_arrive(unsigned number, unsigned expected, SourceLocation location) {
    auto& barrier = running_block().asynchrony().named_barrier(number);
    if (barrier.arrived > 0 && barrier.threads != expected)
        fault("threads pass different thread counts to a named barrier", location);
    barrier.threads = expected;
    if (++barrier.arrived < expected) return;
    barrier.arrived = 0, ++barrier.generation;
    barrier.any_said = barrier.said, barrier.said = false;
}

void bar_sync(unsigned number, unsigned expected, SourceLocation location) {
    bar_red_or(number, expected, false, location);
}

bool bar_red_or(unsigned number, unsigned expected, bool predicate, SourceLocation location) {
    auto& barrier = running_block().asynchrony().named_barrier(number);
    std::uint64_t const before = barrier.generation;
    barrier.said = barrier.said || predicate;
    bar_arrive(number, expected, location);
    running_block().wait_until([&barrier, before] { return barrier.generation != before; }, "a named barrier",
                               location);
    return barrier.any_said;
}

bool elect_sync(SourceLocation location) {
    running->exchange(0, location);
    return running->lane() == 0;
}

void bar_warp_sync(SourceLocation location) { running->exchange(0, location); }

void tma_load(std::uint32_t to, TensorMap const* map, std::uint32_t barrier, std::int32_t const* at, unsigned rank,
              SourceLocation const& location) {
    if (map->is_im2col || map->rank != rank)
        fault("tma_load() requires a tiled tensor map with as many modes as coordinates", location);
    check_copy(*map, to, at, location);
    Coord first{};
    for (unsigned mode = 0; mode < map->rank; ++mode) first[mode] = at[mode];
    load(
        to, row_bytes(*map) * rows_of(*map), barrier, [to, first, copy = *map] { copy_tiled(copy, to, first, false); },
        location);
}

void tma_load_im2col(std::uint32_t to, TensorMap const* map, std::uint32_t barrier, std::int32_t const* at,
                     unsigned rank, unsigned column, unsigned row, SourceLocation const& location) {
    if (!map->is_im2col || map->rank != rank)
        fault("tma_load_im2col() requires an im2col tensor map with as many modes as coordinates", location);
    if (unsigned const most = rank == 5 ? 31 : 255; column > most || row > most)
        fault("filter tap offset of tma_load_im2col() exceeds 255, or 31 in five modes", location);
    check_copy(*map, to, at, location);
    Coord const first{at[0], at[1], at[2], at[3], rank == 5 ? at[4] : 0};
    load(
        to, row_bytes(*map) * rows_of(*map), barrier,
        [=, copy = *map] { copy_im2col(copy, to, first, column, row, false); }, location);
}

void tma_load_multicast(std::uint32_t to, TensorMap const* map, std::uint32_t barrier, std::int32_t const* at,
                        unsigned rank, unsigned ctas, SourceLocation const& location) {
    std::array<std::int32_t, 5> first{};
    std::copy_n(at, rank, first.begin());
    at_blocks(ctas, [=, copy = *map] { tma_load(to, &copy, barrier, first.data(), rank, location); }, location);
}

void tma_load_im2col_multicast(std::uint32_t to, TensorMap const* map, std::uint32_t barrier,
                               std::int32_t const (&at)[4], unsigned column, unsigned row, unsigned ctas,
                               SourceLocation location) {
    std::array<std::int32_t, 4> first{};
    std::copy_n(at, 4, first.begin());
    at_blocks(
        ctas, [=, copy = *map] { tma_load_im2col(to, &copy, barrier, first.data(), 4, column, row, location); },
        location);
}

namespace {

void check_linear(std::uint32_t shared, void const* global, unsigned bytes, SourceLocation const& location) {
    if (shared % 16 != 0 || reinterpret_cast<std::uintptr_t>(global) % 16 != 0 || bytes % 16 != 0)
        fault("size or an address of a bulk copy is not a multiple of 16 bytes", location);
    if (offset_of(shared) + bytes > running->shared_bytes)
        fault("a bulk copy exceeds the block's dynamic shared memory", location);
}

}  // namespace

void bulk_load(std::uint32_t to, void const* from, unsigned bytes, std::uint32_t barrier, SourceLocation location) {
    check_linear(to, from, bytes, location);
    load(to, bytes, barrier, [=] { std::memcpy(shared_pointer(to), from, bytes); }, location);
}

void tma_store(TensorMap const* map, std::uint32_t from, std::int32_t const* at, unsigned rank,
               SourceLocation const& location) {
    if (map->is_im2col || map->rank != rank)
        fault("tma_store() requires a tiled tensor map with as many modes as coordinates", location);
    check_copy(*map, from, at, location);
    Coord first{};
    for (unsigned mode = 0; mode < map->rank; ++mode) first[mode] = at[mode];
    running_block().asynchrony().store([from, first, copy = *map] { copy_tiled(copy, from, first, true); });
}

void tma_store_im2col(TensorMap const* map, std::uint32_t from, std::int32_t const (&at)[4], SourceLocation location) {
    if (!map->is_im2col) fault("an im2col store of a tiled map", location);
    check_copy(*map, from, at, location);
    Coord const first{at[0], at[1], at[2], at[3], 0};
    running_block().asynchrony().store([from, first, copy = *map] { copy_im2col(copy, from, first, 0, 0, true); });
}

void bulk_store(void* to, std::uint32_t from, unsigned bytes, SourceLocation location) {
    check_linear(from, to, bytes, location);
    running_block().asynchrony().store([=] { std::memcpy(to, shared_pointer(from), bytes); });
}

void bulk_commit_group() {}
void bulk_wait_group_read() { running_block().asynchrony().finish_stores(); }

namespace {

/// Calls f(matrix, i, element) for each of the lane's elements in shared memory; i, 0 or 1, counts the lane's elements
/// of one matrix.
template <class F>
void for_each_of_matrices(std::uint32_t address, bool transposed, SourceLocation const& location, F f) {
    if (address % 16 != 0) fault("row address of stmatrix or ldmatrix is not a multiple of 16", location);
    Exchange const& rows = running->exchange(address, location);
    unsigned const lane = running->lane();
    for (unsigned matrix = 0; matrix < 4; ++matrix)
        for (unsigned i = 0; i < 2; ++i) {
            unsigned const along = 2 * (lane % 4) + i, across = lane / 4;
            auto const row = static_cast<std::uint32_t>(rows.value[8 * matrix + (transposed ? along : across)]);
            f(matrix, i, shared_pointer(row + 2 * (transposed ? across : along)));
        }
}

}  // namespace

void stmatrix_x4(std::uint32_t address, std::uint32_t const (&elements)[4], bool transposed,
                 SourceLocation const& location) {
    for_each_of_matrices(address, transposed, location, [&](unsigned matrix, unsigned i, void* to) {
        auto const element = static_cast<std::uint16_t>(elements[matrix] >> 16 * i);
        std::memcpy(to, &element, sizeof element);
    });
}

void ldmatrix_x4(std::uint32_t address, std::uint32_t (&elements)[4], bool transposed, SourceLocation const& location) {
    for (auto& both : elements) both = 0;
    for_each_of_matrices(address, transposed, location, [&](unsigned matrix, unsigned i, void const* from) {
        std::uint16_t element;
        std::memcpy(&element, from, sizeof element);
        elements[matrix] |= std::uint32_t{element} << 16 * i;
    });
}

void wgmma(void* acc, int n, std::uint64_t a, std::uint64_t b, bool accumulate, Factor factor, Majors majors,
           SourceLocation location) {
    if (n < 8 || n > 256 || n % (factor == Factor::int8 && n > 32 ? 16 : 8) != 0)
        fault("wgmma requires N = 8, 16, ..., 256; int8 above 32 a multiple of 16", location);
    if (bytes_of(factor) != 2 && majors != Majors{})
        fault("8-bit and TF32 operands of wgmma must be K-major", location);
    if (factor == Factor::float32 || factor > Factor::e5m2)
        fault("wgmma does not support float32 and FNUZ operands", location);
    running_block().asynchrony().multiply(acc, n, a, nullptr, b, accumulate, factor, majors, location);
}
void wgmma_registers(float* acc, int n, std::uint32_t const* a, std::uint64_t b, bool accumulate, Factor factor,
                     Major b_major, SourceLocation const& location) {
    if (n < 8 || n > 256 || n % 8 != 0 || bytes_of(factor) != 2)
        fault("wgmma with a in registers requires 16-bit operands and N = 8, 16, ..., 256", location);
    running_block().asynchrony().multiply(acc, n, 0, a, b, accumulate, factor, {.b = b_major}, location);
}
void wgmma_commit() { running_block().asynchrony().commit_products(); }
void wgmma_wait(unsigned pending, SourceLocation const& location) {
    running_block().asynchrony().wait_for_products(pending, location);
}

}  // namespace hip_on_cpu::sm90a
