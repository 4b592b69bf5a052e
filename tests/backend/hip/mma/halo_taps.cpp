// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/mma/halo_taps.hpp"

#include "backend/hip/blocks.hpp"
#include "backend/hip/sm90a_device.hpp"

using namespace test;
namespace hip = fk::hip;
namespace ptx = fk::hip::ptx;
namespace mma = fk::hip::mma;

namespace {

constexpr int pixels = 128, pitch = 9, window_columns = 3;

__host__ __device__ float filter_at(int tap, int k, int c) { return static_cast<float>((tap * 3 + k + c * 5) % 5 - 2); }
__host__ __device__ float x_at(int pixel, int c) { return static_cast<float>((pixel * 7 + c * 3) % 7 - 3); }

/// A warpgroup multiplies 64 filters by 128 pixels at each of `taps` taps: out[filter][pixel]. If `promotes`, by
/// sum_promoted().
template <class T, bool promotes>
struct SumTaps : BlockOf<128> {
    using Architecture = hip::arch::Sm90a;
    using Atom = hip::Wgmma<T, pixels, ptx::Major::k, ptx::Major::k, 128>;
    using Half = hip::Wgmma<T, pixels / 2, ptx::Major::k, ptx::Major::k, 128>;
    using Taps = mma::HaloTaps<Atom, Half>;
    static constexpr int most_taps = 6, rows = pixels + 2 * pitch, chunk = 16 / static_cast<int>(sizeof(T));
    struct Params {
        float* out;
        int taps;
        unsigned k_blocks;
    };
    struct alignas(1024) DynamicShared {
        T filters[most_taps * 64 * Atom::tile_k];
        alignas(1024) T x[(rows + 7) / 8 * 8 * Atom::tile_k];
    };
    __device__ static void put(T* tile, int row, int c, float value) {
        tile[row * Atom::tile_k + ((c / chunk) ^ (row % 8)) * chunk + c % chunk] = T(value);
    }
    __device__ static void run(Params const& params, DynamicShared& shared, unsigned thread, unsigned) {
        auto const own = static_cast<int>(thread);
        for (int i = own; i < most_taps * 64 * Atom::tile_k; i += threads)
            put(shared.filters, i / Atom::tile_k, i % Atom::tile_k,
                filter_at(i / Atom::tile_k / 64, i / Atom::tile_k % 64, i % Atom::tile_k));
        for (int i = own; i < rows * Atom::tile_k; i += threads)
            put(shared.x, i / Atom::tile_k, i % Atom::tile_k, x_at(i / Atom::tile_k, i % Atom::tile_k));
        ptx::fence_proxy_async();
        __syncthreads();
        typename Taps::Tap tap{Atom::descriptor(ptx::shared_address(shared.filters)),
                               Atom::descriptor(ptx::shared_address(shared.x))};
        typename Atom::Accumulators acc;
        for (auto& each : acc) each = -77;
        if constexpr (promotes) {
            Taps::sum_promoted(tap, params.taps, window_columns, pitch, params.k_blocks, acc);
        } else {
            for (int i = 0; i < params.taps; ++i, tap.advance(window_columns, pitch))
                Taps::template multiply<Atom>(tap.filters, tap.x, acc, i > 0, params.k_blocks);
            mma::wait(acc);
        }
        for (int e = 0; e < Atom::acc_per_thread; ++e)
            params.out[Atom::row(own, e) * pixels + Atom::column(own, e)] = static_cast<float>(acc[e]);
    }
};

template <class T, bool promotes>
void check(int taps, unsigned k_blocks) {
    using Body = SumTaps<T, promotes>;
    hip::Device device = sm90a_device();
    Array<float> const out(device, 64 * pixels, -1.0f);
    REQUIRE(hip::kernel_of<Abs, Body>().is_launchable(device.gpu().index()));
    run_blocks<Body>(device, {out.data(), taps, k_blocks});
    std::vector<float> expected;
    int const channels = static_cast<int>(k_blocks) * Body::Atom::k;
    for (int k = 0; k < 64; ++k)
        for (int pixel = 0; pixel < pixels; ++pixel) {
            float sum = 0;
            for (int tap = 0; tap < taps; ++tap)
                for (int c = 0; c < channels; ++c)
                    sum += filter_at(tap, k, c) * x_at(pixel + tap / window_columns * pitch + tap % window_columns, c);
            expected.push_back(sum);
        }
    CAPTURE(taps, k_blocks, promotes);
    CHECK(out.values() == expected);
}

}  // namespace

TEST_CASE("HIP: the taps of a window multiply a tile of x at their offsets, over the k-blocks with channels") {
    for (int const taps : {1, 3, 6}) check<fk::half, false>(taps, 4), check<fk::half, false>(taps, 3);
    check<fk::int8, false>(6, 4);
}

TEST_CASE("HIP: products of 8-bit floats are promoted every two taps, in halves of the tile") {
    for (int const taps : {1, 2, 5}) check<fk::e4m3, true>(taps, 4), check<fk::e4m3, true>(taps, 2);
}
