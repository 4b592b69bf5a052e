// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/schedule/tall_gemm.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "backend/hip/schedule/problems.hpp"
#include "fusekit/backend/hip/schedule/direct.hpp"

namespace fk = fusekit;
using namespace fk::hip;

namespace {

using Conv = fk::Conv<fk::dynamic>;
using Conv1 = fk::Conv<fk::filter(1, 1)>;
using Relu = fk::Activation<fk::Relu>;

static_assert(TallGemmEntry::describes<TallGemm<1>> && !TallGemmEntry::describes<Direct<64>>);
static_assert(!GemvEntry::describes<TallGemm<>> && !DirectEntry::describes<TallGemm<>>);
static_assert(test::compiles<TallGemmEntry, TallGemm<>, fk::half, fk::Gemm, fk::Bias, Relu, fk::Residual, fk::Amax>());
static_assert(!TallGemmEntry::splits<TallGemm<>, fk::half, traits_of<fk::Plan<Conv>, fk::half>()>);

template <class T, class... Ops>
constexpr bool has_kernel = TallGemmEntry::has_kernel<fk::Plan<Ops...>, T, T>;
static_assert(has_kernel<fk::half, fk::Gemm> && has_kernel<fk::bfloat16, Conv> && has_kernel<fk::half, Conv1>);
static_assert(!has_kernel<float, Conv> && !has_kernel<fk::int8, Conv>);
static_assert(!has_kernel<fk::half, fk::Conv<fk::filter(3, 3)>> && !has_kernel<fk::half, fk::BatchedGemm>);
static_assert(has_kernel<fk::half, fk::TransposedConv<fk::filter(1, 1)>>);
static_assert(!has_kernel<fk::half, fk::TransposedConv<fk::filter(1, 1).stride(2)>>);
static_assert(!has_kernel<fk::half, fk::TransposedConv<fk::filter(1, 1).groups(2)>>);
static_assert(!has_kernel<fk::half, fk::TransposedConv<fk::filter(1, 3)>>);
static_assert(!has_kernel<fk::half, Relu, Conv1> && !has_kernel<fk::half, Conv1, fk::ChannelStatistics>);
static_assert(!has_kernel<fk::half, Conv1, fk::Pool<fk::Max, 2, 2>>);

/// A 1x1 layer of n images of hw x hw pixels, dense.
ConvCase layer(std::int64_t n, std::int64_t c, std::int64_t hw, std::int64_t k) {
    ConvCase of = test::problem(n, c, hw, k, 1);
    of.dense_pixels = true;
    of.product.bytes = 2.0 * static_cast<double>(k * c + n * hw * hw * (k + c));
    return of;
}

}  // namespace

TEST_CASE("TallGemm implements dense rows of few channels") {
    auto const sentence = [](auto const& change) {
        ConvCase of = layer(4, 96, 14, 24);
        change(of);
        bool const finite = test::time_of<TallGemmEntry, TallGemm<>>(of).is_finite();
        std::string const text = test::sentence(TallGemmEntry::can_implement<TallGemm<>, fk::half, fk::half>(of));
        CHECK(finite == text.empty());
        return text;
    };
    CHECK(sentence([](ConvCase&) {}) == "");
    CHECK(sentence([](ConvCase& of) { of.product.groups = 2; }) == "groups = 2 is not 1: use WarpSpecialized");
    CHECK(sentence([](ConvCase& of) { of.taps = 3; }) == "R * S = 3 is not 1: use WarpSpecialized");
    CHECK(sentence([](ConvCase& of) { of.filter = fk::filter(1, 1).pad(1); }) ==
          "the filter has padding or strides: use WarpSpecialized");
    CHECK(sentence([](ConvCase& of) { of.dense_pixels = false; }) ==
          "x or y is not dense, with channels last, at a multiple of 16 bytes: use WarpSpecialized");
    CHECK(sentence([](ConvCase& of) { of.x[1] = 97; }) == "C = 97 is not a multiple of 2: use MatrixGemm");
    CHECK(sentence([](ConvCase& of) { of.x[1] = 97, of.transposed = true; }) == "");
    CHECK(sentence([](ConvCase& of) { of.product.n = 257; }) == "K = 257 exceeds 256: use WarpSpecialized");
    CHECK(sentence([](ConvCase& of) { of.product.n = 172; }) ==
          "bytes of the filters = 33024 exceeds 32768: use WarpSpecialized");
    CHECK(test::sentence(TallGemmEntry::can_implement<TallGemm<>, fk::half, float>(layer(4, 8, 14, 257))) ==
          "K = 257 exceeds 256: use WarpSpecialized");
}

TEST_CASE("TallGemm's tiles fit its stages and cover all rows") {
    for (std::int64_t const m : {1, 31, 4096, 100353})
        for (std::int64_t c = 2; c <= 260; c += 2)
            for (std::int64_t const k : {1, 24, 58, 116, 128, 250, 256})
                for (int const bytes : {2, 4}) {
                    int const pitch = TallTiles::filter_pitch(c, true);
                    CHECK((pitch >= c && pitch % 32 == 16));
                    CHECK(TallTiles::of(m, c, k, bytes, true).rows <= TallTiles::of(m, c, k, bytes).rows);
                    TallTiles const tiles = TallTiles::of(m, c, k, bytes);
                    bool const fits = c <= 256 && 2 * c * k <= 32768;
                    INFO(m << ' ' << c << ' ' << k << ' ' << bytes);
                    CHECK((tiles.rows > 0) == fits);
                    if (!fits) continue;
                    CHECK((tiles.rows % 16 == 0 && tiles.x_stage % 128 == 0 && tiles.y_stage % 128 == 0 &&
                           2 * c * tiles.rows <= tiles.x_stage && bytes * k * tiles.rows <= tiles.y_stage));
                    CHECK(2 * c * k + 127 + 2 * (tiles.x_stage + tiles.y_stage) < TallTiles::shared_bytes + 128);
                    CHECK((tiles.tiles * std::int64_t{tiles.rows} >= m &&
                           (tiles.tiles - 1) * std::int64_t{tiles.rows} < m));
                }
}

TEST_CASE("TallGemm's time grows with the rows and is near that of its bytes") {
    double before = 0;
    for (std::int64_t n = 1; n <= 256; n *= 2) {
        ConvCase const of = layer(n, 72, 56, 24);
        double const time = test::time_of<TallGemmEntry, TallGemm<>>(of).seconds;
        CHECK(time >= before);
        before = time;
    }
    ConvCase const large = layer(256, 72, 56, 24);
    double const memory = large.product.bytes / (NvidiaTuning::costs.memory_share * 4800e9);
    CHECK((before > memory && before < 1.4 * memory));
}
