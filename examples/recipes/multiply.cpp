// SPDX-License-Identifier: MIT
//
// Products with a tensor, with one factor per channel, and with both: z of Multiply is any view that broadcasts to y.

#include <fusekit/fusekit.hpp>

#include "recipe.hpp"

using Product = fk::Plan<fk::Multiply>;
using Gated = fk::Plan<fk::Conv<fk::filter(1, 1)>, fk::Bias, fk::Multiply, fk::Multiply>;

int main() {
    fk::host::Device device;
    constexpr int n = 2, c = 5, h = 3, w = 7;
    auto x = fk::random<float>(device, fk::nchw(n, c, h, w), 1), z = fk::random<float>(device, fk::nchw(n, c, h, w), 2);
    auto factors = fk::random<float>(device, fk::nchw(1, c, 1, 1), 3);
    auto weights = fk::random<float>(device, fk::kcrs(c, c, 1, 1), 4);
    auto bias = fk::random<float>(device, fk::channels(c), 5);

    auto by_tensor = Product::bind({.z = z})(device, x);
    auto by_channel = Product::bind({.z = fk::broadcast(factors, n, c, h, w)})(device, x);
    auto in_epilogue = Gated::bind({.weights = weights}, {.bias = bias}, {.z = fk::broadcast(factors, n, c, h, w)},
                                   {.z = z})(device, x);

    Array const in(x), other(z), scale(factors), filter(weights);
    auto const shift = values(bias);
    Array tensor = in.like(), channel = in.like(), both = in.like();
    tensor.fill([&](Extent i, Extent k, Extent p, Extent q) { return in(i, k, p, q) * other(i, k, p, q); });
    channel.fill([&](Extent i, Extent k, Extent p, Extent q) { return in(i, k, p, q) * scale(0, k, 0, 0); });
    both.fill([&](Extent i, Extent k, Extent p, Extent q) {
        return (convolved(in, filter, i, k, p, q, 0) + double(shift[std::size_t(k)])) * scale(0, k, 0, 0) *
               other(i, k, p, q);
    });
    bool good = agrees("x z", Array(by_tensor), tensor);
    good &= agrees("x z[k]", Array(by_channel), channel);
    good &= agrees("(conv(x) + bias) z[k] z", Array(in_epilogue), both);
    return good ? 0 : 1;
}
