// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/copy/amd/buffer_loads.hpp"

#include "backend/hip/blocks.hpp"
#include "fusekit/backend/hip/atom/row_tile.hpp"

using namespace test;
namespace hip = fk::hip;

namespace {

constexpr int rows = 64, tile_k = 32, pitch = 96;  // elements of a row of x and of a filter in memory
constexpr int filters = 50;

/// Filters of a convolution, as FilterPackets reads them.
struct Filters {
    fk::half const* data;

    __device__ hip::RowPointer<fk::half> weight_row(int k, int) const {
        return {data + (k < filters ? k : filters - 1) * pitch, 0};
    }
    __device__ fk::half const* end_of_filters(int) const { return data + filters * pitch; }
    __device__ static std::int64_t filter_stride() { return pitch; }
};

/// Loads three k-tiles of both operands: of the table's first, `later` elements after it, and of its second.
template <bool has_scalars>
struct LoadTiles : BlockOf<64> {
    using Tile = hip::RowTile<fk::half, rows, tile_k * 2>;
    struct Params {
        fk::half const *x, *w;
        float* out;  // (2, 2, rows, tile_k): first and later k-tile of x, then those of w
    };
    struct Shared {
        struct {
            Tile x, w;
        } stage;
        hip::PacketOffsets<fk::half, fk::half, 2 * tile_k> offsets;
    };
    static constexpr int later = 40;

    __device__ static void run(Params const& params, Shared& shared, unsigned thread, unsigned) {
        if (thread == 0)
            for (unsigned i = 0; i < 2 * tile_k; i += 8)  // the second packet of the second k-tile is past GemmK
                shared.offsets.put(i, {static_cast<int>(i / 8 * 8), i == 40 ? hip::KOffset::never : 1u << i / 16},
                                   {static_cast<int>(i), i == 40 ? hip::KOffset::never : 0}, 1);
        __syncthreads();
        // row r reads no tap whose bit is the row's remainder by 3
        hip::InputPackets<fk::half, rows, tile_k, threads, true> inputs(
            thread, [&](unsigned r) { return hip::RowPointer<fk::half>{params.x + r * pitch, ~(1u << r % 3)}; });
        hip::FilterPackets<fk::half, rows, tile_k, threads, has_scalars> weights(thread, Filters{params.w}, 0, 0);
        for (int number = 0; number < 2; ++number) {
            int const first = number * tile_k * 2;  // in bytes
            inputs.find(shared.offsets, first), weights.find(shared.offsets, first);
            for (unsigned tile = 0; tile < (number == 0 ? 2u : 1u); ++tile) {
                inputs.load(tile * later * 2), weights.load(tile * later * 2);
                hip::store_operands(inputs, weights, shared.stage);
                __syncthreads();
                for (unsigned i = thread; i < rows * tile_k; i += threads) {
                    unsigned const at = (tile + static_cast<unsigned>(number) * 2) * rows * tile_k * 2 + i;
                    params.out[at] = static_cast<float>(*shared.stage.x.at(i % tile_k, i / tile_k));
                    params.out[at + rows * tile_k] = static_cast<float>(*shared.stage.w.at(i % tile_k, i / tile_k));
                }
                __syncthreads();
            }
        }
    }
};

template <bool has_scalars>
void check() {
    hip::Device device = gpu();
    std::vector<fk::half> x, w;
    for (int i = 0; i < (rows + 1) * pitch; ++i) x.push_back(fk::half(static_cast<float>(i % 1999)));
    for (int i = 0; i < filters * pitch; ++i) w.push_back(fk::half(static_cast<float>(i * 3 % 1999)));
    Array<fk::half> const of_x(device, x), of_w(device, w);
    Array<float> const out(device, 3 * 2 * rows * tile_k, -1.0f);
    run_blocks<LoadTiles<has_scalars>>(device, {of_x.data(), of_w.data(), out.data()});
    auto const found = out.values();
    int wrong = 0;
    for (int tile = 0; tile < 3; ++tile)  // first, later, second of the table
        for (int r = 0; r < rows; ++r)
            for (int k = 0; k < tile_k; ++k) {
                int const index = tile == 2 ? tile_k + k : k, from = index + (tile == 1 ? LoadTiles<true>::later : 0);
                bool const past = index / 8 == 5, seen = !past && r % 3 != index / 16;
                auto const at = static_cast<std::size_t>((tile * 2 * rows + r) * tile_k + k);
                wrong += found[at] != (seen ? static_cast<float>((r * pitch + from) % 1999) : 0);
                if (r >= filters) {  // zero past the last filter if the Buffer ends there, else the last filter
                    if (!has_scalars || found[at + rows * tile_k] == 0) continue;
                    ++wrong;
                } else {
                    wrong +=
                        found[at + rows * tile_k] != (past ? 0 : static_cast<float>((r * pitch + from) * 3 % 1999));
                }
            }
    CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("HIP: packets of pixels and filters are loaded at offsets from a table, and are zero in padding") {
    check<true>();
    check<false>();
}
