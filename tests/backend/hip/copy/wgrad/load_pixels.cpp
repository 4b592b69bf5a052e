// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/copy/wgrad/load_pixels.hpp"

#include "backend/hip/blocks.hpp"
#include "fusekit/backend/hip/atom/k_major_tile.hpp"
#include "fusekit/backend/hip/atom/row_tile.hpp"

using namespace test;
namespace hip = fk::hip;
using hip::ContiguousMode;

namespace {

constexpr int size = 64, tile_k = 32, threads_of_tile = 64;

__host__ __device__ float number_at(unsigned pixel, unsigned row) {
    return static_cast<float>((pixel * 7 + row * 3) % 61);
}

/// Loads a tile along `along`, stores it, and reads each row of the operand from the tile's row.
template <class T, class Tile, ContiguousMode along, bool at_run_time>
struct PassTile : BlockOf<threads_of_tile> {
    using Loads = hip::TileOfPixels<T, Tile, size, tile_k, threads_of_tile>;
    struct Params {
        float* out;  // (size, tile_k)
        int* loads;  // (size, tile_k)
    };
    struct Shared {
        Tile tile;
    };
    __device__ static void run(Params const& params, Shared& shared, unsigned thread, unsigned) {
        Loads loads;
        auto const mode = [] {
            if constexpr (at_run_time) return along;
            else return std::integral_constant<ContiguousMode, along>{};
        }();
        loads.each(mode, thread, [&](auto& packet, unsigned pixel, unsigned row) {
            for (unsigned i = 0; i < sizeof packet / sizeof(T); ++i) {
                packet.values[i] = T(number_at(pixel, row + i));
                ++params.loads[(row + i) * tile_k + pixel];
            }
        });
        loads.wait(mode);
        loads.store(mode, thread, shared.tile);
        __syncthreads();
        for (unsigned i = thread; i < size * tile_k; i += threads) {
            unsigned const row = i / tile_k, pixel = i % tile_k, of = Loads::operand_row(along, row);
            params.out[of * tile_k + pixel] = static_cast<float>(*shared.tile.at(pixel, row));
        }
    }
};

template <class T, class Tile, ContiguousMode along, bool at_run_time>
void check() {
    hip::Device device = gpu();
    Array<float> const out(device, size * tile_k, -1.0f);
    Array<int> const loads(device, size * tile_k, 0);
    run_blocks<PassTile<T, Tile, along, at_run_time>>(device, {out.data(), loads.data()});
    std::vector<float> expected;
    for (unsigned row = 0; row < size; ++row)
        for (unsigned pixel = 0; pixel < tile_k; ++pixel) expected.push_back(number_at(pixel, row));
    CAPTURE(sizeof(T), static_cast<int>(along), at_run_time);
    CHECK(loads.values() == std::vector<int>(size * tile_k, 1));  // each element is loaded by one thread
    CHECK(out.values() == expected);
}

template <class T, class Tile>
void check_modes() {
    check<T, Tile, ContiguousMode::channels_by_4, true>();
    check<T, Tile, ContiguousMode::channels, true>();
    check<T, Tile, ContiguousMode::pixels, true>();
    check<T, Tile, ContiguousMode::channels_by_4, false>();
    check<T, Tile, ContiguousMode::pixels, false>();
}

}  // namespace

TEST_CASE("HIP: channels or pixels of an operand tile are loaded once each, and stored at their row and pixel") {
    check_modes<float, hip::KMajorTile<float, size, tile_k>>();
    check_modes<fk::half, hip::KMajorTile<float, size, tile_k>>();  // converted when stored
    check_modes<float, hip::RowTile<float, size, tile_k * 4>>();
    check_modes<fk::half, hip::RowTile<fk::half, size, tile_k * 2>>();
    check<fk::half, hip::RowTile<fk::half, size, tile_k * 2>, ContiguousMode::channels_by_8, true>();
    check<fk::half, hip::RowTile<fk::half, size, tile_k * 2>, ContiguousMode::channels_by_8, false>();
}
