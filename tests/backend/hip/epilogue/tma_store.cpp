// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/epilogue/tma_store.hpp"

#include <catch2/catch_template_test_macros.hpp>

#include "backend/hip/blocks.hpp"
#include "backend/hip/conv_block.hpp"
#include "backend/hip/sm90a_device.hpp"
#include "fusekit/backend/hip/atom/wgmma.hpp"

using namespace test;
namespace hip = fk::hip;

namespace {

using Biased = fk::Plan<fk::Conv<fk::filter(1, 1)>, fk::Bias, fk::Activation<fk::Relu>>;
using Added = fk::Plan<fk::Conv<fk::filter(1, 1)>, fk::Bias, fk::Residual, fk::Activation<fk::Relu>>;
constexpr int products = 2, pixels = 40, barrier = 1;

__host__ __device__ float sum_at(int m, int k) { return static_cast<float>((m * 7 + k * 5) % 64 - 30); }
float bias_of(int channel) { return static_cast<float>(channel % 9 - 4); }
float added_at(int m, int k) { return static_cast<float>((m * 3 + k) % 11 - 5); }

/// A warpgroup stores tiles of 40 pixels x 128 channels, in order; if `by_blocks`, each tile in two ranges of 8-pixel
/// blocks.
template <class Plan, bool by_blocks>
struct StoreTiles : BlockOf<128> {
    static constexpr bool reads_argument_in_place = true;
    using Architecture = hip::arch::Sm90a;
    using Atom = hip::Wgmma<fk::half, pixels>;
    using Writer = hip::TmaStore<Plan, Atom, fk::half, fk::half, products>;
    using Params = hip::ConvParams<Plan, fk::half>;
    struct DynamicShared {
        typename Writer::Shared writer;
    };

    __device__ static void run(Params const& params, DynamicShared& shared, unsigned thread, unsigned) {
        if (thread == 0) {
            Writer::init(shared.writer);
            hip::ptx::fence_mbarrier_init();
        }
        __syncthreads();
        auto const conv = params.problem();
        Writer writer(shared.writer, thread, barrier);
        for (int n = 0; n < conv.group_k(); n += products * 64)
            for (int m = 0; m < conv.gemm_m(); m += pixels) {
                hip::TileStart const tile{m, n};
                typename Atom::Accumulators acc[products];
                auto const own = static_cast<int>(thread);
                for (int i = 0; i < products; ++i)
                    for (int e = 0; e < Atom::acc_per_thread; ++e) {
                        int const at = m + Atom::column(own, e), k = n + i * 64 + Atom::row(own, e);
                        acc[i][e] = at < conv.gemm_m() && k < conv.group_k() ? sum_at(at, k) : 1000.0f;
                    }
                writer.prepare(params, conv, tile);
                writer.begin_read(params, tile);
                if constexpr (by_blocks) {
                    writer.store(params, conv, tile, acc, hip::BlockRange{0, 3});
                    writer.store(params, conv, tile, acc, hip::BlockRange{3, 2});
                } else {
                    writer.store(params, conv, tile, acc);
                }
            }
        if (thread == 0) hip::ptx::bulk_wait_group_read();
    }
};

/// `pitch`: elements from a pixel of y to the next.
template <class Plan, bool by_blocks = false>
void check(int n, int p, int q, int k, int pitch, bool by_tma) {
    constexpr bool reads = !std::is_same_v<Plan, Biased>;
    hip::Device device = sm90a_device();
    int const m = n * p * q;
    std::vector<float> biases;
    for (int channel = 0; channel < k; ++channel) biases.push_back(bias_of(channel));
    auto const elements = static_cast<std::size_t>(m * pitch);
    std::vector<fk::half> added(elements, fk::half(50.0f));
    for (int i = 0; i < m * k; ++i)
        added[static_cast<std::size_t>(i / k * pitch + i % k)] = fk::half(added_at(i / k, i % k));
    Array<float> const bias(device, biases);
    Array<fk::half> const out(device, elements, fk::half(-99.0f)), z(device, added);
    fk::Layout<4> layout = fk::nhwc(n, p, q, k);
    layout.stride = {{p * q * pitch, 1, q * pitch, pitch}};
    fk::TensorView<fk::half const> const x(out.data(), fk::nhwc(n, p, q, 8)), w(out.data(), fk::krsc(k, 1, 1, 8));
    fk::TensorView<float const, 1> const b(bias.data(), fk::channels(k));
    auto const bound = [&] {
        if constexpr (reads) {
            fk::TensorView<fk::half const> const view(z.data(), layout);
            return Plan::bind({.weights = w}, {.bias = b}, {.z = view}, {});
        } else {
            return Plan::bind({.weights = w}, {.bias = b}, {});
        }
    }();
    typename StoreTiles<Plan, by_blocks>::Params params{bound, x, {out.data(), layout}};
    params.maps.stores_y = by_tma;
    if (by_tma) REQUIRE(hip::detail::encode_pixels(params.maps.y, params.y, 64, by_blocks ? 8 : pixels));
    if constexpr (reads)
        REQUIRE(
            hip::detail::encode_pixels(params.read.map, fk::TensorView<fk::half const>(z.data(), layout), 64, pixels));
    run_blocks<StoreTiles<Plan, by_blocks>>(device, params);
    auto const found = out.values();
    int wrong = 0;
    for (int i = 0; i < m * pitch; ++i) {
        int const at = i / pitch, channel = i % pitch;
        float const value = sum_at(at, channel) + bias_of(channel) + (reads ? added_at(at, channel) : 0),
                    expected = channel >= k ? -99
                               : value > 0  ? value
                                            : 0;
        wrong += static_cast<float>(found[static_cast<std::size_t>(i)]) != expected;
    }
    CAPTURE(n, p, q, k, pitch, by_tma, by_blocks, reads);
    CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("HIP: tiles of accumulators pass the epilogue and are stored by TMA, within y") {
    check<Biased>(2, 5, 7, 136, 136, true);
    check<Biased>(1, 3, 11, 40, 48, true);  // a column of the next tensor beside y
    check<Biased>(3, 1, 1, 8, 8, true);
    check<Added>(2, 5, 7, 136, 136, true);
    check<Added>(1, 3, 11, 64, 72, true);
    check<Biased, true>(2, 5, 7, 72, 72, true);
}

TEST_CASE("HIP: threads store tiles to y whose pixels are misaligned for TMA") {
    check<Biased>(2, 5, 7, 132, 132, false);  // four channels at once
    check<Biased>(1, 3, 11, 70, 70, false);
    check<Biased>(2, 2, 9, 69, 69, false);
    check<Biased>(1, 5, 5, 1, 3, false);
    check<Biased, true>(1, 9, 9, 37, 41, false);
}

TEMPLATE_TEST_CASE("HIP: statistics are of the sum with a Residual that TMA loads", "",
                   (hip::WarpSpecialized<192, 128, 4>), (hip::WarpSpecialized<64, 64, 8, hip::Roles::ping_pong>),
                   hip::Halo<232>) {
    fk::hip::Device device = sm90a_device();
    auto scheduled = device.with<TestType>();
    using Layer = fk::Plan<fk::Conv<fk::filter(3, 3).pad(1)>, fk::Bias, fk::Residual, fk::ChannelStatistics>;
    static_assert(hip::reads_in_bulk<Layer, fk::half, fk::half>);
    for (ConvSizes const& sizes : {ConvSizes{2, 72, 19, 13, 128}, ConvSizes{1, 16, 33, 65, 200},
                                   ConvSizes{9, 64, 16, 15, 64}, ConvSizes{5, 64, 14, 14, 64}}) {
        if (hip::HaloSchedule<TestType> && (sizes.c > 64 || sizes.k > 64)) continue;
        CAPTURE(sizes.c, sizes.h, sizes.w, sizes.k);
        ConvBlock<fk::half> block(device, sizes);
        Layer::bind({.weights = block.on_weights}, {.bias = block.on_bias}, {.z = block.on_z},
                    {.mean = block.mean, .variance = block.variance, .scratch = block.scratch})(scheduled, block.on_x,
                                                                                                block.y);
        auto const exact = block.expected([](double x, int) { return x; });
        CHECK(block.wrong(exact) == 0);
        block.check_statistics(exact);
    }
}
