// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/copy/wgrad/tile.hpp"

#include <algorithm>

#include "backend/hip/blocks.hpp"

using namespace test;
namespace hip = fk::hip;

namespace {

using Tile = hip::WeightGradientTile;

/// Arguments of a weight gradient that a tile's coordinate reads.
struct Arguments {
    struct {
        unsigned cluster, groups;
    } split_k;
    int split_pixels;
    bool in_slabs, has_bias;
    std::int64_t all_columns;
    struct Bound {
        struct Head {
            struct Gradient {
                bool is_given;
                __device__ bool given() const { return is_given; }
            } bias_gradient;
        } head;
    } bound;

    __device__ std::int64_t columns() const { return all_columns + (has_bias ? 1 : 0); }
    __device__ std::int64_t weights() const { return all_columns; }
};
struct Extents {
    fk::Index<4> y;
    int k, count;

    __device__ int group_k() const { return k / count; }
    __device__ int groups() const { return count; }
    __device__ int gemm_m() const { return static_cast<int>(y[0] * y[2] * y[3]); }
};

/// Each CTA writes its tile's fields.
struct WriteTiles : BlockOf<32> {
    struct Params {
        Arguments of;
        Extents conv;
        int* out;  // (CTAs, 7)
    };
    struct Shared {};
    __device__ static void run(Params const& params, Shared&, unsigned thread, unsigned block) {
        if (thread > 0) return;
        hip::WeightGradientTileAt<Tile> const at(params.of, params.conv, block);
        int const fields[] = {at.group, at.first_k,     at.first_column,   at.begin,
                              at.end,   at.first_image, at.ones(params.of)};
        for (int i = 0; i < 7; ++i) params.out[7 * block + static_cast<unsigned>(i)] = fields[i];
    }
};

void check(Extents const& conv, std::int64_t columns, bool bias, unsigned cluster, unsigned groups, bool slabs) {
    hip::Device device = gpu();
    int const pixels = static_cast<int>(conv.y[0] * conv.y[2] * conv.y[3]), splits = static_cast<int>(cluster * groups),
              of_split = (pixels + splits - 1) / splits, all = static_cast<int>(columns) + bias,
              across = (all + Tile::m - 1) / Tile::m, down = (conv.k / conv.count + Tile::n - 1) / Tile::n,
              tiles = across * down * conv.count, plane = static_cast<int>(conv.y[2] * conv.y[3]);
    Array<int> const out(device, static_cast<std::size_t>(7 * tiles * splits), -7);
    Arguments const of{{cluster, groups}, of_split, slabs, bias, columns, {{{bias}}}};
    run_blocks<WriteTiles>(device, {of, conv, out.data()}, tiles * splits);
    auto const found = out.values();
    std::vector<int> seen(static_cast<std::size_t>(tiles * pixels), 0);
    int wrong = 0;
    for (int block = 0; block < tiles * splits; ++block) {
        int const* const at = &found[static_cast<std::size_t>(7 * block)];
        wrong += at[1] % Tile::n != 0 || at[2] % Tile::m != 0 || at[0] < 0 || at[0] >= conv.count;
        int const tile = (at[0] * down + at[1] / Tile::n) * across + at[2] / Tile::m, first = at[5] * plane;
        wrong += tile < 0 || tile >= tiles || first + std::max(at[3], 0) > first + std::max(at[4], at[3]);
        for (int pixel = first + at[3]; pixel < first + at[4] && wrong == 0; ++pixel)
            ++seen[static_cast<std::size_t>(tile * pixels + pixel)];
        bool const has_ones = bias && columns >= at[2] && columns < at[2] + Tile::m;
        wrong += at[6] != (has_ones ? static_cast<int>(columns) - at[2] : bias && columns < at[2] ? at[6] : -1);
    }
    CAPTURE(conv.k, conv.count, columns, bias, cluster, groups, slabs);
    CHECK(wrong == 0);
    CHECK(std::count(seen.begin(), seen.end(), 1) == static_cast<std::ptrdiff_t>(seen.size()));
}

static_assert(hip::has_weight_gradient<Tile, fk::half, hip::arch::Gfx11>);
static_assert(!hip::has_weight_gradient<hip::WideWeightGradientTile, fk::half, hip::arch::Gfx11>);
static_assert(hip::has_weight_gradient<hip::WideWeightGradientTile, fk::half, hip::arch::Gfx90a>);
static_assert(!hip::has_weight_gradient<hip::WideWeightGradientTile, float, hip::arch::Gfx90a>);
static_assert(!hip::has_weight_gradient<hip::WideWeightGradientTile, fk::half, hip::arch::Sm80>);

}  // namespace

TEST_CASE("HIP: the CTAs of a weight gradient have each pixel of each tile of dw once") {
    for (bool const slabs : {false, true})
        for (bool const bias : {false, true}) {
            check({{{3, 70, 5, 7}}, 70, 1}, 72 * 9, bias, 1, 1, slabs);
            check({{{3, 70, 5, 7}}, 70, 1}, 64, bias, 4, 1, slabs);
            check({{{2, 96, 9, 4}}, 96, 3}, 65, bias, 2, 3, slabs);
            check({{{1, 8, 3, 3}}, 8, 1}, 7, bias, 1, 16, slabs);  // more CTAs than pixels
        }
}
