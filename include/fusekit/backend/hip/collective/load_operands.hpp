// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "fusekit/backend/device.hpp"
#include "fusekit/backend/hip/arch/reload.hpp"
#include "fusekit/backend/hip/arch/target.hpp"
#include "fusekit/backend/hip/collective/load_tile.hpp"
#include "fusekit/backend/hip/collective/load_words.hpp"
#include "fusekit/backend/hip/collective/tile_coord.hpp"

namespace fusekit::hip {

/// True if the operand tiles in a Stage have RowTile::put_words(), which stores a 16-byte chunk of a row.
template <class Stage>
inline constexpr bool takes_words = requires { decltype(Stage::x)::takes_words; };

/// Operand loader of implicit GEMM: copies one k-tile after another from global memory to the atom's SMEM stages.
/// Operand x is the windows of x, with the plan's prologue applied; operand w is the filters. `fast` is the contiguous
/// mode of x.
///
/// Two SMEM tables have the offset in x and the offset in w of each index of GemmK, for several k-tiles. All threads
/// fill the tables together, because a warp with more work would delay the others at every barrier.
template <class Plan, class Atom, Element T, detail::OutputElement U, detail::Axis fast>
class LoadOperands {
    static constexpr int tile_m = Atom::tile_m, tile_n = Atom::tile_n, tile_k = Atom::tile_k, threads = Atom::threads;
    static constexpr bool padded = Plan::Head::may_be_padded, single_pixels = Plan::Head::may_be_single_pixels;
    static constexpr bool contiguous_rows = decltype(Atom::Stage::x)::contiguous_rows;
    /// small_table: true if the tables are shorter, on processors with little SMEM, because a plan with a prologue also
    /// stores the prologue's parameters for each index of GemmK. table_steps, table: k-tiles and indices of GemmK per
    /// table.
    static constexpr bool small_table = Plan::has_prologue && arch::Target::processor.shared_bytes <= 128 * 1024;
    static constexpr int table_steps = (max)(1, (min)(threads, small_table ? 32 : 128) / tile_k),
                         table = table_steps * tile_k;
    using Prologue = typename Plan::Prologue;
    using Params = ConvParams<Plan, T, U>;
    using Problem = ProblemOfTile<Plan, decltype(std::declval<Params const&>().problem())>;
    using Convert = std::conditional_t<Plan::has_prologue, ApplyPrologue<Prologue, table>, NoConversion>;
    template <Element E, int size, class C>
    using AlongK = std::conditional_t<takes_words<typename Atom::Stage>, WordsAlongK<E, size, tile_k, threads, C>,
                                      TileAlongK<E, size, tile_k, threads, C>>;
    using Inputs =
        std::conditional_t<fast == detail::Axis::channel, AlongK<T, tile_m, Convert>,
                           TileAlongRows<T, tile_m, tile_k, threads, single_pixels && contiguous_rows, Convert>>;
    using Weights = AlongK<typename Plan::Head::template WeightElement<T>, tile_n, NoConversion>;

public:
    using Stage = typename Atom::Stage;
    /// Number of elements of x (input_packet) and of w (weight_packet) that one vector load reads if ConvParams marks
    /// the operand as vectorized; otherwise a load reads one element.
    static constexpr int input_packet = Inputs::count, weight_packet = Weights::count;
    /// number of indices of GemmK in a table; a table starts at a multiple of table_k
    static constexpr int table_k = table;

    struct Shared : PrologueStates<Prologue, table> {
        alignas(16) KOffset x_offsets[table], w_offsets[table];
    };

    /// `pixels` are the tile_m pixels of the output tile `at`.
    __device__ LoadOperands(Params const& the_params, Problem const& the_conv, Shared& the_shared, Pixel const* pixels,
                            TileCoord<tile_m, tile_n> const& at, unsigned the_thread)
        : params(the_params),
          conv(the_conv),
          shared(the_shared),
          thread(the_thread),
          group(at.group),
          inputs(thread, params.inputs_vectorized,
                 [&](unsigned i) { return conv.template input_row<padded>(pixels[i], group); }),
          weights(thread, params.weights_vectorized,
                  [&](unsigned i) { return conv.weight_row(at.first_n + static_cast<int>(i), group); }) {}

    /// A k-tile's position in the tables, from prepare() or found() to start() and finish().
    struct Step {
        int in_table;  ///< index in the tables of the k-tile's first entry
        typename Prologue::Args const& prologue;
    };

    /// Fills the tables for k-tile `step` and those after it if `step` is the first k-tile of a table and `is_valid`
    /// (`step` is not past the last k-tile). Returns the k-tile's Step. All threads call it.
    __device__ Step prepare(int step, bool is_valid) {
        if (is_valid && step % table_steps == 0) find(step);
        return found(step % table_steps * tile_k);
    }
    /// Fills the tables for k-tile `step` and those after it; returns the number of k-tiles per table.
    __device__ int find(int step) {
        fill_table(step, prologue());
        return table_steps;
    }
    /// Returns the Step of the k-tile whose table entries begin at index `in_table`: k-tile i of the table begins at i
    /// * stride().
    __device__ Step found(int in_table) const { return {in_table, prologue()}; }
    __device__ static int stride() { return tile_k; }
    /// true: this loader has a table, which find() fills and in which found() locates a k-tile
    static constexpr bool has_table = true;
    /// Issues the loads of a k-tile to registers or, if they are asynchronous copies, to `stage`.
    __device__ void start(Step const& step, Stage& stage) {
        inputs.load(&shared.x_offsets[step.in_table], stage.x);
        weights.load(&shared.w_offsets[step.in_table], stage.w);
    }
    /// Stores the loaded registers to `stage`, or waits for the asynchronous copies. After the next barrier `stage` has
    /// the k-tile.
    __device__ void finish(Step const& step, Stage& stage) const {
        finish_inputs<0, 1>(step, stage);
        weights.store(stage.w, {});
    }
    /// Does part number `part` of the work of finish(), where `parts` parts divide the work equally.
    template <int part, int parts>
    __device__ void finish_part(Step const& step, Stage& stage) const {
        finish_inputs<part, parts>(step, stage);
        weights.template store_part<part, parts>(stage.w, {});
    }

private:
    Params const& params;
    Problem const& conv;
    Shared& shared;
    unsigned thread;
    int group;
    Inputs inputs;
    Weights weights;

    __device__ typename Prologue::Args const& prologue() const {
        return (Plan::has_prologue ? reload(params) : params).bound.prologue;
    }
    template <int part, int parts>
    __device__ void finish_inputs(Step const& step, Stage& stage) const {
        auto const first = static_cast<unsigned>(step.in_table);
        typename Prologue::Args const& prologue = step.prologue;
        Convert const convert = [&] {
            if constexpr (Plan::has_prologue) return Convert{shared, &shared.x_offsets[first], first, prologue};
            else return Convert{};
        }();
        if constexpr (parts == 1) inputs.store(stage.x, convert);
        else inputs.template store_part<part, parts>(stage.x, convert);
    }

    __device__ void fill_table(int step, typename Prologue::Args const& prologue) const {
        // reload `problem` from kernel arguments: with a prologue, AMD's scalar registers cannot hold it across k-tiles
        if constexpr (Plan::has_prologue && takes_words<Stage> && !has_phases<Plan>())
            fill_table(step, prologue, reload(params).problem());
        else fill_table(step, prologue, conv);
    }
    __device__ void fill_table(int step, typename Prologue::Args const& prologue, Problem const& of) const {
        if (thread < table) {
            unsigned const k = static_cast<unsigned>(step * tile_k) + thread;
            KCoord const k_coord = of.k_coord(k, params.channels_fastest);
            auto const offsets = of.template k_offsets<padded>(k_coord);
            shared.x_offsets[thread] = offsets.x;
            shared.w_offsets[thread] = offsets.w;
            if constexpr (Prologue::channelwise)
                if (k_coord.c < of.group_c())
                    shared.put(thread, Prologue::prepare(std::int64_t{of.first_c(group) + k_coord.c}, prologue));
        }
        __syncthreads();
    }
};

}  // namespace fusekit::hip
