// SPDX-License-Identifier: MIT
//
// y = relu(conv(x) + upsampled z), as in a feature pyramid: z has half the rows and columns, and is read in place.

#include <fusekit/fusekit.hpp>

#include "recipe.hpp"

/// y[n,k,p,q] = x[n,k,p,q] + z[n,k,p/2,q/2], the nearest pixel.
struct AddUpsampled {
    static constexpr auto stage = fk::Stage::pointwise;
    static constexpr auto equation = "y = x + z[n,k,p/2,q/2]";
    struct Args {
        fk::AnyView<4> z;
    };

    FUSEKIT_HD static constexpr float apply(float x, fk::OutputCoord const& at, Args const& args) {
        return x + args.z.load(args.z.layout.offset({{at.n, at.k, at.p / 2, at.q / 2}}));
    }
    static void check(Args const& args, fk::Check const& in) {
        in.readable("z", args.z, {{in.y[0], in.y[1], (in.y[2] + 1) / 2, (in.y[3] + 1) / 2}}, "N x K x P/2 x Q/2");
    }
};

using Lateral = fk::Plan<fk::Conv<fk::filter(1, 1)>, fk::Bias, AddUpsampled, fk::Activation<fk::Relu>>;

int main() {
    fk::host::Device device;
    constexpr int n = 2, c = 8, k = 16, h = 6, w = 9;
    auto x = fk::random<float>(device, fk::nhwc(n, h, w, c), 1);
    auto weights = fk::random<float>(device, fk::krsc(k, 1, 1, c), 2);
    auto bias = fk::random<float>(device, fk::channels(k), 3);
    auto coarse = fk::random<float>(device, fk::nhwc(n, 3, 5, k), 4);
    auto y = Lateral::bind({.weights = weights}, {.bias = bias}, {.z = coarse}, {})(device, x);

    Array const in(x), filter(weights), z(coarse), out(y);
    auto const term = values(bias);
    Array expected = out.like();
    expected.fill([&](Extent i, Extent j, Extent p, Extent q) {
        return std::max(0.0, convolved(in, filter, i, j, p, q, 0) + term[std::size_t(j)] + z(i, j, p / 2, q / 2));
    });
    return agrees("upsample and add", out, expected) ? 0 : 1;
}
