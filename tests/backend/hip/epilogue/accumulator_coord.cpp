// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/epilogue/accumulator_coord.hpp"

#include "backend/hip/blocks.hpp"

using namespace test;
namespace hip = fk::hip;

namespace {

/// Each thread raises the maximum of one operator by the values of its accumulators, of which every third is out of
/// bounds, and returns its coordinate's fields.
struct RaiseMaxima : BlockOf<64> {
    struct Params {
        float* maxima;  // (threads, chains)
        float* loaded;
        std::int64_t* channels;
        fk::AnyView<4> unread;
    };
    struct Shared {};
    __device__ static float value(unsigned thread, int e) {
        float const magnitude = static_cast<float>((thread * 13 + static_cast<unsigned>(e) * 29) % 101);
        return e % 2 == 0 ? magnitude : -magnitude;
    }
    __device__ static void run(Params const& params, Shared&, unsigned thread, unsigned) {
        hip::TileMaxima<1> largest;
        std::int64_t const k = thread;
        for (int e = 0; e < 32; ++e) {
            hip::AccumulatorCoord<false, 1> const at({1, k, 2, 3}, 0.0f, largest, e, e % 3 != 0);
            at.raise<0>(nullptr, value(thread, e));
        }
        for (int chain = 0; chain < 4; ++chain) params.maxima[4 * thread + chain] = largest.largest[0][chain];
        hip::TileMaxima<0> none;
        hip::AccumulatorCoord<true, 0> const read({1, k, 2, 3}, 7.0f + static_cast<float>(thread), none, 0, true);
        params.loaded[thread] = read.load(params.unread);
        params.channels[thread] = read.k;
    }
};

}  // namespace

TEST_CASE("HIP: accumulators out of bounds do not raise a maximum, and a loaded tensor's element is read from TMA's") {
    hip::Device device = gpu();
    Array<float> const maxima(device, 4 * 64, -1.0f), loaded(device, 64, -1.0f);
    Array<std::int64_t> const channels(device, 64, std::int64_t{-1});
    run_blocks<RaiseMaxima>(device, {maxima.data(), loaded.data(), channels.data(),
                                     fk::TensorView<float const>(maxima.data(), fk::nchw(1, 1, 1, 1))});
    for (unsigned thread = 0; thread < 64; ++thread) {
        float expected = 0, found = 0;
        for (int e = 0; e < 32; ++e)
            if (e % 3 != 0) expected = std::max(expected, std::abs(static_cast<float>((thread * 13 + e * 29u) % 101)));
        for (unsigned chain = 0; chain < 4; ++chain)
            found = std::max(found, std::abs(maxima.values()[4 * thread + chain]));
        CHECK(found == expected);
        CHECK(loaded.values()[thread] == 7.0f + static_cast<float>(thread));
        CHECK(channels.values()[thread] == thread);
    }
}
