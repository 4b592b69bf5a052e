// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "fusekit/fusekit.hpp"

namespace test {

namespace fk = fusekit;

/// y = x + 1000 n + 100 k + 10 p + q, one element at a time.
struct Where {
    static constexpr auto stage = fk::Stage::pointwise;
    struct Args {};
    FUSEKIT_HD static float apply(float x, fk::OutputCoord at, Args const&) {
        return x + static_cast<float>(1000 * at.n + 100 * at.k + 10 * at.p + at.q);
    }
};

/// y = x + z, of a type that may be a vector, at any place.
struct Anywhere {
    static constexpr auto stage = fk::Stage::pointwise;
    struct Args {
        fk::AnyView<4> z;
    };
    template <class V, class At>
    FUSEKIT_HD static V apply(V x, At const& at, Args const& args) {
        return x + at.load(args.z);
    }
};

/// y = max(x, floor): a float alone.
struct ScalarMax {
    static constexpr auto stage = fk::Stage::pointwise;
    struct Args {
        float floor;
    };
    FUSEKIT_HD static float apply(float x, Args const& args) { return x < args.floor ? args.floor : x; }
};

/// y = x * (k + 1) - k, prepared once a channel.
struct PerChannel {
    static constexpr auto stage = fk::Stage::pointwise;
    struct Args {};
    template <class V>
    struct Prepared {
        V factor, offset;
    };
    FUSEKIT_HD static Prepared<float> prepare(std::int64_t k, Args const&) {
        return {static_cast<float>(k + 1), static_cast<float>(k)};
    }
    template <class V>
    FUSEKIT_HD static V apply(V x, Prepared<V> const& channel) {
        return x * channel.factor - channel.offset;
    }
};

/// Runs operators of all these forms, with and without a Conv; how many outputs are wrong.
template <class Device>
int wrong_outputs_of_user_operators(Device& device, bool channels_last) {
    auto const layout = channels_last ? fk::nhwc(2, 4, 9, 9) : fk::nchw(2, 9, 4, 9);
    fk::Tensor<float, Device> x(device, layout), w(device, fk::kcrs(9, 9, 1, 1));
    std::vector<float> in(static_cast<std::size_t>(x.size())), identity(81), out(in.size());
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i % 13) - 4;
    for (std::size_t i = 0; i < identity.size(); ++i) identity[i] = i % 10 == 0;
    x.copy_from(in.data()), w.copy_from(identity.data());
    auto const pointwise = fk::Plan<Where, ScalarMax, PerChannel, Anywhere>::bind({}, {7}, {}, {.z = x})(device, x);
    auto const conv = fk::Plan<fk::Conv<fk::filter(1, 1)>, Where, ScalarMax, PerChannel, Anywhere>::bind(
        {.weights = w}, {}, {7}, {}, {.z = x})(device, x);
    int wrong = 0;
    for (auto const* y : {&pointwise, &conv}) {
        y->copy_to(out.data());
        for (int n = 0; n < 2; ++n)
            for (int k = 0; k < 9; ++k)
                for (int p = 0; p < 4; ++p)
                    for (int q = 0; q < 9; ++q) {
                        auto const i = static_cast<std::size_t>(y->layout().offset({{n, k, p, q}}));
                        float const there = in[i] + static_cast<float>(1000 * n + 100 * k + 10 * p + q);
                        float const expected =
                            (there < 7 ? 7 : there) * static_cast<float>(k + 1) - static_cast<float>(k) + in[i];
                        wrong += out[i] != expected;
                    }
    }
    return wrong;
}

}  // namespace test
