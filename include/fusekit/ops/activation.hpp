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

namespace fusekit {

/// y = f(x), the same at every place. Mode is a struct of activation/, a file a mode, or any struct with Args and
/// apply. Softmax is not a mode: it needs a whole row (ops/operator.hpp).
///
/// Arguments: the mode's alpha, beta, gamma, where it has them. NaN in gives NaN out in every mode; +-infinity
/// gives the limit (but LeakyRelu's alpha = 0 times -infinity is NaN). The same holds for a mode's slope, its
/// derivative. At a kink the mode's comment says which side's slope it takes. Source: MIOpen's
/// activation modes (miopenActivationMode_t) for the first eleven, the papers named elsewhere.
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
