// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/cluster.hpp"
#include "fusekit/backend/hip/arch/reload.hpp"
#include "fusekit/backend/hip/collective/channel_partials.hpp"
#include "fusekit/backend/hip/collective/image_groups.hpp"

namespace fusekit::hip {

/// Gradient of a plan whose first operator is a RowOp over groups of channels and all pixels of an image, with
/// contiguous channels. `params.cluster` CTAs of the grid share an image (collective/image_groups.hpp). The first
/// `resident` packets of x and of dy of a thread stay in SMEM between the four steps (center, sum, sums of gradients,
/// dx), the others are read again, from L2.
///
/// A thread has the same channels in all images, and keeps their totals in registers. Each CTA stores its totals as a
/// set in workspace, and after a barrier of the grid the sets are merged. The order of all sums depends on the shape
/// and the GPU alone.
template <class Plan, Element T, detail::OutputElement U, int lanes>
class ImageRowGradient {
    using Steps = detail::RowGradientSteps<typename Plan::Head>;
    using Op = typename Steps::Op;
    using Row = typename Op::template Row<float>;
    using Total = typename Steps::template Total<float>;
    using Partials = ChannelPartials<Plan>;
    static constexpr unsigned unroll = 4;

public:
    static constexpr int threads = 512, blocks = 1;
    static constexpr unsigned max_groups = 1024, resident = kernels_cluster ? 11 : 7;
    static constexpr std::int64_t sums_of_group = 4;  ///< floats that a CTA exchanges for a group
    using Params = RowGradientParams<Plan, T, U>;
    using Groups = ImageGroups<threads, lanes>;

    struct DynamicShared {
        Packet<T, lanes> x[resident][threads], dy[resident][threads];
        typename Groups::Shared exchange;
        float centers[1][max_groups], sums[1][max_groups], gradient_sums[2][max_groups];
    };

    __device__ static void run(Params const& params, DynamicShared& shared, unsigned thread, unsigned block) {
        ImageRowGradient const self(params, shared, thread, block);
        Total totals[lanes] = {};
        for (unsigned image = self.own.item; image < params.rows; image += gridDim.x / params.cluster)
            self.reduce(image, totals);
        if constexpr (Steps::has_totals)
            if (params.saves_totals) self.save(totals, block);
    }

private:
    Params const& params;
    DynamicShared& shared;
    Groups const own;
    typename Steps::States::PixelState states[lanes];

    __device__ ImageRowGradient(Params const& the_params, DynamicShared& the_shared, unsigned thread, unsigned block)
        : params(the_params),
          shared(the_shared),
          own(thread, block, the_params.cluster, the_params.groups, the_params.channels, the_params.columns,
              the_params.of_plane.value()) {
        if (own.exists())
#pragma unroll
            for (int lane = 0; lane < lanes; ++lane)
                states[lane] = Steps::Steps::prepare(coord(lane), params.bound.head);
    }

    __device__ OutputCoord coord(int lane) const { return {0, std::int64_t{own.channel} + lane, 0, 0}; }

    /// Packet of the thread's pixel `index`: from SMEM, or from a tensor, then also stored to SMEM if `loads`.
    template <bool loads>
    __device__ Packet<T, lanes> load(Params const& again, TensorView<T const> const& view, unsigned image,
                                     unsigned index, Packet<T, lanes> (&kept)[resident][threads]) const {
        if (!loads && index < resident) return kept[index][own.thread];
        return *reinterpret_cast<Packet<T, lanes> const*>(view.data + image * view.layout.stride[0] +
                                                          own.offset(view, index, again.of_line));
    }
    /// Calls f(x, dy, pixel) for each of the thread's pixels. dy is read if `reads_dy`; loads_x, loads_dy: for the
    /// first time. Backwards, so that pixels that were read last are in L2.
    template <bool loads_x, bool reads_dy, bool loads_dy, bool backwards, class F>
    __device__ __forceinline__ void each(unsigned image, F const& f) const {
        Params const& again = reload(params);
        unsigned const batches = (own.pixels + unroll - 1) / unroll;
        for (unsigned batch = 0; batch < batches; ++batch) {
            unsigned const from = (backwards ? batches - 1 - batch : batch) * unroll;
            Packet<T, lanes> x[unroll], dy[unroll] = {};
#pragma unroll
            for (unsigned i = 0; i < unroll; ++i)
                if (from + i < own.pixels) {
                    x[i] = load<loads_x>(again, again.forward_x, image, from + i, shared.x);
                    if constexpr (reads_dy) dy[i] = load<loads_dy>(again, again.x, image, from + i, shared.dy);
                }
#pragma unroll
            for (unsigned i = 0; i < unroll; ++i)
                if (from + i < own.pixels) {
                    if (loads_x && from + i < resident) shared.x[from + i][own.thread] = x[i];
                    if (loads_dy && from + i < resident) shared.dy[from + i][own.thread] = dy[i];
                    f(x[i], dy[i], from + i);
                }
        }
    }

    __device__ void reduce(unsigned image, Total (&totals)[lanes]) const {
        auto const& args = params.bound.head;
        auto const add = [](float a, float b) { return a + b; };
        float* const partial =
            params.workspace.values() +
            (params.saves_totals ? std::size_t{params.sets} * Partials::words * own.groups * own.channels : 0);
        std::size_t const step = std::size_t{gridDim.x} * own.groups;
        float center[lanes], sums[2][lanes] = {};
        own.template reduce_values<Op>(
            params, shared, partial, center,
            [&](auto const& f) {
                each<true, false, false, false>(
                    image, [&](Packet<T, lanes> const& x, Packet<T, lanes> const&, unsigned) { f(x); });
            },
            [&](auto const& f) {
                each<false, false, false, true>(
                    image, [&](Packet<T, lanes> const& x, Packet<T, lanes> const&, unsigned) { f(x); });
            });
        typename Steps::template State<float> of_row[lanes];
#pragma unroll
        for (int lane = 0; lane < lanes; ++lane)
            of_row[lane].row =
                Op::finish(center[lane], shared.sums[0][own.group_of(lane)], params.count, Steps::row_args(args));
        each<false, true, true, false>(image, [&](Packet<T, lanes> const& x, Packet<T, lanes> const& dy, unsigned) {
#pragma unroll
            for (int lane = 0; lane < lanes; ++lane)
                Steps::add(totals[lane], sums[0][lane], sums[1][lane], static_cast<float>(dy.values[lane]),
                           static_cast<float>(x.values[lane]), of_row[lane].row, coord(lane), states[lane], args);
        });
        own.merge(sums, add, 0, shared.exchange, shared.gradient_sums, params.workspace, partial + 2 * step);
#pragma unroll
        for (int lane = 0; lane < lanes; ++lane) {
            unsigned const group = own.group_of(lane);
            of_row[lane].sums = {shared.gradient_sums[0][group], shared.gradient_sums[1][group], params.count};
        }
        Params const& again = reload(params);
        U* const to = again.y.data + image * again.y.layout.stride[0];
        each<false, true, false, true>(
            image, [&](Packet<T, lanes> const& x, Packet<T, lanes> const& dy, unsigned pixel) {
                Packet<U, lanes> results;
#pragma unroll
                for (int lane = 0; lane < lanes; ++lane)
                    results.values[lane] =
                        U(Steps::apply(static_cast<float>(dy.values[lane]), static_cast<float>(x.values[lane]),
                                       of_row[lane], coord(lane), states[lane], args));
                if constexpr (Element<U>)
                    store_once(reinterpret_cast<Packet<U, lanes>*>(to + own.offset(again.y, pixel, again.of_line)),
                               results);
            });
        __syncthreads();  // the next image's values replace those in SMEM
    }

    __device__ void save(Total const (&totals)[lanes], unsigned block) const {
        Partials const partials(params);
        auto const add = [](float a, float b) { return a + b; };
#pragma unroll
        for (unsigned word = 0; word < Partials::words; ++word) {
            float values[lanes];
#pragma unroll
            for (int lane = 0; lane < lanes; ++lane) values[lane] = totals[lane].value[word];
            own.each_channel(values, add, shared.exchange,
                             [&](unsigned k, float value) { partials.store(block, word, k, value); });
        }
        GridGroup(params.workspace.state(gridDim.x / params.cluster), gridDim.x, own.thread, shared.exchange.is_last)
            .arrive_and_wait([] {});
        partials.template save_all<threads>(params.bound.head, shared.exchange.of_threads, own.thread, block,
                                            gridDim.x);
    }
};

}  // namespace fusekit::hip
