// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/ops/operator.hpp"
#include "fusekit/tensor/optional_view.hpp"

namespace fusekit {

/// y[n,k,p,q] = x[n,k,p,q] + bias[k]
///
/// Arguments: bias, K values of any element type.
struct Bias {
    static constexpr auto stage = Stage::bias;
    static constexpr auto equation = "y = x + bias[k]";
    struct Args {
        Required<AnyChannelParameters, field::bias> bias;
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

    /// Output of a backward pass: bias[k] = sum of dy[n,k,p,q] over n, p, q.
    struct Gradients {
        OptionalView<float, 1> bias = {};

        FUSEKIT_H bool any() const { return bias.given(); }
    };
    static constexpr int gradient_sums = 1;
    template <class V>
    FUSEKIT_HD static constexpr void add_gradients(V* sums, V, V dy, Prepared<V> const&) {
        sums[0] += dy;
    }
    template <class V>
    FUSEKIT_HD static constexpr void save_gradients(V const* sums, OutputCoord const& at, Args const&,
                                                    Gradients const& gradients) {
        if (gradients.bias.given()) gradients.bias.view()(at.k) = static_cast<float>(sums[0]);
    }

    FUSEKIT_H static void check(Args const& args, Check const& in) { in.readable("bias", args.bias, {{in.y[1]}}, "K"); }
    FUSEKIT_H static void check_gradients(Gradients const& gradients, Check const& in) {
        in.writable("gradients.bias", gradients.bias, {{in.y[1]}}, "K");
    }
};

}  // namespace fusekit
