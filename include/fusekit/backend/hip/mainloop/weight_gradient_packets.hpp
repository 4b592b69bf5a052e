// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <type_traits>

#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/arch/buffer.hpp"
#include "fusekit/backend/hip/arch/permute.hpp"
#include "fusekit/backend/hip/arch/reload.hpp"
#include "fusekit/backend/hip/arch/wave.hpp"
#include "fusekit/backend/hip/copy/wgrad/load_pixels.hpp"
#include "fusekit/backend/hip/copy/wgrad/packet_offsets.hpp"
#include "fusekit/backend/hip/copy/wgrad/tile.hpp"
#include "fusekit/tensor/view.hpp"

namespace fusekit::hip {

/// Addresses from which a thread loads one operand: `first`, the operand's base address; `offsets`, an LDS table of the
/// byte offsets of the thread's pixels; `row`, the byte offset of the thread's row of the operand tile (a channel of y
/// or a column of dw).
template <Element T>
struct PacketSource {
    T const* first;
    std::uint32_t const* offsets;
    std::uint32_t row;
};

/// A thread's vector loads of one operand at consecutive pixels. The pixels' offsets are read from the LDS table one
/// k-tile ahead of the loads.
template <Element T, class Packets>
class PacketLoader {
public:
    static constexpr std::integral_constant<ContiguousMode, Packets::widest> in_packets = {};

    __device__ explicit PacketLoader(PacketSource<T> const& the_source)
        : source(the_source), memory(the_source.first) {}
    __device__ void find(unsigned in_table) {
        offsets = *reinterpret_cast<decltype(offsets) const*>(source.offsets + in_table);
    }
    __device__ void load(unsigned thread) {
        int i = 0;
        packets.each(in_packets, thread, [&](auto& to, unsigned, unsigned) {
            std::uint32_t const offset = saturating_sum(offsets.values[i++], source.row);
            to = memory.load<std::remove_reference_t<decltype(to)>>(offset);
            keep_apart();
        });
    }
    __device__ void wait() { packets.wait(in_packets); }
    template <class Rows>
    __device__ void store(unsigned thread, Rows& rows, std::uint32_t over = 0) {
        packets.store(in_packets, thread, rows, over);
    }

private:
    PacketSource<T> source;
    Buffer memory;
    Packets packets;
    Packet<std::uint32_t, Packets::packets> offsets;
};

/// WeightGradient's k-loop on AMD for vectorized channels of x and dy (WeightGradientParams::in_packets). At each of
/// four pixels a thread loads one vector of columns of dw: adjacent channels of x at one tap, or the vector that begins
/// with the column of ones. With a wide tile, half of the waves load x and the others dy.
template <Element T, int Space, class Tile>
class WeightGradientPackets {
    using AtomOf = WeightGradientAtom<T, Tile>;
    using Atom = typename AtomOf::Type;
    using TileAt = WeightGradientTileAt<Tile>;
    static constexpr int threads = Atom::threads, tile_k = AtomOf::tile_k;
    using Offsets = TapPacketOffsets<T, Space, Tile, tile_k>;
    static constexpr bool halves_load = Tile::n == Tile::m;
    /// number of threads that load one operand: all, or half of them
    static constexpr int loading = halves_load ? threads / 2 : threads;
    static_assert(AtomOf::stage_count == 1 && AtomOf::addends % Offsets::pixels == 0);
    using OfX = TileOfPixels<T, decltype(Atom::Stage::x), Tile::m, tile_k, loading>;
    using OfDy = TileOfPixels<T, decltype(Atom::Stage::w), Tile::n, tile_k, loading>;
    static constexpr auto in_packets = PacketLoader<T, OfX>::in_packets;
    static constexpr auto bytes = static_cast<std::uint32_t>(sizeof(T));

public:
    template <class Params, class Totals>
    __device__ __forceinline__ static Totals multiply(Params const& params, typename Atom::Stage& stage,
                                                      Offsets& offsets, Totals totals, TileAt const& at,
                                                      Atom const& atom, unsigned the_thread) {
        int const begin = of_wave(at.begin), end = of_wave(at.end);
        if (begin >= end) return totals;
        auto const conv = params.problem();
        auto const taps = TapRange::of_tile(conv, at, static_cast<int>(params.weights()));
        unsigned const thread = the_thread % loading;
        // true in waves that load dy instead of x
        bool const loads_dy = of_wave(static_cast<int>(the_thread / loading)) != 0;
        bool const has_ones = static_cast<int>(OfX::first_row(in_packets, thread)) == at.ones(params) && !loads_dy;
        std::uint32_t const ones = has_ones ? word_of_ones<T>() : 0;
        PacketSource<T> const in_x = source_in_x(params, offsets, taps, at, thread),
                              in_dy = source_in_dy(params, offsets, at, thread);
        PacketLoader<T, OfX> x(loads_dy ? in_dy : in_x);
        PacketLoader<T, OfDy> dy(in_dy);
        auto& rows_of_x = halves_load && loads_dy ? reinterpret_cast<decltype(stage.x)&>(stage.w) : stage.x;
        auto const find = [&](int in_table) {
            x.find(static_cast<unsigned>(in_table));
            if constexpr (!halves_load) dy.find(static_cast<unsigned>(in_table));
        };
        auto const load = [&] {
            x.load(thread);
            if constexpr (!halves_load) dy.load(thread);
        };
        auto const store = [&] {
            if constexpr (halves_load) x.wait();
            else dy.wait();  // waits for all loads: dy is loaded last
            x.store(thread, rows_of_x, ones);
            if constexpr (!halves_load) dy.store(thread, stage.w);
        };
        auto const fill = [&](int pixel) {
            offsets.fill(reload(params).problem(), taps, pixel, end, opaque_per_thread(the_thread));
        };
        typename Atom::Fragment acc = {};
        offsets.find_taps(conv, taps, the_thread);
        sync_shared_memory<threads>();
        fill(begin);
        sync_shared_memory<threads>();
        find(0);
        load();
        find(tile_k);
        store();
        sync_shared_memory<threads>();
        atom.wait(acc);
        auto const multiply_and_load = [&](int next, auto const& between) {
            load();
            find(next);
            keep_apart();  // otherwise a load after the MMAs would need its own wait
            atom.multiply(stage, acc);  // (TILE_M, TILE_N) += over TILE_K
            sync_shared_memory<threads>();
            between();
            store();
            sync_shared_memory<threads>();
            atom.wait(acc);
        };
        constexpr int half = 2 * tile_k;  // half of the table, in pixels
        int next = half;
        for (int pixel = begin; pixel < end; pixel += half) {
            multiply_and_load(next, [] {});
            multiply_and_load(next + tile_k, [&] {
                if (next == 0) return;
                fill(pixel + 2 * half);
                if (AtomOf::promotes && (pixel - begin) % AtomOf::addends == AtomOf::addends - 2 * half) {
                    totals.add(acc);
                    atom.wait(acc);
                }
            });
            next = half - next;
        }
        if constexpr (AtomOf::promotes) totals.add(acc);
        else totals.set(acc);
        return totals;
    }

private:
    /// Returns the PacketSource, in x, of the thread's columns of dw. Columns past the weights get the row offset ~0,
    /// which is out of the Buffer's range and reads zero.
    template <class Params>
    __device__ static PacketSource<T> source_in_x(Params const& params, Offsets const& offsets, TapRange const& taps,
                                                  TileAt const& at, unsigned thread) {
        auto const conv = params.problem();
        int const column = at.first_column + static_cast<int>(OfX::first_row(in_packets, thread));
        bool const is_weight = column < params.weights();
        int const tap = is_weight ? column / conv.group_c() : taps.first, channel = column - tap * conv.group_c();
        return {conv.x.data + conv.first_c(at.group) * conv.x.layout.stride[1],
                offsets.in_x[tap - taps.first] + OfX::first_pixel(in_packets, thread),
                is_weight ? static_cast<std::uint32_t>(channel) * bytes : ~0u};
    }
    /// Returns the PacketSource, in dy, of the thread's channels of y. Channels past the channel group's last one load
    /// the tile's first channel; their results are not stored.
    template <class Params>
    __device__ static PacketSource<T> source_in_dy(Params const& params, Offsets const& offsets, TileAt const& at,
                                                   unsigned thread) {
        auto const conv = params.problem();
        auto const dy = detail::typed<T>(params.bound.head.dy);
        unsigned const row = OfDy::first_row(in_packets, thread);
        return {dy.data + (conv.first_k(at.group) + at.first_k) * dy.layout.stride[1],
                offsets.in_dy + OfDy::first_pixel(in_packets, thread),
                static_cast<int>(row) < conv.group_k() - at.first_k ? row * bytes : 0};
    }
};

}  // namespace fusekit::hip
