// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/ops/operator.hpp"

/// Operators of units that are compiled at run time, beside the library's.
namespace fusekit::jit {

/// y = x: the last operator of a unit's plan, whose Args fill up those of all operators after the head to the size that
/// code of the host knows.
template <unsigned bytes>
struct Padding {
    static constexpr auto stage = Stage::pointwise;
    static constexpr auto equation = "y = x";
    static constexpr int flops_per_element = 0;
    struct Args {
        alignas(8) unsigned char unused[bytes];
    };
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const&) {
        return x;
    }
};

/// An operator whose source was given at run time, Op: apply(x, args) with Args of none to three floats, which are
/// initialized with a call's alpha, beta and gamma.
template <class Op>
struct FromSource {
    static constexpr auto stage = Op::stage;
    struct Args {
        float alpha, beta, gamma;
    };
    FUSEKIT_HD static constexpr typename Op::Args arguments(Args const& args) {
        using Own = typename Op::Args;
        if constexpr (requires { Own{args.alpha, args.beta, args.gamma}; }) return {args.alpha, args.beta, args.gamma};
        else if constexpr (requires { Own{args.alpha, args.beta}; }) return {args.alpha, args.beta};
        else if constexpr (requires { Own{args.alpha}; }) return {args.alpha};
        else {
            constexpr bool empty = std::is_empty_v<Own>;
            static_assert(empty, "Args of an operator that is given as source have at most three floats");
            return {};
        }
    }
    FUSEKIT_HD static constexpr float apply(float x, Args const& args) {
        constexpr bool applies = requires { Op::apply(x, arguments(args)); };
        static_assert(applies, "an operator that is given as source has apply(x, args), for a float x");
        if constexpr (applies) return Op::apply(x, arguments(args));
        else return x;
    }
};

}  // namespace fusekit::jit
