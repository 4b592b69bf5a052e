// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "fusekit/backend/hip/arch/wave.hpp"
#include "fusekit/backend/hip/copy/amd/table_operands.hpp"
#include "fusekit/backend/hip/copy/amd/transposed_filters.hpp"

namespace fusekit::hip {

namespace detail {

/// Types of ChannelOperands. The table has one offset for each packet of 16 bytes.
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

/// Loads operands whose channels are contiguous (NHWC, KRSC) by AMD's buffer loads: packets of 16 bytes at 32-bit
/// offsets, for tiles that read within 2^30 bytes of their first element. Within a tap a thread keeps its offsets in
/// registers and the wave adds the channel offset in a scalar register.
template <class Plan, class Atom, Element T, detail::OutputElement U>
class ChannelOperands : public detail::ChannelOperandsOf<Plan, Atom, T, U>::Base {
    using Base = typename detail::ChannelOperandsOf<Plan, Atom, T, U>::Base;
    using Base::conv, Base::inputs, Base::offsets, Base::weights, Base::table_steps, Base::tile_k;
    /// True if offsets are read from the table once for all steps of a tap. With padded one-byte elements a tap has few
    /// steps, each twice as long: every step reads its offsets.
    static constexpr bool has_runs = sizeof(T) > 1 || !Base::padded;

public:
    using typename Base::Stage;
    /// Byte offset of a step: in a row, from the step whose offsets were read last (`has_runs`), or in the table.
    using typename Base::Step;
    static constexpr bool has_table = !has_runs;

    using Base::Base;

    /// Reads the offsets of `step` and of consecutive steps; returns how many steps may use them.
    __device__ int find(int step) {
        if constexpr (!has_runs) {
            fill(step);
            return table_steps;
        } else {
            if (next == table_steps) fill(step), next = 0;
            int const place = next * stride(), count = of_wave(offsets.at(place, 0).steps);
            find_own(place);
            next += count;
            return count;
        }
    }
    __device__ static int stride() { return tile_k * int{sizeof(T)}; }
    __device__ void start(Step step, Stage&) {
        if constexpr (!has_runs) find_own(step);
        auto const further = static_cast<std::uint32_t>(has_runs ? step : 0);
        inputs.load(further);
        if constexpr (has_transposed_conv<Plan>) weights.load();
        else weights.load(further);
    }

private:
    int next = table_steps;  ///< first step of the table whose offsets are not read yet

    __device__ void find_own(int place) {
        inputs.find(offsets, place);
        weights.find(offsets, place);
    }
    __device__ void fill(int step) const {
        this->fill_table(step, [&](unsigned i, KCoord const& at, auto const& place) {
            int const of_tap = (conv.group_c() - at.c) / tile_k, in_table = table_steps - static_cast<int>(i) / tile_k;
            offsets.put(i, place.x, place.w, of_tap < 1 ? 1 : of_tap < in_table ? of_tap : in_table);
        });
    }
};

}  // namespace fusekit::hip
