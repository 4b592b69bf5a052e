// SPDX-License-Identifier: MIT
#include "fusekit/backend/host/run.hpp"

#include <catch2/catch_test_macros.hpp>

#include "fusekit/fusekit.hpp"

namespace fk = fusekit;

namespace {

/// y = x + 1000 n + 100 k + 10 p + q, one element at a time.
struct Where {
    static constexpr auto stage = fk::Stage::pointwise;
    struct Args {};
    static float apply(float x, fk::OutputCoord at, Args const&) {
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
    static V apply(V x, At const& at, Args const& args) {
        return x + at.load(args.z);
    }
};

/// y = max(x, floor): a float alone.
struct ScalarMax {
    static constexpr auto stage = fk::Stage::pointwise;
    struct Args {
        float floor;
    };
    static float apply(float x, Args const& args) { return x < args.floor ? args.floor : x; }
};

/// y = x * (k + 1) - k, prepared once a channel.
struct PerChannel {
    static constexpr auto stage = fk::Stage::pointwise;
    struct Args {};
    template <class V>
    struct Prepared {
        V factor, offset;
    };
    static Prepared<float> prepare(std::int64_t k, Args const&) { return {static_cast<float>(k + 1), static_cast<float>(k)}; }
    template <class V>
    static V apply(V x, Prepared<V> const& channel) {
        return x * channel.factor - channel.offset;
    }
};

}  // namespace

TEST_CASE("users' operators of every form know their place, in every layout") {
    fk::host::Device device(2);
    for (bool const last : {true, false}) {
        auto const layout = last ? fk::nhwc(2, 4, 9, 9) : fk::nchw(2, 9, 4, 9);
        fk::Tensor<float, fk::host::Device> x(device, layout), w(device, fk::kcrs(9, 9, 1, 1));
        for (std::int64_t i = 0; i < x.size(); ++i) x.data()[i] = static_cast<float>(i % 13 - 4);
        for (std::int64_t i = 0; i < w.size(); ++i) w.data()[i] = i % 10 == 0;  // the identity
        auto const pointwise = fk::Plan<Where, ScalarMax, PerChannel, Anywhere>::bind({}, {7}, {}, {.z = x})(device, x);
        auto const conv = fk::Plan<fk::Conv<fk::filter(1, 1)>, Where, ScalarMax, PerChannel, Anywhere>::bind(
            {.weights = w}, {}, {7}, {}, {.z = x})(device, x);
        int wrong = 0;
        for (int n = 0; n < 2; ++n)
            for (int k = 0; k < 9; ++k)
                for (int p = 0; p < 4; ++p)
                    for (int q = 0; q < 9; ++q) {
                        float const in = x.const_view()(n, k, p, q);
                        float const there = in + static_cast<float>(1000 * n + 100 * k + 10 * p + q);
                        float const expected = (there < 7 ? 7 : there) * static_cast<float>(k + 1) - static_cast<float>(k) + in;
                        wrong += pointwise.const_view()(n, k, p, q) != expected;
                        wrong += conv.const_view()(n, k, p, q) != expected;
                    }
        CHECK(wrong == 0);
    }
}

TEST_CASE("what a plan computes does not depend on what ran before it on the device") {
    fk::host::Device device(2), fresh(2);
    auto const large = fk::random<float>(device, fk::nchw(1, 64, 20, 20)), small = fk::random<float>(device, fk::nhwc(1, 3, 3, 5), 2);
    auto const w_large = fk::random<float>(device, fk::kcrs(64, 64, 3, 3)), w_small = fk::random<float>(device, fk::kcrs(3, 5, 2, 2), 3);
    using Layer = fk::Plan<fk::Conv<fk::dynamic>>;
    auto const first = Layer::bind({.weights = w_small, .filter = fk::filter(2, 2).pad(1)});
    auto const expected = first(fresh, small);
    Layer::bind({.weights = w_large, .filter = fk::filter(3, 3).pad(1)})(device, large);
    auto const got = first(device, small);
    for (std::int64_t i = 0; i < got.size(); ++i) REQUIRE(got.data()[i] == expected.data()[i]);
}
