// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/host/device.hpp"
#include "fusekit/backend/host/integer.hpp"
#include "fusekit/backend/host/lane_coord.hpp"
#include "fusekit/plan/load_element.hpp"
#include "fusekit/plan/plan.hpp"
#include "fusekit/problem/facts.hpp"

namespace fusekit::host::inline FUSEKIT_FLAGS {

/// Runs a plan whose head is a GatherOp. Lanes are channels of a pixel, if they are contiguous in x and y and the head
/// keeps them; else pixels of a row of y, and the head is evaluated for each.
template <class Plan, Element T, detail::OutputElement U>
class Gather {
    using Op = typename Plan::Head;
    using Epilogue = typename Plan::Epilogue;
    using State = typename Epilogue::template State<Vector>;

public:
    static constexpr char const* name = "Gather";

    Gather(BoundPlan<Plan> const& the_bound, TensorView<T const> const& the_x, TensorView<U> const& the_y)
        : bound(the_bound), x(the_x), y(the_y) {}

    std::int64_t scratch_floats() const {
        return detail::divide_up(vectors * std::int64_t{sizeof(State)}, sizeof(float));
    }

    void run(Device::RunContext& context) const {
        auto* const states = reinterpret_cast<State*>(context.scratch(scratch_floats()));
        context.parallel_for(vectors, [&](std::int64_t v, int) {
            states[v] = prepare_vector<Epilogue>(channel_lanes, v, shape[1], bound.epilogue);
        });
        std::int64_t const planes = channel_lanes ? 1 : shape[1];
        context.parallel_for(shape[0] * planes * shape[2], [&](std::int64_t row, int) {
            OutputCoord at{row / (planes * shape[2]), row / shape[2] % planes, row % shape[2], 0};
            if (channel_lanes) {
                for (; at.q < shape[3]; ++at.q)
                    for (at.k = 0; at.k < shape[1]; at.k += lanes) write<detail::Axis::channel>(at, states);
            } else {
                for (; at.q < shape[3]; at.q += lanes) write<detail::Axis::pixel>(at, states);
            }
        });
    }

private:
    BoundPlan<Plan> const& bound;
    TensorView<T const> x;
    TensorView<U> y;
    Index<4> const shape = y.layout.shape;
    bool const channel_lanes =
        Op::keeps_channels && problem::channels_are_contiguous(x.layout) && problem::channels_are_contiguous(y.layout);
    std::int64_t const vectors = channel_lanes ? detail::divide_up(shape[1], lanes) : shape[1];

    /// Loads `used` channels of one pixel of x.
    struct LoadChannels {
        using Value = Vector;
        TensorView<T const> const& x;
        int used;

        Vector operator()(OutputCoord const& from) const { return load(&x(from.n, from.k, from.p, from.q), 1, used); }
        Vector where(TensorView<int8 const, 4> const& taps, OutputCoord from, int tap) const {
            Vector const values = (*this)(from);
            Vector result{};
            for (int lane = 0; lane < used; ++lane, ++from.k)
                if (taps(from.n, from.k, from.p, from.q).value == tap) result[lane] = values[lane];
            return result;
        }
    };

    /// Writes the outputs from `at` on that are in one vector.
    template <detail::Axis axis>
    void write(OutputCoord const& at, State const* states) const {
        constexpr bool along_channels = axis == detail::Axis::channel;
        int const used = static_cast<int>((min)(lanes, along_channels ? shape[1] - at.k : shape[3] - at.q));
        Vector value{};
        if constexpr (!along_channels) {
            OutputCoord of = at;
            for (int lane = 0; lane < used; ++lane, ++of.q)
                value[lane] = Op::gather(of, x.layout.shape, shape, bound.head, detail::LoadElement<float, T>{x});
        } else if constexpr (Op::keeps_channels) {
            value = Op::gather(at, x.layout.shape, shape, bound.head, LoadChannels{x, used});
        }
        State const& state = states[along_channels ? at.k / lanes : at.k];
        store(&y(at.n, at.k, at.p, at.q), y.layout.stride[along_channels ? 1 : 3], used,
              Epilogue::apply(value, LaneCoord<axis>{at, used, shape[3]}, state, bound.epilogue));
    }
};

}  // namespace fusekit::host::inline FUSEKIT_FLAGS
