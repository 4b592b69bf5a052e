// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/collective/tile_coord.hpp"

#include <algorithm>

#include "backend/hip/blocks.hpp"

using namespace test;

namespace {

constexpr int tile_m = 64, tile_n = 16;
using Coord = fk::hip::TileCoord<tile_m, tile_n>;

/// Members of a problem that TileCoord reads. The tiles of its pixels begin with number first_tile.
struct Problem {
    int pixels, channels, group_count;  ///< channels: of one group
    unsigned first_tile;

    __host__ __device__ int group_k() const { return channels; }
    __host__ __device__ int groups() const { return group_count; }
    __host__ __device__ int first_k(int group) const { return group * channels; }
    __host__ __device__ int gemm_m() const { return pixels; }
};

/// Members of a CTA's TileCoord.
struct Found {
    int first_m, group, first_n, first_k, remaining_m, count_n, tile, column;
};

struct FindTile : BlockOf<64> {
    struct Params {
        Problem problem;
        unsigned first_block;
        Found* out;
    };
    struct Shared {};
    __device__ static void run(Params const& params, Shared&, unsigned thread, unsigned block) {
        if (thread > 0) return;
        Coord const at(params.problem, params.first_block + block);
        params.out[block] = {at.first_m,
                             at.group,
                             at.first_n,
                             at.first_k,
                             at.remaining_m,
                             static_cast<int>(at.count_n),
                             static_cast<int>(at.tile()),
                             static_cast<int>(at.column())};
    }
};

void check_tiles(Problem const& problem) {
    int const across = (problem.channels + tile_n - 1) / tile_n * problem.group_count,
              down = (problem.pixels + tile_m - 1) / tile_m, channels = problem.channels * problem.group_count;
    auto const blocks = static_cast<unsigned>(across * down);
    fk::hip::Device device = gpu();
    Array<Found> const out(device, blocks, Found{-1, -1, -1, -1, -1, -1, -1, -1});
    run_blocks<FindTile>(device, {problem, problem.first_tile * static_cast<unsigned>(across), out.data()}, blocks);
    auto const all = out.values();
    std::vector<int> covered(static_cast<std::size_t>(problem.pixels * channels));
    int block = 0;
    for (Found const& at : all) {
        CAPTURE(block, problem.pixels, problem.channels, problem.group_count);
        CHECK(at.tile == static_cast<int>(problem.first_tile) + block / across);
        CHECK(at.column == block++ % across);
        CHECK(at.first_k == at.group * problem.channels + at.first_n);
        CHECK(at.remaining_m == problem.pixels - at.first_m);
        REQUIRE((at.first_n >= 0 && at.first_n + at.count_n <= problem.channels));
        for (int m = at.first_m; m < (std::min)(at.first_m + tile_m, problem.pixels); ++m)
            for (int i = 0; i < at.count_n; ++i) ++covered[static_cast<std::size_t>(m * channels + at.first_k + i)];
    }
    CHECK(std::count(covered.begin(), covered.end(), 1) == problem.pixels * channels);
}

}  // namespace

TEST_CASE("HIP: each pixel of each channel is in the tile of one CTA, groups and phases apart") {
    check_tiles({64, 16, 1, 0});
    check_tiles({1, 1, 3, 0});
    check_tiles({130, 20, 3, 0});  // partial tiles of pixels and of each group's channels
    check_tiles({100, 33, 2, 5});  // a phase or a range of images after five tiles of others
}
