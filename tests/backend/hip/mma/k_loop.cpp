// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/mma/k_loop.hpp"

#include <algorithm>

#include "backend/hip/blocks.hpp"
#include "backend/hip/sm90a_device.hpp"
#include "fusekit/backend/hip/pipeline/tma_pipeline.hpp"

using namespace test;
namespace hip = fk::hip;
namespace ptx = fk::hip::ptx;
namespace mma = fk::hip::mma;

namespace {

constexpr unsigned tile = 64;  ///< rows and columns of c

/// c (64, 64) = sum of `steps` k-tiles through a ring of two stages. A producer warp writes k-tile i: a is i + 1
/// everywhere, b is 1, also past the last of a tap's `channels`, whose k-blocks are not multiplied. A stage that is
/// released too early is overwritten before its MMAs, and c is wrong.
template <class T>
struct ConstantTiles : BlockOf<160> {
    using Architecture = hip::arch::Sm90a;
    using Atom = hip::Wgmma<T, tile, ptx::Major::k, ptx::Major::k, 128>;
    using Pipeline = hip::TmaPipeline<2, 1>;
    struct Params {
        float* c;
        unsigned* calls;  ///< per thread: of when_begun() and when_all_begun(), and the state's stage and phase
        unsigned steps;
        int channels;
    };
    struct Stage {
        alignas(1024) T a[tile * Atom::tile_k];
        alignas(1024) T b[tile * Atom::tile_k];
    };
    struct alignas(1024) DynamicShared {
        Stage stages[2];
        Pipeline pipeline;
    };

    __device__ static void run(Params const& params, DynamicShared& shared, unsigned thread, unsigned) {
        if (thread == 0) shared.pipeline.init();
        __syncthreads();
        typename Pipeline::State state;
        if (thread >= 128) {
            for (unsigned step = 0; step < params.steps; ++step, state.advance()) {
                shared.pipeline.producer_acquire(state);
                auto& stage = shared.stages[state.stage];
                for (unsigned i = thread % 32; i < tile * Atom::tile_k; i += 32) {
                    stage.a[i] = T(static_cast<float>(step + 1));
                    stage.b[i] = T(1.0f);
                }
                ptx::fence_proxy_async();
                ptx::bar_warp_sync();
                if (thread % 32 == 0) shared.pipeline.producer_commit(state.stage);
            }
            return;
        }
        typename Atom::Accumulators acc;
        for (auto& each : acc) each = -77;
        unsigned begun = 0, all_begun = 0;
        mma::ChannelBlocks<Atom> blocks(params.channels);
        auto const gemm = [&](typename Atom::Accumulators& sums, unsigned stage, bool accumulate) {
            mma::OperandA<Atom> const a{Atom::descriptor(ptx::shared_address(shared.stages[stage].a))};
            mma::OperandB<Atom> const b{Atom::descriptor(ptx::shared_address(shared.stages[stage].b))};
            mma::gemm_first<Atom>(sums, a, b, accumulate, blocks.next());  // (64, 64) += over TILE_K
        };
        mma::k_loop<Atom>(
            shared.pipeline, state, params.steps, thread, acc, gemm, [&] { ++begun; },
            [&] { all_begun = all_begun * 10 + begun; });
        unsigned* const calls = params.calls + 4 * thread;
        calls[0] = begun, calls[1] = all_begun, calls[2] = state.stage, calls[3] = state.phase;
        for (int e = 0; e < static_cast<int>(tile / 2); ++e) {
            int const own = static_cast<int>(thread);
            params.c[Atom::row(own, e) * static_cast<int>(tile) + Atom::column(own, e)] = acc[e];
        }
    }
};

/// GemmK indices of the MMAs of k-tile `step`.
template <class Atom>
unsigned multiplied(unsigned step, unsigned channels) {
    unsigned const of_tap = (channels + Atom::tile_k - 1) / Atom::tile_k,
                   remaining = channels - step % of_tap * Atom::tile_k,
                   whole = (remaining + Atom::k - 1) / Atom::k * Atom::k;
    return std::min<unsigned>(whole, Atom::tile_k);
}

template <class T>
void check(unsigned steps, unsigned channels = ConstantTiles<T>::Atom::tile_k) {
    CAPTURE(steps, channels);
    hip::Device device = sm90a_device();
    Array<float> const c(device, tile * tile, -1.0f);
    Array<unsigned> const calls(device, 4 * 128, 0xffffffff);
    run_blocks<ConstantTiles<T>>(device, {c.data(), calls.data(), steps, static_cast<int>(channels)});
    unsigned sum = 0;
    for (unsigned step = 0; step < steps; ++step)
        sum += (step + 1) * multiplied<typename ConstantTiles<T>::Atom>(step, channels);
    CHECK(c.values() == std::vector<float>(tile * tile, static_cast<float>(sum)));
    std::vector<unsigned> expected;
    for (unsigned thread = 0; thread < 128; ++thread)
        for (unsigned const each : {1u, 1u, steps % 2, steps / 2 % 2}) expected.push_back(each);
    CHECK(calls.values() == expected);
}

}  // namespace

TEST_CASE("HIP: a k-loop multiplies each stage before it is refilled, and calls back once") {
    for (unsigned const steps : {1u, 2u, 5u}) check<fk::half>(steps);
}

TEST_CASE("HIP: a k-loop promotes every stage of 8-bit floats") {
    for (unsigned const steps : {1u, 4u}) check<fk::e4m3>(steps);
}

TEST_CASE("HIP: a k-loop multiplies no k-blocks past the last channel of a tap") {
    using Blocks = mma::ChannelBlocks<hip::Wgmma<fk::half, 64>>;
    for (unsigned const channels : {1u, 16u, 17u, 40u, 56u, 64u, 72u, 144u}) check<fk::half>(6, channels);
    for (unsigned const channels : {32u, 96u, 100u}) check<fk::e4m3>(4, channels);
    Blocks later(144, 4);  // the second k-tile of the second tap
    CHECK(later.next() >= 4);
    CHECK(later.next() == 1);
    CHECK(later.next() >= 4);
}
