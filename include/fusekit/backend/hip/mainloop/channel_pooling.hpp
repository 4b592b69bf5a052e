// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/cluster.hpp"
#include "fusekit/backend/hip/collective/block_sum.hpp"
#include "fusekit/backend/hip/mainloop/pooling.hpp"

namespace fusekit::hip {

/// Pooling of whole planes by a sum, in a plan without a Conv, with contiguous channels: the threads of a CTA form a
/// matrix of `params.width` packets of `lanes` channels of one image and rows of pixels; `params.cluster` CTAs share
/// the pixels. A thread adds up to 256 values before it adds their sum to others, so that rounding errors grow with the
/// logarithm of the number of pixels. The order of all sums depends on the shape and the GPU alone.
template <class Plan, Element T, detail::OutputElement U, int lanes>
class ChannelPooling {
    using Epilogue = typename Plan::Epilogue;
    using Reduce = typename Plan::Pool::Reduce;
    static constexpr unsigned unroll = 8;  ///< pixels of a thread that are in flight at once

public:
    static constexpr int threads = 256, blocks = 2;
    using Params = PoolingParams<Plan, T, U>;
    struct Shared {
        Packet<float, 4> of_block[threads / 4][lanes];  ///< sums of up to threads / 4 packets, in their first elements
        float sums[threads * lanes];
    };

    __device__ static void run(Params const& params, Shared& shared, unsigned thread, unsigned block) {
        unsigned const item = block / params.cluster, rank = block - item * params.cluster,
                       n = params.tiles.divide(item), column = thread % params.width,
                       packet = (item - n * params.tiles.value()) * params.width + column;
        std::int64_t const k = std::int64_t{packet} * lanes;
        bool const has = k < params.y.layout.shape[1];
        float total[lanes] = {};
        if (has) {
            unsigned const rows = threads / params.width;
            add(params, {n, k, 0, 0}, rank * rows + thread / params.width, params.cluster * rows, total);
        }
        Rows{threads, params.width, thread}.sum(total, shared.sums);
        if (params.cluster > 1) {
            if (thread < params.width)
#pragma unroll
                for (int lane = 0; lane < lanes; ++lane) shared.of_block[column][lane].values[0] = total[lane];
            cluster_barrier();
            if (rank == 0 && thread < params.width)
                for (unsigned other = 1; other < params.cluster; ++other)
#pragma unroll
                    for (int lane = 0; lane < lanes; ++lane)
                        total[lane] += load_of_block(&shared.of_block[column][lane], other).values[0];
            cluster_barrier();  // the first CTA has read this one's SMEM
        }
        if (rank > 0 || thread >= params.width || !has) return;
        std::int64_t const count = Plan::Pool::window(params.x.layout.shape, 0, 0).count();
        Packet<U, lanes> result;
#pragma unroll
        for (int lane = 0; lane < lanes; ++lane) result.values[lane] = U(Reduce::finish(total[lane], count));
        if constexpr (Element<U>) *reinterpret_cast<Packet<U, lanes>*>(&params.y(n, k, 0, 0)) = result;
    }

private:
    /// Adds the values of every `step`-th pixel from `pixel` on of the packet of channels that begins at `at`.
    __device__ static void add(Params const& params, OutputCoord at, unsigned pixel, unsigned step,
                               float (&total)[lanes]) {
        Index<4> const& stride = params.x.layout.stride;
        unsigned const pixels = static_cast<unsigned>(params.x.layout.shape[2] * params.x.layout.shape[3]);
        T const* const x = params.x.data + at.n * stride[0] + at.k;
        decltype(Epilogue::prepare(at.k, params.bound.epilogue)) states[lanes];
#pragma unroll
        for (int lane = 0; lane < lanes; ++lane) states[lane] = Epilogue::prepare(at.k + lane, params.bound.epilogue);
        float many[lanes] = {};
        for (unsigned round = 1; pixel < pixels; ++round) {
            float few[lanes] = {};
            for (unsigned i = 0; i < 256 / unroll && pixel < pixels; ++i, pixel += step * unroll) {
                Packet<T, lanes> values[unroll];
#pragma unroll
                for (unsigned j = 0; j < unroll; ++j)
                    if (unsigned const own = pixel + j * step; own < pixels) {
                        unsigned const p = params.columns.divide(own), q = own - p * params.columns.value();
                        values[j] = *reinterpret_cast<Packet<T, lanes> const*>(x + p * stride[2] + q * stride[3]);
                    }
#pragma unroll
                for (unsigned j = 0; j < unroll; ++j)
                    if (unsigned const own = pixel + j * step; own < pixels) {
                        at.p = params.columns.divide(own);
                        at.q = own - static_cast<unsigned>(at.p) * params.columns.value();
#pragma unroll
                        for (int lane = 0; lane < lanes; ++lane) {
                            ThreadCoord const from({at.n, at.k + lane, at.p, at.q});
                            few[lane] += Epilogue::apply(static_cast<float>(values[j].values[lane]), from, states[lane],
                                                         params.bound.epilogue);
                        }
                    }
            }
#pragma unroll
            for (int lane = 0; lane < lanes; ++lane) many[lane] += few[lane];
            if (round % 256 == 0 || pixel >= pixels)
#pragma unroll
                for (int lane = 0; lane < lanes; ++lane) total[lane] += many[lane], many[lane] = 0;
        }
    }
};

}  // namespace fusekit::hip
