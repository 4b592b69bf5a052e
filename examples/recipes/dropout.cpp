// SPDX-License-Identifier: MIT
//
// Dropout: an operator of the coordinate, which draws from a hash of the seed and the coordinate: nothing is stored,
// and a seed gives the same mask in every run, on every device.

#include <fusekit/fusekit.hpp>

#include "recipe.hpp"

/// y = x / (1 - rate) with probability 1 - rate, else 0.
struct Dropout {
    static constexpr auto stage = fk::Stage::pointwise;
    static constexpr auto equation = "y = hash(seed, place) < rate ? 0 : x / (1 - rate)";
    struct Args {
        std::uint32_t seed = 1;
        float rate = 0.5f;
    };

    /// Uniform in [0, 1). The finalizer of MurmurHash3 (Appleby 2011), once per coordinate.
    FUSEKIT_HD static constexpr float uniform(std::uint32_t seed, fk::OutputCoord const& at) {
        std::uint32_t bits = seed;
        for (std::int64_t const coordinate : {at.n, at.k, at.p, at.q}) {
            bits = (bits ^ static_cast<std::uint32_t>(coordinate)) * 0x9e3779b1u;
            bits = (bits ^ (bits >> 16)) * 0x85ebca6bu;
            bits = (bits ^ (bits >> 13)) * 0xc2b2ae35u;
            bits ^= bits >> 16;
        }
        return static_cast<float>(bits >> 8) * 0x1p-24f;
    }
    FUSEKIT_HD static constexpr float apply(float x, fk::OutputCoord const& at, Args const& args) {
        return uniform(args.seed, at) < args.rate ? 0.0f : x / (1.0f - args.rate);
    }
};

using Layer = fk::Plan<fk::Bias, fk::Activation<fk::Relu>, Dropout>;

int main() {
    fk::host::Device device;
    auto x = fk::random<float>(device, fk::nchw(8, 16, 14, 14), 1);
    auto bias = fk::random<float>(device, fk::channels(16), 2);
    auto y = Layer::bind({.bias = bias}, {}, {.seed = 7, .rate = 0.25f})(device, x);
    auto again = Layer::bind({.bias = bias}, {}, {.seed = 7, .rate = 0.25f})(device, x);

    Array const in(x), out(y);
    auto const term = values(bias);
    int dropped = 0, wrong = 0, positive = 0;
    for (Extent n = 0; n < 8; ++n)
        for (Extent k = 0; k < 16; ++k)
            for (Extent p = 0; p < 14; ++p)
                for (Extent q = 0; q < 14; ++q) {
                    float const kept = static_cast<float>(in(n, k, p, q)) + term[std::size_t(k)];
                    if (kept <= 0) continue;
                    ++positive;
                    double const given = out(n, k, p, q);
                    if (given == 0) ++dropped;
                    else if (std::abs(given - kept / 0.75) > 1e-6 * kept) ++wrong;
                }
    // 4 standard deviations of a binomial distribution about its mean.
    bool const share = std::abs(dropped - 0.25 * positive) < 4 * std::sqrt(0.25 * 0.75 * positive);
    std::printf("dropped %d of %d, %d wrong\n", dropped, positive, wrong);
    return report("dropout", share && wrong == 0 && values(again) == values(y)) ? 0 : 1;
}
