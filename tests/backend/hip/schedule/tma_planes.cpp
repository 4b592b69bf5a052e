// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/schedule/tma_planes.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "backend/hip/schedule/problems.hpp"
#include "fusekit/backend/hip/schedule/tall_planes.hpp"

namespace fk = fusekit;
using namespace fk::hip;

namespace {

using Conv = fk::Conv<fk::dynamic>;
using Conv1 = fk::Conv<fk::filter(1, 1)>;
using Relu = fk::Activation<fk::Relu>;

static_assert(TmaPlanesEntry::describes<TmaPlanes<>> && !TmaPlanesEntry::describes<TallPlanes<>>);
static_assert(!TallPlanesEntry::describes<TmaPlanes<>> && !PlanesEntry::describes<TmaPlanes<>>);
static_assert(test::compiles<TmaPlanesEntry, TmaPlanes<>, fk::half, Conv, fk::Bias, Relu>());
static_assert(!TmaPlanesEntry::splits<TmaPlanes<>, fk::half, traits_of<fk::Plan<Conv>, fk::half>()>);

template <class T, class... Ops>
constexpr bool has_kernel = TmaPlanesEntry::has_kernel<fk::Plan<Ops...>, T, T>;
static_assert(has_kernel<fk::half, Conv> && has_kernel<fk::bfloat16, Conv1>);
static_assert(!has_kernel<float, Conv> && !has_kernel<fk::half, fk::Gemm> && !has_kernel<fk::int8, Conv>);
static_assert(!has_kernel<fk::half, fk::Conv<fk::filter(3, 3)>> && !has_kernel<fk::half, Relu, Conv1>);
static_assert(!has_kernel<fk::half, Conv1, fk::Residual> && !has_kernel<fk::half, Conv1, fk::Pool<fk::Max, 2, 2>>);

/// A 1x1 layer of n planes of hw x hw pixels.
ConvCase layer(std::int64_t n, std::int64_t c, std::int64_t hw, std::int64_t k) {
    ConvCase of = test::problem(n, c, hw, k, 1);
    of.channels_last = of.x_channels_last = false;
    of.planes = detail::PlanesOrder::planes;
    of.product.bytes = 2.0 * static_cast<double>(k * c + n * hw * hw * (k + c));
    return of;
}

}  // namespace

TEST_CASE("TmaPlanes implements 1x1 filters and planes") {
    auto const sentence = [](auto const& change) {
        ConvCase of = layer(4, 96, 16, 24);
        change(of);
        bool const finite = test::time_of<TmaPlanesEntry, TmaPlanes<>>(of).is_finite();
        std::string const text = test::sentence(TmaPlanesEntry::can_implement<TmaPlanes<>, fk::half, fk::half>(of));
        CHECK(finite == text.empty());
        return text;
    };
    CHECK(sentence([](ConvCase&) {}) == "");
    CHECK(sentence([](ConvCase& of) { of.product.groups = 2; }) == "groups = 2 is not 1: use MatrixGemm");
    CHECK(sentence([](ConvCase& of) { of.taps = 3; }) == "R * S = 3 is not 1: use Planes");
    CHECK(sentence([](ConvCase& of) { of.filter = fk::filter(1, 1).pad(1); }) ==
          "the filter has padding or strides: use MatrixGemm");
    CHECK(sentence([](ConvCase& of) { of.x[1] = 97; }) == "C = 97 is not a multiple of 8: use MatrixGemm");
    CHECK(sentence([](ConvCase& of) { of.x[2] = 15, of.x[3] = 14; }) ==
          "pixels of a plane = 210 is not a multiple of 8: use Planes");
    CHECK(sentence([](ConvCase& of) { of.planes = detail::PlanesOrder::none; }) ==
          "x's or y's planes are not contiguous at multiples of 16 bytes: pass them dense, of planes of a multiple of "
          "16 bytes");
}

TEST_CASE("TmaPlanes' tiles cover all groups of pixels and channels, and fit shared memory") {
    for (std::int64_t const n : {1, 7, 32})
        for (std::int64_t const plane : {8, 56, 64, 200, 288, 12544})
            for (std::int64_t const c : {8, 64, 2048})
                for (std::int64_t const k : {1, 40, 64, 65, 192, 1000}) {
                    TmaPlaneTiles const tiles = TmaPlaneTiles::of(n, plane, c, k, 132);
                    INFO(n << ' ' << plane << ' ' << c << ' ' << k);
                    CHECK(tiles.all_groups == static_cast<unsigned>(n * ((plane + 63) / 64)));
                    CHECK(tiles.tiles * static_cast<std::int64_t>(tiles.groups * tiles.filters_of_tile()) >=
                          static_cast<std::int64_t>(tiles.all_groups) * k);
                    CHECK((tiles.stages >= 2 && tiles.stages * tiles.bytes_of_stage() <= TmaPlaneTiles::stage_bytes));
                    CHECK(tiles.k_tiles == (c + 63) / 64);
                }
}

TEST_CASE("TmaPlanes' time grows with the batch") {
    double before = 0;
    for (std::int64_t n = 1; n <= 256; n *= 2) {
        double const time = test::time_of<TmaPlanesEntry, TmaPlanes<>>(layer(n, 256, 28, 256)).seconds;
        CHECK(time >= before);
        before = time;
    }
}
