// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/schedule/gemv.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "backend/hip/schedule/problems.hpp"
#include "fusekit/backend/hip/schedule/direct.hpp"
#include "fusekit/backend/hip/schedule/warp_specialized.hpp"

namespace fk = fusekit;
using namespace fk::hip;

namespace {

using Conv = fk::Conv<fk::dynamic>;
using Conv1 = fk::Conv<fk::filter(1, 1)>;
using Relu = fk::Activation<fk::Relu>;
using Wide = WarpSpecialized<64, 64, 8, Roles::ping_pong>;

static_assert(GemvEntry::describes<Gemv<1>> && !GemvEntry::describes<Direct<64>>);
static_assert(!DirectEntry::describes<Gemv<>>);
static_assert(test::compiles<GemvEntry, Gemv<>, fk::half, fk::Gemm, fk::Bias, Relu, fk::Residual, fk::Amax>());
static_assert(test::compiles<GemvEntry, Gemv<>, fk::e4m3, Conv>());
static_assert(!GemvEntry::splits<Gemv<>, float, traits_of<fk::Plan<Conv>, float>()>);

template <class... Ops>
constexpr bool has_kernel = GemvEntry::has_kernel<fk::Plan<Ops...>, fk::half, fk::half>;
static_assert(has_kernel<fk::Gemm> && has_kernel<Conv> && has_kernel<Conv1> && has_kernel<fk::Conv<fk::filter(1)>>);
static_assert(has_kernel<fk::Conv<fk::filter(1, 1).stride(2)>>);
static_assert(!has_kernel<fk::BatchedGemm>);
static_assert(!has_kernel<fk::Conv<fk::filter(3, 3)>>);
static_assert(!has_kernel<fk::Conv<fk::filter(1, 1).pad(1)>>);
static_assert(!has_kernel<fk::Conv<fk::filter(1, 1).groups(2)>>);
static_assert(!has_kernel<fk::Conv<fk::filter(1, 1, 1)>>);
static_assert(has_kernel<fk::TransposedConv<fk::filter(1, 1)>> && has_kernel<fk::TransposedConv<fk::filter(1)>>);
static_assert(!has_kernel<fk::TransposedConv<fk::filter(1, 1).stride(2)>>);
static_assert(!has_kernel<fk::TransposedConv<fk::filter(1, 1).pad(1)>>);
static_assert(!has_kernel<fk::TransposedConv<fk::filter(1, 1).groups(2)>>);
static_assert(!GemvEntry::has_kernel<fk::Plan<fk::TransposedConv<fk::filter(1, 1)>>, float, float>);
static_assert(!has_kernel<fk::ConvWeightGradient<fk::filter(1, 1)>>);
static_assert(!has_kernel<Relu, Conv1> && !has_kernel<fk::Gemm, fk::ChannelStatistics>);
static_assert(!has_kernel<Conv1, fk::Pool<fk::Max, 2, 2>>);

/// A layer of 1x1 images, as of a squeeze-and-excite block or of a classifier.
ConvCase layer(std::int64_t n, std::int64_t c, std::int64_t k) {
    ConvCase of = test::problem(n, c, 1, k, 1);
    of.product.bytes = 2.0 * static_cast<double>(k * c + n * (k + c));
    return of;
}

double time_of(ConvCase const& of) { return test::time_of<GemvEntry, Gemv<>>(of).seconds; }

}  // namespace

TEST_CASE("HIP: Gemv implements a few rows of contiguous channels") {
    auto const sentence = [](auto const& change) {
        ConvCase of = layer(4, 96, 24);
        change(of);
        bool const finite = test::time_of<GemvEntry, Gemv<>>(of).is_finite();
        std::string const text = test::sentence(GemvEntry::can_implement<Gemv<>, float, float>(of));
        CHECK(finite == text.empty());
        return text;
    };
    CHECK(sentence([](ConvCase&) {}) == "");
    CHECK(sentence([](ConvCase& of) {
              of.channels_last = of.x_channels_last = of.in_bulk = of.on_matrix_units = false, of.in_slabs = true;
          }) == "");
    CHECK(sentence([](ConvCase& of) { of.product.m = 32; }) == "");
    CHECK(sentence([](ConvCase& of) { of.product.m = 33; }) == "rows of x = 33 exceeds 32: use NativeGemm");
    CHECK(sentence([](ConvCase& of) { of.product.groups = 2; }) == "groups = 2 is not 1: use NativeGemm");
    CHECK(sentence([](ConvCase& of) { of.taps = 9; }) == "R * S = 9 is not 1: use NativeGemm");
    CHECK(sentence([](ConvCase& of) { of.filter = fk::filter(1, 1).pad(1); }) ==
          "the filter has padding: use NativeGemm");
    CHECK(sentence([](ConvCase& of) { of.x_channel_stride = 2; }) == "x's channel stride = 2 is not 1: use NativeGemm");
    CHECK(sentence([](ConvCase& of) { of.contiguous_taps = true; }) ==
          "the channels of a filter are not contiguous: use NativeGemm");
    CHECK(sentence([](ConvCase& of) { of.contiguous_taps = of.transposed = true; }) == "");
    CHECK(sentence([](ConvCase& of) { of.transposed = true, of.on_matrix_units = false; }) ==
          "a TransposedConv on a GPU other than sm_90a: use NativeGemm");
    CHECK(sentence([](ConvCase& of) { of.x[1] = 1, of.x_channel_stride = 2, of.contiguous_taps = true; }) == "");
}

TEST_CASE("HIP: Gemv's time grows with the weights, and is below that of tiles of 64 rows except for short rows") {
    for (std::int64_t const n : {1, 8, 32}) {
        double before = 0;
        for (std::int64_t c = 32; c <= 1024; c *= 2) {
            ConvCase const of = layer(n, c, 1000);
            CHECK(time_of(of) >= before);
            // on an H200 32 rows of 64 channels to 1536 take 4.3 us, and 2.3 with WarpSpecialized<64, 64, 8, ping_pong>
            if (n == 1 || c >= 32 * n) CHECK(time_of(of) < test::time_of<WarpSpecializedEntry, Wide>(of).seconds);
            before = time_of(of);
        }
    }
    // 33.6 MB of weights: within 1.25 of the time of their bytes
    ConvCase const large = layer(1, 4096, 4096);
    double const memory = large.product.bytes / (NvidiaTuning::costs.memory_share * 4800e9);
    CHECK((time_of(large) > memory && time_of(large) < 1.25 * memory));
}

TEST_CASE("HIP: Gemv's tiles occupy all SMs, and few CTAs read each row of x") {
    auto const cut = [](std::int64_t rows, std::int64_t filters, std::int64_t c, bool by_mma = true,
                        bool transposed = false) {
        return GemvCut::best({rows, filters, 2 * c, by_mma, transposed}, 2, 132, 52, 700);
    };
    for (std::int64_t const filters : {1, 6, 784}) CHECK(cut(32, filters, 196, true, true).tiles.filter_bits >= 1);
    CHECK(cut(1, 1000, 1280).tiles.filters() == 8);  // 125 CTAs
    CHECK(cut(1, 48, 1152).tiles.filters() == 1);
    CHECK(cut(32, 1000, 2048).tiles.rows < 32);
    for (std::int64_t const rows : {1, 5, 9, 16, 17, 32})
        for (std::int64_t const filters : {1, 3, 17, 256, 1000, 40000})
            for (std::int64_t const c : {1, 30, 512, 5000})
                for (bool const by_mma : {true, false}) {
                    GemvCut const of = cut(rows, filters, c, by_mma);
                    GemvTiles const& tiles = of.tiles;
                    INFO(rows << ' ' << filters << ' ' << c << ' ' << by_mma);
                    CHECK(tiles.filters() == tiles.groups << tiles.warp_bits);
                    CHECK((tiles.threads() >= 64 && tiles.threads() <= 256 && tiles.threads() % 64 == 0));
                    CHECK((1 << tiles.warp_bits) <= GemvTiles::warp_filters);
                    CHECK(tiles.rows * tiles.row_tiles.value() >= rows);
                    CHECK(tiles.rows <= GemvTiles::max_rows);
                    CHECK((of.steps > 0 && of.processor_ctas > 0));
                }
}
