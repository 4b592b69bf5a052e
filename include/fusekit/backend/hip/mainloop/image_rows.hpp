// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/cluster.hpp"
#include "fusekit/backend/hip/arch/reload.hpp"
#include "fusekit/backend/hip/collective/image_groups.hpp"
#include "fusekit/backend/hip/row_params.hpp"

namespace fusekit::hip {

/// Plan whose head is a RowOp over groups of channels and all pixels of an image, with contiguous channels and an
/// epilogue whose results depend on the channel alone. `params.cluster` CTAs of the grid share an image
/// (collective/image_groups.hpp). The first `resident` packets of a thread stay in SMEM between the three steps
/// (center, sum, results), the others are read again, from L2.
///
/// The order of all sums depends on the shape and the GPU alone.
template <class Plan, Element T, detail::OutputElement U, int lanes>
class ImageRows {
    using Op = typename Plan::Head;
    using Steps = detail::RowSteps<Op>;
    using Epilogue = typename Plan::Epilogue;
    using Row = typename Steps::template Row<float>;
    static constexpr unsigned unroll = 8;

public:
    static constexpr int threads = 512, blocks = 1;
    static constexpr unsigned max_groups = 1024, resident = arch::is_targeted<arch::Amd> ? 2
                                                            : kernels_cluster            ? 24
                                                                                         : 16;
    using Params = RowParams<Plan, T, U>;
    using Groups = ImageGroups<threads, lanes>;

    struct DynamicShared {
        Packet<T, lanes> values[resident][threads];
        typename Groups::Shared exchange;
        float centers[1][max_groups], sums[1][max_groups];
    };

    __device__ static void run(Params const& params, DynamicShared& shared, unsigned thread, unsigned block) {
        ImageRows const self(params, shared, thread, block);
        for (unsigned image = self.own.item; image < params.rows; image += gridDim.x / params.cluster)
            self.reduce(image);
    }

private:
    struct States {
        typename Steps::States::PixelState head;
        typename Epilogue::PixelState epilogue;
    };

    Params const& params;
    DynamicShared& shared;
    Groups const own;
    States states[lanes];

    __device__ ImageRows(Params const& the_params, DynamicShared& the_shared, unsigned thread, unsigned block)
        : params(the_params),
          shared(the_shared),
          own(thread, block, the_params.cluster, the_params.of_image.value(), the_params.channels, the_params.packets,
              static_cast<unsigned>(the_params.x.layout.shape[2] * the_params.x.layout.shape[3])) {
        if (own.exists())
#pragma unroll
            for (int lane = 0; lane < lanes; ++lane)
                states[lane] = {Steps::States::prepare(coord(lane), Steps::state_args(params.bound.head)),
                                Epilogue::prepare(coord(lane), params.bound.epilogue)};
    }

    __device__ OutputCoord coord(int lane) const { return {0, std::int64_t{own.channel} + lane, 0, 0}; }

    /// Calls f(packet, pixel) for each of the thread's pixels; `loads`: for the first time. Backwards, so that pixels
    /// that were read last are in L2.
    template <bool loads, bool backwards, class F>
    __device__ __forceinline__ void each(unsigned image, F const& f) const {
        Params const& again = reload(params);
        T const* const x = again.x.data + image * again.x.layout.stride[0];
        unsigned const batches = (own.pixels + unroll - 1) / unroll;
        for (unsigned batch = 0; batch < batches; ++batch) {
            unsigned const from = (backwards ? batches - 1 - batch : batch) * unroll;
            Packet<T, lanes> values[unroll];
#pragma unroll
            for (unsigned i = 0; i < unroll; ++i)
                if (from + i < own.pixels) {
                    if (!loads && from + i < resident) values[i] = shared.values[from + i][own.thread];
                    else
                        values[i] = *reinterpret_cast<Packet<T, lanes> const*>(
                            x + own.offset(again.x, from + i, again.columns));
                }
#pragma unroll
            for (unsigned i = 0; i < unroll; ++i)
                if (from + i < own.pixels) {
                    if (loads && from + i < resident) shared.values[from + i][own.thread] = values[i];
                    f(values[i], from + i);
                }
        }
    }

    __device__ void reduce(unsigned image) const {
        float center[lanes];
        own.template reduce_values<Op>(
            params, shared, params.workspace.values(), center,
            [&](auto const& f) { each<true, false>(image, [&](Packet<T, lanes> const& x, unsigned) { f(x); }); },
            [&](auto const& f) { each<false, true>(image, [&](Packet<T, lanes> const& x, unsigned) { f(x); }); });
        Row row[lanes];
#pragma unroll
        for (int lane = 0; lane < lanes; ++lane)
            row[lane] = Op::finish(center[lane], shared.sums[0][own.group_of(lane)], params.count, params.bound.head);
        Params const& again = reload(params);
        U* const y = again.y.data + image * again.y.layout.stride[0];
        each<false, false>(image, [&](Packet<T, lanes> const& x, unsigned pixel) {
            Packet<U, lanes> results;
#pragma unroll
            for (int lane = 0; lane < lanes; ++lane) {
                OutputCoord const at = coord(lane);
                float const n = Steps::apply(static_cast<float>(x.values[lane]), row[lane], at, states[lane].head,
                                             params.bound.head);
                results.values[lane] = U(Epilogue::apply(n, at, states[lane].epilogue, params.bound.epilogue));
            }
            if constexpr (Element<U>)
                store_once(reinterpret_cast<Packet<U, lanes>*>(y + own.offset(again.y, pixel, again.columns)), results);
        });
        __syncthreads();  // the next image's values replace those in SMEM
    }
};

}  // namespace fusekit::hip
