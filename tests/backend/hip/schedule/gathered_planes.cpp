// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/schedule/gathered_planes.hpp"

#include <catch2/catch_test_macros.hpp>

#include "backend/hip/schedule/problems.hpp"
#include "fusekit/fusekit.hpp"

namespace fk = fusekit;
using namespace fk::hip;
using fk::hip::detail::PlanesOrder;
using test::problem, test::sentence;

namespace {

using Conv = fk::Conv<fk::filter(3, 3).pad(1).stride(2)>;
template <class T, class... Ops>
constexpr PlanConditions with = test::conditions<GatheredPlanesEntry, T, Ops...>;

static_assert(with<fk::half, Conv, fk::Bias>.met() && with<fk::bfloat16, Conv>.met() && !with<float, Conv>.factors);
static_assert(!with<fk::half, fk::Activation<fk::Relu>, Conv>.prologue);
static_assert(!with<fk::half, Conv, fk::Pool<fk::Max, 2, 2>>.pool && !with<fk::half, Conv, fk::Residual>.by_pixel);
static_assert(!with<fk::half, Conv, fk::ChannelStatistics>.totals);
static_assert(test::compiles<GatheredPlanesEntry, GatheredPlanes<>, fk::half, Conv>());
static_assert(!GatheredPlanesEntry::has_kernel<fk::Plan<Conv>, float, float>);
static_assert(GatheredPlanesEntry::has_kernel<fk::Plan<Conv>, fk::half, fk::half>);
static_assert(GatheredPlanesEntry::has_kernel<fk::Plan<fk::Conv<fk::filter(1, 1).stride(2)>>, fk::half, fk::half>);
static_assert(!GatheredPlanesEntry::has_kernel<fk::Plan<fk::Conv<fk::filter(1, 1)>>, fk::half, fk::half>);
static_assert(!GatheredPlanesEntry::has_kernel<fk::Plan<Conv, fk::Residual>, fk::half, fk::half>);
static_assert(!GatheredPlanesEntry::has_kernel<fk::Plan<fk::Gemm>, fk::half, fk::half>);
static_assert(!GatheredPlanesEntry::has_kernel<fk::Plan<fk::TransposedConv<fk::filter(3, 3)>>, fk::half, fk::half>);
static_assert(GatheredPlanesEntry::splits<GatheredPlanes<>, fk::half, PlanTraits{}>);

ConvCase in_planes(ConvCase of, fk::Filter<2> const& filter) {
    of.planes = PlanesOrder::planes, of.contiguous_taps = true, of.filter = filter,
    of.taps = filter.size[0] * filter.size[1];
    return of;
}
std::string of(ConvCase const& convolution) {
    return sentence(GatheredPlanesEntry::can_implement<GatheredPlanes<>, fk::half>(convolution));
}

template <class... Ops>
std::string of_plan() {
    return sentence(GatheredPlanesEntry::unmet_by_plan<fk::Plan<Ops...>, fk::half, fk::half>());
}

/// Checks that each tap of each pixel of y reads the element of a segment that has its pixel of x.
void check_taps(GatherTiles const& tiles, fk::Filter<2> const& filter) {
    for (int p = 0; p < tiles.y_height; ++p)
        for (int q = 0; q < tiles.y_width; ++q)
            for (int r = 0; r < filter.size[0]; ++r)
                for (int s = 0; s < filter.size[1]; ++s) {
                    int const h = p * filter.strides[0] + r * filter.dilations[0] - filter.pad_before[0],
                              w = q * filter.strides[1] + s * filter.dilations[1] - filter.pad_before[1],
                              row = r - tiles.first_tap_row, column = s - tiles.first_tap_column;
                    bool const inside = h >= 0 && h < tiles.x_height && w >= 0 && w < tiles.x_width;
                    if (row < 0 || row >= tiles.tap_rows || column < 0 || column >= tiles.tap_columns) {
                        CHECK_FALSE(inside);
                        continue;
                    }
                    int const at = tiles.tap_offset(row, column) + p * tiles.pitch + q,
                              segment = tiles.tap_offset(row, column) / tiles.segment_pixels,
                              element = at - segment * tiles.segment_pixels,
                              image = element / tiles.pitch / tiles.height,
                              found_h =
                                  element / tiles.pitch % tiles.height * tiles.stride_h + tiles.first_row(segment),
                              found_w = element % tiles.pitch * tiles.stride_w + tiles.first_column(segment);
                    bool const found =
                        found_h >= 0 && found_h < tiles.x_height && found_w >= 0 && found_w < tiles.x_width;
                    CHECK(found == inside);
                    if (inside) CHECK((image == 0 && found_h == h && found_w == w));
                    CHECK(tiles.tap_offset(row, column) - segment * tiles.segment_pixels + tiles.tile_pixels() <=
                          tiles.length(segment));
                }
}

}  // namespace

TEST_CASE("HIP: GatheredPlanes refuses the first condition that a problem does not meet, with its value") {
    ConvCase const strided = in_planes(problem(2, 64, 14, 64, 3), fk::filter(3, 3).pad(1).stride(2));
    CHECK(of(strided).empty());
    CHECK(of(problem(2, 64, 14, 64, 3)) ==
          "x's or y's planes are not contiguous at multiples of 16 bytes: pass them dense, of planes of a multiple of "
          "16 bytes");
    CHECK(of(in_planes(problem(2, 60, 14, 64, 3), strided.filter)) == "C = 60 is not a multiple of 8: use MatrixGemm");
    CHECK(of(in_planes(problem(2, 64, 14, 64, 3), fk::filter(3, 3).pad(1).groups(2))) ==
          "groups = 2 exceeds 1: use MatrixGemm");
    CHECK(of(in_planes(problem(2, 64, 14, 64, 3), fk::filter(6, 11))) == "taps = 66 exceeds 64: use MatrixGemm");
    CHECK(of(in_planes(problem(1, 64, 14, 64, 3), fk::filter(1, 1).pad(200).stride(500))) ==
          "stages in shared memory = 0 is below 1: use MatrixGemm");  // y reads only padding
}

TEST_CASE("HIP: GatheredPlanes' time grows with the batch, and is infinite where it is never the fastest") {
    auto const change = [](ConvCase& of) { of = in_planes(of, fk::filter(3, 3).pad(1)); };
    CHECK(test::grows<GatheredPlanesEntry, GatheredPlanes<>>(64, 112, 128, 3, change));
    ConvCase convolution = in_planes(problem(8, 64, 14, 128, 3), fk::filter(3, 3).pad(1));
    CHECK(test::time_of<GatheredPlanesEntry, GatheredPlanes<>>(convolution).is_finite());
    convolution.contiguous_taps = false;
    CHECK_FALSE(test::time_of<GatheredPlanesEntry, GatheredPlanes<>>(convolution).is_finite());
    convolution.contiguous_taps = true, convolution.product.n = 8;
    CHECK_FALSE(test::time_of<GatheredPlanesEntry, GatheredPlanes<>>(convolution).is_finite());
}

TEST_CASE("HIP: the segments of GatherTiles have the pixels of x that taps read") {
    auto const check = [](int h, int w, fk::Filter<2> const& filter) {
        auto const extent = [&](int mode, int x) {
            return (x + filter.pad_before[mode] + filter.pad_after[mode] -
                    (filter.size[mode] - 1) * filter.dilations[mode] - 1) /
                       filter.strides[mode] +
                   1;
        };
        GatherTiles const tiles = gather_tiles({2, 16, h, w}, {2, 64, extent(0, h), extent(1, w)}, filter, 132);
        REQUIRE(tiles.stages > 0);
        check_taps(tiles, filter);
        return tiles;
    };
    GatherTiles const same = check(14, 14, fk::filter(3, 3).pad(1));
    CHECK((same.pitch == 15 && same.height == 15));  // one row and one column of padding are shared
    CHECK(same.segments() == 1);
    CHECK(check(14, 14, fk::filter(3, 3).pad(1).stride(2)).column_segments == 2);
    GatherTiles const middle = check(9, 9, fk::filter(3, 3).pad(12).dilation(12));
    CHECK((middle.taps() == 1 && middle.first_tap_row == 1 && middle.pitch == 9));
    check(11, 13, fk::filter(5, 5).pad(2));
    check(13, 11, fk::filter(3, 3).pad(4).dilation(4));
    check(17, 16, fk::filter(1, 7).pad(0, 3, 0, 3));
    check(17, 16, fk::filter(7, 1).pad(3, 0, 3, 0));
    check(21, 20, fk::filter(3, 4).pad(2, 1, 0, 3).stride(3, 2).dilation(2, 3));
    check(21, 20, fk::filter(4, 3).pad(1).stride(4, 6).dilation(6, 4));
    check(16, 16, fk::filter(2, 2).stride(2));
    check(12, 300, fk::filter(3, 3).pad(1));
}

TEST_CASE("HIP: a tile of GatherTiles omits only rows of taps that are out of bounds for all of its pixels") {
    int omitted = 0;
    for (int dilation : {3, 9, 24}) {
        fk::Filter<2> const filter = fk::filter(3, 3).pad(dilation).dilation(dilation);
        GatherTiles const tiles = gather_tiles({3, 16, 28, 28}, {3, 64, 28, 28}, filter, 132);
        REQUIRE(tiles.stages > 0);
        for (std::uint32_t start = 0; start < tiles.positions; start += static_cast<unsigned>(tiles.tile_pixels())) {
            GatherTiles::TapRows const rows = tiles.tap_rows_of(start);
            REQUIRE((rows.begin >= 0 && rows.begin < rows.end && rows.end <= tiles.tap_rows));
            omitted += tiles.tap_rows - (rows.end - rows.begin);
            for (int i = 0; i < tiles.tile_pixels(); ++i) {
                std::uint32_t const at = start + static_cast<unsigned>(i);
                if (!tiles.is_pixel(at)) continue;
                int const p = static_cast<int>(at) / tiles.pitch % tiles.height;
                for (int r = 0; r < tiles.tap_rows; ++r) {
                    int const h = p - tiles.pad_top + r * tiles.dilation_h;
                    if (r < rows.begin || r >= rows.end) CHECK((h < 0 || h >= tiles.x_height));
                }
            }
        }
    }
    CHECK(omitted > 0);
}

TEST_CASE("HIP: GatheredPlanes refuses the first condition that a plan's type does not meet") {
    CHECK(of_plan<Conv>().empty());
    CHECK(of_plan<fk::Conv<fk::filter(1, 1)>>() == "the filter is 1x1 with stride 1: use Planes");
    CHECK(of_plan<fk::Gemm>() == "the plan has a Gemm, not a Conv: use WarpSpecialized");
}
