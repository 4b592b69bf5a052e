// SPDX-License-Identifier: MIT
//
// Attention in three plans: scores of queries and keys, scaled and masked in the same kernel; softmax of their rows;
// and values, weighted. Each head of each sequence is a matrix with weights of its own.

#include <fusekit/fusekit.hpp>

#include "recipe.hpp"

using Scores = fk::Plan<fk::BatchedGemm, fk::Scale, fk::Residual>;
using Shares = fk::Plan<fk::Softmax>;
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
    Shares::bind({})(device, scores, scores);  // in place
    auto y = Weighted::bind({.weights = fk::transposed(v, 1, 2)})(device, scores);  // heads x queries x d

    auto const of_q = values(q), of_k = values(k), of_v = values(v), of_mask = values(mask);
    std::vector<double> expected(heads * queries * d);
    for (std::size_t row = 0; row < heads * queries; ++row) {
        double share[keys], sum = 0;
        for (std::size_t key = 0; key < keys; ++key) {
            std::size_t const other = row / queries * keys + key;
            double score = 0;
            for (std::size_t i = 0; i < d; ++i) score += double(of_q[row * d + i]) * of_k[other * d + i];
            share[key] = std::exp(score / std::sqrt(double(d)) + of_mask[row % queries * keys + key]);
            sum += share[key];
        }
        for (std::size_t key = 0; key < keys; ++key)
            for (std::size_t i = 0; i < d; ++i)
                expected[row * d + i] += share[key] / sum * of_v[(row / queries * keys + key) * d + i];
    }
    return agrees("attention", values(y), expected) ? 0 : 1;
}
