// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/ops/row_norm.hpp"
#include "fusekit/ops/softmax.hpp"
#include "fusekit/runtime/operator.hpp"

/// OperatorOf for norms of rows and softmax.
namespace fusekit::runtime {

namespace detail {

/// Parameters of channels that the caller may omit.
FUSEKIT_H inline OptionalView<float const, 1> optional_channels(Given const& given, Role role) {
    if (!given.has(role)) return {};
    return {static_cast<fusekit::detail::CollapsedView<TensorView<float const, 1>> const&>(given.channels(role))};
}

/// OperatorOf for a norm of rows with a scale, and a shift if its Args have one.
template <class Op, Kind kind>
struct OperatorOfNorm {
    static constexpr Descriptor descriptor = {kind};
    FUSEKIT_H static typename Op::Args read(Given const& given) {
        typename Op::Args args;
        args.scale = optional_channels(given, Role::scale);
        if constexpr (requires { args.shift; }) args.shift = optional_channels(given, Role::shift);
        if constexpr (requires { args.groups; }) args.groups = given.descriptor.filter.group_count;
        args.epsilon = given.number(given.arguments.epsilon);
        return args;
    }
};

template <class Op, Kind kind>
struct OperatorOfSoftmax {
    static constexpr Descriptor descriptor = {kind};
    FUSEKIT_H static typename Op::Args read(Given const&) { return {}; }
};

}  // namespace detail

template <>
struct OperatorOf<LayerNorm> : detail::OperatorOfNorm<LayerNorm, Kind::layer_norm> {};
template <>
struct OperatorOf<RmsNorm> : detail::OperatorOfNorm<RmsNorm, Kind::rms_norm> {};
template <>
struct OperatorOf<GroupNorm> : detail::OperatorOfNorm<GroupNorm, Kind::group_norm> {
    static constexpr bool any_filter = true;
};
template <>
struct OperatorOf<InstanceNorm> : detail::OperatorOfNorm<InstanceNorm, Kind::instance_norm> {};
template <>
struct OperatorOf<Softmax> : detail::OperatorOfSoftmax<Softmax, Kind::softmax> {};
template <>
struct OperatorOf<LogSoftmax> : detail::OperatorOfSoftmax<LogSoftmax, Kind::log_softmax> {};

}  // namespace fusekit::runtime
