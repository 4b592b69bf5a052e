// SPDX-License-Identifier: MIT
//
// Batch norm in training of a batch that is divided among ranks, each with a GPU of its own. Here they are parts of one
// process: the all-gather is a loop over the ranks' rows, and the all-reduce a sum.

#include <fusekit/fusekit.hpp>

#include "recipe.hpp"

using Relu = fk::Activation<fk::Relu>;
using Layer = fk::Plan<fk::BatchNormInference<fk::Spatial>, Relu>;
using Synchronized = fk::Plan<fk::BatchNormSynchronized, Relu>;

int main() {
    fk::host::Device device;
    constexpr int k = 6, h = 5, w = 4, ranks = 2, images[ranks] = {3, 1}, row = 2 * k + 1;
    auto scale = fk::random<float>(device, fk::channels(k), 1), shift = fk::random<float>(device, fk::channels(k), 2);
    auto const whole = fk::nhwc(4, h, w, k);
    auto x = fk::random<float>(device, whole, 3), dy = fk::random<float>(device, whole, 4);
    fk::Tensor<float, decltype(device)> y(device, whole), dx(device, whole);
    // Rank r's images, a view of the whole batch.
    auto const part = [&](auto& of, int r) { return fk::sliced(of, 0, r == 0 ? 0 : images[0], images[r]); };

    // Each rank writes a row of means, variances and one count; an all-gather gives every rank all rows.
    std::vector<float> counts_alone(ranks * row);
    for (int r = 0; r < ranks; ++r) counts_alone[std::size_t(r * row + 2 * k)] = float(images[r] * h * w);
    fk::Tensor<float, decltype(device), 1> rows(device, fk::channels(ranks * row));
    rows.copy_from(counts_alone.data());
    auto const channels = [&](float* data) { return fk::TensorView<float, 1>(data, fk::channels(k)); };
    for (int r = 0; r < ranks; ++r) {
        float* const own = rows.view().data + r * row;
        using Statistics = fk::Plan<fk::ChannelStatistics>;
        Statistics::bind({.mean = channels(own), .variance = channels(own + k)})(device, part(x, r), fk::no_output);
    }

    // Every rank merges the rows, and so has the same statistics.
    fk::Layout<4> const parts{{{ranks, k, 1, 1}}, {{row, 1, 1, 1}}};
    fk::TensorView<float const> const means(rows.view().data, parts), variances(rows.view().data + k, parts);
    fk::TensorView<float const, 1> const counts(rows.view().data + 2 * k, {{{ranks}}, {{row}}});
    auto mean = filled(device, k, 0), variance = filled(device, k, 0), total = filled(device, 1, 0);
    fk::Plan<fk::MergedStatistics>::bind(
        {.variances = variances, .count = counts, .mean = mean, .variance = variance, .total_count = total})(
        device, means, fk::no_output);

    // Forward, and each rank's sums of the gradient, which an all-reduce adds.
    std::vector<float> sums[2] = {std::vector<float>(k), std::vector<float>(k)};
    auto const layer = Layer::bind({.mean = mean, .variance = variance, .scale = scale, .shift = shift}, {});
    for (int r = 0; r < ranks; ++r) {
        layer(device, part(x, r), part(y, r));
        auto own_scale = filled(device, k, 0), own_shift = filled(device, k, 0);
        fk::Backward<Layer>::bind(layer, part(x, r), {.scale = own_scale, .shift = own_shift}, {})(device, part(dy, r),
                                                                                                   fk::no_output);
        for (std::size_t c = 0; c < k; ++c) sums[0][c] += values(own_scale)[c], sums[1][c] += values(own_shift)[c];
    }
    auto scale_gradient = filled(device, k, 0), shift_gradient = filled(device, k, 0);
    scale_gradient.copy_from(sums[0].data()), shift_gradient.copy_from(sums[1].data());

    // dx, from the sums over all ranks.
    auto const synchronized = Synchronized::bind({.mean = mean,
                                                  .variance = variance,
                                                  .scale = scale,
                                                  .shift = shift,
                                                  .scale_gradient = scale_gradient,
                                                  .shift_gradient = shift_gradient,
                                                  .total_count = total},
                                                 {});
    for (int r = 0; r < ranks; ++r)
        fk::Backward<Synchronized>::bind(synchronized, part(x, r))(device, part(dy, r), part(dx, r));

    // Batch norm over the whole batch, in double.
    Array const in(x), upstream(dy), out(y), back(dx);
    Array normal = in.like(), expected = in.like(), gradient = in.like(), g = in.like();
    auto const factor = values(scale), term = values(shift);
    for (Extent c = 0; c < k; ++c) {
        auto const each = [&](auto const& f) {
            for (Extent i = 0; i < 4; ++i)
                for (Extent p = 0; p < h; ++p)
                    for (Extent q = 0; q < w; ++q) f(i, c, p, q);
        };
        double const count = 4 * h * w, by = factor[std::size_t(c)], plus = term[std::size_t(c)];
        double average = 0, spread = 0, sum = 0, along = 0;
        each([&](auto... at) { average += in(at...) / count; });
        each([&](auto... at) { spread += (in(at...) - average) * (in(at...) - average) / count; });
        double const deviation = std::sqrt(spread + 1e-5);
        each([&](auto... at) {
            normal(at...) = (in(at...) - average) / deviation;
            expected(at...) = std::max(by * normal(at...) + plus, 0.0);
            g(at...) = expected(at...) > 0 ? upstream(at...) : 0;
            sum += g(at...) / count, along += g(at...) * normal(at...) / count;
        });
        each([&](auto... at) { gradient(at...) = by / deviation * (g(at...) - sum - normal(at...) * along); });
    }
    bool const good = agrees("y of all ranks", out, expected);
    return agrees("dx of all ranks", back, gradient) && good ? 0 : 1;
}
