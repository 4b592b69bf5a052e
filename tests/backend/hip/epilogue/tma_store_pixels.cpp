// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/epilogue/tma_store_pixels.hpp"

#include "backend/hip/blocks.hpp"
#include "backend/hip/sm90a_device.hpp"

using namespace test;
namespace hip = fk::hip;

namespace {

using Biased = fk::Plan<fk::Conv<fk::filter(1, 1)>, fk::Bias, fk::Activation<fk::Relu>>;
using Added = fk::Plan<fk::Conv<fk::filter(1, 1)>, fk::Bias, fk::Residual, fk::Activation<fk::Relu>>;

__host__ __device__ float sum_at(int n, int k, int p, int q) {
    return static_cast<float>((n * 3 + p * 7 + q * 11 + k * 5) % 64 - 30);
}
float bias_of(int channel) { return static_cast<float>(channel % 9 - 4); }
float added_at(int n, int k, int p, int q) { return static_cast<float>((n + p + 2 * q + k) % 11 - 5); }

/// A warpgroup stores all tiles of 8 x 8 pixels x 64 channels of y.
template <class Plan>
struct StoreSquares : BlockOf<128> {
    static constexpr bool reads_argument_in_place = true;
    using Architecture = hip::arch::Sm90a;
    using Atom = hip::Wgmma<fk::half, 64>;
    using Writer = hip::TmaStorePixels<Plan, Atom, fk::half>;
    using Params = hip::ConvParams<Plan, fk::half>;
    struct DynamicShared {
        typename Writer::Shared writer;
    };
    struct Tile {
        int image, n, p, q;

        template <class Problem>
        __device__ hip::TilePixel pixel(Problem const& conv, int row) const {
            int const last_p = static_cast<int>(conv.y[2]) - 1, last_q = static_cast<int>(conv.y[3]) - 1,
                      at_p = p + row / 8, at_q = q + row % 8;
            return {{image, at_p < last_p ? at_p : last_p, at_q < last_q ? at_q : last_q},
                    at_p <= last_p && at_q <= last_q};
        }
        __device__ hip::BoxStart box() const { return {{n, q, p, image}}; }
    };

    __device__ static void run(Params const& params, DynamicShared& shared, unsigned thread, unsigned) {
        constexpr unsigned barrier = 1;
        if (thread == 0) {
            Writer::init(shared.writer);
            hip::ptx::fence_mbarrier_init();
        }
        __syncthreads();
        auto const conv = params.problem();
        unsigned count = 0;
        for (int image = 0; image < conv.y[0]; ++image)
            for (int n = 0; n < conv.group_k(); n += 64)
                for (int p = 0; p < conv.y[2]; p += 8)
                    for (int q = 0; q < conv.y[3]; q += 8) {
                        Tile const tile{image, n, p, q};
                        typename Atom::Accumulators acc;
                        auto const own = static_cast<int>(thread);
                        for (int e = 0; e < Atom::acc_per_thread; ++e) {
                            int const row = Atom::row(own, e);
                            acc[e] = sum_at(image, n + Atom::column(own, e), p + row / 8, q + row % 8);
                        }
                        Writer::prepare(params, conv, shared.writer, n, thread);
                        Writer::begin_read(params, shared.writer, tile, thread);
                        Writer::store(params, conv, shared.writer, tile, acc, thread, barrier, count++);
                    }
        if (thread == 0) hip::ptx::bulk_wait_group_read();
    }
};

template <class Plan>
void check(int n, int p, int q, int k) {
    constexpr bool reads = !std::is_same_v<Plan, Biased>;
    hip::Device device = sm90a_device();
    std::vector<float> biases;
    for (int channel = 0; channel < k; ++channel) biases.push_back(bias_of(channel));
    fk::Layout<4> const layout = fk::nhwc(n, p, q, k);
    auto const elements = static_cast<std::size_t>(layout.size());
    std::vector<fk::half> added(elements);
    std::vector<float> expected(elements), got;
    for (int image = 0; image < n; ++image)
        for (int channel = 0; channel < k; ++channel)
            for (int pixel = 0; pixel < p * q; ++pixel) {
                int const row = pixel / q, column = pixel % q;
                auto const at = static_cast<std::size_t>(layout.offset({{image, channel, row, column}}));
                added[at] = fk::half(added_at(image, channel, row, column));
                float const value = sum_at(image, channel, row, column) + bias_of(channel) +
                                    (reads ? added_at(image, channel, row, column) : 0);
                expected[at] = value > 0 ? value : 0;
            }
    Array<float> const bias(device, biases);
    Array<fk::half> const out(device, elements, fk::half(-99.0f)), z(device, added);
    fk::TensorView<fk::half const> const x(out.data(), fk::nhwc(n, p, q, 8)), w(out.data(), fk::krsc(k, 1, 1, 8)),
        of_z(z.data(), layout);
    fk::TensorView<float const, 1> const b(bias.data(), fk::channels(k));
    auto const bound = [&] {
        if constexpr (reads) return Plan::bind({.weights = w}, {.bias = b}, {.z = of_z}, {});
        else return Plan::bind({.weights = w}, {.bias = b}, {});
    }();
    typename StoreSquares<Plan>::Params params{bound, x, {out.data(), layout}};
    auto const encode = [&](hip::TensorMap& map, auto const& view) {
        using Element = std::remove_cvref_t<decltype(*view.data)>;
        hip::detail::MapModes const modes(view);
        std::uint32_t const box[] = {64, 8, 8, 1};
        return hip::encode_tiled(map, sizeof(Element), 4, view.data, modes.extents, modes.strides, box);
    };
    REQUIRE(encode(params.maps.y, params.y));
    if constexpr (reads) REQUIRE(encode(params.read.map, of_z));
    run_blocks<StoreSquares<Plan>>(device, params);
    for (fk::half const value : out.values()) got.push_back(static_cast<float>(value));
    CAPTURE(n, p, q, k, reads);
    CHECK(got == expected);
}

}  // namespace

TEST_CASE("HIP: tiles of any box of pixels pass the epilogue and are stored by TMA, within y") {
    check<Biased>(2, 9, 11, 72);
    check<Biased>(1, 8, 3, 64);
    check<Added>(2, 9, 11, 72);
    check<Added>(1, 16, 16, 128);
}
