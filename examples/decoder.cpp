// SPDX-License-Identifier: MIT
//
// A transformer decoder that generates tokens, one at a time: each step appends keys and values to a cache and attends
// to all of them. Layers normalize before each block (Vaswani et al. 2017; Xiong et al. 2020). Weights are random: the
// scores of all tokens are compared with loops in double over the whole sequence, without a cache.

#include <fusekit/fusekit.hpp>

#include "support.hpp"

namespace fk = fusekit;

constexpr int vocabulary = 40, width = 32, heads = 4, head = width / heads, hidden = 4 * width, layers = 2, steps = 12;

using Norm = fk::Plan<fk::LayerNorm>;
using Linear = fk::Plan<fk::Gemm, fk::Bias>;
using LinearGelu = fk::Plan<fk::Gemm, fk::Bias, fk::Activation<fk::Gelu>>;
using LinearAdded = fk::Plan<fk::Gemm, fk::Bias, fk::Residual>;
using Scores = fk::Plan<fk::BatchedGemm, fk::Scale>;  // a matrix for each head
using Shares = fk::Plan<fk::Softmax>;
using Weighted = fk::Plan<fk::BatchedGemm>;

/// Rows x columns of weights, and a bias.
template <class Device>
struct Matrix {
    fk::Tensor<float, Device, 2> weights;
    fk::Tensor<float, Device, 1> bias;

    Matrix(Device& device, int rows, int columns, int seed)
        : weights(fk::random<float>(device, fk::row_major(rows, columns), seed)),
          bias(fk::random<float>(device, fk::channels(rows), seed + 1)) {}
};

template <class Device>
struct Layer {
    Matrix<Device> query, key, value, attended, up, down;
    fk::Tensor<float, Device, 2> keys, values;  ///< the cache: a row for each token

    Layer(Device& device, int seed)
        : query(device, width, width, seed),
          key(device, width, width, seed + 10),
          value(device, width, width, seed + 20),
          attended(device, width, width, seed + 30),
          up(device, hidden, width, seed + 40),
          down(device, width, hidden, seed + 50),
          keys(device, fk::row_major(steps, width)),
          values(device, fk::row_major(steps, width)) {}

    /// Maps the row x of token number `at` to the layer's result, which it writes to x.
    void operator()(Device& device, fk::Tensor<float, Device, 2>& x, int at) {
        auto const normal = Norm::bind({})(device, x);
        auto const queries = Linear::bind({.weights = query.weights}, {.bias = query.bias})(device, normal);
        Linear::bind({.weights = key.weights}, {.bias = key.bias})(device, normal, fk::sliced(keys, 0, at, 1));
        Linear::bind({.weights = value.weights}, {.bias = value.bias})(device, normal, fk::sliced(values, 0, at, 1));

        // Scores of the query and at + 1 keys, heads x 1 x (at + 1); the heads' columns are views.
        auto const of_heads = [](auto& rows, int count) {
            return fk::TensorView<float const, 3>(rows.const_view().data, {{{heads, count, head}}, {{head, width, 1}}});
        };
        auto scores = Scores::bind({.weights = of_heads(keys, at + 1)}, {.factor = 1 / std::sqrt(float(head))})(
            device, of_heads(queries, 1));
        Shares::bind({})(device, scores, scores);
        fk::Tensor<float, Device, 2> found(device, fk::row_major(1, width));
        fk::TensorView<float, 3> const by_head(found.view().data, {{{heads, 1, head}}, {{head, width, 1}}});
        Weighted::bind({.weights = fk::transposed(of_heads(values, at + 1), 1, 2)})(device, scores, by_head);

        auto const with_attention =
            LinearAdded::bind({.weights = attended.weights}, {.bias = attended.bias}, {.z = x})(device, found);
        auto const inner = LinearGelu::bind({.weights = up.weights}, {.bias = up.bias}, {})(
            device, Norm::bind({})(device, with_attention));
        LinearAdded::bind({.weights = down.weights}, {.bias = down.bias}, {.z = with_attention})(device, inner, x);
    }
};

/// Rows of numbers, in double.
using Rows = std::vector<std::vector<double>>;

template <class Device>
Rows product(Rows const& in, Matrix<Device> const& by, Rows const* added = nullptr) {
    auto const weights = values(by.weights), bias = values(by.bias);
    Rows out;
    for (std::size_t row = 0; row < in.size(); ++row) {
        auto& sums = out.emplace_back(bias.begin(), bias.end());
        std::size_t const columns = in[row].size();
        for (std::size_t i = 0; i < sums.size(); ++i) {
            for (std::size_t j = 0; j < columns; ++j) sums[i] += in[row][j] * weights[i * columns + j];
            if (added) sums[i] += (*added)[row][i];
        }
    }
    return out;
}
Rows normalized(Rows rows) {
    for (auto& row : rows) {
        double mean = 0, variance = 0;
        for (double each : row) mean += each / width;
        for (double each : row) variance += (each - mean) * (each - mean) / width;
        for (double& each : row) each = (each - mean) / std::sqrt(variance + 1e-5);
    }
    return rows;
}
Rows attention(Rows const& queries, Rows const& keys, Rows const& of_keys) {
    Rows found(queries.size(), std::vector<double>(width));
    for (std::size_t row = 0; row < queries.size(); ++row)
        for (std::size_t first = 0; first < width; first += head) {
            std::vector<double> shares;
            double sum = 0;
            for (std::size_t key = 0; key <= row; ++key) {  // no later tokens
                double score = 0;
                for (std::size_t i = first; i < first + head; ++i) score += queries[row][i] * keys[key][i];
                sum += shares.emplace_back(std::exp(score / std::sqrt(double(head))));
            }
            for (std::size_t key = 0; key <= row; ++key)
                for (std::size_t i = first; i < first + head; ++i) found[row][i] += shares[key] / sum * of_keys[key][i];
        }
    return found;
}

int main() try {
    fk::host::Device device;
    using Device = decltype(device);
    Matrix<Device> const tokens(device, vocabulary, width, 1), positions(device, steps, width, 3);
    std::vector<Layer<Device>> stack;
    for (int i = 0; i < layers; ++i) stack.emplace_back(device, 100 * (i + 1));
    auto const of_token = values(tokens.weights), of_position = values(positions.weights);
    Rows embedded;  // of the tokens so far

    // Greedy generation: the token with the largest score is the next one.
    std::vector<float> all_scores, scores(vocabulary);
    std::size_t token = 7;
    std::printf("tokens");
    for (int at = 0; at < steps; ++at) {
        std::printf(" %zu", token);
        std::vector<float> row(width);
        for (std::size_t i = 0; i < width; ++i)
            row[i] = of_token[token * width + i] + of_position[std::size_t(at) * width + i];
        embedded.emplace_back(row.begin(), row.end());
        fk::Tensor<float, Device, 2> x(device, fk::row_major(1, width));
        x.copy_from(row.data());
        for (auto& layer : stack) layer(device, x, at);
        Linear::bind({.weights = tokens.weights}, {.bias = tokens.bias})(device, Norm::bind({})(device, x))
            .copy_to(scores.data());
        all_scores.insert(all_scores.end(), scores.begin(), scores.end());
        token = std::size_t(std::max_element(scores.begin(), scores.end()) - scores.begin());
    }
    std::printf("\n");

    Rows x = embedded;
    for (auto const& layer : stack) {
        Rows const normal = normalized(x), found = attention(product(normal, layer.query), product(normal, layer.key),
                                                             product(normal, layer.value));
        Rows const with_attention = product(found, layer.attended, &x);
        Rows inner = product(normalized(with_attention), layer.up);
        for (auto& row : inner)
            for (double& each : row) each *= 0.5 * std::erfc(-each / std::sqrt(2.0));
        x = product(inner, layer.down, &with_attention);
    }
    std::vector<double> expected;
    for (auto const& row : product(normalized(x), tokens)) expected.insert(expected.end(), row.begin(), row.end());
    return agrees("scores of all tokens", all_scores, expected, 1e-4) ? 0 : 1;
} catch (fk::Error const& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
