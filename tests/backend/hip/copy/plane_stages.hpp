// SPDX-License-Identifier: MIT
#pragma once

#include "backend/hip/blocks.hpp"
#include "backend/hip/sm90a_device.hpp"
#include "fusekit/backend/hip/copy/plane_pipeline.hpp"

namespace test {

/// Eight producer warps make the tiles of x of all tiles of y, and one warp copies each: out[tile][block][bytes].
template <class Plan, class T, int pixels, int parts, int shared_bytes>
struct CopyTiles : BlockOf<288> {
    static constexpr bool reads_argument_in_place = true;
    using Architecture = fk::hip::arch::Sm90a;
    using Tiles = fk::hip::PlaneTiles<pixels, T>;
    using Grid = fk::hip::PlaneGrid<Tiles, parts, 64>;
    using Stages = fk::hip::PlaneStages<T, Grid, parts, shared_bytes, 1>;
    struct Params {
        fk::hip::ConvParams<Plan, T> conv;
        unsigned char* out;
    };
    struct DynamicShared {
        alignas(1024) typename Stages::Shared x;
    };

    template <class Problem>
    __device__ static Tiles tiles_of(Problem const& conv) {
        fk::Index<4> const& x = conv.x.layout.shape;
        return {conv.y[2], conv.y[3], x[2], x[3], conv.filter, conv.y[0], conv.x.layout.stride[1] == 1};
    }
    __device__ static void run(Params const& params, DynamicShared& shared, unsigned thread, unsigned block) {
        auto const conv = params.conv.problem();
        Tiles const tiles = tiles_of(conv);
        Grid const grid(conv, tiles);
        if (thread == 0) {
            shared.x.init(tiles);
            fk::hip::ptx::fence_mbarrier_init();
        }
        __syncthreads();
        if (thread < 256) {
            constexpr unsigned barrier = 1;
            Stages::load(params.conv, conv, shared.x, tiles, grid, thread / 32, thread % 32, block, barrier);
            return;
        }
        typename Stages::State state;
        int const bytes = tiles.tile_bytes(parts);
        for (typename Grid::Step step(grid, block); step.is_valid(); step.advance(), state.advance()) {
            shared.x.tiles.consumer_wait(state);
            auto const* const from = shared.x.x + static_cast<int>(state.stage) * bytes;
            auto* const to = params.out + (static_cast<int>(step.tile) * grid.channel_blocks() + step.block) * bytes;
            for (int i = static_cast<int>(thread % 32); i < bytes; i += 32) to[i] = from[i];
            fk::hip::ptx::bar_warp_sync();
            if (thread % 32 == 0) shared.x.tiles.consumer_release(state.stage);
        }
    }
};

/// Element of x with an integer value, in the range of every type.
inline float element_of_x(std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w) {
    return static_cast<float>((n * 31 + c * 17 + h * 7 + w * 3) % 241 + 1);
}

/// Runs CopyTiles on two CTAs for a convolution of stride 1, and compares the elements that the windows of each pixel
/// of y read. encode(params, tiles) sets the map of a channels-last x.
template <auto Filter, class T, int pixels, int parts, int shared_bytes>
void check_planes(fk::Layout<4> const& of_x, auto const& encode) {
    using Plan = fk::Plan<fk::Conv<Filter>>;
    using Body = CopyTiles<Plan, T, pixels, parts, shared_bytes>;
    using Tiles = typename Body::Tiles;
    fk::hip::Device device = sm90a_device();
    fk::Index<4> const& x = of_x.shape;
    constexpr fk::Filter<2> filter = Filter;
    auto const extent = [&](int mode) {
        return static_cast<int>(x[mode + 2]) + filter.pad_before[mode] + filter.pad_after[mode] - filter.size[mode] + 1;
    };
    int const p = extent(0), q = extent(1);
    bool const channels_last = of_x.stride[1] == 1;
    std::vector<T> values(static_cast<std::size_t>(of_x.size()));
    for (int n = 0; n < x[0]; ++n)
        for (int c = 0; c < x[1]; ++c)
            for (int i = 0; i < x[2] * x[3]; ++i)
                values[static_cast<std::size_t>(of_x.offset({{n, c, i / x[3], i % x[3]}}))] =
                    T(element_of_x(n, c, i / x[3], i % x[3]));
    Array<T> const in(device, values);
    Tiles const tiles(p, q, x[2], x[3], filter, x[0], channels_last);
    int const blocks = static_cast<int>((x[1] + Tiles::channels - 1) / Tiles::channels),
              bytes = tiles.tile_bytes(parts), count = (tiles.of_image * tiles.images + parts - 1) / parts;
    Array<unsigned char> const out(device, static_cast<std::size_t>(count * blocks * bytes), 0xff);
    auto const bound =
        Plan::bind({.weights = fk::TensorView<T const>(in.data(), fk::kcrs(64, x[1], filter.size[0], filter.size[1]))});
    typename Body::Params params{{bound, {in.data(), of_x}, {nullptr, fk::nchw(x[0], 64, p, q)}}, out.data()};
    REQUIRE(encode(params.conv, tiles));
    REQUIRE(fk::hip::kernel_of<Abs, Body>().is_launchable(device.gpu().index()));  // allows over 48 KB of SMEM
    run_blocks<Body>(device, params, 2);

    auto const found = out.values();
    int wrong = 0;
    for (int tile = 0; tile < count; ++tile)
        for (int part = 0; part < parts; ++part) {
            int const number = tile * parts + part;
            if (number >= tiles.of_image * tiles.images) continue;
            int const n = number / tiles.of_image, row = number % tiles.of_image * tiles.rows;
            for (int c = 0; c < blocks * Tiles::channels; ++c)
                for (int i = 0; i < tiles.rows * tiles.y_width * tiles.taps(); ++i) {
                    int const tap = i % tiles.taps(), down = i / tiles.taps() / tiles.y_width,
                              right = i / tiles.taps() % tiles.y_width, r = tap / tiles.window_columns,
                              s = tap % tiles.window_columns;
                    if (row + down >= tiles.y_height) continue;
                    int h = row + down + r - tiles.pad_top, w = right + s - tiles.pad_left, image = n;
                    if (tiles.single) {  // a plane is one column; all images, if x is channels-last
                        int const pixel = row + down, plane = static_cast<int>(x[2] * x[3]);
                        image = channels_last ? pixel / plane : n;
                        h = pixel % plane / static_cast<int>(x[3]), w = pixel % static_cast<int>(x[3]);
                    }
                    bool const exists = c < x[1] && h >= 0 && h < x[2] && w >= 0 && w < x[3];
                    int const pixel = part * tiles.pixels_of_x() + (down + r) * tiles.pitch + right + s;
                    unsigned const in_block = static_cast<unsigned>(c % Tiles::channels),
                                   at = Tiles::chunk_offset(pixel, in_block / 8) + in_block % 8 * 2;
                    float sum = 0;  // of the terms of a float
                    for (int term = 0; term < Tiles::terms; ++term) {
                        std::conditional_t<sizeof(T) == 4, fk::bfloat16, T> value;
                        std::memcpy(&value,
                                    &found[static_cast<std::size_t>((tile * blocks + c / Tiles::channels) * bytes +
                                                                    term * tiles.term_bytes(parts)) +
                                           at],
                                    2);
                        sum += static_cast<float>(value);
                    }
                    wrong += sum != (exists ? element_of_x(image, c, h, w) : 0);
                }
        }
    CAPTURE(x[0], x[1], x[2], x[3], tiles.rows, tiles.of_image, tiles.pitch);
    CHECK(wrong == 0);
}

}  // namespace test
