// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/collective/depthwise_slide.hpp"

#include "backend/hip/blocks.hpp"

using namespace test;

namespace {

/// Element of x at a row and column of a channel, and a filter's tap: small integers, so that sums are exact.
__host__ __device__ float element(int row, int column, int c) {
    return static_cast<float>((row * 5 + column * 3 + c * 7) % 11 - 5);
}
__host__ __device__ float tap(int r, int s, int c) { return static_cast<float>((r * 4 + s + c * 3) % 7 - 3); }

/// One thread slides a window over `rows` rows of y, and writes them, and then the number of rows of x that it loaded.
template <class Window, int columns, int channels>
struct Slide : BlockOf<64> {
    struct Params {
        float* out;
        int rows;
    };
    struct Shared {};
    static constexpr int width = (columns - 1) * Window::stride_w + Window::columns;

    __device__ static void run(Params const& params, Shared&, unsigned thread, unsigned) {
        if (thread > 0) return;
        float weights[Window::rows][Window::columns][channels];
        for (int r = 0; r < Window::rows; ++r)
            for (int s = 0; s < Window::columns; ++s)
                for (int c = 0; c < channels; ++c) weights[r][s][c] = tap(r, s, c);
        struct Row {
            int number;
        } loaded[Window::stride_h];
        int next = Window::rows - Window::stride_h * Window::depth, loads = 0;
        auto const load = [&](int u) { loaded[u].number = next++, ++loads; };
        for (int u = 0; u < Window::stride_h; ++u) load(u);
        float* to = params.out;
        fk::hip::slide_window<Window, columns, channels>(
            params.rows, weights, loaded, load,
            [&](Row const& row, int j, int c) { return row.number < 0 ? 0.0f : element(row.number, j, c); },
            [&](auto const& sums) {
                for (int j = 0; j < columns; ++j)
                    for (int c = 0; c < channels; ++c) *to++ = sums[j][c];
            });
        *to = static_cast<float>(loads);
    }
};

template <int R, int S, int StrideH, int StrideW, int columns, int channels>
void check_slide() {
    using Window = fk::hip::UnrolledWindow<R, S, StrideH, StrideW>;
    fk::hip::Device device = gpu();
    for (int const rows : {1, 2, 7}) {
        auto const count = static_cast<std::size_t>(rows * columns * channels);
        Array<float> const out(device, count + 2, -999);
        run_blocks<Slide<Window, columns, channels>>(device, {out.data(), rows});
        std::vector<float> expected;
        for (int p = 0; p < rows; ++p)
            for (int j = 0; j < columns; ++j)
                for (int c = 0; c < channels; ++c) {
                    float sum = 0;
                    for (int r = 0; r < R; ++r)
                        for (int s = 0; s < S; ++s) sum += element(p * StrideH + r, j * StrideW + s, c) * tap(r, s, c);
                    expected.push_back(sum);
                }
        // a step of stride_h rows for each row of y and for each window above the first one, and one more of loads
        // ahead
        expected.push_back(static_cast<float>((rows + Window::depth) * StrideH));
        expected.push_back(-999);
        CAPTURE(R, S, StrideH, StrideW, columns, channels, rows);
        CHECK(out.values() == expected);
    }
}

}  // namespace

TEST_CASE("HIP: a sliding window gives every row of y its whole window, and loads each row of x once") {
    check_slide<3, 3, 1, 1, 4, 2>();
    check_slide<3, 3, 2, 2, 4, 1>();
    check_slide<5, 4, 2, 1, 3, 1>();
    check_slide<7, 7, 1, 1, 2, 1>();  // windows outside the thread's rows are left out
    check_slide<2, 3, 3, 2, 3, 1>();  // rows of x that no window reads
    check_slide<1, 1, 1, 1, 5, 2>();
}
