// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/epilogue/tma_stage.hpp"

#include <cstring>

#include "backend/hip/blocks.hpp"
#include "backend/hip/sm90a_device.hpp"
#include "fusekit/backend/hip/atom/wgmma.hpp"

using namespace test;
namespace hip = fk::hip;
namespace ptx = fk::hip::ptx;

namespace {

constexpr int channels = 60, pixels = 227;  // a tile has 64 x 232, the last block of 8 pixels without a pair

/// Accumulator of a channel and a pixel.
__host__ __device__ float sum_at(int k, int m) { return static_cast<float>((7 * k + 3 * m) % 41 - 20); }
float bias_of(int k) { return static_cast<float>(k % 5 - 2); }

using Plan = fk::Plan<fk::Conv<fk::filter(1, 1)>, fk::Bias, fk::Store>;

/// One warpgroup stages a tile of T's accumulators as U, and copies the staged bytes to memory.
template <class T, class U>
struct StageTile : BlockOf<128> {
    using Architecture = hip::arch::Sm90a;
    using Atom = hip::Wgmma<T, 232, ptx::Major::k, ptx::Major::k, 128>;
    using Stage = hip::TmaStage<Plan, Atom, T, U>;
    struct Params {
        typename Plan::Epilogue::Args epilogue;
        unsigned char* out;
    };
    struct alignas(1024) DynamicShared {
        unsigned char staged[Stage::bytes];
    };

    __device__ static void run(Params const& params, DynamicShared& shared, unsigned thread, unsigned) {
        auto const own = static_cast<int>(thread);
        typename Atom::Accumulators sums;
        for (int e = 0; e < Atom::acc_per_thread; ++e) {
            int const row = sizeof(U) == 1 ? own / 4 * 2 + e / 2 % 2 : Atom::row(own, e);  // TMA pairs 8-bit filters
            sums[e] = static_cast<typename Atom::Acc>(sum_at(row, Atom::column(own, e)));
        }
        Stage const stage(params.epilogue, 0, channels, thread);
        stage.stage(sums, ptx::shared_address(shared.staged), params.epilogue, pixels,
                    [](int pixel) { return hip::Pixel{pixel < pixels ? 0 : -1, 0, pixel}; });
        __syncthreads();
        for (unsigned i = thread; i < sizeof(shared.staged); i += threads) params.out[i] = shared.staged[i];
    }
};

template <class T, class U>
void check_stage() {
    fk::hip::Device device = sm90a_device();
    std::vector<float> biases;
    for (int k = 0; k < channels; ++k) biases.push_back(bias_of(k));
    Array<float> const bias(device, biases), beside(device, channels * (pixels + 1), -999), unused(device, 1, 0);
    constexpr std::size_t bytes = StageTile<T, U>::Stage::bytes;
    Array<unsigned char> const staged(device, bytes, 0xff);
    auto const bound = Plan::bind({.weights = fk::TensorView<float const>(unused.data(), fk::kcrs(channels, 1, 1, 1))},
                                  {.bias = fk::TensorView<float const, 1>(bias.data(), fk::channels(channels))},
                                  {.values = fk::TensorView<float>(beside.data(), fk::nchw(1, channels, 1, pixels))});
    run_blocks<StageTile<T, U>>(device, {bound.epilogue, staged.data()});

    auto const rows = staged.values();
    auto const stored = beside.values();
    constexpr unsigned row_bytes = 64 * sizeof(U), chunks = row_bytes / 16;
    int wrong = 0;
    for (unsigned k = 0; k < channels; ++k)
        for (unsigned m = 0; m < pixels; ++m) {
            unsigned const in_row = k * sizeof(U), swizzle = sizeof(U) == 1 ? m / 2 : m,
                           at = m * row_bytes + (in_row / 16 ^ swizzle) % chunks * 16 + in_row % 16;
            U value;
            std::memcpy(&value, &rows[at], sizeof(U));
            float const expected = sum_at(static_cast<int>(k), static_cast<int>(m)) + bias_of(static_cast<int>(k));
            wrong += static_cast<float>(value) != expected;
            wrong += stored[k * pixels + m] != expected;
        }
    // Out-of-bounds channels and pixels are not stored by operators.
    for (std::size_t i = channels * pixels; i < stored.size(); ++i) wrong += stored[i] != -999;
    CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("HIP: accumulators of wgmma are staged through the epilogue in the swizzled rows that TMA stores") {
    check_stage<fk::half, fk::half>();
    check_stage<fk::bfloat16, fk::bfloat16>();
    check_stage<fk::int8, fk::int8>();
}
