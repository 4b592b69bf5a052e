// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/reload.hpp"
#include "fusekit/backend/hip/arch/target.hpp"
#include "fusekit/backend/hip/arch/tensor_map.hpp"
#include "fusekit/backend/hip/arch/wave.hpp"
#include "fusekit/backend/hip/atom/simt.hpp"
#include "fusekit/backend/hip/collective/load_pixels.hpp"
#include "fusekit/backend/hip/collective/merge_parts.hpp"
#include "fusekit/backend/hip/thread_coord.hpp"
#include "fusekit/plan/plan.hpp"

namespace fusekit::hip {

/// Whether a gradient by the weights also has a kernel for sm_90a's matrix units: of half or bfloat16.
template <class Plan, Element T>
inline constexpr bool has_bulk_weight_gradient =
    arch::is_targeted<arch::Sm90a> && sizeof(T) == 2 && Plan::Head::collapsed_space == 2;

/// How its bulk copies find x and dy: (C, W, H, N) as windows, or the pixels of each as rows.
struct WeightGradientMaps {
    TensorMap x, dy;
    bool in_use = false, has_windows = false;

    void replace_memory(void const* of_x, void const*) { hip::replace_memory(x, of_x); }
};

/// What the kernel of a ConvWeightGradient is given; y is dw.
template <class Plan, Element T, detail::OutputElement U>
struct WeightGradientParams {
    static constexpr int space = Plan::Head::collapsed_space;

    BoundPlan<Plan> bound;
    TensorView<T const> x;
    TensorView<U> y;
    problem::Slices<space> slices = {};
    Neighbours in_x = Neighbours::pixels, in_dy = Neighbours::pixels;
    int part_pixels = 0;  ///< that a block adds up
    BlockParts parts = {};
    std::conditional_t<has_bulk_weight_gradient<Plan, T>, WeightGradientMaps, detail::Nothing> maps = {};

    /// The Conv, whose output is dy.
    __device__ ConvProblem<T, space> problem() const {
        auto const& dy = bound.head.dy;
        return {{x, {nullptr, y.layout}, dy.layout.shape, Plan::Head::geometry(bound.head)}, dy.layout.stride, slices};
    }
    /// Weights of a filter, and columns of the product.
    FUSEKIT_HD std::int64_t weights() const {
        Index<4> const& dw = y.layout.shape;
        return dw[1] * dw[2] * dw[3];
    }
    FUSEKIT_HD std::int64_t columns() const { return weights() + bound.head.bias_gradient.given(); }

    /// Takes a sum through the epilogue to dw.
    __device__ void store(float sum, OutputCoord const& to) const {
        using Epilogue = typename Plan::Epilogue;
        auto const state = Epilogue::prepare(to.n, bound.epilogue);
        float const value = Epilogue::apply(sum, ThreadCoord(to), state, bound.epilogue);
        if constexpr (Element<U>) y(to.n, to.k, to.p, to.q) = U(value);
    }
    __device__ void store_bias(float sum, std::int64_t k) const {
        auto const& bias = bound.head.bias_gradient;
        bias.data[k * bias.layout.stride[0]] = sum;
    }
};

/// The gradient of a convolution's weights as a product, for each group, of dy and the windows of x, whose GemmK is
/// all pixels. A tile has TileN channels of y, and TileM of the columns that a filter's weights are, or one of ones.
/// A block multiplies a part of the pixels, a table of places at a time, and adds up the sums of `addends` pixels, so
/// that rounding errors do not grow with all of them. Blocks of a tile merge what they have.
template <class Plan, Element T, detail::OutputElement U>
class WeightGradient {
    static constexpr int tile = 64, tile_k = 8, table = 64, addends = 256, per_processor = 4;
    static constexpr SimtShape shape{tile, tile, tile_k};
    static constexpr int space = Plan::Head::collapsed_space;
    using Atom = Simt<T, tile, tile, tile_k, arch::Target::processor.unroll_of_gemm(shape.threads() * per_processor)>;
    using Fragment = typename Atom::Fragment;
    using Operand = TileOfPixels<T, tile, tile_k, Atom::threads>;
    using Place = PixelPlace<space>;
    using Column = WindowColumn<space>;
    using Epilogue = typename Plan::Epilogue;

public:
    using Params = WeightGradientParams<Plan, T, U>;
    using Sums = SumTile<tile, tile>;
    static constexpr int threads = Atom::threads, blocks = per_processor, tile_m = tile, tile_n = tile,
                         least_pixels = addends;

    struct Shared {
        union {
            typename Atom::Stage stages[2];
            Sums sums;
        };
        float totals[tile * tile / threads][threads];
        Place places[2][table];
        Column columns[tile];
    };

    __device__ static void run(Params const& params, Shared& shared, unsigned thread, unsigned block) {
        auto const conv = params.problem();
        TileAt const at(params, conv, block);
        fill_columns(params, conv, shared, at, thread);
        Atom const atom(thread);
        multiply(params, conv, shared, at, atom, thread);
        put(shared, atom, thread);
        Params const& again = reload(params);
        RowRange const rows =
            merge_parts<threads>(shared.sums, again.parts, at.number, at.group_of_parts, at.rank, thread);
        store(again, shared, at, rows, thread);
    }

private:
    /// The tile and the pixels of a block. The blocks of a cluster come first, then tiles, then other parts of pixels,
    /// so that blocks that run at once read the same.
    struct TileAt {
        unsigned rank, number, group_of_parts;
        int group, first_k, first_column, begin, end;

        template <class Problem>
        __device__ TileAt(Params const& params, Problem const& conv, unsigned block) {
            auto const across = static_cast<unsigned>(detail::divide_up(params.columns(), tile)),
                       down = static_cast<unsigned>(detail::divide_up(conv.group_k(), tile)),
                       tiles = across * down * static_cast<unsigned>(conv.groups());
            rank = block % params.parts.cluster;
            number = block / params.parts.cluster % tiles;
            group_of_parts = block / params.parts.cluster / tiles;
            first_column = static_cast<int>(number % across) * tile;
            first_k = static_cast<int>(number / across % down) * tile;
            group = static_cast<int>(number / across / down);
            begin = static_cast<int>(group_of_parts * params.parts.cluster + rank) * params.part_pixels;
            end = min(begin + params.part_pixels, conv.gemm_m());
        }
    };

    template <class Problem>
    __device__ static void fill_columns(Params const& params, Problem const& conv, Shared& shared, TileAt const& at,
                                        unsigned thread) {
        for (unsigned i = thread; i < tile; i += threads) {
            Column& column = shared.columns[i];
            int const index = at.first_column + static_cast<int>(i);
            column.at = conv.k_coord(static_cast<unsigned>(index), params.in_x != Neighbours::pixels);
            column.kind = index < params.weights()   ? Column::window
                          : index < params.columns() ? Column::ones
                                                     : Column::nothing;
            column.distance = conv.distance(column.at.r, column.at.s);
            column.in_x = column.at.c * conv.x.layout.stride[1] + conv.input_offset(column.distance);
        }
    }

    /// Places of `table` pixels from m on.
    template <class Problem>
    __device__ static void fill_places(Problem const& conv, Place (&places)[table], TileAt const& at, int m,
                                       unsigned thread) {
        for (unsigned i = thread; i < table; i += threads) {
            Place& place = places[i];
            int const pixel = m + static_cast<int>(i);
            place.exists = pixel < at.end;
            Pixel const to = conv.pixel(place.exists ? pixel : at.begin);
            place.window = conv.window(to);
            place.in_dy = conv.output_offset(to);
            place.in_x = to.n * conv.x.layout.stride[0] + conv.input_offset(place.window);
        }
    }

    template <class Problem>
    __device__ static void multiply(Params const& params, Problem const& conv, Shared& shared, TileAt const& at,
                                    Atom const& atom, unsigned thread) {
        constexpr int table_steps = table / tile_k, flush_steps = addends / tile_k;
        Index<4> const& stride = params.bound.head.dy.layout.stride;
        T const* const of_group = conv.x.data + conv.first_c(at.group) * conv.x.layout.stride[1];
        T const* const of_tile =
            detail::typed<T>(params.bound.head.dy).data + (conv.first_k(at.group) + at.first_k) * stride[1];
        unsigned const channels = static_cast<unsigned>(min(conv.group_k() - at.first_k, tile));
        int const steps = of_wave(static_cast<int>(detail::divide_up(at.end - at.begin, tile_k)));
        Operand x, dy;
        auto const load = [&](int step) {
            Place const* const places =
                shared.places[step / table_steps % 2] + static_cast<unsigned>(step % table_steps * tile_k);
            x.load(params.in_x, thread, [&]<int Count>(Packet<T, Count>& to, unsigned pixel, unsigned row) {
                Place const& place = places[pixel];
                Column const& column = shared.columns[row];
                bool const reads =
                    place.exists && column.kind == Column::window && conv.has(place.window, column.distance);
                to = load_if(reads, reinterpret_cast<Packet<T, Count> const*>(of_group + place.in_x + column.in_x));
                if (place.exists && column.kind == Column::ones) to.values[0] = T(1.0f);
            });
            dy.load(params.in_dy, thread, [&]<int Count>(Packet<T, Count>& to, unsigned pixel, unsigned row) {
                Place const& place = places[pixel];
                to = load_if(place.exists && row < channels,
                             reinterpret_cast<Packet<T, Count> const*>(of_tile + place.in_dy + row * stride[1]));
            });
        };
        auto const store = [&](int step) {
            auto& stage = shared.stages[step % 2];
            x.store(params.in_x, thread, stage.x);
            dy.store(params.in_dy, thread, stage.w);
        };
        Fragment sums = {};
        exchange(shared, sums, thread, [](float& sum, float& total) { total = sum; });
        if (steps <= 0) return;
        fill_places(conv, shared.places[0], at, at.begin, thread);
        __syncthreads();
        load(0);
        store(0);
        __syncthreads();
        for (int step = 0; step < steps; ++step) {
            if (step % table_steps == 0)
                fill_places(conv, shared.places[(step / table_steps + 1) % 2], at,
                            at.begin + (step / table_steps + 1) * table, thread);
            bool const loads = step + 1 < steps;
            if (loads) load(step + 1);
            atom.multiply(shared.stages[step % 2], sums);
            if (loads) store(step + 1);
            __syncthreads();
            if ((step + 1) % flush_steps == 0 || !loads)
                exchange(shared, sums, thread, [](float& sum, float& total) { total += sum, sum = 0; });
        }
    }
    /// Calls f(sum, total) for each of a thread's sums.
    template <class F>
    __device__ static void exchange(Shared& shared, Fragment& sums, unsigned thread, F const& f) {
#pragma unroll
        for (int i = 0; i < tile * tile / threads; ++i) f(sums.sums[i / 8][i % 8], shared.totals[i][thread]);
    }

    /// A row of the tile of sums is a channel of y; they come in the order of an atom's rounds.
    static constexpr unsigned round_rows = static_cast<unsigned>(Atom::rows(false));
    __device__ static void put(Shared& shared, Atom const& atom, unsigned thread) {
        Fragment totals;
        exchange(shared, totals, thread, [](float& sum, float const& total) { sum = total; });
#pragma unroll
        for (int round = 0; round < Atom::rounds; ++round)
            atom.template put<false>(round, totals, shared.sums.rows + static_cast<unsigned>(round) * round_rows);
    }

    __device__ static void store(Params const& params, Shared& shared, TileAt const& at, RowRange const& rows,
                                 unsigned thread) {
        auto const conv = params.problem();
        for (unsigned i = rows.begin * tile + thread; i < rows.end * tile; i += threads) {
            unsigned const row = i / tile, column = i % tile;
            Column const& of = shared.columns[column];
            int const in_group = at.first_k + static_cast<int>(Atom::template tile_row<false>(
                                                  row % round_rows, static_cast<int>(row / round_rows)));
            if (in_group >= conv.group_k() || of.kind == Column::nothing) continue;
            unsigned const place = Atom::tile_column(column);
            float const sum = shared.sums.rows[row][place / 4].values[place % 4];
            OutputCoord const to{conv.first_k(at.group) + in_group, of.at.c, of.at.r, of.at.s};
            if (of.kind == Column::ones) params.store_bias(sum, to.n);
            else params.store(sum, to);
        }
    }
};

}  // namespace fusekit::hip
