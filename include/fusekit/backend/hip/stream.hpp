// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/launch.hpp"
#include "fusekit/backend/hip/schedule.hpp"

namespace fusekit::hip {

/// A plan without a Conv, at the speed of memory: a thread has `lanes` neighbouring places, prepares their parameters
/// once, and walks over the images of the batch (or, where only the channel counts and channels are last, over
/// pixels), always `unroll` loads ahead of the arithmetic.
template <class Plan, class Schedule, Element T, int lanes>
class Streaming {
public:
    static constexpr int threads = Schedule::threads, blocks = Schedule::blocks;
    using Params = StreamParams<Plan, T>;
    struct Shared {};

    __device__ static void run(Params const& params, Shared&, int thread, std::uint32_t block) {
        std::int64_t const id = std::int64_t{block} * threads + thread, packs = params.period / lanes;
        std::int64_t const place = id % packs * lanes, slice = id / packs;
        if (slice >= params.slices) return;

        OutputCoord at[lanes];
        typename Epilogue::PlaceState state[lanes];
#pragma unroll
        for (int lane = 0; lane < lanes; ++lane) {
            at[lane] = coordinates(params, place + lane);
            state[lane] = Epilogue::prepare(at[lane], params.bound.epilogue);
        }
        T const* const x = params.x.data + (lanes > 1 ? place : params.x.layout.offset(index(at[0])));
        T* const y = params.y.data + (lanes > 1 ? place : params.y.layout.offset(index(at[0])));

        std::int64_t const stride = params.slices;
        for (std::int64_t first = slice; first < params.walks; first += unroll * stride) {
            Pack<T, lanes> values[unroll];
#pragma unroll
            for (int i = 0; i < unroll; ++i)
                if (first + i * stride < params.walks)
                    values[i] = load_once(reinterpret_cast<Pack<T, lanes> const*>(x + (first + i * stride) * params.x_step));
#pragma unroll
            for (int i = 0; i < unroll; ++i) {
                std::int64_t const walk = first + i * stride;
                if (walk >= params.walks) break;
#pragma unroll
                for (int lane = 0; lane < lanes; ++lane) {
                    at[lane].n = walk;
                    float const value = values[i].values[lane];
                    values[i].values[lane] = T(Epilogue::apply(value, at[lane], state[lane], params.bound.epilogue));
                }
                store_once(reinterpret_cast<Pack<T, lanes>*>(y + walk * params.y_step), values[i]);
            }
        }
    }

private:
    using Epilogue = typename Plan::Epilogue;
    static constexpr int unroll = lanes >= 8 ? Schedule::unroll / 2 : Schedule::unroll;

    /// Of the place-th element of an image in memory order.
    __device__ static OutputCoord coordinates(Params const& params, std::int64_t place) {
        Index<4> const& shape = params.y.layout.shape;
        std::int64_t const channels = shape[1], plane = shape[2] * shape[3];
        std::int64_t const k = params.channels_last ? place % channels : place / plane;
        std::int64_t const pixel = params.channels_last ? place / channels : place % plane;
        return {0, k, pixel / shape[3], pixel % shape[3]};
    }
    __device__ static Index<4> index(OutputCoord const& at) { return {{at.n, at.k, at.p, at.q}}; }
};

}  // namespace fusekit::hip
