// SPDX-License-Identifier: MIT
#include "fusekit/plan/epilogue.hpp"

#include <catch2/catch_test_macros.hpp>
#include <vector>

#include "fusekit/fusekit.hpp"

namespace fk = fusekit;

namespace {

using Vector [[gnu::vector_size(16)]] = float;

/// x + value, for all elements.
struct Add {
    static constexpr auto stage = fk::Stage::pointwise;
    struct Args {
        float value;
    };
    template <class V>
    static constexpr V apply(V x, Args const& args) {
        return x + args.value;
    }
};

/// x * (k + factor), prepared once per channel.
struct Times {
    static constexpr auto stage = fk::Stage::pointwise;
    struct Args {
        float factor;
    };
    template <class V>
    struct Prepared {
        V factor;
    };
    static constexpr Prepared<float> prepare(std::int64_t k, Args const& args) {
        return {static_cast<float>(k) + args.factor};
    }
    template <class V>
    static constexpr V apply(V x, Prepared<V> const& prepared) {
        return x * prepared.factor;
    }
};

/// x + 100 p + 10 q, scalars alone.
struct Where {
    static constexpr auto stage = fk::Stage::pointwise;
    struct Args {};
    static constexpr float apply(float x, fk::OutputCoord const& at, Args const&) {
        return x + static_cast<float>(100 * at.p + 10 * at.q);
    }
};

using Norm = fk::BatchNormInference<fk::PerActivation>;
using Chain = fk::detail::Epilogue<Add, Times, Where>;

constexpr Chain::Args args{{{1.0f}}, {{2.0f}}, {{}}};
constexpr fk::OutputCoord at{0, 3, 4, 5};

static_assert(Chain::size == 3 && Chain::channelwise && Chain::located && Chain::pixelwise);
static_assert(!Chain::stores && !Chain::collects);
static_assert(!fk::detail::Epilogue<>::channelwise && !fk::detail::Epilogue<>::pixelwise &&
              !fk::detail::Epilogue<Add>::located);
static_assert(fk::detail::Epilogue<Norm>::pixelwise && !fk::detail::Epilogue<Norm>::located &&
              !fk::detail::Epilogue<Norm>::channelwise);
static_assert(fk::detail::Epilogue<Add, fk::Store>::stores && fk::detail::Epilogue<fk::ChannelStatistics>::collects);

static_assert(fk::detail::Epilogue<>::apply(7.0f, at, fk::detail::KernelTuple<>{}, {}) == 7);
static_assert(Chain::apply(1.0f, at, Chain::prepare(at.k, args), args) == 2 * 5 + 450);
static_assert(Chain::apply(1.0f, at, Chain::prepare(at, args), args) == 2 * 5 + 450);
static_assert(Chain::apply_first<0>(1.0f, at, Chain::prepare(at, args), args) == 1);
static_assert(Chain::apply_first<2>(1.0f, at, Chain::prepare(at, args), args) == 2 * 5);

/// Coordinates of a vector's lanes: consecutive channels of one pixel.
struct Lanes {
    fk::OutputCoord first;
    int count;

    fk::OutputCoord lane(int i) const { return {first.n, first.k + i, first.p, first.q}; }
};

}  // namespace

TEST_CASE("lanes get a broadcast state or the states of their channels") {
    auto const one = Chain::broadcast<Vector>(Chain::prepare(3, args));
    auto const each = Chain::prepare_lanes<Vector>(3, 3, args);
    Vector const x{1, 2, 3, 4}, of_one = Chain::apply(x, Lanes{at, 4}, one, args),
                                of_each = Chain::apply(x, Lanes{at, 3}, each, args);
    for (int lane = 0; lane < 4; ++lane) CHECK(of_one[lane] == (x[lane] + 1) * 5 + 450);
    for (int lane = 0; lane < 3; ++lane) CHECK(of_each[lane] == (x[lane] + 1) * static_cast<float>(5 + lane) + 450);
    CHECK(fk::detail::get<1>(each).factor[3] == 7);  // past the last channel: repeats it
}

TEST_CASE("statistics and Store get the values at their position") {
    using Seen = fk::detail::Epilogue<Add, fk::ChannelStatistics, fk::Store, Times>;
    float mean[4], variance[4], stored = 0, collected = 0;
    fk::TensorView<float, 1> const of_channels(mean, fk::channels(4)), also(variance, fk::channels(4));
    fk::TensorView<float> const values(&stored, fk::Layout<4>{{{1, 4, 8, 8}}, {{0, 0, 0, 0}}});
    Seen::Args const all{{{1.0f}}, {{of_channels, also}}, {{values}}, {{2.0f}}};
    auto const state = Seen::prepare(at.k, all);
    CHECK(Seen::apply(1.0f, at, state, all, [&](float x) { collected = x; }) == 10);
    CHECK((collected == 2 && stored == 2));
    stored = 0;
    CHECK(Seen::apply_first<4>(1.0f, at, state, all) == 10);
    CHECK(stored == 0);
}

TEST_CASE("apply_each passes and stores packets of adjacent elements") {
    using Two = fk::detail::Epilogue<Times, fk::Store, Where>;
    struct Coords {
        std::vector<float>* stored;

        fk::OutputCoord operator[](int i) const { return {0, 1, 0, i}; }
        void store(fk::AnyOutput const&, float const (&values)[3]) const { stored->assign(values, values + 3); }
    };
    float unused = 0;
    Two::Args const all{{{2.0f}}, {{fk::TensorView<float>(&unused, fk::nchw(1, 1, 1, 1))}}, {{}}};
    std::vector<float> stored;
    Coords const coords{&stored};
    float x[3] = {1, 2, 3};
    Two::PixelState const states[3] = {Two::prepare(coords[0], all), Two::prepare(coords[1], all),
                                       Two::prepare(coords[2], all)};
    Two::apply_each(x, coords, states, all);
    CHECK(stored == std::vector<float>{3, 6, 9});
    CHECK((x[0] == 3 && x[1] == 16 && x[2] == 29));
}
