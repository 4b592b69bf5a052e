// SPDX-License-Identifier: MIT
//
// SwiGLU, y = silu(x V) * (x W), in two plans: the first computes the gate, the second multiplies by it in the epilogue
// of its matrix product. Source: Shazeer 2020, eq. (6).

#include <fusekit/fusekit.hpp>

#include "recipe.hpp"

using Silu = fk::Plan<fk::Gemm, fk::Activation<fk::Silu>>;
using Gated = fk::Plan<fk::Gemm, fk::Multiply>;

int main() {
    fk::host::Device device;
    constexpr int n = 2, tokens = 11, c = 16, k = 24;
    auto x = fk::random<float>(device, fk::row_major(n, tokens, c), 1);
    auto v = fk::random<float>(device, fk::row_major(k, c), 2), w = fk::random<float>(device, fk::row_major(k, c), 3);

    auto gate = Silu::bind({.weights = v}, {})(device, x);
    auto y = Gated::bind({.weights = w}, {.z = gate})(device, x);

    auto const in = values(x), left = values(v), right = values(w);
    std::vector<double> expected;
    for (std::size_t i = 0; i < n * tokens; ++i)
        for (std::size_t j = 0; j < k; ++j) {
            double a = 0, b = 0;
            for (std::size_t l = 0; l < c; ++l) {
                a += double(in[i * c + l]) * left[j * c + l];
                b += double(in[i * c + l]) * right[j * c + l];
            }
            expected.push_back(a / (1 + std::exp(-a)) * b);
        }
    return agrees("SwiGLU", values(y), expected) ? 0 : 1;
}
