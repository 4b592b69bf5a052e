// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/ops/activation.hpp"

namespace fusekit::runtime {

/// The library's activations, numbered: the first eleven as MIOpen numbers its modes (miopenActivationMode_t), then
/// those that MIOpen does not have.
enum class ActivationMode : std::int32_t {
    passthru,
    logistic,
    tanh,
    relu,
    soft_relu,
    abs,
    power,
    clipped_relu,
    leaky_relu,
    elu,
    clamp,
    gelu,
    gelu_tanh,
    silu,
    mish,
    hard_swish,
    hard_sigmoid,
    softsign,
};

namespace detail {

/// The modes in the order of their numbers.
template <class...>
struct ModeList;
using Modes = ModeList<Passthru, Logistic, Tanh, Relu, SoftRelu, Abs, Power, ClippedRelu, LeakyRelu, Elu, Clamp, Gelu,
                       GeluTanh, Silu, Mish, HardSwish, HardSigmoid, Softsign>;

template <class Mode, class List>
inline constexpr int number_in = -1;
template <class Mode, class First, class... Rest>
inline constexpr int number_in<Mode, ModeList<First, Rest...>> =
    std::is_same_v<Mode, First>              ? 0
    : number_in<Mode, ModeList<Rest...>> < 0 ? -1
                                             : 1 + number_in<Mode, ModeList<Rest...>>;

template <class List>
inline constexpr int size_of_list = 0;
template <class... Each>
inline constexpr int size_of_list<ModeList<Each...>> = sizeof...(Each);

/// A mode's arguments of a call's alpha, beta and gamma: as many as it has.
template <class Mode>
FUSEKIT_HD constexpr typename Mode::Args mode_arguments(float alpha, float beta, float gamma) {
    using Args = typename Mode::Args;
    if constexpr (requires { Args{alpha, beta, gamma}; }) return Args{alpha, beta, gamma};
    else if constexpr (requires { Args{alpha, beta}; }) return Args{alpha, beta};
    else if constexpr (requires { Args{alpha}; }) return Args{alpha};
    else return Args{};
}

}  // namespace detail

/// How many there are.
inline constexpr int activation_modes = detail::size_of_list<detail::Modes>;

/// The number of a mode of the library; -1 of another.
template <class Mode>
inline constexpr int number_of_mode = detail::number_in<Mode, detail::Modes>;

/// A mode's name, as in "Activation<Relu>".
FUSEKIT_H constexpr char const* name(ActivationMode mode) {
    constexpr char const* names[] = {"Passthru", "Logistic",    "Tanh",      "Relu",      "SoftRelu",    "Abs",
                                     "Power",    "ClippedRelu", "LeakyRelu", "Elu",       "Clamp",       "Gelu",
                                     "GeluTanh", "Silu",        "Mish",      "HardSwish", "HardSigmoid", "Softsign"};
    int const number = static_cast<int>(mode);
    return number >= 0 && number < activation_modes ? names[number] : "?";
}

}  // namespace fusekit::runtime
