// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/copy/amd/quad_loads.hpp"

#include "backend/hip/blocks.hpp"
#include "fusekit/backend/hip/atom/row_tile.hpp"

using namespace test;
namespace hip = fk::hip;

namespace {

constexpr int columns = 16, tile_m = 64;  ///< a tile is the four rows of 16 pixels of an image, one channel per index

/// Loads one k-tile of quads: index k is channel k and the tap of column k % 3 of a 1 x 3 filter with padding 1.
template <class T, int TileK>
struct LoadQuads : BlockOf<64> {
    using Tile = hip::RowTile<T, tile_m, TileK* static_cast<int>(sizeof(T))>;
    using Offsets = hip::QuadOffsets<T, T, TileK, 2, true>;
    struct Params {
        T const* x;
        float* out;
    };
    struct Shared {
        Offsets offsets;
        Tile tile;
    };
    /// Columns by which the load of the quad at the end of a row is moved: at the left, tap 0 reads column -1.
    struct Shifts {
        __device__ static int shift_of_quad(bool left, int s) { return left ? (s == 0 ? 1 : 0) : s == 2 ? -1 : 0; }
    };

    __device__ static void run(Params const& params, Shared& shared, unsigned thread, unsigned) {
        for (unsigned k = thread; k < TileK; k += threads) {
            int const s = static_cast<int>(k % 3);
            auto const mask = hip::KOffset::bit(2, 0, 0) | hip::KOffset::bit(2, 1, s);
            shared.offsets.put(k, {static_cast<int>(k) * tile_m + s, k == TileK - 1 ? hip::KOffset::never : mask},
                               {static_cast<int>(k), 0}, s, Shifts{});
        }
        __syncthreads();
        hip::QuadLoads<T, tile_m, TileK, threads, true> quads(thread, [&](unsigned row) {
            unsigned const column = row % columns;
            std::uint32_t valid = ~0u;  // row 3 of the image reads padding below x
            if (column == 0) valid &= ~hip::KOffset::bit(2, 1, 0);
            if (column == columns - 1) valid &= ~hip::KOffset::bit(2, 1, 2);
            if (row / columns == 3) valid &= ~hip::KOffset::bit(2, 0, 0);
            return hip::RowPointer<T>{params.x + static_cast<int>(row) - 1, valid};
        });
        quads.find_position(2, 0, 2);
        quads.load(shared.offsets, 0);
        quads.store(shared.tile);
        __syncthreads();
        for (unsigned i = thread; i < tile_m * TileK; i += threads)
            params.out[i] = static_cast<float>(*shared.tile.at(i % TileK, i / TileK));
    }
};

template <class T, int TileK>
void check() {
    hip::Device device = gpu();
    std::vector<T> x;
    auto const number = [](int i) { return static_cast<float>(i * 37 % 251 - 125); };
    for (int i = 0; i < tile_m * (TileK + 1); ++i) x.push_back(T(number(i)));
    Array<T> const of_x(device, x);
    Array<float> const out(device, tile_m * TileK, -999.0f);
    run_blocks<LoadQuads<T, TileK>>(device, {of_x.data(), out.data()});
    auto const found = out.values();
    int wrong = 0;
    for (int m = 0; m < tile_m; ++m)
        for (int k = 0; k < TileK; ++k) {
            int const column = m % columns + k % 3 - 1;
            bool const seen = column >= 0 && column < columns && m / columns != 3 && k != TileK - 1;
            wrong += found[static_cast<std::size_t>(m * TileK + k)] != (seen ? number(k * tile_m + m + k % 3 - 1) : 0);
        }
    CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("HIP: quads of pixels are transposed to rows along GemmK, with zeros in padding at the ends of a row") {
    check<fk::half, 32>();
    check<fk::int8, 64>();
}
