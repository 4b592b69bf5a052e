// SPDX-License-Identifier: MIT
//
// z = x + residual, which the next block reads, and y = layer norm of z, in one kernel; then the gradients of the norm:
// dz and those of scale and shift, in one kernel too. z is x of the gradient.

#include <fusekit/fusekit.hpp>

#include "recipe.hpp"

int main() {
    fk::host::Device device;
    constexpr int rows = 6, k = 20;
    auto const layout = fk::nhwc(1, 1, rows, k);
    auto x = fk::random<float>(device, layout, 1), residual = fk::random<float>(device, layout, 2),
         dy = fk::random<float>(device, layout, 3), z = fk::random<float>(device, layout),
         dz = fk::random<float>(device, layout);
    auto scale = fk::random<float>(device, fk::channels(k), 4), shift = fk::random<float>(device, fk::channels(k), 5),
         dscale = fk::random<float>(device, fk::channels(k)), dshift = fk::random<float>(device, fk::channels(k));

    using Block = fk::Plan<fk::Residual, fk::Store, fk::LayerNorm>;
    auto y = Block::bind({.z = residual}, {.values = z}, {.scale = scale, .shift = shift})(device, x);

    using Norm = fk::Plan<fk::LayerNorm>;
    auto norm = Norm::bind({.scale = scale, .shift = shift});
    fk::Backward<Norm>::bind(norm, z, {.scale = dscale, .shift = dshift})(device, dy, dz);

    Array const sum(z), out(y), of_dy(dy), of_dz(dz);
    auto const factor = values(scale), term = values(shift);
    std::vector<double> of_scale(k), of_shift(k);
    Array expected = out.like(), gradient = out.like();
    std::vector<double> mean(rows), deviation(rows), of_g(rows), of_g_n(rows);
    for (Extent r = 0; r < rows; ++r) {
        auto const at = std::size_t(r);
        for (Extent c = 0; c < k; ++c) mean[at] += sum(0, c, 0, r) / k;
        for (Extent c = 0; c < k; ++c) deviation[at] += std::pow(sum(0, c, 0, r) - mean[at], 2) / k;
        deviation[at] = std::sqrt(deviation[at] + 1e-5);
        for (Extent c = 0; c < k; ++c) {
            double const n = (sum(0, c, 0, r) - mean[at]) / deviation[at],
                         g = of_dy(0, c, 0, r) * factor[std::size_t(c)];
            of_g[at] += g / k, of_g_n[at] += g * n / k;
            of_scale[std::size_t(c)] += of_dy(0, c, 0, r) * n, of_shift[std::size_t(c)] += of_dy(0, c, 0, r);
        }
    }
    auto const normal = [&](Extent c, Extent r) {
        return (sum(0, c, 0, r) - mean[std::size_t(r)]) / deviation[std::size_t(r)];
    };
    expected.fill([&](Extent, Extent c, Extent, Extent r) {
        return normal(c, r) * factor[std::size_t(c)] + term[std::size_t(c)];
    });
    gradient.fill([&](Extent, Extent c, Extent, Extent r) {
        auto const at = std::size_t(r);
        double const g = of_dy(0, c, 0, r) * factor[std::size_t(c)];
        return (g - of_g[at] - normal(c, r) * of_g_n[at]) / deviation[at];
    });
    bool right = agrees("layer norm of a sum", out, expected) && agrees("its gradient", of_dz, gradient);
    auto const by_scale = values(dscale), by_shift = values(dshift);
    for (std::size_t c = 0; c < k; ++c)
        right = right && std::fabs(by_scale[c] - of_scale[c]) < 1e-4 && std::fabs(by_shift[c] - of_shift[c]) < 1e-4;
    return right ? 0 : 1;
}
