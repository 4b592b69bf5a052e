// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/atom/row_tile.hpp"
#include "fusekit/backend/hip/atom/wgmma.hpp"
#include "fusekit/backend/hip/mma/gemm.hpp"

namespace fusekit::hip {

/// Operand tile (Size rows, TILE_K indices of GemmK) in SMEM, in wgmma's K-major layout: a RowTile with rows of 128
/// bytes, which has the 128-byte swizzle. Threads store elements, not 16-byte words.
template <class T, int Size>
class alignas(1024) SwizzledTile : RowTile<T, Size, 128> {
    using Rows = RowTile<T, Size, 128>;

public:
    using Rows::contiguous_rows, Rows::tile_k, Rows::at, Rows::put_along_k, Rows::put_along_rows;
    using typename Rows::Operand;
};

/// MMA atom of warpgroups on sm_90a's tensor cores, for operands that threads store to SMEM. Each warpgroup computes 64
/// of the tile's pixels, for all of the tile's TileN channels.
template <class T, int TileM, int TileN>
class WgmmaTile {
    using Unit = Wgmma<T, TileN>;

public:
    static constexpr int tile_m = TileM, tile_n = TileN, tile_k = Unit::tile_k, threads = TileM / 64 * Unit::threads;
    static constexpr bool is_asynchronous = true;
    using Operand = T;
    using Architecture = typename Unit::Architecture;

    struct Stage {
        SwizzledTile<T, TileM> x;
        SwizzledTile<T, TileN> w;
    };
    struct Fragment {
        typename Unit::Accumulators acc;
    };

    __device__ explicit WgmmaTile(unsigned the_thread) : thread(the_thread) {}

    /// Issues the MMAs of the k-tile in `stage`; wait() completes them.
    __device__ void multiply(Stage const& stage, Fragment& fragment) const {
        auto const x = Unit::descriptor(ptx::shared_address(&stage.x)) + Unit::row_offset(warpgroup() * Unit::m);
        auto const w = Unit::descriptor(ptx::shared_address(&stage.w));
        mma::OperandA<Unit> const a{x};  // (64, TILE_K), swizzled, the warpgroup's pixels
        mma::OperandB<Unit> const b{w};  // (TILE_N, TILE_K), swizzled
        mma::gemm<Unit>(fragment.acc, a, b, true);  // (64, TILE_N) += over TILE_K
    }
    __device__ void wait(Fragment& fragment) const { mma::wait(fragment.acc); }
    /// Proxy fence: makes this thread's SMEM stores visible to wgmma. All threads that stored operands call it before
    /// the barrier that precedes multiply().
    __device__ static void publish() { ptx::fence_proxy_async(); }

    /// Number of passes in which accumulators are staged through SMEM. If the staging buffer's rows are pixels, a pass
    /// stages one warp of each warpgroup; if they are channels, a quarter of the channels.
    static constexpr int rounds = 4;
    FUSEKIT_H static constexpr int rows(bool rows_are_pixels) { return (rows_are_pixels ? TileM : TileN) / rounds; }
    FUSEKIT_H static constexpr int columns(bool rows_are_pixels) { return rows_are_pixels ? TileN : TileM; }

    /// True if put() has the same code for every pass, so that the caller need not unroll its loop over the passes.
    static constexpr bool rounds_are_alike = true;

    template <bool rows_are_pixels, int Pitch>
    __device__ void put(int round, Fragment const& fragment, Packet<float, 4> (*out)[Pitch]) const {
        constexpr int pitch = 4 * Pitch;
        auto const own = static_cast<int>(thread % Unit::threads), group = static_cast<int>(thread / Unit::threads);
        int const pixel = Unit::row(own, 0), channel = Unit::column(own, 0);
        if constexpr (rows_are_pixels) {
            if (own / 32 != round) return;
            float* const first = out[group * 16 + pixel % 16]->values + channel;
#pragma unroll
            for (int e = 0; e < Unit::acc_per_thread; e += 2)
                *reinterpret_cast<Packet<float, 2>*>(first + Unit::row(0, e) * pitch +
                                                     Unit::column(0, e)) = {{fragment.acc[e], fragment.acc[e + 1]}};
        } else {
            constexpr int part = Unit::acc_per_thread / rounds;
            float* const first = out[channel]->values + group * Unit::m + pixel;
#pragma unroll
            for (int i = 0; i < rounds; ++i) {
                if (i != round) continue;
#pragma unroll
                for (int e = 0; e < part; ++e)
                    first[Unit::column(0, e) * pitch + Unit::row(0, e)] = fragment.acc[i * part + e];
            }
        }
    }
    template <bool rows_are_pixels>
    __device__ static unsigned tile_row(unsigned row, int round) {
        auto const of = static_cast<unsigned>(round);
        return rows_are_pixels ? row / 16 * Unit::m + of * 16 + row % 16 : of * rows(false) + row;
    }
    __device__ static constexpr unsigned tile_column(unsigned column) { return column; }

protected:
    __device__ int warpgroup() const { return static_cast<int>(ptx::warp_uniform(thread / Unit::threads)); }

private:
    unsigned thread;
};

}  // namespace fusekit::hip
