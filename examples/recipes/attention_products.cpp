// SPDX-License-Identifier: MIT
//
// The products of attention: scores of queries and keys, scaled and masked in the same kernel; and values, weighted.
// Each head of each sequence is a matrix with weights of its own. Softmax between them is another kind of kernel.

#include <fusekit/fusekit.hpp>

#include "recipe.hpp"

using Scores = fk::Plan<fk::BatchedGemm, fk::Scale, fk::Residual>;
using Weighted = fk::Plan<fk::BatchedGemm>;

int main() {
    fk::host::Device device;
    constexpr int heads = 3, queries = 7, keys = 10, d = 8;
    auto q = fk::random<float>(device, fk::row_major(heads, queries, d), 1);
    auto k = fk::random<float>(device, fk::row_major(heads, keys, d), 2);
    auto v = fk::random<float>(device, fk::row_major(heads, keys, d), 3);
    auto mask = fk::random<float>(device, fk::row_major(1, queries, keys), 4);

    auto scores = Scores::bind({.weights = k}, {.factor = 1 / std::sqrt(float(d))},
                               {.z = fk::broadcast(mask, heads, queries, keys)})(device, q);
    auto y = Weighted::bind({.weights = fk::transposed(v, 1, 2)})(device, scores);  // heads x queries x d

    auto const of_q = values(q), of_k = values(k), of_v = values(v), of_mask = values(mask);
    std::vector<double> expected(heads * queries * d);
    for (std::size_t row = 0; row < heads * queries; ++row)
        for (std::size_t key = 0; key < keys; ++key) {
            std::size_t const other = row / queries * keys + key;
            double score = 0;
            for (std::size_t i = 0; i < d; ++i) score += double(of_q[row * d + i]) * of_k[other * d + i];
            score = score / std::sqrt(double(d)) + of_mask[row % queries * keys + key];
            for (std::size_t i = 0; i < d; ++i) expected[row * d + i] += score * of_v[other * d + i];
        }
    return agrees("the products of attention", values(y), expected) ? 0 : 1;
}
