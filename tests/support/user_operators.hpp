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

/// y = x + z, for floats and vectors, at any coordinate type.
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

/// y = max(x, floor), for floats alone.
struct ScalarMax {
    static constexpr auto stage = fk::Stage::pointwise;
    struct Args {
        float floor;
    };
    FUSEKIT_HD static float apply(float x, Args const& args) { return x < args.floor ? args.floor : x; }
};

/// y = x * (k + 1) - k, prepared once per channel.
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

/// y = x * factor[k], for floats and vectors, loaded at the coordinate.
struct TimesChannel {
    static constexpr auto stage = fk::Stage::pointwise;
    struct Args {
        fk::AnyView<1> factor;
    };
    template <class V, class At>
    FUSEKIT_HD static constexpr V apply(V x, At const& at, Args const& args) {
        return x * at.load(args.factor);
    }
};

/// y = x + map[k,p,q] + term[k], both prepared once per pixel.
struct PlusMapAndChannel {
    static constexpr auto stage = fk::Stage::pointwise;
    struct Args {
        fk::TensorView<float const, 3> map;
        fk::AnyView<1> term;
    };
    template <class V>
    struct Prepared {
        V sum;
    };
    template <class At>
    FUSEKIT_HD static constexpr auto prepare(At const& at, Args const& args)
        requires requires { at.load(args.term); }
    {
        auto const sum = at.load(args.map) + at.load(args.term);
        return Prepared<std::remove_const_t<decltype(sum)>>{sum};
    }
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Prepared<V> const& prepared) {
        return x + prepared.sum;
    }
};

/// Runs the two operators that load per-channel parameters, of element type T; returns the number of wrong outputs.
template <class T, class X = float, class Device>
int wrong_outputs_of_channel_loads(Device& device, bool channels_last) {
    auto const layout = channels_last ? fk::nhwc(2, 4, 8, 9) : fk::nchw(2, 9, 4, 8);
    fk::Tensor<X, Device> x(device, layout);
    fk::Tensor<float, Device, 3> map(device, channels_last ? fk::hwc(4, 8, 9) : fk::chw(9, 4, 8));
    fk::Tensor<T, Device, 1> channels(device, fk::channels(18));
    std::vector<X> in(static_cast<std::size_t>(x.size())), out(in.size());
    std::vector<float> map_values(static_cast<std::size_t>(map.size()));
    std::vector<T> numbers(18);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<X>(i % 13) - 4;
    for (std::size_t i = 0; i < map_values.size(); ++i) map_values[i] = static_cast<float>(i % 50);
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = T(static_cast<float>(i) - 5);
    x.copy_from(in.data()), map.copy_from(map_values.data()), channels.copy_from(numbers.data());
    fk::TensorView<T const, 1> const all = channels.const_view(), odd(all.data + 1, {{{9}}, {{2}}});
    fk::TensorView<T const, 1> const first(all.data, fk::channels(9));
    auto const located = fk::Plan<TimesChannel, PlusMapAndChannel>::bind({.factor = first}, {.map = map, .term = odd});
    auto const pixelwise = fk::Plan<PlusMapAndChannel>::bind({.map = map, .term = first});
    int wrong = 0;
    for (bool const both : {true, false}) {
        auto const y = both ? located(device, x) : pixelwise(device, x);
        y.copy_to(out.data());
        for (int n = 0; n < 2; ++n)
            for (int k = 0; k < 9; ++k)
                for (int p = 0; p < 4; ++p)
                    for (int q = 0; q < 8; ++q) {
                        auto const i = static_cast<std::size_t>(y.layout().offset({{n, k, p, q}}));
                        X const there = map_values[static_cast<std::size_t>(map.layout().offset({{k, p, q}}))];
                        X const expected =
                            both ? in[i] * X(k - 5) + there + X(2 * k + 1 - 5) : in[i] + there + X(k - 5);
                        wrong += out[i] != expected;
                    }
    }
    return wrong;
}

/// Runs operators of all forms, with and without a Conv; returns the number of wrong outputs.
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
