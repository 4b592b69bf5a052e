// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/wave.hpp"
#include "fusekit/backend/hip/image_order.hpp"
#include "fusekit/plan/plan.hpp"

namespace fusekit::hip {

/// What the kernel of a plan without a Conv that pools is given.
template <class Plan, Element T>
struct PoolingParams {
    Bound<Plan> bound;
    TensorView<T const> x;
    TensorView<T> y;
    ImageOrder order;      ///< in which an image's outputs are counted
    unsigned outputs = 0;  ///< N K P Q of y
    Divisor image = {};    ///< K P Q of y
    Divisor columns = {};  ///< of a window
};

/// A plan without a Conv that pools. `lanes` neighbouring threads of a wave make an output of its window, each of some
/// of the pixels: one, or, of a whole plane whose pixels neighbour in memory, 32.
template <class Plan, Element T, int lanes>
class Pooling {
    using Epilogue = typename Plan::Epilogue;
    using Reduce = typename Plan::Last::Reduce;

public:
    static constexpr int threads = 256, blocks = 4;
    using Params = PoolingParams<Plan, T>;
    struct Shared {};

    __device__ static void run(Params const& params, Shared&, unsigned thread, unsigned block) {
        unsigned const id = block * (threads / lanes) + thread / lanes, lane = thread % lanes;
        bool const exists = id < params.outputs;
        unsigned const output = exists ? id : params.outputs - 1;
        unsigned const n = params.image.divide(output);
        OutputCoord to = params.order.place(output - n * params.image.value());
        to.n = n;
        Index<2> const window = Plan::Last::window(params.x.layout.shape);
        OutputCoord at{to.n, to.k, to.p * window[0], to.q * window[1]};
        auto const state = Epilogue::prepare(to.k, params.bound.epilogue);
        float total = Reduce::template neutral<float>();
        auto const add_to = [&](float& sum, unsigned i, unsigned j) {
            OutputCoord const place{at.n, at.k, at.p + i, at.q + j};
            float const x = params.x(place.n, place.k, place.p, place.q);
            sum = Reduce::combine(sum, Epilogue::apply(x, place, state, params.bound.epilogue));
        };
        auto const rows = static_cast<unsigned>(window[0]), columns = static_cast<unsigned>(window[1]);
        if constexpr (lanes > 1) {
            for (unsigned pixel = lane; pixel < rows * columns; pixel += lanes) {
                unsigned const i = params.columns.divide(pixel);
                add_to(total, i, pixel - i * columns);
            }
#pragma unroll
            for (unsigned distance = 1; distance < lanes; distance *= 2)
                total = Reduce::combine(total, of_lane_xor(total, distance));
        } else {
            for (unsigned i = 0; i < rows; ++i) {
                float row = Reduce::template neutral<float>();
                for (unsigned j = 0; j < columns; ++j) add_to(row, i, j);
                total = Reduce::combine(total, row);
            }
        }
        if (exists && lane == 0) params.y(to.n, to.k, to.p, to.q) = T(Reduce::finish(total, window[0] * window[1]));
    }
};

}  // namespace fusekit::hip
