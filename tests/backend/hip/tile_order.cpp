// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/tile_order.hpp"

#include <set>
#include <utility>
#include <vector>

#include "backend/hip/blocks.hpp"

using namespace test;
using fk::hip::TileStart;

namespace {

/// GemmM and GemmN, as TileOrder reads them.
struct Product {
    int m, n;

    __device__ int gemm_m() const { return m; }
    __device__ int group_k() const { return n; }
};

/// Each thread writes the starts of some tiles.
template <class Order>
struct WritesTiles : BlockOf<128> {
    struct Params {
        Product product;
        TileStart* tiles;
        unsigned count;
    };
    struct Shared {};
    __device__ static void run(Params const& params, Shared&, unsigned thread, unsigned) {
        Order const order(params.product);
        for (unsigned i = thread; i < params.count && i < order.size(); i += threads) params.tiles[i] = order[i];
    }
};

/// Returns the starts of a schedule's tiles in order; checks that each tile starts exactly once.
template <int m, int n, bool totalled = false>
std::vector<TileStart> tiles_of(Product const& product) {
    auto const count = static_cast<unsigned>((product.m + m - 1) / m * ((product.n + n - 1) / n));
    fk::hip::Device device = gpu();
    Array<TileStart> const tiles(device, count + 1, {-1, -1});
    run_blocks<WritesTiles<fk::hip::TileOrder<m, n, totalled>>>(device, {product, tiles.data(), count + 1});
    auto found = tiles.values();
    CHECK((found.back().m == -1 && found.back().n == -1));
    found.pop_back();
    std::set<std::pair<int, int>> different;
    for (TileStart const& tile : found) {
        CHECK((tile.m % m == 0 && tile.m >= 0 && tile.m < product.m));
        CHECK((tile.n % n == 0 && tile.n >= 0 && tile.n < product.n));
        different.emplace(tile.m, tile.n);
    }
    CHECK(different.size() == count);
    return found;
}

/// One thread visits the items of all CTAs of a persistent grid. Each k-tile of each tile counts its visits, and holds
/// the index of the last CTA that has visited it.
struct VisitsItems : BlockOf<128> {
    struct Params {
        unsigned tiles, steps, splits, whole, blocks;
        unsigned *visits, *block_of;
    };
    struct Shared {};
    __device__ static void run(Params const& params, Shared&, unsigned thread, unsigned) {
        if (thread > 0) return;
        fk::hip::StreamKTail const items(params.tiles, params.splits, params.whole);
        for (unsigned block = 0; block < params.blocks; ++block) {
            bool reaches = false;
            for (unsigned item = block; item < items.size(); item += params.blocks) {
                bool const is_divided = items.is_divided(item);
                fk::hip::StepRange const range =
                    is_divided ? items.range_of(item, params.steps) : fk::hip::StepRange{0, params.steps};
                reaches |= is_divided;
                for (unsigned step = range.begin; step < range.end; ++step) {
                    unsigned const at = items.tile_of(item) * params.steps + step;
                    ++params.visits[at], params.block_of[at] = block;
                }
            }
            if (reaches != items.reaches(block)) params.visits[0] = 99;
        }
    }
};

/// Checks that all k-tiles are visited once, those of the first `whole` tiles by one CTA per tile, those of the others
/// by the `splits` CTAs of one cluster, in the order of their ranks.
void check_items(unsigned tiles, unsigned steps, unsigned splits, unsigned whole, unsigned blocks) {
    fk::hip::Device device = gpu();
    Array<unsigned> const visits(device, tiles * steps, 0), block_of(device, tiles * steps, 99);
    run_blocks<VisitsItems>(device, {tiles, steps, splits, whole, blocks, visits.data(), block_of.data()});
    auto const counts = visits.values(), computed_by = block_of.values();
    for (unsigned tile = 0; tile < tiles; ++tile)
        for (unsigned step = 0; step < steps; ++step) {
            REQUIRE(counts[tile * steps + step] == 1);
            unsigned const first = tile < whole || splits == 1 ? tile % blocks : (tile - whole) * splits,
                           rank = tile < whole || splits == 1 ? 0 : ((step + 1) * splits - 1) / steps;
            REQUIRE(computed_by[tile * steps + step] == first + rank);
        }
}

}  // namespace

TEST_CASE("HIP: StreamKTail visits each k-tile once, and divides the last tiles among the CTAs of clusters") {
    check_items(11, 3, 1, 0, 4);
    check_items(10, 7, 2, 8, 4);
    check_items(9, 2, 2, 8, 4);
    check_items(9, 5, 4, 8, 4);
    check_items(18, 4, 4, 16, 8);
    check_items(3, 9, 2, 0, 6);
    check_items(1, 4, 4, 0, 4);
}

TEST_CASE("HIP: TileOrder visits each tile once, and consecutive CTAs share pixels") {
    auto const tiles = tiles_of<96, 128>({1000, 300});
    CHECK((tiles[1].m == 0 && tiles[1].n == 128 && tiles[3].m == 96 && tiles[3].n == 0));
    CHECK(tiles_of<192, 128>({50176, 512})[1].m == 0);
    CHECK(tiles_of<96, 128, true>({1000, 2000})[1].m == 0);  // statistics
}

// Few filters: no more than pixels. Many tiles: sixteen rows per group.
TEST_CASE("HIP: TileOrder: consecutive CTAs share filters if filters exceed pixels or y exceeds L2") {
    CHECK(tiles_of<96, 64>({300, 300})[1].m == 0);
    auto const few = tiles_of<96, 64>({299, 300});
    CHECK((few[3].m == 288 && few[3].n == 0 && few[4].m == 0 && few[4].n == 64));
    auto const many = tiles_of<64, 128>({50176, 512});
    CHECK((many[15].m == 960 && many[15].n == 0 && many[16].m == 0 && many[16].n == 128));
    CHECK((many[64].m == 1024 && many[64].n == 0));
}
