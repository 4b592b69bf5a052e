// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/copy/amd/pixel_quad.hpp"

#include "backend/hip/blocks.hpp"
#include "fusekit/backend/hip/atom/row_tile.hpp"

using namespace test;
namespace hip = fk::hip;

namespace {

/// Each thread stores the number 1000 k + row to each of its elements of the tile.
template <class T, int TileK>
struct PutNumbers : BlockOf<64> {
    using Tile = hip::RowTile<T, 64, TileK* static_cast<int>(sizeof(T))>;
    struct Params {
        T const* x;
        int *k, *row, *position;
        T* out;
    };
    struct Shared {
        Tile tile;
    };
    struct Quad : hip::PixelQuad<T, 64, TileK, 64> {
        using Base = hip::PixelQuad<T, 64, TileK, 64>;
        using Base::Base, Base::k, Base::row, Base::position, Base::own_k;

        __device__ void put_numbers(Tile& tile) const {
            hip::Words<Base::k_words> pixels[4];
            for (unsigned pixel = 0; pixel < 4; ++pixel) {
                T own[own_k];
                for (unsigned i = 0; i < own_k; ++i) own[i] = T(static_cast<float>((k + i) * 8 % 61 + row + pixel));
                __builtin_memcpy(&pixels[pixel], own, sizeof own);
            }
            Base::put(tile, pixels);
        }
    };

    __device__ static void run(Params const& params, Shared& shared, unsigned thread, unsigned) {
        // windows of row 0 begin left of x, those of row 63 end right of x
        Quad quad(thread, [&](unsigned row) {
            return hip::RowPointer<T>{params.x + row, row == 0    ? ~hip::KOffset::bit(2, 1, 0)
                                                      : row == 63 ? ~hip::KOffset::bit(2, 1, 2)
                                                                  : ~0u};
        });
        quad.find_position(2, 0, 2);
        params.k[thread] = static_cast<int>(quad.k), params.row[thread] = static_cast<int>(quad.row);
        params.position[thread] = static_cast<int>(quad.position);
        if constexpr (sizeof(T) < 4) {
            quad.put_numbers(shared.tile);
            __syncthreads();
            for (unsigned i = thread; i < 64 * TileK; i += 64) params.out[i] = *shared.tile.at(i % TileK, i / TileK);
        }
    }
};

template <class T, int TileK>
void check() {
    using Body = PutNumbers<T, TileK>;
    constexpr int own_k = Body::Quad::own_k, step = sizeof(T) == 4 ? 4 : 1;
    hip::Device device = gpu();
    Array<T> const x(device, 128, T(1.0f)), out(device, 64 * TileK, T(-1.0f));
    Array<int> const k(device, 64, -1), row(device, 64, -1), position(device, 64, -1);
    run_blocks<Body>(device, {x.data(), k.data(), row.data(), position.data(), out.data()});
    std::vector<int> owners(64 * TileK, 0);
    for (std::size_t thread = 0; thread < 64; ++thread) {
        int const of_row = row.values()[thread];
        for (int i = 0; i < own_k; ++i)
            for (int pixel = 0; pixel < 4; ++pixel)
                ++owners[static_cast<std::size_t>((k.values()[thread] + i * step) * 64 + of_row + pixel)];
        auto const expected = of_row == 0    ? hip::QuadPosition::left
                              : of_row == 60 ? hip::QuadPosition::right
                                             : hip::QuadPosition::middle;
        CHECK(position.values()[thread] == static_cast<int>(expected));
    }
    CHECK(owners == std::vector<int>(64 * TileK, 1));  // every element of the tile has one thread
    if constexpr (sizeof(T) < 4)
        for (int i = 0; i < 64 * TileK; ++i)
            CHECK(static_cast<float>(out.values()[static_cast<std::size_t>(i)]) ==
                  static_cast<float>(i % TileK * 8 % 61 + i / TileK));
}

}  // namespace

TEST_CASE("HIP: quads of pixels cover an operand tile, and know the ends of their rows") {
    check<fk::half, 32>();
    check<fk::int8, 64>();
    check<float, 16>();
}
