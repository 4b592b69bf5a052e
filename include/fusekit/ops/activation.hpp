// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/ops/activation/gated.hpp"
#include "fusekit/ops/activation/piecewise_linear.hpp"
#include "fusekit/ops/activation/smooth.hpp"
#include "fusekit/ops/operator.hpp"

namespace fusekit {

/// y = f(x), the same at every place. Mode is one of the structs of activation/, or any struct with Args and apply.
/// Softmax is none of them: it needs a whole row, and is of another kind (ops/operator.hpp).
///
/// Arguments: the mode's alpha, beta, gamma, where it has them. NaN in gives NaN out in every mode; +-infinity
/// gives the limit (but LeakyRelu's alpha = 0 times -infinity is NaN). The same holds of a mode's slope, its
/// derivative; where the two sides of a kink differ, the mode's comment says which it takes. Source: MIOpen's
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
