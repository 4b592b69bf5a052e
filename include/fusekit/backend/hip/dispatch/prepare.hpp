// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/dispatch/elementwise.hpp"
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
        return prepare_weight_gradient(stream.gpu(), arguments..., stream.own_workspace_bytes());
    }
};

template <>
struct PrepareHead<detail::HeadKind::reduction> {
    template <Orders orders>
    FUSEKIT_H static auto prepare(Stream const& stream, auto const&... arguments) {
        return prepare_reduction<orders>(stream.gpu(), arguments...);
    }
    template <class Schedule>
    FUSEKIT_H static auto prepare_with(auto const&... arguments) {
        return prepare_reduction_with<Schedule>(arguments...);
    }
};

template <>
struct PrepareHead<detail::HeadKind::rows> {
    template <Orders orders>
    FUSEKIT_H static auto prepare(Stream const& stream, auto const&... arguments) {
        return prepare_rows<orders>(stream.gpu(), arguments...);
    }
};

template <>
struct PrepareHead<detail::HeadKind::row_gradient> {
    template <Orders orders>
    FUSEKIT_H static auto prepare(Stream const& stream, auto const&... arguments) {
        return prepare_row_gradient<orders>(stream.gpu(), arguments...);
    }
};

template <>
struct PrepareHead<detail::HeadKind::elementwise> {
    template <Orders orders, class BoundPlan>
    FUSEKIT_H static auto prepare(Stream const& stream, BoundPlan const& bound, auto const& x, auto const& y) {
        if constexpr (BoundPlan::Plan::pools) return prepare_pooling<orders>(stream.gpu(), bound, x, y);
        else return prepare_elementwise(stream.gpu(), bound, x, y);
    }
    template <class Schedule>
    FUSEKIT_H static auto prepare_with(auto const&... arguments) {
        return prepare_elementwise_with<Schedule>(arguments...);
    }
};

}  // namespace fusekit::hip::detail
