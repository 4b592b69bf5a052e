// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>
#include <utility>

#include "fusekit/backend/device.hpp"
#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/arch/target.hpp"
#include "fusekit/backend/hip/arch/wave.hpp"
#include "fusekit/backend/hip/collective/tile_coord.hpp"
#include "fusekit/backend/hip/conv_phases.hpp"
#include "fusekit/backend/hip/copy/amd/float_quads.hpp"
#include "fusekit/backend/hip/copy/amd/tap_filters.hpp"
#include "fusekit/backend/hip/copy/amd/tap_quads.hpp"

namespace fusekit::hip {

/// True if TapOrder can order the taps of the filter in the head's type and pixels can be loaded in quads (four
/// consecutive ones at column stride 1): for a Conv with at least 16 bytes of taps per TapOrder::unit channels, or a
/// TransposedConv of 16- or 32-bit elements without strides.
template <class Plan, Element T>
inline constexpr bool may_have_quads_of_taps = [] {
    if constexpr (!std::is_same_v<typename Plan::Head::template WeightElement<T>, T>) return false;
    else if constexpr (has_transposed_conv<Plan>)
        return sizeof(T) >= 2 && !detail::spreads<problem::GeometryOf<typename Plan::Head>>;
    else if constexpr (requires { Plan::Head::collapsed.group_count; })
        return AnyTapOrder<Plan, T>::in_packets > 0 &&
               Plan::Head::collapsed.strides[Plan::Head::collapsed_space - 1] == 1;
    else return false;
}();

/// True if TapOperands loads the operand tiles of a plan: an NCHW convolution on AMD, or its gradient with respect to
/// x, without a prologue and without pooling.
template <class Plan, class Atom, Element T, detail::Axis fast>
inline constexpr bool has_tap_operands = false;
template <class Plan, class Atom, Element T, detail::Axis fast>
    requires requires {
        requires arch::has<arch::Amd> && fast == detail::Axis::pixel&& may_have_quads_of_taps<Plan, T>;
        requires Atom::stages == 1 && decltype(Atom::Stage::w)::takes_words;
    }
inline constexpr bool has_tap_operands<Plan, Atom, T, fast> = !Plan::has_prologue && !Plan::pools;

/// Member Type: TapOperands' loader of x, for the operand layout of the atom and the element type.
template <class Atom, Element T, bool padded, class Order>
struct TapInputs {
    using Type = TapQuads<T, Atom::tile_m, Atom::threads, padded, Order>;
};
template <class Atom, bool padded, class Order>
struct TapInputs<Atom, float, padded, Order> {
    using Type = FloatQuads<Atom::tile_m, Atom::threads, padded, Order>;
};

template <class X, class W>
struct StageOfTiles {
    X x;
    W w;
};
/// Member Type: LDS stage of TapOperands. It is the atom's stage or, if the loader of x (Inputs) defines a tile type, a
/// stage with that tile for x.
template <class Inputs, class AtomStage>
struct TapStage {
    using Type = AtomStage;
};
template <class Inputs, class AtomStage>
    requires requires { typename Inputs::Tile; }
struct TapStage<Inputs, AtomStage> {
    using Type = StageOfTiles<typename Inputs::Tile, decltype(AtomStage::w)>;
};

/// Operand loader for x in quads of four consecutive pixels (NCHW) and w by taps (KCRS) in a TapOrder, by AMD's buffer
/// loads. Within a phase of the order (k-tiles with the same taps), a thread's offsets and selectors stay in registers,
/// and the wave passes the offset of the k-tile's channels in a scalar register.
template <class Plan, class Atom, Element T, detail::OutputElement U, bool packed>
class TapOperands {
    static constexpr int tile_m = Atom::tile_m, tile_n = Atom::tile_n, threads = Atom::threads,
                         space = Plan::Head::collapsed_space;
    static constexpr bool padded = Plan::Head::may_be_padded;
    using Order = TapOrderOf<Plan, T, Atom::tile_k, packed>;
    using Inputs = typename TapInputs<Atom, T, padded, Order>::Type;
    using Filters = TapFilters<T, Atom::tile_n, Atom::threads, !Plan::totals_tiles, Order>;
    using Params = ConvParams<Plan, T, U>;
    using Problem = decltype(std::declval<Params const&>().problem());

public:
    static constexpr bool is_supported = Order::phases > 0;
    /// LDS table of the offsets of one k-tile.
    using Shared = QuadOffsets<T, T, Order::tile_k, space, padded>;
    using Stage = typename TapStage<Inputs, typename Atom::Stage>::Type;

    __device__ TapOperands(Params const& the_params, Problem const& conv, Shared& the_shared, Pixel const* pixels,
                           TileCoord<tile_m, tile_n> const& at, unsigned the_thread)
        : params(the_params),
          offsets(the_shared),
          thread(the_thread),
          inputs(thread, [&](unsigned i) { return conv.template input_row<padded>(pixels[i], at.group); }),
          weights(thread, conv, at.first_n, at.group),
          to_next(static_cast<std::uint32_t>(conv.x.layout.stride[1]) * std::uint32_t{Order::channels * sizeof(T)}) {
        int const last = conv.window_columns() - 1;
        if constexpr (padded)
            inputs.find_position(space, has_transposed_conv<Plan> ? last : 0, has_transposed_conv<Plan> ? 0 : last);
    }

    /// Returns the number of k-tiles along GemmK.
    __device__ static int steps(Problem const& of) { return Order::phases * Order::steps_of_phase(of.group_c()); }

    /// Position of a k-tile: byte offset in w from the channels of the k-tile that find() located last to those of this
    /// k-tile, which has the same taps.
    using Step = int;

    /// Computes the thread's offsets for k-tile `step`, through the LDS table; returns the number of consecutive
    /// k-tiles for which they are valid. All threads call it.
    __device__ int find(int step) {
        Problem const conv = reload(params).problem();  // scalar registers cannot hold the problem across k-tiles
        int const steps = Order::steps_of_phase(conv.group_c());
        if (step == end) ++phase, end += steps;
        // A k-tile past the last one gets channels out of bounds, so that it reads zeros.
        int const channel = phase == Order::phases ? conv.group_c() : (step - end + steps) * Order::channels;
#pragma unroll 1
        for (unsigned i = thread; i < Order::tile_k; i += threads) {
            KCoord const at = Order::coord(phase, channel, i);
            auto const k_offset = conv.template k_offsets<padded>(at);
            offsets.put(i, k_offset.x, k_offset.w, at.s, conv);
        }
        __syncthreads();
        inputs.find(offsets);
        soffset = 0;
        weights.find(offsets, 0);
        bool const ends_early = conv.group_c() % Order::channels != 0;
        return of_wave((ends_early && step + 1 < end ? end - 1 : end) - step);
    }
    __device__ static Step found(int in_table) { return in_table; }
    __device__ int stride() const { return static_cast<int>(weights.stride()); }
    static constexpr bool has_table = false;
    __device__ void start(Step step, Stage&) {
        inputs.load(soffset);
        soffset += to_next;
        weights.load(static_cast<std::uint32_t>(step));
    }
    __device__ void finish(Step, Stage& stage) { store_operands(inputs, weights, stage); }

private:
    Params const& params;
    Shared& offsets;
    unsigned thread;
    Inputs inputs;
    Filters weights;
    /// byte offset in x from the channels of the k-tile that find() located last to those of the next k-tile to load
    std::uint32_t soffset = 0;
    std::uint32_t to_next;  ///< bytes in x from the channels of a k-tile to those of the next k-tile
    /// phase: index of the current phase of the TapOrder (k-tiles with the same taps). end: index of the first k-tile
    /// of the next phase
    int phase = -1, end = 0;
};

}  // namespace fusekit::hip
