// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/statistics/total_channels.hpp"

#include <cmath>

#include "backend/hip/blocks.hpp"
#include "backend/hip/sm90a_device.hpp"
#include "fusekit/backend/hip/atom/wgmma.hpp"

using namespace test;
namespace hip = fk::hip;

namespace {

using Plan = fk::Plan<fk::Conv<fk::filter(1, 1)>, fk::ChannelStatistics>;
constexpr int products = 2, pixels = 40, channels = 70;

__host__ __device__ float value_at(int m, int k) { return static_cast<float>((m * 13 + k * 7) % 32 + k); }

/// Rows of 5 pixels with gaps of 3 between them.
struct Rows {
    int rows = 4, pitch = 8;
};

/// A warpgroup adds two tiles of 40 pixels x 128 channels, the second one of `last` pixels, or of rows with gaps, and
/// writes their statistics. Values outside the masks are huge.
struct AddTiles : BlockOf<128> {
    using Architecture = hip::arch::Sm90a;
    using Atom = hip::Wgmma<fk::half, pixels>;
    using Totals = hip::TotalChannels<Plan, Atom, products>;
    struct Params {
        typename Totals::Total* out;
        int last;  ///< negative: rows with gaps
    };
    struct Shared {};
    __host__ __device__ static bool counts(int last, int pixel) {
        return last >= 0 ? pixel < last : pixel % Rows{}.pitch < 5 && pixel / Rows{}.pitch < Rows{}.rows;
    }
    __device__ static void run(Params const& params, Shared&, unsigned thread, unsigned) {
        hip::ThreadPixels<Atom> const own(thread);
        Totals totals;
        for (int tile = 0; tile < 2; ++tile) {
            int const last = tile == 0 ? pixels : params.last;
            float acc[products][Atom::acc_per_thread];
            for (int i = 0; i < products; ++i)
                for (int e = 0; e < Atom::acc_per_thread; ++e) {
                    int const pixel = Atom::column(static_cast<int>(thread), e);
                    acc[i][e] = counts(last, pixel)
                                    ? value_at(tile * pixels + pixel, 64 * i + Atom::row(static_cast<int>(thread), e))
                                    : 1e30f;
                }
            std::uint64_t const mask = last >= 0 ? own.mask_below(last) : own.in_rows(Rows{}, 5);
            for (int pixel = 0; pixel < pixels; ++pixel)
                if (pixel % 8 / 2 == static_cast<int>(thread % 4) && own.has(mask, pixel) != counts(last, pixel))
                    acc[0][0] = 1e30f;
            totals.add(acc, mask, thread);
        }
        totals.put({reinterpret_cast<unsigned*>(params.out), channels}, 1, 0, thread);
    }
};

void check(int last) {
    hip::Device device = sm90a_device();
    using Total = typename AddTiles::Totals::Total;
    Array<Total> const out(device, 2 * channels, Total{-7, -7, -7});
    run_blocks<AddTiles>(device, {out.data(), last});
    auto const found = out.values();
    for (int k = 0; k < channels; ++k) {
        double sum = 0, squares = 0, count = 0;
        for (int m = 0; m < 2 * pixels; ++m) {
            if (m >= pixels && !AddTiles::counts(last, m - pixels)) continue;
            double const value = value_at(m, k);
            sum += value, squares += value * value, ++count;
        }
        double const mean = sum / count, deviations = squares - count * mean * mean;
        auto const& total = found[static_cast<std::size_t>(channels + k)];
        CAPTURE(k, last);
        CHECK(total.count == count);
        CHECK(std::abs(total.true_mean() - mean) < 1e-4);
        CHECK(std::abs(total.variance() * count - deviations) < 1e-4 * deviations);
        CHECK(found[static_cast<std::size_t>(k)].count == -7);  // of another tile
    }
}

}  // namespace

TEST_CASE("HIP: a warpgroup's statistics of channels count the pixels in bounds of several tiles") {
    for (int const last : {40, 33, 9, 8, 1, -1}) check(last);
}
