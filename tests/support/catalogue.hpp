// SPDX-License-Identifier: MIT
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

#include "fusekit/ops/activation.hpp"
#include "support/activation_facts.hpp"

/// Activations of the library, FUSEKIT_ACTIVATIONS, in the order of their numbers, for all tests of activations. The
/// oracle has a formula and Facts for each (support/oracle_modes.cpp).
namespace test::catalogue {

namespace fk = fusekit;

namespace detail {

/// Name of a type in lower case, as the oracle's formula and cases have it.
struct LowerCase {
    char text[16] = {};

    template <std::size_t size>
    constexpr LowerCase(char const (&from)[size]) {
        for (std::size_t i = 0; i + 1 < size; ++i)
            text[i] = from[i] >= 'A' && from[i] <= 'Z' ? static_cast<char>(from[i] - 'A' + 'a') : from[i];
    }
};

template <int Number>
struct Numbered;
template <class Mode>
struct About;

#define TEST_ACTIVATION(number_of_mode, Type, mode, MODE)              \
    template <>                                                        \
    struct Numbered<number_of_mode> : std::type_identity<fk::Type> {}; \
    template <>                                                        \
    struct About<fk::Type> {                                           \
        static constexpr int number = number_of_mode;                  \
        static constexpr char const* type = #Type;                     \
        static constexpr LowerCase name{#Type};                        \
    };
FUSEKIT_ACTIVATIONS(TEST_ACTIVATION)
#undef TEST_ACTIVATION

template <class Sequence>
struct ModesOf;
template <int... Number>
struct ModesOf<std::integer_sequence<int, Number...>>
    : std::type_identity<std::tuple<typename Numbered<Number>::type...>> {};

}  // namespace detail

#define TEST_ONE_MORE(number, Type, mode, MODE) +1
inline constexpr int modes = FUSEKIT_ACTIVATIONS(TEST_ONE_MORE);
#undef TEST_ONE_MORE

using Modes = typename detail::ModesOf<std::make_integer_sequence<int, modes>>::type;

template <class TheMode>
struct Line {
    using Mode = TheMode;
    using Args = typename Mode::Args;

    static constexpr char const* name = detail::About<Mode>::name.text;
    static constexpr char const* type = detail::About<Mode>::type;
    static constexpr bool is_miopens = detail::About<Mode>::number < 11;  ///< one of MIOpen's modes

    static Facts const& facts() { return facts_of(name); }
    static constexpr Args args(Arguments const& given) {
        Args args{};
        if (given.are_default) return args;
        if constexpr (requires { args.alpha; }) args.alpha = given.alpha;
        if constexpr (requires { args.beta; }) args.beta = given.beta;
        if constexpr (requires { args.gamma; }) args.gamma = given.gamma;
        return args;
    }
};

/// Line of a mode by its number.
template <int Number>
inline constexpr Line<std::tuple_element_t<static_cast<std::size_t>(Number), Modes>> line{};

/// Calls f(a line) for every activation.
template <class F>
constexpr void for_each_activation(F const& f) {
    [&]<int... Number>(std::integer_sequence<int, Number...>) {
        (f(line<Number>), ...);
    }(std::make_integer_sequence<int, modes>{});
}

}  // namespace test::catalogue
