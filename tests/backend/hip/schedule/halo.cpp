// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/schedule/halo.hpp"

#include <catch2/catch_test_macros.hpp>

#include "backend/hip/schedule/problems.hpp"
#include "fusekit/fusekit.hpp"

namespace fk = fusekit;
using namespace fk::hip;
using test::problem, test::sentence;

namespace {

std::string of(ConvCase const& convolution) {
    return sentence(HaloEntry::can_implement<Halo<>, fk::half, fk::half>(convolution));
}
using Conv = fk::Conv<fk::filter(3, 3).pad(1)>;
template <class T, class... Ops>
constexpr PlanConditions with = test::conditions<HaloEntry, T, Ops...>;

static_assert(with<fk::half, Conv, fk::ChannelStatistics>.met() && with<fk::int8, Conv, fk::Bias>.met());
static_assert(!with<float, Conv>.factors && !with<fk::half, fk::Activation<fk::Relu>, Conv>.prologue);
static_assert(with<fk::half, Conv, fk::Pool<fk::Max, 2, 2>>.pool &&
              !with<fk::half, Conv, fk::Residual, fk::Pool<fk::Max, 2, 2>>.pool &&
              !with<fk::int8, Conv, fk::ChannelStatistics>.totals);
static_assert(test::compiles<HaloEntry, Halo<>, fk::half, Conv>() &&
              test::compiles<HaloEntry, Halo<240>, fk::e4m3, Conv>());
static_assert(HaloEntry::has_kernel<fk::Plan<Conv>, fk::half, fk::half>);
static_assert(!HaloEntry::has_kernel<fk::Plan<fk::Activation<fk::Relu>, Conv>, fk::half, fk::half>);

template <class... Ops>
std::string of_plan() {
    return sentence(HaloEntry::unmet_by_plan<fk::Plan<Ops...>, fk::half, fk::half>());
}

}  // namespace

TEST_CASE("HIP: Halo refuses the first condition that a problem does not meet, with its value") {
    CHECK(of(problem(2, 64, 55, 64, 3)).empty());
    CHECK(of(problem(2, 512, 55, 64, 3)).empty());
    CHECK(of(problem(2, 520, 55, 64, 3)) == "C = 520 exceeds 512: use WarpSpecialized");
    ConvCase float8 = problem(2, 96, 55, 64, 3);
    float8.type = fk::DataType::float8_e4m3;
    CHECK(of(float8) == "C = 96 exceeds 64: use WarpSpecialized");
    CHECK(of(problem(2, 64, 55, 512, 3)).empty());
    CHECK(of(problem(2, 64, 55, 520, 3)) == "K = 520 exceeds 512: use WarpSpecialized");
    ConvCase statistics = problem(2, 64, 55, 72, 3);
    statistics.totals = true;
    CHECK(of(statistics) == "K = 72 exceeds 64: use WarpSpecialized");
    CHECK(of(problem(2, 520, 55, 520, 3)) == "C = 520 exceeds 512: use WarpSpecialized");  // reports the first of two
    CHECK(of(problem(2, 64, 55, 64, 5)) == "R * S = 25 exceeds 9: use WarpSpecialized");
    ConvCase wide = problem(1, 64, 230, 64, 3);
    wide.filter = fk::filter(1, 3).pad(0, 1), wide.taps = 3;
    CHECK(of(wide).empty());
    wide.y[3] = 231;
    CHECK(of(wide).empty());
    ConvCase tall = problem(1, 64, 100, 64, 1);
    tall.filter = fk::filter(9, 1), tall.taps = 9;
    CHECK(of(tall).empty());  // several tiles a row
    tall.y[3] = 2000;  // 9 to 16 tiles a row: 223 to 125 columns
    CHECK(of(tall) == "bytes of a stage = 258048 exceeds 76800: use WarpSpecialized");
    ConvCase strided = problem(2, 64, 55, 64, 3);
    strided.filter = fk::filter(3, 3).pad(1).stride(2, 1);
    CHECK(of(strided) == "stride_h = 2 is not 1: use MatrixGemm");
    strided.filter = fk::filter(3, 3).pad(1).dilation(1, 3);
    CHECK(of(strided) == "dilation_w = 3 is not 1: use MatrixGemm");
    ConvCase planes = problem(2, 64, 55, 64, 3);
    planes.in_bulk = false, planes.x_channel_stride = 3025;
    CHECK(of(planes) == "x's channel stride = 3025 is not 1: pass x channels-last, or use Planes");
    planes.x_channel_stride = 1, planes.y_channel_stride = 3025;
    CHECK(of(planes) == "y's channel stride = 3025 is not 1: pass y channels-last, or use Planes");
}

TEST_CASE("HIP: Halo refuses a pool after a filter with an even number of columns") {
    ConvCase pooled = problem(2, 64, 56, 64, 3);
    pooled.pools = true;
    CHECK(of(pooled).empty());
    pooled.filter = fk::filter(3, 2);
    CHECK(of(pooled) == "S is even, before a Pool: use WarpSpecialized");
}

TEST_CASE("HIP: Halo refuses groups whose channels do not fit a tile, of 8 bits and with statistics") {
    ConvCase grouped = problem(2, 232, 14, 232, 3);
    grouped.in_bulk = false, grouped.product.groups = 4;
    CHECK(of(grouped).empty());
    CHECK(sentence(HaloEntry::can_implement<Halo<>, fk::int8, fk::int8>(grouped)) ==
          "groups of 8-bit elements, with statistics or a Pool: use Grouped or NativeGemm");
    grouped.totals = true;
    CHECK(of(grouped) == "groups of 8-bit elements, with statistics or a Pool: use Grouped or NativeGemm");
    grouped.totals = false, grouped.pools = true;
    CHECK(of(grouped) == "groups of 8-bit elements, with statistics or a Pool: use Grouped or NativeGemm");
    grouped.pools = false, grouped.maxima = true;
    CHECK(of(grouped) == "an Amax of groups of channels that are no multiple of 8: use Grouped or NativeGemm");
    grouped.maxima = false, grouped.x[1] = 248;
    CHECK(of(grouped) ==
          "channels of x from a multiple of 8 to a group's last = 68 exceeds 64: use Grouped or NativeGemm");
    grouped.x[1] = 232, grouped.y[1] = 288;
    CHECK(of(grouped) ==
          "channels of y from a multiple of 8 to a group's last = 72 exceeds 64: use Grouped or NativeGemm");
    grouped.y[1] = 8;
    CHECK(of(grouped) == "K / groups = 2 is below 4: use Grouped or NativeGemm");
    // groups have no tiles of parts of rows
    ConvCase wide = problem(2, 64, 180, 64, 3);
    wide.product.groups = 2;
    CHECK(of(wide).empty());
    wide = problem(2, 64, 224, 64, 3);
    CHECK(of(wide).empty());
    wide.product.groups = 2;
    CHECK(of(wide) == "bytes of a stage = 88064 exceeds 76800: use WarpSpecialized");
    wide = problem(2, 64, 390, 64, 3);
    CHECK(of(wide).empty());
    wide.product.groups = 2;
    CHECK(of(wide) == "Q + S - 1 = 392 exceeds 232: use WarpSpecialized");
}

TEST_CASE("HIP: Halo's time grows with the batch, and is infinite for one tap of one group") {
    CHECK(test::grows<HaloEntry, Halo<>>(64, 56, 64, 3));
    CHECK_FALSE(test::time_of<HaloEntry, Halo<>>(problem(2, 64, 56, 64, 1)).is_finite());
    ConvCase groups = problem(2, 64, 56, 64, 1);
    groups.in_bulk = false, groups.product = {2 * 56 * 56, 16, 4, 16, 0};
    CHECK(test::time_of<HaloEntry, Halo<>>(groups).is_finite());
    CHECK_FALSE(test::time_of<HaloEntry, Halo<>>(problem(2, 520, 56, 64, 3)).is_finite());
    ConvCase wide = problem(2, 64, 224, 64, 3), whole = problem(2, 64, 56, 64, 3);
    CHECK(test::time_of<HaloEntry, Halo<>>(wide).is_finite());
    wide.reads_image = whole.reads_image = true;  // a residual, with tiles of whole rows only
    CHECK_FALSE(test::time_of<HaloEntry, Halo<>>(wide).is_finite());
    CHECK(test::time_of<HaloEntry, Halo<>>(whole).is_finite());
    constexpr ScheduleFacts facts = numbers_of<HaloEntry, Halo<>>();
    CHECK((facts.m == 232 && facts.n == 64));
}

TEST_CASE("HIP: Halo refuses the first condition that a plan's type does not meet") {
    CHECK(of_plan<fk::Conv<fk::filter(3, 3).pad(1)>, fk::Bias>().empty());
    CHECK(of_plan<fk::Conv<fk::dynamic>>().empty());
    CHECK(of_plan<fk::Conv<fk::filter(1, 1)>>() == "the filter has one tap, and so no halo: use WarpSpecialized");
    CHECK(of_plan<fk::Conv<fk::filter(3, 3).stride(2)>>() == "stride_h = 2 is not 1: use MatrixGemm");
    CHECK(sentence(HaloEntry::unmet_by_plan<fk::Plan<fk::Conv<fk::filter(3, 3)>>, fk::half, float>()) ==
          "y's type is not x's: use MatrixGemm");
}
