// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/ops/operator.hpp"

namespace fusekit {

/// y[n,k,p,q] = x[n,k,p,q] + bias[k]
///
/// Arguments: bias, K values of any element type.
struct Bias {
    static constexpr auto stage = Stage::bias;
    static constexpr auto equation = "y = x + bias[k]";
    struct Args {
        AnyView<1> bias;
    };

    template <class V>
    struct Prepared {
        V bias;
    };
    template <class V = float>
    FUSEKIT_HD static constexpr Prepared<V> prepare(std::int64_t k, Args const& args) {
        return {args.bias.load<V>(k * args.bias.layout.stride[0])};
    }
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Prepared<V> const& channel) {
        return x + channel.bias;
    }
    template <class V>
    FUSEKIT_HD static constexpr V slope(V, Prepared<V> const&) {
        return V{} + 1.0f;
    }

    static void check(Args const& args, Check const& in) { in.readable("bias", args.bias, {{in.y[1]}}, "K"); }
};

}  // namespace fusekit
