// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/wave.hpp"
#include "fusekit/backend/hip/image_order.hpp"
#include "fusekit/backend/hip/slabs.hpp"
#include "fusekit/backend/hip/thread_coord.hpp"
#include "fusekit/plan/plan.hpp"

namespace fusekit::hip {

/// Kernel argument of a plan without a Conv that pools whole planes (an H x W channel of an image).
template <class Plan, Element T, detail::OutputElement U>
struct PoolingParams {
    BoundPlan<Plan> bound;
    TensorView<T const> x;
    TensorView<U> y;
    ImageOrder order;  ///< numbering of the outputs of an image
    unsigned outputs = 0;  ///< number of outputs in y, N K P Q, or in one range of images (slabs.hpp)
    Slabs slabs = {};
    FastDivmod image = {};  ///< K P Q: number of outputs per image
    FastDivmod columns = {};  ///< number of columns of a pooling window
    FastDivmod tiles = {};  ///< ChannelPooling: CTAs (or clusters of CTAs) of an image
    unsigned width = 1, cluster = 1;  ///< ChannelPooling: packets of a CTA; CTAs of a cluster; powers of two
};

/// Pooling of whole planes, in a plan without a Conv. `lanes` adjacent lanes of a wave compute one output, each lane
/// from some pixels of the plane: 32 lanes if pixels are contiguous, otherwise one.
template <class Plan, Element T, detail::OutputElement U, int lanes>
class Pooling {
    using Epilogue = typename Plan::Epilogue;
    using Reduce = typename Plan::Pool::Reduce;

public:
    static constexpr int threads = 256, blocks = 4;
    using Params = PoolingParams<Plan, T, U>;
    struct Shared {};

    /// A lane's sum (or other reduction) in three levels, so that rounding errors grow with the logarithm of the number
    /// of values: `few` combines up to 256 values, `many` up to 256 full `few`, and `all` the full `many`.
    struct Total {
        float few = Reduce::template neutral<float>(), many = few, all = few;
        unsigned count = 0;

        __device__ void add(float x) {
            few = Reduce::combine(few, x);
            if (++count % 256 != 0) return;
            many = Reduce::combine(many, few);
            few = Reduce::template neutral<float>();
            if (count % (256 * 256) != 0) return;
            all = Reduce::combine(all, many);
            many = Reduce::template neutral<float>();
        }
        __device__ float whole() const { return Reduce::combine(all, Reduce::combine(many, few)); }
    };

    __device__ static void run(Params const& params, Shared&, unsigned thread, unsigned block) {
        Slabs::Start const start = params.slabs.of(block);
        unsigned const id = (block - start.block) * (threads / lanes) + thread / lanes, lane = thread % lanes;
        unsigned const output = id < params.outputs ? id : params.outputs - 1;
        unsigned const n = params.image.divide(output);
        OutputCoord to = params.order.coord(output - n * params.image.value());
        std::int64_t const last = params.y.layout.shape[0] - 1, image = std::int64_t{start.image} + n;
        bool const in_bounds = id < params.outputs && image <= last;
        to.n = in_bounds ? image : last;
        PoolWindow const window = Plan::Pool::window(params.x.layout.shape, to.p, to.q);
        auto const state = Epilogue::prepare(to.k, params.bound.epilogue);
        Total total;
        auto const add = [&](unsigned i, unsigned j) {
            ThreadCoord const coord({to.n, to.k, window.row + i, window.column + j});
            float const x = params.x(coord.n, coord.k, coord.p, coord.q);
            total.add(Epilogue::apply(x, coord, state, params.bound.epilogue));
        };
        auto const rows = static_cast<unsigned>(window.rows), columns = static_cast<unsigned>(window.columns);
        if constexpr (lanes > 1) {
            for (unsigned pixel = lane; pixel < rows * columns; pixel += lanes) {
                unsigned const i = params.columns.divide(pixel);
                add(i, pixel - i * columns);
            }
        } else {
            for (unsigned i = 0; i < rows; ++i)
                for (unsigned j = 0; j < columns; ++j) add(i, j);
        }
        float whole = total.whole();
#pragma unroll
        for (unsigned distance = 1; distance < lanes; distance *= 2)
            whole = Reduce::combine(whole, of_lane_xor(whole, distance));
        if (in_bounds && lane == 0) params.y(to.n, to.k, to.p, to.q) = U(Reduce::finish(whole, window.count()));
    }
};

}  // namespace fusekit::hip
