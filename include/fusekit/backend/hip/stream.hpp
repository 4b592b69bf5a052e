// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/processor.hpp"
#include "fusekit/backend/hip/launch.hpp"
#include "fusekit/backend/hip/schedule.hpp"

namespace fusekit::hip {

/// A place of y that also knows how far it lies from the first one of its image, in elements: views that lie in memory
/// as y does are read there.
struct Place : OutputCoord {
    std::int64_t distance;
    Index<4> const& stride;

    __device__ Place(OutputCoord const& at, std::int64_t distance, Index<4> const& stride)
        : OutputCoord(at), distance(distance), stride(stride) {}

    __device__ float load(AnyView<4> const& view) const {
        if (view.layout.stride == stride) return view.load(n * stride[0] + distance);
        return OutputCoord::load(view);
    }
    __device__ float load(TensorView<float const, 3> const& view) const {
        Index<3> const& own = view.layout.stride;
        if (own[0] == stride[1] && own[1] == stride[2] && own[2] == stride[3]) return view.data[distance];
        return OutputCoord::load(view);
    }
};

/// A plan without a Conv, at the speed of memory: a thread has `lanes` neighbouring places and takes `walks` steps over
/// the images of the batch (or, where only the channel counts and channels are last, over pixels), always `unroll`
/// loads ahead of the arithmetic. Parameters are prepared once for all steps; those of channels that neighbour in
/// memory by the block together, because its threads share them.
template <class Plan, class Schedule, Element T, int lanes>
class Streaming {
    using Epilogue = typename Plan::Epilogue;
    using State = typename Epilogue::PlaceState;
    static constexpr int unroll = Schedule::unroll;

public:
    static constexpr int threads = Schedule::threads,
                         blocks = greater(1, lanes > 4 ? Schedule::blocks - 1 : Schedule::blocks);
    using Params = StreamParams<Plan, T>;

private:
    static constexpr int stride = threads + 11;  // neighbouring channels, and threads, fall into different banks
    static constexpr int room = smaller(40 * 1024, processor_shared_memory / 2);
    static constexpr bool can_share = Epilogue::channelwise && !Epilogue::placewise && lanes > 1 &&
                                      sizeof(State) * stride * lanes <= room;

public:
    struct Shared {
        Slot<State> states[can_share ? stride * lanes : 1];
    };

    __device__ static void run(Params const& params, Shared& shared, unsigned thread, unsigned block) {
        unsigned const id = block * threads + thread, slice = params.packs.divide(id);
        unsigned const pack = id - slice * params.packs.value();
        std::int64_t offset_x = std::int64_t{pack} * lanes, offset_y = offset_x;
        if constexpr (lanes == 1) {
            OutputCoord const at = coordinates(params, pack);
            offset_x = params.x.layout.offset({{0, at.k, at.p, at.q}});
            offset_y = params.y.layout.offset({{0, at.k, at.p, at.q}});
        }
        T const* x = params.x.data + offset_x + slice * params.x_step;
        T* y = params.y.data + offset_y + slice * params.y_step;
        std::int64_t const x_stride = params.slices * params.x_step, y_stride = params.slices * params.y_step;

        Packet<T, lanes> values[unroll];
        auto const load = [&](std::int64_t walk) {
#pragma unroll
            for (int i = 0; i < unroll; ++i)
                if (walk + i * params.slices < params.walks)
                    values[i] = load_once(reinterpret_cast<Packet<T, lanes> const*>(x + i * x_stride));
            x += unroll * x_stride;
        };
        std::int64_t walk = slice < params.slices ? slice : params.walks;
        load(walk);  // in flight while the parameters are prepared
        OutputCoord at[lanes];
        at[0] = coordinates(params, pack * lanes);
#pragma unroll
        for (int lane = 1; lane < lanes; ++lane) at[lane] = next(params, at[lane - 1]);
        State state[lanes];
        prepare(params, shared, thread, block, offset_y, at, state);

        for (; walk < params.walks; load(walk)) {
#pragma unroll
            for (int i = 0; i < unroll; ++i, walk += params.slices, y += y_stride) {
                if (walk >= params.walks) return;
#pragma unroll
                for (int lane = 0; lane < lanes; ++lane) {
                    at[lane].n = walk;
                    Place const place(at[lane], offset_y + lane, params.y.layout.stride);
                    float const value = values[i].values[lane];
                    values[i].values[lane] = T(Epilogue::apply(value, place, state[lane], params.bound.epilogue));
                }
                store_once(reinterpret_cast<Packet<T, lanes>*>(y), values[i]);
            }
        }
    }

private:
    __device__ static void prepare(Params const& params, Shared& shared, unsigned thread, unsigned block,
                                   std::int64_t offset_y, OutputCoord const (&at)[lanes], State (&state)[lanes]) {
        if (can_share && params.channels_last) return prepare_together(params, shared, thread, block, at, state);
#pragma unroll
        for (int lane = 0; lane < lanes; ++lane) {
            Place const place(at[lane], offset_y + lane, params.y.layout.stride);
            if (!Epilogue::placewise && lane > 0 && at[lane].k == at[lane - 1].k) state[lane] = state[lane - 1];
            else state[lane] = Epilogue::prepare(place, params.bound.epilogue);
        }
    }

    /// The block's channels from the first one on; after the last comes the first again.
    __device__ static void prepare_together(Params const& params, Shared& shared, unsigned thread, unsigned block,
                                            OutputCoord const (&at)[lanes], State (&state)[lanes]) {
        unsigned const channels = params.channels.value();
        unsigned const first = params.channels.remainder(params.packs.remainder(block * threads) * lanes);
        for (unsigned i = thread; i < params.block_channels; i += threads) {
            OutputCoord const place{0, first + i < channels ? first + i : first + i - channels, 0, 0};
            shared.states[slot(i)].value() = Epilogue::prepare(place, params.bound.epilogue);
        }
        __syncthreads();
#pragma unroll
        for (int lane = 0; lane < lanes; ++lane) {
            auto const k = static_cast<unsigned>(at[lane].k);
            state[lane] = shared.states[slot(k < first ? k + channels - first : k - first)].value();
        }
    }
    __device__ static unsigned slot(unsigned i) { return i % lanes * stride + i / lanes; }

    /// Of an element of an image, counted in memory order, and of its neighbour.
    __device__ static OutputCoord coordinates(Params const& params, unsigned place) {
        Divisor const &outer = params.channels_last ? params.channels : params.plane, &columns = params.columns;
        unsigned const quotient = outer.divide(place), remainder = place - quotient * outer.value();
        unsigned const k = params.channels_last ? remainder : quotient,
                       pixel = params.channels_last ? quotient : remainder;
        unsigned const p = columns.divide(pixel);
        return {0, k, p, pixel - p * columns.value()};
    }
    __device__ static OutputCoord next(Params const& params, OutputCoord const& at) {
        auto k = static_cast<unsigned>(at.k), p = static_cast<unsigned>(at.p), q = static_cast<unsigned>(at.q);
        bool const last = params.channels_last;
        if (last && ++k == params.channels.value()) k = 0;
        if (!last || k == 0) ++q;
        if (q == params.columns.value()) q = 0, ++p;
        if (!last && p * params.columns.value() == params.plane.value()) p = 0, ++k;
        return {0, k, p, q};
    }
};

}  // namespace fusekit::hip
