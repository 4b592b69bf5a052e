// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/copy/plane_windows.hpp"

#include "backend/hip/blocks.hpp"

using namespace test;
namespace hip = fk::hip;

namespace {

/// A warpgroup loads the windows of one tile of 64 pixels, 32 indices of GemmK at a time: out[pixel][index].
template <class T, bool single>
struct LoadWindows : BlockOf<128> {
    using Windows = hip::PlaneWindows<T, single>;
    struct Arguments {
        fk::TensorView<T const> x;
        hip::TallPlaneTiles tall_planes;
    };
    struct Params {
        Arguments of;
        unsigned group, tile;
        int steps;
        float* out;
    };
    struct Shared {
        typename Windows::Taps taps;
    };
    __device__ static void run(Params const& params, Shared& shared, unsigned thread, unsigned) {
        shared.taps.init(params.of.x.layout, params.of.tall_planes, thread, threads);
        __syncthreads();
        Windows windows(params.of, shared.taps, params.group, thread);
        windows.begin(params.tile);
        for (int step = 0; step < params.steps; ++step) {
            windows.load(32 * step);
            // operand a of wgmma for 16-bit elements: PTX ISA 8.7, section 9.7.15.5.1, the figure of A for .k16
            for (int block = 0; block < Windows::k_blocks; ++block)
                for (int i = 0; i < 8; ++i) {
                    int const pixel = static_cast<int>(Windows::first_pixel(0, thread)) + i / 2 % 2,
                              k = 32 * step + 16 * block + i / 4 * 8 + static_cast<int>(thread % 4) * 2 + i % 2;
                    params.out[pixel * 32 * params.steps + k] = static_cast<float>(windows.values[block][i]);
                }
        }
    }
};

template <class T, bool single>
void check(fk::Layout<4> const& of_x, fk::Filter<2> const& filter) {
    hip::Device device = gpu();
    fk::Index<4> const& x = of_x.shape;
    int const groups = filter.group_count, channels = static_cast<int>(x[1]) / groups, r = filter.size[0],
              s = filter.size[1], k = channels * r * s, steps = (k + 31) / 32;
    auto const extent = [&](int mode) {
        return static_cast<int>(x[mode + 2] + filter.pad_before[mode] + filter.pad_after[mode] -
                                (filter.size[mode] - 1) * filter.dilations[mode] - 1) /
                   filter.strides[mode] +
               1;
    };
    int const p = extent(0), q = extent(1), pixels = static_cast<int>(x[0]) * p * q;
    hip::TallPlaneTiles tiles;
    tiles.plane = hip::FastDivmod(static_cast<std::uint32_t>(p * q));
    tiles.row = hip::FastDivmod(static_cast<std::uint32_t>(q));
    tiles.all_pixels = static_cast<std::uint32_t>(pixels);
    tiles.k = k, tiles.taps = r * s, tiles.group_channels = channels, tiles.window_columns = s;
    tiles.stride_h = filter.strides[0], tiles.stride_w = filter.strides[1];
    tiles.dilation_h = filter.dilations[0], tiles.dilation_w = filter.dilations[1];
    tiles.pad_top = filter.pad_before[0], tiles.pad_left = filter.pad_before[1];
    tiles.windows = !single && r * s > 1;
    tiles.pairs = !tiles.windows && p * q % 2 == 0 && of_x.stride[0] % 2 == 0 && of_x.stride[1] % 2 == 0;
    std::vector<T> values(static_cast<std::size_t>(x[0] * of_x.stride[0]), T(111.0f));
    auto const number = [](int n, int c, int h, int w) {
        return static_cast<float>((n * 31 + c * 17 + h * 7 + w * 3) % 100 + 1);
    };
    for (int n = 0; n < x[0]; ++n)
        for (int c = 0; c < x[1]; ++c)
            for (int i = 0; i < x[2] * x[3]; ++i) {
                auto const h = static_cast<int>(i / x[3]), w = static_cast<int>(i % x[3]);
                values[static_cast<std::size_t>(of_x.offset({{n, c, h, w}}))] = T(number(n, c, h, w));
            }
    Array<T> const in(device, values);
    for (int group = 0; group < groups; ++group)
        for (int tile = 0; tile < (pixels + 63) / 64; ++tile) {
            Array<float> const out(device, static_cast<std::size_t>(64 * 32 * steps), -7.0f);
            run_blocks<LoadWindows<T, single>>(device, {{{in.data(), of_x}, tiles},
                                                        static_cast<unsigned>(group),
                                                        static_cast<unsigned>(tile),
                                                        steps,
                                                        out.data()});
            auto const found = out.values();
            int wrong = 0;
            for (int i = 0; i < 64 * 32 * steps; ++i) {
                int const pixel = tile * 64 + i / (32 * steps), index = i % (32 * steps);
                if (pixel >= pixels) continue;  // not stored
                int const n = pixel / (p * q), c = index / (r * s),
                          h = pixel / q % p * filter.strides[0] + index % (r * s) / s * filter.dilations[0] -
                              filter.pad_before[0],
                          w = pixel % q * filter.strides[1] + index % s * filter.dilations[1] - filter.pad_before[1];
                bool const exists = index < k && h >= 0 && h < x[2] && w >= 0 && w < x[3];
                wrong += found[static_cast<std::size_t>(i)] != (exists ? number(n, group * channels + c, h, w) : 0);
            }
            CAPTURE(x[0], x[1], x[2], x[3], r, s, group, tile);
            CHECK(wrong == 0);
        }
}

}  // namespace

TEST_CASE("HIP: windows of planes are loaded to registers as an operand, with zeros in the padding") {
    check<float, false>(fk::nchw(3, 5, 7, 9), fk::filter(3, 3).pad(1));
    check<fk::half, false>(fk::nchw(2, 6, 9, 8), fk::filter(2, 5).pad(1, 2).stride(2, 1).groups(2));
    check<float, false>(fk::nchw(1, 3, 9, 11), fk::filter(3, 2).pad(2, 0).dilation(2, 3));
    check<fk::half, false>(fk::nchw(2, 40, 5, 5), fk::filter(1, 1));
    check<float, true>(fk::nchw(3, 33, 4, 6), fk::filter(1, 1));  // pairs of pixels
    check<float, true>(fk::nchw(3, 33, 5, 7), fk::filter(1, 1));  // pairs of two images
    fk::Layout<4> apart = fk::nchw(2, 4, 3, 5);  // gaps between images
    apart.stride[0] += 9;
    check<fk::half, true>(apart, fk::filter(1, 1));
}
