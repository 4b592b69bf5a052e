// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/dispatch/elementwise.hpp"
#include "fusekit/backend/hip/dispatch/gather.hpp"
#include "fusekit/backend/hip/dispatch/pooling.hpp"
#include "fusekit/backend/hip/dispatch/prepare_conv.hpp"
#include "fusekit/backend/hip/dispatch/reduction.hpp"
#include "fusekit/backend/hip/dispatch/row_gradient.hpp"
#include "fusekit/backend/hip/dispatch/rows.hpp"
#include "fusekit/backend/hip/dispatch/weight_gradient.hpp"

namespace fusekit::hip::detail {

template <>
struct PrepareHead<detail::HeadKind::weight_gradient> {
    template <Orders>
    FUSEKIT_H static auto prepare(Stream const& stream, auto const&... arguments) {
        return with_choice(prepare_weight_gradient(stream.gpu(), arguments..., stream.own_workspace_bytes()),
                           Choice::named("WeightGradient"));
    }
};

template <>
struct PrepareHead<detail::HeadKind::reduction> {
    template <Orders orders>
    FUSEKIT_H static auto prepare(Stream const& stream, auto const&... arguments) {
        return with_choice(prepare_reduction<orders>(stream.gpu(), arguments...), Choice::named("Reduction"));
    }
    template <class Schedule>
    FUSEKIT_H static auto prepare_with(auto const&... arguments) {
        return with_choice(prepare_reduction_with<Schedule>(arguments...), Choice::named("Reduction"));
    }
};

template <>
struct PrepareHead<detail::HeadKind::rows> {
    template <Orders orders>
    FUSEKIT_H static auto prepare(Stream const& stream, auto const&... arguments) {
        return with_choice(prepare_rows<orders>(stream.gpu(), arguments..., stream.own_workspace_bytes()),
                           Choice::named("Rows"));
    }
};

template <>
struct PrepareHead<detail::HeadKind::gather> {
    template <Orders orders>
    FUSEKIT_H static auto prepare(Stream const& stream, auto const&... arguments) {
        return with_choice(prepare_gather<orders>(stream.gpu(), arguments...), Choice::named("Gather"));
    }
};

template <>
struct PrepareHead<detail::HeadKind::row_gradient> {
    template <Orders orders>
    FUSEKIT_H static auto prepare(Stream const& stream, auto const&... arguments) {
        return with_choice(prepare_row_gradient<orders>(stream.gpu(), arguments..., stream.own_workspace_bytes()),
                           Choice::named("RowGradient"));
    }
};

template <>
struct PrepareHead<detail::HeadKind::elementwise> {
    template <Orders orders, class BoundPlan>
    FUSEKIT_H static auto prepare(Stream const& stream, BoundPlan const& bound, auto const& x, auto const& y) {
        if constexpr (BoundPlan::Plan::pools)
            return with_choice(prepare_pooling<orders>(stream.gpu(), bound, x, y), Choice::named("Pooling"));
        else return with_choice(prepare_elementwise(stream.gpu(), bound, x, y), Choice::named("Elementwise"));
    }
    template <class Schedule>
    FUSEKIT_H static auto prepare_with(auto const&... arguments) {
        return with_choice(prepare_elementwise_with<Schedule>(arguments...), Choice::named("Elementwise"));
    }
};

}  // namespace fusekit::hip::detail
