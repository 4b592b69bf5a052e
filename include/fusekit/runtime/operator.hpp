// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/ops/batch_norm.hpp"
#include "fusekit/ops/bias.hpp"
#include "fusekit/ops/binary.hpp"
#include "fusekit/ops/conv.hpp"
#include "fusekit/ops/gemm.hpp"
#include "fusekit/ops/gemm/batched.hpp"
#include "fusekit/ops/pool.hpp"
#include "fusekit/ops/requantize.hpp"
#include "fusekit/ops/residual.hpp"
#include "fusekit/ops/scale.hpp"
#include "fusekit/ops/store.hpp"
#include "fusekit/plan/gradient.hpp"
#include "fusekit/runtime/any_activation.hpp"
#include "fusekit/runtime/given.hpp"
#include "fusekit/runtime/optional.hpp"

namespace fusekit::runtime {

/// Descriptor of an operator, and the function that reads its Args from run-time arguments. A specialisation adds an
/// application's operator to plan sets:
///
///     template <> struct fusekit::runtime::OperatorOf<Swish> {
///         static constexpr Descriptor descriptor = {Kind::own};
///         static Swish::Args read(Given const& given) { return {given.number(given.arguments.alpha)}; }
///     };
///
/// Optional members: any_filter = true, if the operator accepts every filter; modes, if it accepts several values of
/// Descriptor::mode: a bit mask with bit i for mode i; absent(), if it is optional: the Args of a run without it;
/// gradients(given), for Backward plans: the views of its gradients.
template <class Op>
struct OperatorOf;

template <class Option>
struct OperatorOf<Conv<dynamic, Option>> {
    using Args = typename Conv<dynamic, Option>::Args;
    static constexpr bool any_filter = true;
    static constexpr Descriptor descriptor = conv(filter(1, 1));
    FUSEKIT_H static Args read(Given const& given) { return {given.view<4>(Role::weights), given.descriptor.filter}; }
};
template <auto Geometry, class Option>
struct OperatorOf<Conv<Geometry, Option>> {
    using Args = typename Conv<Geometry, Option>::Args;
    static constexpr Descriptor descriptor = conv(Geometry);
    FUSEKIT_H static Args read(Given const& given) { return {given.view<4>(Role::weights)}; }
};

template <>
struct OperatorOf<Gemm> {
    static constexpr Descriptor descriptor = gemm();
    FUSEKIT_H static Gemm::Args read(Given const& given) { return {given.view<2>(Role::weights)}; }
};

template <>
struct OperatorOf<BatchedGemm> {
    static constexpr Descriptor descriptor = batched_gemm();
    FUSEKIT_H static BatchedGemm::Args read(Given const& given) { return {given.activations(Role::weights)}; }
};

template <>
struct OperatorOf<Bias> {
    static constexpr Descriptor descriptor = bias();
    FUSEKIT_H static Bias::Args read(Given const& given) { return {given.any_channels(Role::bias)}; }
    FUSEKIT_H static Bias::Gradients gradients(Given const& given) {
        return {given.written_channels(Role::shift_gradient)};
    }
};

template <>
struct OperatorOf<Residual> {
    static constexpr Descriptor descriptor = residual();
    FUSEKIT_H static Residual::Args read(Given const& given) {
        return {given.activations(Role::z), given.number(given.arguments.factor)};
    }
    FUSEKIT_H static Residual::Gradients gradients(Given const& given) {
        if (!given.has(Role::output)) return {};
        return {OptionalOutput(given.output(Role::output))};
    }
};

namespace detail {

/// OperatorOf for a Binary operator.
template <class Op, BinaryMode mode>
struct OperatorOfBinary {
    static constexpr Descriptor descriptor = binary(mode);
    FUSEKIT_H static typename Op::Args read(Given const& given) { return {given.activations(Role::z)}; }
};

}  // namespace detail

template <>
struct OperatorOf<Add> : detail::OperatorOfBinary<Add, BinaryMode::add> {};
template <>
struct OperatorOf<Subtract> : detail::OperatorOfBinary<Subtract, BinaryMode::subtract> {};
template <>
struct OperatorOf<Multiply> : detail::OperatorOfBinary<Multiply, BinaryMode::multiply> {};
template <>
struct OperatorOf<Divide> : detail::OperatorOfBinary<Divide, BinaryMode::divide> {};
template <>
struct OperatorOf<Maximum> : detail::OperatorOfBinary<Maximum, BinaryMode::maximum> {};
template <>
struct OperatorOf<Minimum> : detail::OperatorOfBinary<Minimum, BinaryMode::minimum> {};

template <>
struct OperatorOf<Scale> {
    static constexpr Descriptor descriptor = scale();
    FUSEKIT_H static Scale::Args read(Given const& given) { return {given.number(given.arguments.factor)}; }
};

template <>
struct OperatorOf<Requantize> {
    static constexpr Descriptor descriptor = requantize();
    FUSEKIT_H static Requantize::Args read(Given const& given) {
        return {given.channels(Role::scale), given.number(given.arguments.zero_point)};
    }
};

template <class Mode>
struct OperatorOf<Activation<Mode>> {
    static_assert(number_of_mode<Mode> >= 0, "a mode of an application: specialise OperatorOf for its Activation");
    static constexpr Descriptor descriptor = activation(static_cast<ActivationMode>(number_of_mode<Mode>));
    FUSEKIT_H static typename Mode::Args read(Given const& given) {
        Arguments const& of = given.arguments;
        return detail::mode_arguments<Mode>(given.number(of.alpha), given.number(of.beta), given.number(of.gamma));
    }
};

namespace detail {

/// OperatorOf for an operator Op whose activation is selected at run time. Optional if Passthru is one of its
/// activations.
template <class Op>
struct OperatorOfAny {
    static constexpr std::uint32_t modes = Op::modes;
    static constexpr Descriptor descriptor = activation(ActivationMode::passthru);
    FUSEKIT_H static typename Op::Args read(Given const& given) {
        Arguments const& of = given.arguments;
        return {static_cast<ActivationMode>(given.descriptor.mode), given.number(of.alpha), given.number(of.beta),
                given.number(of.gamma)};
    }
    FUSEKIT_H static typename Op::Args absent()
        requires(Op::has(ActivationMode::passthru))
    {
        return {};
    }
};

}  // namespace detail

template <>
struct OperatorOf<AnyActivation> : detail::OperatorOfAny<AnyActivation> {};
template <>
struct OperatorOf<PiecewiseActivation> : detail::OperatorOfAny<PiecewiseActivation> {};
template <>
struct OperatorOf<CurvedActivation> : detail::OperatorOfAny<CurvedActivation> {};

namespace detail {

template <class Mode>
inline constexpr NormMode norm_mode = std::is_same_v<Mode, Spatial> ? NormMode::spatial : NormMode::per_activation;

/// View of one parameter of a batch norm: per channel for Spatial, per pixel for PerActivation.
template <class Mode>
FUSEKIT_H auto parameters(Given const& given, Role role) {
    if constexpr (norm_mode<Mode> == NormMode::spatial) return given.channels(role);
    else return given.pixels(role);
}
template <class Mode>
FUSEKIT_H auto written_parameters(Given const& given, Role role) {
    if constexpr (norm_mode<Mode> == NormMode::spatial) return given.written_channels(role);
    else return given.written_pixels(role);
}

}  // namespace detail

template <class Mode>
struct OperatorOf<BatchNormInference<Mode>> {
    static constexpr Descriptor descriptor = batch_norm_inference(detail::norm_mode<Mode>);
    FUSEKIT_H static typename BatchNormInference<Mode>::Args read(Given const& given) {
        return {detail::parameters<Mode>(given, Role::mean), detail::parameters<Mode>(given, Role::variance),
                detail::parameters<Mode>(given, Role::scale), detail::parameters<Mode>(given, Role::shift),
                given.number(given.arguments.epsilon)};
    }
};

template <class Mode>
struct OperatorOf<BatchNormTraining<Mode>> {
    static constexpr Descriptor descriptor = batch_norm_training(detail::norm_mode<Mode>);
    FUSEKIT_H static typename BatchNormTraining<Mode>::Args read(Given const& given) {
        return {detail::parameters<Mode>(given, Role::scale),
                detail::parameters<Mode>(given, Role::shift),
                detail::written_parameters<Mode>(given, Role::saved_mean),
                detail::written_parameters<Mode>(given, Role::saved_inverse_deviation),
                detail::written_parameters<Mode>(given, Role::running_mean),
                detail::written_parameters<Mode>(given, Role::running_variance),
                given.number(given.arguments.momentum),
                given.number(given.arguments.epsilon)};
    }
    FUSEKIT_H static typename BatchNormTraining<Mode>::Gradients gradients(Given const& given) {
        return {detail::written_parameters<Mode>(given, Role::scale_gradient),
                detail::written_parameters<Mode>(given, Role::shift_gradient)};
    }
};

template <>
struct OperatorOf<Store> {
    static constexpr Descriptor descriptor = store();
    FUSEKIT_H static Store::Args read(Given const& given) { return {given.output(Role::output)}; }
};

template <>
struct OperatorOf<GlobalAverage> {
    static constexpr Descriptor descriptor = global_average();
    FUSEKIT_H static GlobalAverage::Args read(Given const&) { return {}; }
};
/// A descriptor has neither counted padding nor ceil_mode nor taps.
template <class Of, auto... Window>
    requires((std::is_same_v<Of, Max> || std::is_same_v<Of, Average>) && !Pool<Of, Window...>::rounds_up)
struct OperatorOf<Pool<Of, Window...>> {
    static constexpr Descriptor descriptor =
        pool(std::is_same_v<Of, Max> ? PoolMode::max : PoolMode::average, Pool<Of, Window...>::geometry);
    FUSEKIT_H static typename Pool<Of, Window...>::Args read(Given const&) { return {}; }
};

template <class Op>
struct OperatorOf<Optional<Op>> : OperatorOf<Op> {
    using Args = typename Optional<Op>::Args;
    FUSEKIT_H static Args read(Given const& given) { return Optional<Op>::given(OperatorOf<Op>::read(given)); }
    FUSEKIT_H static Args absent() { return Optional<Op>::absent(); }
};

}  // namespace fusekit::runtime
