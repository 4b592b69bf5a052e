// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "fusekit/backend/hip/arch/wave.hpp"
#include "fusekit/backend/hip/copy/amd/table_operands.hpp"
#include "fusekit/backend/hip/copy/amd/transposed_filters.hpp"

namespace fusekit::hip {

namespace detail {

/// Member Base: TableOperands with the loaders and the LDS table of ChannelOperands, which has one entry for each 16
/// bytes along GemmK.
template <class Plan, class Atom, Element T, OutputElement U>
struct ChannelOperandsOf {
    static constexpr bool padded = Plan::Head::may_be_padded;
    static constexpr int tile_n = Atom::tile_n, tile_k = Atom::tile_k, threads = Atom::threads,
                         packet = 16 / static_cast<int>(sizeof(T)), table = 64 * packet;
    using Weight = typename Plan::Head::template WeightElement<T>;
    using Weights = std::conditional_t<has_transposed_conv<Plan>,
                                       TransposedFilters<Weight, decltype(Atom::Stage::w), tile_n, tile_k, threads>,
                                       FilterPackets<Weight, tile_n, tile_k, threads, !Plan::totals_tiles>>;
    using Base = TableOperands<Plan, Atom, T, U, InputPackets<T, Atom::tile_m, tile_k, threads, padded>, Weights,
                               PacketOffsets<T, Weight, table>, table, packet>;
};

}  // namespace detail

/// Operand loader for contiguous channels (NHWC, KRSC) by AMD's 16-byte buffer loads at 32-bit offsets. Precondition: a
/// tile reads within 2^30 bytes of its first element. For all k-tiles of one filter tap, a thread keeps its offsets in
/// vector registers, and the wave passes the offset of the k-tile's channels in a scalar register.
template <class Plan, class Atom, Element T, detail::OutputElement U>
class ChannelOperands : public detail::ChannelOperandsOf<Plan, Atom, T, U>::Base {
    using Base = typename detail::ChannelOperandsOf<Plan, Atom, T, U>::Base;
    using Base::conv, Base::inputs, Base::offsets, Base::weights, Base::table_steps, Base::tile_k;
    /// True if a thread reads its offsets from the LDS table once for all k-tiles of a filter tap. Otherwise it reads
    /// them for each k-tile: padded one-byte elements have few k-tiles per tap, each twice as long.
    static constexpr bool has_runs = sizeof(T) > 1 || !Base::padded;

public:
    using typename Base::Stage;
    /// Position of a k-tile. With `has_runs`: byte offset, in x and in w, from the channels of the k-tile that find()
    /// located last to those of this one. Otherwise: byte offset of the k-tile's first entry in the LDS table.
    using typename Base::Step;
    static constexpr bool has_table = !has_runs;

    using Base::Base;

    /// Locates k-tile `step`: with `has_runs`, reads the thread's offsets for it from the LDS table; otherwise fills
    /// the table from this k-tile on. Returns the number of consecutive k-tiles for which the offsets, or the table,
    /// are valid.
    __device__ int find(int step) {
        if constexpr (!has_runs) {
            fill(step);
            return table_steps;
        } else {
            if (next == table_steps) fill(step), next = 0;
            int const table_offset = next * stride(), count = of_wave(offsets.at(table_offset, 0).steps);
            find_own(table_offset);
            next += count;
            return count;
        }
    }
    __device__ static int stride() { return tile_k * int{sizeof(T)}; }
    __device__ void start(Step step, Stage&) {
        if constexpr (!has_runs) find_own(step);
        auto const soffset = static_cast<std::uint32_t>(has_runs ? step : 0);
        inputs.load(soffset);
        if constexpr (has_transposed_conv<Plan>) weights.load();
        else weights.load(soffset);
    }

private:
    /// index, in k-tiles of the LDS table, of the first k-tile whose offsets have not been read
    int next = table_steps;

    __device__ void find_own(int table_offset) {
        inputs.find(offsets, table_offset);
        weights.find(offsets, table_offset);
    }
    __device__ void fill(int step) const {
        this->fill_table(step, [&](unsigned i, KCoord const& at, auto const& k_offset) {
            int const of_tap = (conv.group_c() - at.c) / tile_k, in_table = table_steps - static_cast<int>(i) / tile_k;
            offsets.put(i, k_offset.x, k_offset.w, of_tap < 1 ? 1 : of_tap < in_table ? of_tap : in_table);
        });
    }
};

}  // namespace fusekit::hip
