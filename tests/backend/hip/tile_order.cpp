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

}  // namespace

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
