// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <utility>

#include "fusekit/backend/host/device.hpp"
#include "fusekit/backend/host/lane_coord.hpp"
#include "fusekit/plan/epilogue.hpp"

// Refuses, with a message, operators whose apply accepts a vector x but whose body compiles only for a scalar. No
// requires-expression can test a body; but compilers print the instantiation stack of an error in the body, and the
// stack can contain the message.

namespace fusekit::host {

namespace detail {

/// A message as a template argument: if the body of a function template does not compile, g++ prints its template
/// arguments, and clang quotes the source lines of the instantiation stack.
template <std::size_t Size>
struct Sentence {
    char text[Size];

    consteval Sentence(char const (&from)[Size]) {
        for (std::size_t i = 0; i < Size; ++i) text[i] = from[i];
    }
};

/// Types of the arguments that follow x in Op's vector apply; form_of() returns 0 if Op has no vector apply.
template <class... Rest>
struct Form {};
template <class Op, class At = LaneCoord<detail::Axis::channel>>
consteval auto form_of() {
    using Args = typename Op::Args;
    if constexpr (Channelwise<Op, Vector>) return Form<typename Op::template Prepared<Vector>>{};
    else if constexpr (Pixelwise<Op, Vector, At>) return Form<typename Op::template Prepared<Vector>>{};
    else if constexpr (Uniform<Op, Vector>) return Form<Args>{};
    else if constexpr (Located<Op, Vector, At>) return Form<At, Args>{};
    else return 0;
}

/// Declares a value of any type, for calls that never run but that unoptimised code contains.
template <class T>
FUSEKIT_H T const& some() {
    __builtin_unreachable();
}

template <class Op, Sentence>
FUSEKIT_H int apply_to_vector(int);
/// Calls Op::apply on a vector. The deduced return type makes the compiler compile the body of apply for every call,
/// even in a requires-expression.
template <class Op, Sentence, class... Rest>
FUSEKIT_H auto apply_to_vector(Form<Rest...>) {
    // clang-format off
    return Op::apply(Vector{}, some<Rest>()...);  // x may be a CPU vector: for `if` write fk::math::select(x > 0.0f, a, b)
    // clang-format on
}

/// True if apply can be called with these arguments. After clang has reported an error in the body, it would report the
/// same error again at another call: this overload makes none.
template <class Op>
consteval bool still_applies(int) {
    return true;
}
template <class Op, class... Rest>
consteval bool still_applies(Form<Rest...>) {
    return requires { Op::apply(Vector{}, some<Rest>()...); };
}

template <class V>
inline constexpr bool is_number = !std::same_as<V, Vector>;

}  // namespace detail

template <class X, class... Ops>
consteval bool Device::accepts(detail::Epilogue<Ops...> const*, void const*) {
    constexpr detail::Sentence why = "x may be a CPU vector: for `if` write fk::math::select(x > 0.0f, a, b)";
    using T = std::remove_cvref_t<decltype(*std::declval<X&>().const_view().data)>;
    constexpr bool compiles = config::has_vectors || std::same_as<T, double>;
    static_assert(compiles, "nvcc does not know CPU vectors: compile plans for the host with the C++ compiler");
    if constexpr (!compiles || std::same_as<T, double>) return compiles;
    else
        return (((requires {
                     detail::apply_to_vector<Ops, why>(detail::form_of<Ops>());
                 } || true) && detail::still_applies<Ops>(detail::form_of<Ops>())) && ...);
}

}  // namespace fusekit::host

/// Overloads of <cmath> functions for Vector: an operator that calls one gets a message instead of an overload error.
namespace std {

template <same_as<fusekit::host::Vector> V>
FUSEKIT_H V exp(V x) {
    static_assert(fusekit::host::detail::is_number<V>, "x may be a CPU vector: write fk::math::exp(x)");
    return x;
}
template <same_as<fusekit::host::Vector> V>
FUSEKIT_H V expm1(V x) {
    static_assert(fusekit::host::detail::is_number<V>, "x may be a CPU vector: write fk::math::expm1(x)");
    return x;
}
template <same_as<fusekit::host::Vector> V>
FUSEKIT_H V log(V x) {
    static_assert(fusekit::host::detail::is_number<V>, "x may be a CPU vector: write fk::math::log(x)");
    return x;
}
template <same_as<fusekit::host::Vector> V>
FUSEKIT_H V log1p(V x) {
    static_assert(fusekit::host::detail::is_number<V>, "x may be a CPU vector: write fk::math::log1p(x)");
    return x;
}
template <same_as<fusekit::host::Vector> V>
FUSEKIT_H V sqrt(V x) {
    static_assert(fusekit::host::detail::is_number<V>, "x may be a CPU vector: write fk::math::sqrt(x)");
    return x;
}
template <same_as<fusekit::host::Vector> V>
FUSEKIT_H V sin(V x) {
    static_assert(fusekit::host::detail::is_number<V>, "x may be a CPU vector: write fk::math::sin(x)");
    return x;
}
template <same_as<fusekit::host::Vector> V>
FUSEKIT_H V cos(V x) {
    static_assert(fusekit::host::detail::is_number<V>, "x may be a CPU vector: write fk::math::cos(x)");
    return x;
}
template <same_as<fusekit::host::Vector> V>
FUSEKIT_H V tanh(V x) {
    static_assert(fusekit::host::detail::is_number<V>, "x may be a CPU vector: write fk::math::tanh(x)");
    return x;
}
template <same_as<fusekit::host::Vector> V>
FUSEKIT_H V erf(V x) {
    static_assert(fusekit::host::detail::is_number<V>, "x may be a CPU vector: write fk::math::erf(x)");
    return x;
}
template <same_as<fusekit::host::Vector> V>
FUSEKIT_H V(abs)(V x) {
    static_assert(fusekit::host::detail::is_number<V>, "x may be a CPU vector: write fk::math::abs(x)");
    return x;
}
template <same_as<fusekit::host::Vector> V>
FUSEKIT_H V fabs(V x) {
    static_assert(fusekit::host::detail::is_number<V>, "x may be a CPU vector: write fk::math::abs(x)");
    return x;
}
template <same_as<fusekit::host::Vector> V>
FUSEKIT_H V pow(V x, auto const&) {
    static_assert(fusekit::host::detail::is_number<V>, "x may be a CPU vector: write fk::math::pow(x, exponent)");
    return x;
}
template <same_as<fusekit::host::Vector> V>
FUSEKIT_H V(max)(V const& x, auto const&) {
    static_assert(fusekit::host::detail::is_number<V>, "x may be a CPU vector: write fk::math::max(x, bound)");
    return x;
}
template <same_as<fusekit::host::Vector> V>
FUSEKIT_H V(min)(V const& x, auto const&) {
    static_assert(fusekit::host::detail::is_number<V>, "x may be a CPU vector: write fk::math::min(x, bound)");
    return x;
}

}  // namespace std
