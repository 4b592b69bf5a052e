// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/epilogue/depthwise_store.hpp"

#include <string>

#include "backend/hip/blocks.hpp"

using namespace test;
using fk::detail::Axis;

namespace {

using Plan = fk::Plan<fk::Conv<fk::filter(1, 1).groups(6)>, fk::Bias, fk::Activation<fk::Relu>>;
constexpr int n = 2, k = 6, p = 5;

__host__ __device__ float sum_at(int image, int channel, int row, int column) {
    return static_cast<float>((image * 31 + channel * 17 + row * 7 + column * 3) % 37 - 15);
}
float bias_of(int channel) { return static_cast<float>(channel % 4 - 2); }

/// Each CTA has the thread of one image, `channels` channels and `columns` columns; it stores all rows of y but the
/// second one, which it skips, and the third one, which is not valid.
template <class U, Axis fast, int q, int columns, int channels>
struct StoreRows : BlockOf<64> {
    using Params = fk::hip::ConvParams<Plan, U, U>;
    struct Shared {};
    static constexpr int across = (q + columns - 1) / columns, down = (k + channels - 1) / channels;

    __device__ static void run(Params const& params, Shared&, unsigned thread, unsigned block) {
        if (thread > 0) return;
        int const number = static_cast<int>(block), at_q = number % across * columns,
                  at_k = number / across % down * channels, image = number / across / down,
                  count = k - at_k < channels ? k - at_k : channels;
        fk::hip::DepthwiseStore<Plan, U, U, fast, columns, channels> rows(params, {image, at_k, 0, at_q}, count);
        for (int row = 0; row < p; ++row) {
            float sums[columns][channels];
            for (int j = 0; j < columns; ++j)
                for (int c = 0; c < channels; ++c) sums[j][c] = sum_at(image, at_k + c, row, at_q + j);
            if (row == 1) rows.skip();
            else rows.store(sums, row != 2);
        }
    }
};

template <class U, Axis fast, int q, int columns, int channels>
void check_rows(int vector, int gap = 0) {
    using Body = StoreRows<U, fast, q, columns, channels>;
    fk::Layout<4> layout = fast == Axis::channel ? fk::nhwc(n, p, q, k) : fk::nchw(n, k, p, q);
    if (gap > 0) layout.stride = {{k * p * (q + gap), p * (q + gap), q + gap, 1}};
    fk::hip::Device device = gpu();
    std::vector<float> biases;
    for (int channel = 0; channel < k; ++channel) biases.push_back(bias_of(channel));
    auto const elements = static_cast<std::size_t>(layout.offset({{n - 1, k - 1, p - 1, q - 1}}) + 1);
    Array<float> const bias(device, biases);
    Array<U> const out(device, elements, U(-99.0f)), unused(device, 1, U(0.0f));
    fk::TensorView<U const> const x(unused.data(), fk::nchw(n, k, p, q)), w(unused.data(), fk::kcrs(k, 1, 1, 1));
    auto const bound =
        Plan::bind({.weights = w}, {.bias = fk::TensorView<float const, 1>(bias.data(), fk::channels(k))}, {});
    fk::hip::ConvParams<Plan, U, U> params{bound, x, {out.data(), layout}};
    params.depthwise.y_vector = vector;
    run_blocks<Body>(device, params, n * Body::down * Body::across);
    std::vector<float> expected(elements, -99), got;
    for (U const value : out.values()) got.push_back(static_cast<float>(value));
    for (int image = 0; image < n; ++image)
        for (int channel = 0; channel < k; ++channel)
            for (int row : {0, 3, 4})
                for (int column = 0; column < q; ++column) {
                    float const value = sum_at(image, channel, row, column) + bias_of(channel);
                    expected[static_cast<std::size_t>(layout.offset({{image, channel, row, column}}))] =
                        value > 0 ? value : 0;
                }
    CAPTURE(q, gap, vector, columns, channels);
    CHECK(got == expected);
}

}  // namespace

TEST_CASE("HIP: Depthwise's epilogue stores vectors of channels or pixels, and nothing out of bounds or skipped") {
    check_rows<fk::half, Axis::channel, 9, 4, 2>(2);
    check_rows<fk::half, Axis::channel, 9, 7, 2>(1);
    check_rows<float, Axis::channel, 9, 3, 4>(1);  // the last thread has two channels
    check_rows<fk::half, Axis::pixel, 9, 4, 1>(1);
    check_rows<fk::half, Axis::pixel, 12, 8, 1>(4);  // the last vector of a row's second thread is out of bounds
    check_rows<float, Axis::pixel, 10, 4, 1>(2, 4);  // gaps between rows
}
