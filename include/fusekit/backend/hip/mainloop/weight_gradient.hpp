// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "fusekit/backend/hip/arch/reload.hpp"
#include "fusekit/backend/hip/arch/wave.hpp"
#include "fusekit/backend/hip/copy/wgrad/load_pixels.hpp"
#include "fusekit/backend/hip/copy/wgrad/tile.hpp"
#include "fusekit/backend/hip/mainloop/weight_gradient_packets.hpp"
#include "fusekit/backend/hip/mainloop/weight_gradient_params.hpp"
#include "fusekit/backend/hip/mainloop/weight_gradient_pixels.hpp"
#include "fusekit/backend/hip/mainloop/weight_gradient_rows.hpp"
#include "fusekit/backend/hip/mainloop/weight_gradient_sums.hpp"
#include "fusekit/backend/hip/statistics/fragment_totals.hpp"

namespace fusekit::hip {

/// Weight gradient as an implicit GEMM per channel group: dw (N, M) = dy^T (N, K) im2col(x) (K, M), where K is all
/// pixels. A tile of dw has tile_n channels of y and tile_m columns (channel of x and tap); one more column, of ones,
/// gives the bias gradient. A CTA reduces a range of the pixels, whose offsets it computes in SMEM tables of `table`
/// pixels. After every `addends` pixels the accumulators are promoted to FP32 running sums (FragmentTotals), which
/// bounds rounding errors. The CTAs of a tile then add their sums (split-K).
///
/// There are two SMEM stages and two tables of pixels. On AMD, whose LDS is small, there is one of each: loads of a
/// k-tile stay in registers until all threads have multiplied the k-tile before.
template <class Plan, Element T, detail::OutputElement U, class TheTile = WeightGradientTile>
class WeightGradient {
public:
    using Tile = TheTile;

private:
    static constexpr bool has_packets_alone = !std::is_same_v<Tile, WeightGradientTile>;
    /// True if the target has this tile (has_weight_gradient). Otherwise the kernel is empty and needs little SMEM.
    static constexpr bool runs = has_weight_gradient<Tile, T, arch::Target>;
    using AtomOf = WeightGradientAtom<T, Tile>;
    using Atom = typename AtomOf::Type;
    static constexpr int tile_k = AtomOf::tile_k, addends = AtomOf::addends, table = 64;
    static constexpr unsigned stage_count = AtomOf::stage_count, table_steps = table / tile_k;
    static_assert(table % tile_k == 0 && table_steps > 1 && addends % tile_k == 0);
    static constexpr int space = Plan::Head::collapsed_space, column_stride = Plan::Head::collapsed.strides[space - 1];
    using Coord = InputCoord<space>;
    using Epilogue = typename Plan::Epilogue;

public:
    using Params = WeightGradientParams<Plan, T, U>;
    static constexpr int tile_m = Tile::m, tile_n = Tile::n, threads = Tile::threads, blocks = Tile::per_processor,
                         passes = Tile::passes, min_pixels = 256;
    static_assert(threads == Atom::threads);
    using OfSums = WeightGradientSums<Atom, Tile>;
    using Accumulators = typename OfSums::Shared;

private:
    using Fragment = typename Atom::Fragment;
    using Totals = FragmentTotals<Fragment, threads, AtomOf::keeps_totals || !runs>;
    using OfX = TileOfPixels<T, decltype(Atom::Stage::x), tile_m, tile_k, threads>;
    using OfDy = TileOfPixels<T, decltype(Atom::Stage::w), tile_n, tile_k, threads>;
    using TileAt = WeightGradientTileAt<Tile>;
    using InPackets = std::integral_constant<ContiguousMode, OfX::widest>;
    /// True if the target has the specialized k-loop WeightGradientPackets (vectors of channels; has_packets),
    /// WeightGradientPixels (single pixels of x; has_pixels) or WeightGradientRows (vectors of pixels of a row;
    /// has_rows).
    static constexpr bool has_packets = Tile::of_amd && OfX::transposes, has_pixels = has_packets && !has_packets_alone,
                          has_rows = has_pixels && has_row_offsets<T>(Plan::Head::collapsed);
    using Packets = WeightGradientPackets<T, space, Tile>;

public:
    struct Singles {
        PixelTable<space, table> pixels[stage_count];
        Coord columns[tile_m];
    };
    /// SMEM layout of the k-loop: its stages and tables, whose memory the accumulators reuse afterwards. Each
    /// specialized k-loop has a table type of its own.
    struct Operands {
        typename Atom::Stage stages[stage_count];
        union {
            Singles singles;
            std::conditional_t<has_packets, TapPacketOffsets<T, space, Tile, tile_k>, detail::Nothing> tap_offsets;
            std::conditional_t<has_pixels, WindowOffsets<T>, detail::Nothing> window_offsets;
            std::conditional_t<has_rows, RowOffsets<T, column_stride>, detail::Nothing> row_offsets;
        };
    };
    struct Shared : Totals::Shared {
        union {
            Operands operands;
            Accumulators acc;
        };
    };

    __device__ __forceinline__ static void run(Params const& params, Shared& shared, unsigned thread, unsigned block) {
        if constexpr (runs) run_tile(params, shared, thread, block);
    }

private:
    __device__ __forceinline__ static void run_tile(Params const& params, Shared& shared, unsigned thread,
                                                    unsigned block) {
        auto const conv = params.problem();
        TileAt const at(params, conv, block);
        if (has_columns(params)) fill_columns(params, conv, shared.operands.singles.columns, at, thread);
        Atom const atom(thread);
        Totals const none(shared, thread);
        Totals totals = with_contiguous_modes(params, [&](auto in_x, auto in_dy) {
            return multiply(reload(params), shared.operands, none, at, atom, in_x, in_dy, thread);
        });
        OfSums::store(
            params, shared.acc, atom, block, thread,
            [&] {
                totals.wait(atom);
                return totals.get();
            },
            [](Params const& again, unsigned column) { return OfX::operand_row(again.in_x, column); },
            [](Params const& again, unsigned channel) { return OfDy::operand_row(again.in_dy, channel); },
            [](Params const& own, auto const& of, int column) { return weight(own, of, column); });
    }

    /// Calls f(in_x, in_dy) with the contiguous modes (ContiguousMode) of x and of dy. The modes of common layouts are
    /// passed as compile-time constants, because every instruction other than MFMA costs time.
    template <class F>
    __device__ static Totals with_contiguous_modes(Params const& params, F const& f) {
        if constexpr (has_packets_alone) {
            return f(InPackets{}, InPackets{});
        } else {
            if constexpr (OfX::transposes) {
                bool const are_widest = params.in_x == OfX::widest && params.in_dy == OfX::widest;
                if (has_packets ? params.in_packets : are_widest) return f(InPackets{}, InPackets{});
            }
            if constexpr (has_pixels)
                if (params.in_pixels) return f(InPixels{}, InPixels{});
            if constexpr (has_rows)
                if (params.in_rows) return f(InRows{}, InRows{});
            bool const one_by_one = !has_packets && params.in_rows;
            return f(one_by_one ? ContiguousMode::pixels : params.in_x,
                     one_by_one ? ContiguousMode::pixels : params.in_dy);
        }
    }

    template <class Problem>
    __device__ static KCoord weight(Params const& params, Problem const& conv, int column) {
        return conv.k_coord(static_cast<unsigned>(column), params.in_x != ContiguousMode::pixels);
    }

    /// True if the general k-loop runs, which needs the table of dw's columns.
    __device__ static bool has_columns(Params const& params) {
        return !has_packets_alone && !(has_packets && (params.in_packets || params.in_pixels)) &&
               !(has_rows && params.in_rows);
    }
    template <class Problem>
    __device__ static void fill_columns(Params const& params, Problem const& conv, Coord (&columns)[tile_m],
                                        TileAt const& at, unsigned thread) {
        for (unsigned i = thread; i < tile_m; i += threads) {
            Coord& column = columns[i];
            int const index = at.first_column + static_cast<int>(i);
            KCoord const of = weight(params, conv, index);
            column.at = conv.distance(of.r, of.s);
            column.offset = of.c * conv.x.layout.stride[1] + conv.input_offset(column.at);
            if (index >= params.weights()) column.set_out_of_bounds();
        }
    }

    /// Fills the table `pixels` with `table` pixels of dy from pixel m on. Reloads the parameters, so that no
    /// intermediate value stays in registers.
    __device__ static void fill_pixels(Params const& params, PixelTable<space, table>& pixels, TileAt const& at, int m,
                                       unsigned the_thread) {
        unsigned const thread = opaque_per_thread(the_thread);
        auto conv = reload(params).problem();
        conv.first_image = at.first_image;
        for (unsigned i = thread; i < table; i += threads) {
            Coord& origin = pixels.in_x[i];
            int const pixel = m + static_cast<int>(i);
            bool const in_bounds = pixel < at.end;
            Pixel const to = conv.existing_pixel(in_bounds ? pixel : at.begin);
            origin.at = conv.window(to);
            origin.offset = to.n * conv.x.layout.stride[0] + conv.input_offset(origin.at);
            pixels.in_dy[i] = conv.output_offset(to);
            if (!in_bounds) origin.set_out_of_bounds();
        }
    }

    /// Runs the k-loop; returns the thread's FP32 sums over the CTA's pixels.
    template <class InX, class InDy>
    __device__ __forceinline__ static Totals multiply(Params const& params, Operands& shared, Totals totals,
                                                      TileAt const& at, Atom const& atom, InX in_x, InDy in_dy,
                                                      unsigned thread) {
        if constexpr (has_packets && std::is_same_v<InX, InPackets>)
            return Packets::multiply(params, shared.stages[0], shared.tap_offsets, totals, at, atom, thread);
        if constexpr (has_pixels && std::is_same_v<InX, InPixels>)
            return WeightGradientPixels<T>::multiply(params, shared.stages[0], shared.window_offsets, totals, at, atom,
                                                     thread);
        if constexpr (std::is_same_v<InX, InRows>)
            return WeightGradientRows<T, column_stride>::multiply(params, shared.stages[0], shared.row_offsets, totals,
                                                                  at, atom, thread);
        auto const conv = params.problem();
        constexpr unsigned flush_steps = addends / tile_k;
        Index<4> const& stride = params.bound.head.dy.layout.stride;
        T const *const of_x = conv.x.data + conv.first_c(at.group) * conv.x.layout.stride[1],
                       *const of_dy = detail::typed<T>(params.bound.head.dy).data +
                                      (conv.first_k(at.group) + at.first_k) * stride[1];
        auto const load_if = [](bool is_read, T const* from, auto& to) {
            to = Zeros().load_if(is_read, reinterpret_cast<std::remove_reference_t<decltype(to)> const*>(from));
        };
        auto const channels = static_cast<unsigned>((min)(conv.group_k() - at.first_k, tile_n));
        int const pixels = (max)(at.end - at.begin, 0);
        auto const steps = static_cast<unsigned>(of_wave(static_cast<int>(detail::divide_up(pixels, tile_k))));
        int const ones = of_wave(at.ones(params));
        OfX x;
        OfDy dy;
        auto const fill = [&](unsigned number) {
            fill_pixels(params, shared.singles.pixels[number % stage_count], at,
                        at.begin + static_cast<int>(number) * table, thread);
        };
        Fragment acc = {};
        if (steps == 0) return totals;
        fill(0);
        sync_shared_memory<threads>();
        auto const load = [&](unsigned step) {
            auto const& table_of_step = shared.singles.pixels[step / table_steps % stage_count];
            unsigned const first = step % table_steps * tile_k;
            Coord const* const in_x_of = table_of_step.in_x + first;
            std::int64_t const* const in_dy_of = table_of_step.in_dy + first;
            x.each(in_x, thread, [&](auto& to, unsigned pixel, unsigned row) {
                Coord const origin = in_x_of[pixel].whole();
                Coord const column = shared.singles.columns[row].whole();
                load_if(conv.has(origin.at, column.at), of_x + origin.offset + column.offset, to);
            });
            if (ones >= 0)
                x.each(in_x, thread, [&](auto& to, unsigned pixel, unsigned row) {
                    // written without a branch, as both values are loaded
                    bool const in_bounds = in_x_of[pixel].in_bounds();
                    if (in_bounds && row == static_cast<unsigned>(ones)) to.values[0] = T(1.0f);
                });
            dy.each(in_dy, thread, [&](auto& to, unsigned pixel, unsigned row) {
                bool const in_bounds = in_x_of[pixel].in_bounds();
                load_if(in_bounds && row < channels, of_dy + in_dy_of[pixel] + row * stride[1], to);
            });
        };
        auto const store = [&](unsigned step) {
            auto& stage = shared.stages[step % stage_count];
            dy.wait(in_dy);  // waits for all loads: dy is loaded last
            x.store(in_x, thread, stage.x);
            dy.store(in_dy, thread, stage.w);
        };
        load(0);
        store(0);
        sync_shared_memory<threads>();
        atom.wait(acc);
        for (unsigned step = 0; step < steps; ++step) {
            if (stage_count > 1 && step % table_steps == 0) fill(step / table_steps + 1);
            // zeros loaded past the end cost less than a comparison
            bool const loads = stage_count == 1 || step + 1 < steps;
            if (loads) load(step + 1);
            auto const& stage = shared.stages[step % stage_count];
            // If elements are loaded one at a time, they occupy the registers that addresses would.
            if constexpr (OfX::transposes) Atom(opaque_per_thread(thread)).multiply(stage, acc);
            else atom.multiply(stage, acc);  // (TILE_M, TILE_N) += over TILE_K
            if (stage_count == 1) {
                sync_shared_memory<threads>();
                if ((step + 2) % table_steps == 0) fill((step + 2) / table_steps);
            }
            if (loads) store(step + 1);
            sync_shared_memory<threads>();
            if (AtomOf::promotes && (step + 1) % flush_steps == 0) totals.add(acc);
            atom.wait(acc);
        }
        if constexpr (AtomOf::promotes) totals.add(acc);
        else totals.set(acc);
        return totals;
    }
};

}  // namespace fusekit::hip
