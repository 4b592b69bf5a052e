// SPDX-License-Identifier: MIT
//
// User-defined operators: a plain struct each, no base class, no registration. Clip is a function of the element; PRelu
// has a per-channel argument, a stage that the ordering rules see, a check with its own error message, and an equation
// and FLOPs for fk::describe.

#include <fusekit/fusekit.hpp>
#include <iostream>

#include "support.hpp"

namespace fk = fusekit;

/// y = min(max(x, low), high)
struct Clip {
    static constexpr auto stage = fk::Stage::pointwise;
    struct Args {
        float low = 0.0f, high = 6.0f;
    };

    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const& args) {
        return fk::math::min(fk::math::max(x, args.low), args.high);
    }
};
static_assert(fk::EpilogueOp<Clip>);

/// y[n,k,p,q] = x[n,k,p,q] > 0 ? x[n,k,p,q] : slope[k] * x[n,k,p,q]
///
/// Source: He, Zhang, Ren and Sun 2015, eq. (1).
struct PRelu {
    static constexpr auto stage = fk::Stage::activation;
    static constexpr char const* equation = "y = x > 0 ? x : slope[k] * x";
    static constexpr int flops_per_element = 2;
    struct Args {
        fk::TensorView<float const, 1> slope;
    };

    template <class V>
    struct Prepared {
        V slope;
    };
    FUSEKIT_HD static constexpr Prepared<float> prepare(std::int64_t k, Args const& args) { return {args.slope(k)}; }

    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Prepared<V> const& channel) {
        return fk::math::select(x > 0.0f, x, channel.slope * x);
    }
    static void check(Args const& args, fk::Check const& in) { in.readable("slope", args.slope, {{in.y[1]}}, "K"); }
};
static_assert(fk::EpilogueOp<PRelu>);

using ConvPRelu = fk::Plan<fk::Conv<fk::filter(3, 3).pad(1)>, PRelu>;
using PReluClip = fk::Plan<PRelu, Clip>;
static_assert(!fk::Fusable<PRelu, fk::Bias>, "Bias stands before an activation, a user's too");

constexpr auto slopes = fk::literal<fk::channels(2)>(0.5f, 2);
static_assert(PReluClip::evaluate(fk::literal<fk::nchw(1, 2, 1, 3)>(-4, 1, 9, -4, 1, 9), {.slope = slopes}, {-3, 5}) ==
              fk::literal<fk::nchw(1, 2, 1, 3)>(-2, 1, 5, -3, 1, 5));

int main() {
    fk::host::Device device;
    constexpr int n = 4, c = 16, h = 15, w = 17;
    auto x = fk::random<float>(device, fk::nchw(n, c, h, w), 1);
    auto weights = fk::random<float>(device, fk::kcrs(c, c, 3, 3), 2);
    auto slope = fk::random<float>(device, fk::channels(c), 3);
    auto const in = values(x), filter = values(weights), a = values(slope);

    auto index = [](int i, int k, int p, int q) { return ((i * c + k) * h + p) * w + q; };
    std::vector<double> convolved(in.size()), clipped(in.size());
    for (int i = 0; i < n; ++i)
        for (int k = 0; k < c; ++k)
            for (int p = 0; p < h; ++p)
                for (int q = 0; q < w; ++q) {
                    double sum = 0;
                    for (int j = 0; j < 9 * c; ++j) {
                        int const row = p + j % 9 / 3 - 1, column = q + j % 3 - 1;
                        if (row >= 0 && row < h && column >= 0 && column < w)
                            sum += double(in[index(i, j / 9, row, column)]) * filter[k * 9 * c + j];
                    }
                    double const pixel = in[index(i, k, p, q)];
                    convolved[index(i, k, p, q)] = sum > 0 ? sum : a[k] * sum;
                    clipped[index(i, k, p, q)] = std::clamp(pixel > 0 ? pixel : a[k] * pixel, -0.25, 0.5);
                }

    auto const layer = ConvPRelu::bind({.weights = weights}, {.slope = slope});
    std::cout << fk::describe(layer, x) << '\n';

    auto after_conv = layer(device, x);
    auto alone = PReluClip::bind({.slope = slope}, {.low = -0.25f, .high = 0.5f})(device, x);
    bool good = agrees(ConvPRelu::name().c_str(), values(after_conv), convolved);
    good &= agrees(PReluClip::name().c_str(), values(alone), clipped);

    auto too_short = fk::random<float>(device, fk::channels(c - 1));
    try {
        (void)PReluClip::bind({.slope = too_short}, {})(device, x);
        good = false;
    } catch (fk::Error const& error) {
        std::printf("a slope for 15 of 16 channels is refused:\n  %s\n", error.what());
        good &= error.operator_name == "PRelu" && error.argument == "slope";
    }
    return good ? 0 : 1;
}
