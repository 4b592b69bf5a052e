// SPDX-License-Identifier: MIT
//
// The feed-forward block of a transformer, y = x + gelu(x W1 + b1) W2 + b2, as two plans on a batch of sequences: each
// is a matrix product with its epilogue. Vaswani and others 2017, section 3.3; Hendrycks and Gimpel 2016.

#include <fusekit/fusekit.hpp>

#include "support.hpp"

namespace fk = fusekit;

using Up = fk::Plan<fk::Gemm, fk::Bias, fk::Activation<fk::Gelu>>;
using Down = fk::Plan<fk::Gemm, fk::Bias, fk::Residual>;

/// Multiplies the rows of `in` by the rows of `weights`, and adds the bias.
std::vector<double> product(std::vector<double> const& in, std::vector<float> const& weights,
                            std::vector<float> const& bias) {
    std::size_t const columns = bias.size(), k = weights.size() / columns;
    std::vector<double> out;
    for (std::size_t i = 0; i < in.size() / k * columns; ++i) {
        double sum = bias[i % columns];
        for (std::size_t j = 0; j < k; ++j) sum += in[i / columns * k + j] * weights[i % columns * k + j];
        out.push_back(sum);
    }
    return out;
}

int main() try {
    fk::host::Device device;
    constexpr int batch = 4, tokens = 33, width = 96, hidden = 4 * width;
    auto x = fk::random<float>(device, fk::row_major(batch, tokens, width), 1);
    auto w1 = fk::random<float>(device, fk::row_major(hidden, width), 2);  // N x K: one row for each column of y
    auto w2 = fk::random<float>(device, fk::row_major(width, hidden), 3);
    auto b1 = fk::random<float>(device, fk::channels(hidden), 4),
         b2 = fk::random<float>(device, fk::channels(width), 5);

    auto up = Up::bind({.weights = w1}, {.bias = b1}, {});
    auto down = Down::bind({.weights = w2}, {.bias = b2}, {.z = x});
    auto middle = up(device, x);
    auto y = down(device, middle);  // batch x tokens x width

    auto const in = values(x);
    auto expected = product({in.begin(), in.end()}, values(w1), values(b1));
    for (double& v : expected) v *= std::erfc(-v / std::sqrt(2.0)) / 2;
    expected = product(expected, values(w2), values(b2));
    for (std::size_t i = 0; i < expected.size(); ++i) expected[i] += in[i];
    std::puts(fk::describe(up, x).c_str());
    return agrees("feed-forward block", values(y), expected) ? 0 : 1;
} catch (fk::Error const& error) {
    std::puts(error.what());
    return 1;
}
