// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/ops/activation/abs.hpp"
#include "fusekit/ops/activation/clamp.hpp"
#include "fusekit/ops/activation/clipped_relu.hpp"
#include "fusekit/ops/activation/elu.hpp"
#include "fusekit/ops/activation/gelu.hpp"
#include "fusekit/ops/activation/gelu_tanh.hpp"
#include "fusekit/ops/activation/hard_sigmoid.hpp"
#include "fusekit/ops/activation/hard_swish.hpp"
#include "fusekit/ops/activation/leaky_relu.hpp"
#include "fusekit/ops/activation/logistic.hpp"
#include "fusekit/ops/activation/mish.hpp"
#include "fusekit/ops/activation/passthru.hpp"
#include "fusekit/ops/activation/power.hpp"
#include "fusekit/ops/activation/relu.hpp"
#include "fusekit/ops/activation/silu.hpp"
#include "fusekit/ops/activation/soft_relu.hpp"
#include "fusekit/ops/activation/softsign.hpp"
#include "fusekit/ops/activation/tanh.hpp"
#include "fusekit/ops/operator.hpp"

/// Every activation, X(number, type, name, name in C), listed once: the run time, the C interface and tests read this
/// list. The number is the value in runtime::ActivationMode and of the C constant, such as FUSEKIT_RELU; 0 to 10 have
/// MIOpen's meaning (miopenActivationMode_t). Code that selects an activation at run time compares the mode with the
/// entries in this order.
#define FUSEKIT_PIECEWISE_ACTIVATIONS(X)          \
    X(3, Relu, relu, RELU)                        \
    X(0, Passthru, passthru, PASSTHRU)            \
    X(8, LeakyRelu, leaky_relu, LEAKY_RELU)       \
    X(7, ClippedRelu, clipped_relu, CLIPPED_RELU) \
    X(10, Clamp, clamp, CLAMP)                    \
    X(5, Abs, abs, ABS)
#define FUSEKIT_CURVED_ACTIVATIONS(X)              \
    X(11, Gelu, gelu, GELU)                        \
    X(12, GeluTanh, gelu_tanh, GELU_TANH)          \
    X(13, Silu, silu, SILU)                        \
    X(1, Logistic, logistic, LOGISTIC)             \
    X(2, Tanh, tanh, TANH)                         \
    X(9, Elu, elu, ELU)                            \
    X(15, HardSwish, hard_swish, HARD_SWISH)       \
    X(16, HardSigmoid, hard_sigmoid, HARD_SIGMOID) \
    X(4, SoftRelu, soft_relu, SOFT_RELU)           \
    X(14, Mish, mish, MISH)                        \
    X(17, Softsign, softsign, SOFTSIGN)            \
    X(6, Power, power, POWER)
#define FUSEKIT_ACTIVATIONS(X) FUSEKIT_PIECEWISE_ACTIVATIONS(X) FUSEKIT_CURVED_ACTIVATIONS(X)

namespace fusekit {

/// y = f(x), elementwise. Mode is the function f: a struct of ops/activation/, one file per function, or any struct
/// with Args and apply. Softmax is not a Mode, because one result depends on a whole row of values (ops/operator.hpp).
///
/// Arguments: the alpha, beta and gamma of f, if it has them. Every f of ops/activation/ maps NaN to NaN and +-infinity
/// to its limit there (except LeakyRelu with alpha = 0, where 0 * -infinity is NaN); the slope of f, its derivative,
/// does so too. At a kink of f the comment of its struct states which one-sided slope is used. Sources: MIOpen's
/// activation modes (miopenActivationMode_t) for the first eleven; the papers named in the comments of the other
/// structs.
template <class Mode>
struct Activation {
    static constexpr auto stage = Stage::activation;
    static constexpr char const* equation = [] {
        if constexpr (requires { Mode::equation; }) return Mode::equation;
        else return "";
    }();
    using Args = typename Mode::Args;

    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const& args)
        requires requires { Mode::apply(x, args); }
    {
        return Mode::apply(x, args);
    }

    template <class V>
    FUSEKIT_HD static constexpr V slope(V x, Args const& args)
        requires requires { Mode::slope(x, args); }
    {
        return Mode::slope(x, args);
    }
};

}  // namespace fusekit
