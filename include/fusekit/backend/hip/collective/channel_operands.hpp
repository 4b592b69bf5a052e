// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>
#include <utility>

#include "fusekit/backend/device.hpp"
#include "fusekit/backend/hip/arch/reload.hpp"
#include "fusekit/backend/hip/arch/wave.hpp"
#include "fusekit/backend/hip/collective/near_words.hpp"
#include "fusekit/backend/hip/collective/output_tile.hpp"
#include "fusekit/backend/hip/collective/transposed_filters.hpp"
#include "fusekit/backend/hip/conv_phases.hpp"

namespace fusekit::hip {

/// LoadOperands for AMD's processors, for tiles that read only what lies within 2^30 bytes of their first element, and
/// where channels of x are neighbours: in packets of 16 bytes, at a 32-bit offset from where a row begins (Buffer).
/// While steps have one tap, a thread's offsets stay in registers, and channels are a number that the wave adds.
template <class Plan, class Atom, Element T, detail::OutputElement U>
class ChannelOperands {
    static constexpr int tile_m = Atom::tile_m, tile_n = Atom::tile_n, tile_k = Atom::tile_k, threads = Atom::threads;
    static constexpr bool padded = Plan::Head::may_be_padded;
    /// Indices of GemmK whose offsets are computed at once: packets of 16 bytes.
    static constexpr int packet = 16 / static_cast<int>(sizeof(T)), table = 64 * packet, table_steps = table / tile_k;
    /// Whether offsets are found once for steps of one tap, which costs more than it saves where a tap has one or two
    /// steps. Those of bytes are twice as long.
    static constexpr bool has_runs = sizeof(T) > 1 || !padded;
    using Weight = typename Plan::Head::template WeightElement<T>;
    using Params = ConvParams<Plan, T, U>;
    using Problem = ProblemOfTile<Plan, decltype(std::declval<Params const&>().problem())>;
    using Inputs = NearWords<T, tile_m, tile_k, threads, padded>;
    using Weights = std::conditional_t<has_transposed_conv<Plan>,
                                       TransposedFilters<Weight, decltype(Atom::Stage::w), tile_n, tile_k, threads>,
                                       NearFilters<Weight, tile_n, tile_k, threads, !Plan::totals_tiles>>;

public:
    using Stage = typename Atom::Stage;
    using Shared = WordOffsets<T, Weight, table>;

    __device__ ChannelOperands(Params const& the_params, Problem const& the_conv, Shared& the_shared,
                               Pixel const* pixels, TileCoord<tile_m, tile_n> const& at, unsigned the_thread)
        : params(the_params),
          conv(the_conv),
          offsets(the_shared),
          thread(the_thread),
          inputs(thread, [&](unsigned i) { return conv.template input_row<padded>(pixels[i], at.group); }),
          weights(thread, conv, at.first_n, at.group) {}

    /// The bytes of a row from the first step that was found on, which are as many in the table.
    using Step = int;

    /// As LoadOperands', of steps that follow one another.
    __device__ int find(int step) {
        if constexpr (!has_runs) {
            fill_table(step);
            return table_steps;
        } else {
            if (next == table_steps) fill_table(step), next = 0;
            int const place = next * stride(), count = of_wave(offsets.at(place, 0).steps);
            find_own(place);
            next += count;
            return count;
        }
    }
    __device__ static Step found(int place) { return place; }
    __device__ static int stride() { return tile_k * int{sizeof(T)}; }
    static constexpr bool has_table = !has_runs;
    __device__ void start(Step step, Stage&) {
        if constexpr (!has_runs) find_own(step);
        auto const further = static_cast<std::uint32_t>(has_runs ? step : 0);
        inputs.load(further);
        if constexpr (has_transposed_conv<Plan>) weights.load();
        else weights.load(further);
    }
    __device__ void finish(Step, Stage& stage) { store_operands(inputs, weights, stage); }

private:
    Params const& params;
    Problem const& conv;
    Shared& offsets;
    unsigned thread;
    Inputs inputs;
    Weights weights;
    int next = table_steps;  ///< where in the table the steps after those that are found are

    __device__ void find_own(int place) {
        inputs.find(offsets, place);
        weights.find(offsets, place);
    }
    __device__ void fill_table(int step) const {
        unsigned const first = opaque_per_block(static_cast<unsigned>(step)) * tile_k;
#pragma unroll 1
        for (unsigned i = thread; i < table / packet; i += threads) {
            KCoord const at = conv.k_coord(first + i * packet, params.channels_fastest);
            auto const place = conv.template k_offsets<padded>(at);
            int const of_tap = (conv.group_c() - at.c) / tile_k,
                      in_table = table_steps - static_cast<int>(i * packet) / tile_k;
            offsets.put(i * packet, place.x, place.w, of_tap < 1 ? 1 : of_tap < in_table ? of_tap : in_table);
        }
        __syncthreads();
    }
};

}  // namespace fusekit::hip
