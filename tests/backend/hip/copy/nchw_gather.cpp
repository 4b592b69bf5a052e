// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/copy/nchw_gather.hpp"

#include "backend/hip/blocks.hpp"
#include "backend/hip/sm90a_device.hpp"

using namespace test;
namespace hip = fk::hip;

namespace {

/// Eight warps gather the stage of a tile and of some channels, and store what each tap reads at each position of the
/// tile: out[channel][tap][position].
struct GatherStage : BlockOf<256> {
    using Architecture = hip::arch::Sm90a;
    struct Params {
        fk::TensorView<fk::half const> x;
        hip::GatherTiles tiles;
        unsigned position;
        int channel;
        float* out;
        int* numbers;
    };
    struct Shared {
        hip::GatherTables tables;
        alignas(16) unsigned char stage[40 * 1024];
    };
    __device__ static void run(Params const& params, Shared& shared, unsigned thread, unsigned) {
        hip::GatherTiles const& tiles = params.tiles;
        shared.tables.init(tiles, thread);
        __syncthreads();
        hip::NchwGather<fk::half> const gather(params.x, tiles, shared.tables, thread / 32, thread % 32);
        gather.gather(params.position, params.channel, shared.stage);
        __syncthreads();
        int const channels = 16 * tiles.slices, pixels = tiles.tile_pixels();
        for (int i = static_cast<int>(thread); i < channels * tiles.taps() * pixels; i += threads) {
            int const position = i % pixels, tap = i / pixels % tiles.taps(), c = i / pixels / tiles.taps();
            auto const* const chunk = reinterpret_cast<fk::half const*>(shared.stage + c / 8 * tiles.chunk_bytes() +
                                                                        (shared.tables.offset[tap] + position) * 16);
            params.out[i] = static_cast<float>(chunk[c % 8]);
            params.numbers[tap] = shared.tables.number[tap];
        }
    }
};

void check(fk::Filter<2> const& filter, fk::Layout<4> const& of_x, int tile) {
    hip::Device device = sm90a_device();
    fk::Index<4> const& x = of_x.shape;
    auto const extent = [&](int mode) {
        return (x[mode + 2] + 2 * filter.pad_before[mode] - (filter.size[mode] - 1) * filter.dilations[mode] - 1) /
                   filter.strides[mode] +
               1;
    };
    auto const p = static_cast<int>(extent(0)), q = static_cast<int>(extent(1));
    hip::GatherTiles const tiles = hip::gather_tiles(x, {{x[0], 64, p, q}}, filter, 132);
    REQUIRE(tiles.stages > 0);
    REQUIRE(2 * tiles.slices * tiles.chunk_bytes() <= 40 * 1024);
    std::vector<fk::half> values(static_cast<std::size_t>(x[0] * of_x.stride[0]), fk::half(2047.0f));
    auto const number = [](std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w) {
        return static_cast<float>((n * 31 + c * 17 + h * 7 + w * 3) % 997 + 1);
    };
    for (int n = 0; n < x[0]; ++n)
        for (int c = 0; c < x[1]; ++c)
            for (int i = 0; i < x[2] * x[3]; ++i)
                values[static_cast<std::size_t>(of_x.offset({{n, c, i / x[3], i % x[3]}}))] =
                    fk::half(number(n, c, i / x[3], i % x[3]));
    Array<fk::half> const in(device, values);
    for (int channel = 0; channel < x[1]; channel += 16 * tiles.slices) {
        int const channels = 16 * tiles.slices, pixels = tiles.tile_pixels(), taps = tiles.taps();
        auto const start = static_cast<unsigned>(tile * pixels);
        Array<float> const out(device, static_cast<std::size_t>(channels * taps * pixels), -7.0f);
        Array<int> const numbers(device, static_cast<std::size_t>(taps), -7);
        run_blocks<GatherStage>(device, {{in.data(), of_x}, tiles, start, channel, out.data(), numbers.data()});
        auto const found = out.values();
        auto const of_taps = numbers.values();
        int wrong = 0;
        for (std::size_t i = 0; i < found.size(); ++i) {
            auto const at = start + static_cast<unsigned>(i) % static_cast<unsigned>(pixels);
            if (!tiles.is_pixel(at)) continue;  // results at positions in gaps are not stored
            auto const element = static_cast<int>(tiles.elements_before(at));
            int const tap = of_taps[i / static_cast<std::size_t>(pixels) % static_cast<std::size_t>(taps)],
                      c = channel + static_cast<int>(i) / pixels / taps, n = element / (p * q),
                      h = element / q % p * filter.strides[0] + tap / filter.size[1] * filter.dilations[0] -
                          filter.pad_before[0],
                      w = element % q * filter.strides[1] + tap % filter.size[1] * filter.dilations[1] -
                          filter.pad_before[1];
            bool const exists = c < x[1] && h >= 0 && h < x[2] && w >= 0 && w < x[3];
            wrong += found[i] != (exists ? number(n, c, h, w) : 0);
        }
        CAPTURE(filter.size[0], filter.strides[0], filter.dilations[0], x[1], tile, channel);
        CHECK(wrong == 0);
    }
}

}  // namespace

// Tiles with several images, segments for each remainder by the stride, dilations, channels past the last.
TEST_CASE("HIP: planes are gathered to rows of channels, from which every tap reads its elements") {
    for (int const tile : {0, 1}) {
        check(fk::filter(3, 3).pad(1).stride(2), fk::nchw(3, 24, 23, 17), tile);
        check(fk::filter(3, 3).pad(2).dilation(2), fk::nchw(2, 8, 14, 13), tile);
    }
    check(fk::filter(2, 5).pad(0, 2).stride(1, 3), fk::nchw(1, 16, 9, 40), 0);
    fk::Layout<4> apart = fk::nchw(2, 24, 9, 11);  // gaps between images
    apart.stride[0] += 40;
    check(fk::filter(3, 3).pad(1).stride(2), apart, 0);
}
