// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/copy/phased_filters.hpp"

#include "backend/hip/blocks.hpp"

using namespace test;
namespace hip = fk::hip;

namespace {

constexpr int most_bytes = 40 * 1024;

/// Copies the filters of a block of columns, and stores them as rows of 64 channels of x:
/// out[k-tile][tap][row][channel].
struct CopyFilters : BlockOf<96> {
    struct Params {
        hip::PhasedHaloTiles tiles;
        fk::TensorView<fk::half const> w;
        fk::Filter<2> of_y;
        unsigned block;
        float* out;
        int* columns;
    };
    struct Shared {
        alignas(16) unsigned char bytes[most_bytes];
    };
    __device__ static void run(Params const& params, Shared& shared, unsigned thread, unsigned) {
        hip::PhasedHaloTiles const& tiles = params.tiles;
        hip::PhasedColumns const columns(tiles, params.block, params.of_y.strides[0]);
        hip::PhasedFilters<fk::half>(tiles, params.w, params.of_y, columns).copy(shared.bytes, thread, threads);
        __syncthreads();
        int const lines = tiles.k_tiles * tiles.taps[0] * tiles.taps[1] * tiles.filter_rows();
        for (int i = static_cast<int>(thread); i < lines * 64; i += threads) {
            int const line = i / 64, c = i % 64;
            params.out[i] = static_cast<float>(
                reinterpret_cast<fk::half const*>(shared.bytes)[line * 64 + ((c / 8) ^ (line % 8)) * 8 + c % 8]);
        }
        if (thread == 0) {
            params.columns[0] = columns.row, params.columns[1] = columns.column;
            params.columns[2] = columns.rows, params.columns[3] = columns.width;
        }
    }
};

/// Gradient by x of a filter of c channels to k, from images of k channels.
void check(fk::Filter<2> const& of_y, int c, int k) {
    hip::Device device = gpu();
    hip::PhasedHaloShape const shape = hip::phased_halo_shape({{1, k, 9, 11}}, {{1, c, 18, 22}}, of_y);
    REQUIRE(shape.stages > 0);
    hip::PhasedHaloTiles tiles{};
    tiles.set(shape, 1, c, 1);
    fk::Layout<4> const layout = fk::kcrs(c, k, of_y.size[0], of_y.size[1]);
    auto const number = [](int a, int b, int r, int s) {
        return static_cast<float>((a * 31 + b * 17 + r * 7 + s * 3) % 997 + 1);
    };
    std::vector<fk::half> w(static_cast<std::size_t>(layout.size()));
    for (int a = 0; a < c; ++a)
        for (int b = 0; b < k; ++b)
            for (int i = 0; i < of_y.size[0] * of_y.size[1]; ++i)
                w[static_cast<std::size_t>(layout.offset({{a, b, i / of_y.size[1], i % of_y.size[1]}}))] =
                    fk::half(number(a, b, i / of_y.size[1], i % of_y.size[1]));
    Array<fk::half> const of_w(device, w);
    int const rows = shape.filter_rows(), taps = shape.taps[0] * shape.taps[1], lines = shape.k_tiles * taps * rows;
    REQUIRE(lines * 128 <= most_bytes);
    for (int block = 0; block < shape.blocks; ++block) {
        Array<float> const out(device, static_cast<std::size_t>(lines * 64), -7.0f);
        Array<int> const columns(device, 4, -7);
        run_blocks<CopyFilters>(
            device, {tiles, {of_w.data(), layout}, of_y, static_cast<unsigned>(block), out.data(), columns.data()});
        auto const of = columns.values();
        auto const found = out.values();
        int wrong = 0;
        for (int i = 0; i < lines * 64; ++i) {
            int const line = i / 64, row = line % rows, tap = line / rows % taps,
                      channel = line / rows / taps * 64 + i % 64, phase_row = of[0] + row / shape.width,
                      column = of[1] + row % shape.width, phase = column / c,
                      // the tap that a phase multiplies by tap t of the window
                r = phase_row - shape.shift[0] + (shape.taps[0] - 1 - tap / shape.taps[1]) * of_y.strides[0],
                      s = phase - shape.shift[1] + (shape.taps[1] - 1 - tap % shape.taps[1]) * of_y.strides[1];
            bool const exists = row < of[2] * shape.width && row % shape.width < of[3] && channel < k && r >= 0 &&
                                r < of_y.size[0] && s >= 0 && s < of_y.size[1];
            wrong += found[static_cast<std::size_t>(i)] != (exists ? number(column % c, channel, r, s) : 0);
        }
        CAPTURE(c, k, of_y.size[0], of_y.strides[0], block);
        CHECK(wrong == 0);
    }
}

}  // namespace

TEST_CASE("HIP: filters of all phases of a stride are rows of one product, with zeros at taps that a phase lacks") {
    check(fk::filter(3, 3).pad(1).stride(2), 3, 40);
    check(fk::filter(4, 4).pad(1).stride(2), 7, 72);
    check(fk::filter(5, 3).pad(2, 1).stride(3, 2), 5, 16);
    check(fk::filter(2, 3).pad(0, 1).stride(2, 1), 24, 33);
}
