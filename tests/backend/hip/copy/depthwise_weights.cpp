// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/copy/depthwise_weights.hpp"

#include "backend/hip/blocks.hpp"

using namespace test;
namespace hip = fk::hip;

namespace {

using Window = hip::UnrolledWindow<3, 5, 1, 1>;

/// Each thread of a CTA writes the weights of its channels: out[CTA][thread][r][s][channel].
template <int channels, bool rotated>
struct WriteWeights : BlockOf<64> {
    using Weights = hip::DepthwiseWeights<Window, channels, fk::half, float, rotated>;
    struct Params {
        hip::DepthwiseTiles depthwise;
        fk::TensorView<fk::half> y;  ///< read for its number of channels
        fk::TensorView<fk::half const> w;
        float* out;
    };
    struct Shared {
        alignas(16) fk::half weights[64 * channels * Window::taps];
    };
    __device__ static void run(Params const& params, Shared& shared, unsigned thread, unsigned block) {
        hip::Zeros zeros;
        zeros.keep();
        Weights::stage(params, zeros, params.w, shared.weights, thread, block);
        __syncthreads();
        typename Weights::Registers weights;
        // a CTA's threads have consecutive items, and item 0 again after the last
        Weights::load_staged(params, shared.weights, thread, weights);
        for (int i = 0; i < Window::taps; ++i)
            for (int c = 0; c < channels; ++c)
                params.out[((block * 64 + thread) * Window::taps + static_cast<unsigned>(i)) * channels +
                           static_cast<unsigned>(c)] = weights[i / 5][i % 5][c];
    }
};

template <int channels, bool rotated>
void check(int filters, bool dense) {
    constexpr int ctas = 3;
    hip::Device device = gpu();
    int const items = (filters + channels - 1) / channels, pitch = dense ? 15 : 17;
    auto const number = [](int k, int r, int s) { return static_cast<float>((k * 31 + r * 7 + s * 3) % 997 + 1); };
    std::vector<fk::half> w(static_cast<std::size_t>(filters * pitch), fk::half(-1.0f));
    for (int k = 0; k < filters; ++k)
        for (int i = 0; i < 15; ++i) w[static_cast<std::size_t>(k * pitch + i)] = fk::half(number(k, i / 5, i % 5));
    Array<fk::half> const of_w(device, w);
    fk::TensorView<fk::half const> view(of_w.data(), {{{filters, 1, 3, 5}}, {pitch, 1, 5, 1}});
    if (rotated) {  // depthwise_filters(): a view that is rotated by 180 degrees
        view.data += 14;
        view.layout.stride[2] = -5, view.layout.stride[3] = -1;
    }
    Array<float> const out(device, static_cast<std::size_t>(ctas * 64 * 15 * channels), -7.0f);
    hip::DepthwiseTiles tiles;
    tiles.inner = hip::FastDivmod(static_cast<std::uint32_t>(items));
    tiles.threads = 64, tiles.dense_weights = dense;
    run_blocks<WriteWeights<channels, rotated>>(device,
                                                {tiles, {nullptr, fk::nchw(1, filters, 1, 1)}, view, out.data()}, ctas);
    auto const found = out.values();
    int wrong = 0;
    for (int thread = 0; thread < ctas * 64; ++thread)
        for (int i = 0; i < 15; ++i)
            for (int c = 0; c < channels; ++c) {
                int const k = thread % items * channels + c, tap = rotated ? 14 - i : i;
                if (k >= filters) continue;  // not stored
                wrong +=
                    found[static_cast<std::size_t>((thread * 15 + i) * channels + c)] != number(k, tap / 5, tap % 5);
            }
    CAPTURE(channels, rotated, filters, dense);
    CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("HIP: the threads of a depthwise kernel have the weights of their channels, dense or strided or rotated") {
    for (bool const dense : {true, false})
        for (int const filters : {3, 70, 200}) {
            check<1, false>(filters, dense);
            check<2, false>(filters, dense);
            check<1, true>(filters, dense);
            check<4, true>(filters, dense);
        }
}
