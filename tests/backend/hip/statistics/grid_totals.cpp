// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/statistics/grid_totals.hpp"

#include <algorithm>
#include <bit>
#include <catch2/catch_template_test_macros.hpp>
#include <cmath>
#include <cstring>

#include "backend/hip/blocks.hpp"
#include "backend/hip/one_kernel.hpp"
#include "backend/hip/sm90a_device.hpp"
#include "support/collected_channels.hpp"

using namespace test;
using fusekit::hip::Halo, fusekit::hip::WarpSpecialized, fusekit::hip::Roles;

namespace {

using Conv = fk::Conv<fk::dynamic>;
constexpr oracle::Window pixel{}, same{.r = 3, .s = 3, .top = 1, .left = 1, .bottom = 1, .right = 1};

/// Integer convolution and its exact accumulators.
template <class T, class Device>
struct Products {
    Filled<T, Device, 4> x, w;
    oracle::Window window;
    oracle::Tensor sums;

    Products(Device& device, oracle::Shape const& shape, std::int64_t k, oracle::Window const& the_window)
        : x(device, "nhwc", shape, integers(shape.size(), -2, 2, 3)),
          w(device, "nhwc", {k, shape.c, the_window.r, the_window.s},
            integers(k * shape.c * the_window.r * the_window.s, -1, 1, 4)),
          window(the_window),
          sums(oracle::conv(oracle::Tensor(shape, x.values), w.values, k, window)) {}

    Conv::Args conv() { return {.weights = w.view(), .filter = filter_of(window)}; }
};

/// Maximum of each channel: a statistics operator that accumulates one value at a time.
struct Largest {
    static constexpr auto stage = fk::Stage::pointwise;
    struct Args {
        fk::TensorView<float, 1> largest;
        fk::OptionalView<float, 1> scratch{};
    };
    template <class V>
    struct Total {
        V value{};
        FUSEKIT_HD friend constexpr Total merge(Total const& a, Total const& b) {
            return {fk::math::select(a.value > b.value, a.value, b.value)};
        }
    };
    template <class V>
    struct Accumulator {
        V largest = V{} - 1e30f;
        FUSEKIT_HD constexpr void add(V x, auto counts) {
            largest = fk::math::select(counts, fk::math::select(x > largest, x, largest), largest);
        }
        FUSEKIT_HD constexpr void add(V x) { largest = fk::math::select(x > largest, x, largest); }
        FUSEKIT_HD constexpr Total<V> total(V) const { return {largest}; }
    };
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const&) {
        return x;
    }
    template <class V>
    FUSEKIT_HD static constexpr void save(Total<V> const& total, fk::OutputCoord const& at, Args const& args) {
        args.largest(at.k) = static_cast<float>(total.value);
    }
    static void check(Args const& args, fk::Check const& in) { in.writable("largest", args.largest, {{in.y[1]}}, "K"); }
};

/// Puts totals of channel 1 of three, and reads them. One word has the bit pattern of a word that has not been put.
struct PutsAnything : BlockOf<32> {
    using Architecture = fk::hip::arch::Sm90a;
    using Moments = fk::detail::Moments<float>;
    struct Params {
        unsigned *scratch, *words;
    };
    struct Shared {};
    __device__ static void run(Params const& params, Shared&, unsigned thread, unsigned) {
        if (thread != 0) return;
        fk::hip::ChannelTotalsView<Moments> const view{params.scratch, 3};
        auto const nan = std::bit_cast<float>(0xffffffffu);
        view.put(0, 1, {4, nan, 2});
        view.put(1, 1, {5, 6, 7});
        Moments totals[2];
        view.get(totals, 1, true, [](unsigned i) { return 1 - i; });
        for (int i = 0; i < 6; ++i) params.words[i] = reinterpret_cast<unsigned const*>(totals)[i];
    }
};

}  // namespace

TEST_CASE("HIP: ChannelTotalsView returns any total after put()") {
    fk::hip::Device device = sm90a_device();
    Array<unsigned> const scratch(device, 2 * 3 * 3, 0xffffffff), words(device, 6, 0);
    run_blocks<PutsAnything>(device, {scratch.data(), words.data()});
    auto const found = words.values();
    float floats[6];
    std::memcpy(floats, found.data(), sizeof floats);
    CHECK((floats[0] == 5 && floats[1] == 6 && floats[2] == 7 && floats[3] == 4 && floats[5] == 2));
    CHECK(std::isnan(floats[4]));
}

// Covers tiles with tails along pixels and channels; more columns than the emulated GPU has processors; and enough
// pixels that all processors share each column with several tiles.
TEMPLATE_TEST_CASE("HIP: statistics of convolutions on sm_90a's tensor cores are within their bounds", "",
                   (WarpSpecialized<64, 64, 2>), (Plain<192, 128, 3>), (General<96, 128, 4>), (General<144, 192, 4>),
                   (Plain<128, 128, 4, Roles::ping_pong>)) {
    using Plan = fk::Plan<Conv, fk::Bias, fk::Store, fk::ChannelStatistics, fk::Activation<fk::Relu>>;
    fk::hip::Device device = sm90a_device();
    auto scheduled = device.with<TestType>();
    struct {
        oracle::Shape x;
        std::int64_t k;
        oracle::Window window;
        Expected expected;
    } const cases[] = {{{1, 8, 1, 1}, 8, pixel, {}},
                       {{3, 72, 7, 5}, 136, same, {}},
                       {{5, 24, 7, 9}, 264, pixel, {.offset = 1 << 12}},
                       {{5, 16, 7, 9}, 128, pixel, {}},
                       {{2 * device.processors(), 16, 13, 23}, 64, pixel, {}}};
    for (auto const& [shape, k, window, expected] : cases) {
        INFO(shape.n << ' ' << shape.c << ' ' << shape.h << ' ' << shape.w << ' ' << k);
        Products<fk::half, decltype(scheduled)> products(scheduled, shape, k, window);
        check_observed<Plan, fk::half>(scheduled, "nhwc", products.x.view(), products.sums, expected, products.conv());
    }
}

// Covers one pixel; images smaller than the 64 pixels per total in scratch; a last tile with fewer rows; CTAs with
// tiles for only one warpgroup, and with several for each; rows of several tiles, the last narrower; streamed filters.
TEST_CASE("HIP: statistics of convolutions with the Halo schedule are within their bounds") {
    using Plan = fk::Plan<Conv, fk::Bias, fk::Store, fk::ChannelStatistics, fk::Activation<fk::Relu>>;
    fk::hip::Device device = sm90a_device();
    auto scheduled = device.with<Halo<>>();
    struct {
        oracle::Shape x;
        std::int64_t k;
        Expected expected;
    } const cases[] = {{{1, 8, 1, 1}, 8, {}},
                       {{16 * device.processors(), 16, 3, 2}, 24, {}},
                       {{3, 24, 11, 55}, 64, {.offset = 1 << 12}},
                       {{device.processors(), 8, 7, 60}, 40, {}},
                       {{2, 16, 6, 235}, 24, {.offset = 1 << 12}},
                       {{1, 72, 5, 224}, 64, {}}};
    for (auto const& [shape, k, expected] : cases) {
        INFO(shape.n << ' ' << shape.c << ' ' << shape.h << ' ' << shape.w << ' ' << k);
        Products<fk::half, decltype(scheduled)> products(scheduled, shape, k, same);
        check_observed<Plan, fk::half>(scheduled, "nhwc", products.x.view(), products.sums, expected, products.conv());
    }
}

TEST_CASE("HIP: an operator of statistics that adds one value at a time runs on sm_90a's tensor cores") {
    fk::hip::Device device = sm90a_device();
    auto scheduled = device.with<WarpSpecialized<64, 64, 2>>();
    using Scheduled = decltype(scheduled);
    Products<fk::half, Scheduled> products(scheduled, {3, 24, 13, 17}, 72, pixel);
    Placed<Scheduled, 4> y(scheduled, fk::DataType::float16, layout_of<4>("nhwc", products.sums.shape), 64);
    Placed<Scheduled, 1> largest(scheduled, fk::DataType::float32, fk::channels(72), 64),
        scratch(scheduled, fk::DataType::float32, fk::channels(fk::scratch_floats<Largest>(y.fetch().layout.shape)),
                64);
    fk::Plan<Conv, Largest>::bind(products.conv(), {largest.view<float>(), scratch.view<float>()})(
        scheduled, products.x.view(), y.view<fk::half>());
    CHECK(difference(products.sums, y.fetch()) == "");
    auto const found = largest.fetch();
    std::vector<double> expected(72, -1e30);
    for (std::size_t i = 0; i < products.sums.at.size(); ++i) {
        double& most = expected[static_cast<std::size_t>(products.sums.channel(i))];
        most = std::max(most, products.sums.at[i].value);
    }
    for (std::int64_t k = 0; k < 72; ++k) CHECK(found.get(k) == expected[static_cast<std::size_t>(k)]);
}
