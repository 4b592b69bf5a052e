// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/ops/activation.hpp"

namespace fusekit::runtime {

/// Activations of the library by number: 0 to 10 as in MIOpen (miopenActivationMode_t), then those that MIOpen does not
/// have.
enum class ActivationMode : std::int32_t {
#define FUSEKIT_ENUMERATOR(number, Mode, mode, MODE) mode = number,
    FUSEKIT_ACTIVATIONS(FUSEKIT_ENUMERATOR)
#undef FUSEKIT_ENUMERATOR
};

/// Number of activations in ActivationMode.
#define FUSEKIT_ONE_MORE(number, Mode, mode, MODE) +1
inline constexpr int activation_modes = FUSEKIT_ACTIVATIONS(FUSEKIT_ONE_MORE);
#undef FUSEKIT_ONE_MORE

/// Number in ActivationMode of an activation struct of the library (ops/activation/); -1 for any other type.
template <class Mode>
inline constexpr int number_of_mode = -1;
#define FUSEKIT_NUMBER(number, Mode, mode, MODE)        \
    template <>                                         \
    inline constexpr int number_of_mode<Mode> = number; \
    static_assert(number < activation_modes);
FUSEKIT_ACTIVATIONS(FUSEKIT_NUMBER)
#undef FUSEKIT_NUMBER

/// Name of an activation, as in "Activation<Relu>".
FUSEKIT_H constexpr char const* name(ActivationMode mode) {
    switch (mode) {
#define FUSEKIT_NAME(number, Mode, mode, MODE) \
    case ActivationMode::mode: return #Mode;
        FUSEKIT_ACTIVATIONS(FUSEKIT_NAME)
#undef FUSEKIT_NAME
    }
    return "?";
}

namespace detail {

/// Args of an activation struct, whose fields, none to three, are initialized with alpha, beta and gamma in this order.
template <class Mode>
FUSEKIT_HD constexpr typename Mode::Args mode_arguments(float alpha, float beta, float gamma) {
    using Args = typename Mode::Args;
    if constexpr (requires { Args{alpha, beta, gamma}; }) return Args{alpha, beta, gamma};
    else if constexpr (requires { Args{alpha, beta}; }) return Args{alpha, beta};
    else if constexpr (requires { Args{alpha}; }) return Args{alpha};
    else return Args{};
}

}  // namespace detail

}  // namespace fusekit::runtime
