// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/schedule/warp_specialized.hpp"

#include <catch2/catch_test_macros.hpp>

#include "backend/hip/schedule/problems.hpp"
#include "fusekit/fusekit.hpp"

namespace fk = fusekit;
using namespace fk::hip;
using test::problem, test::sentence;

namespace {

using Wide = WarpSpecialized<192, 128, 4>;

std::string of(ConvCase const& convolution) {
    return sentence(WarpSpecializedEntry::can_implement<Wide, fk::half, fk::half>(convolution));
}
using Conv = fk::Conv<fk::filter(3, 3).pad(1)>;
template <class T, class... Ops>
constexpr PlanConditions with = test::conditions<WarpSpecializedEntry, T, Ops...>;

static_assert(with<fk::half, fk::Gemm>.met() && with<fk::int8, Conv>.met() && with<fk::e5m2, Conv>.met());
static_assert(!with<float, Conv>.factors && !with<fk::half, fk::Conv<fk::filter(1, 1), fk::Weights<fk::int8>>>.factors);
static_assert(!with<fk::half, fk::Activation<fk::Relu>, Conv>.prologue);
static_assert(with<fk::half, Conv, fk::Bias, fk::Pool<fk::Max, 2, 2>>.met());
static_assert(!with<fk::half, Conv, fk::Residual, fk::Pool<fk::Max, 2, 2>>.pool &&
              !with<fk::half, Conv, fk::Amax, fk::Pool<fk::Max, 2, 2>>.pool &&
              !with<fk::int8, Conv, fk::Pool<fk::Max, 2, 2>>.pool);
static_assert(with<fk::half, Conv, fk::ChannelStatistics>.totals &&
              !with<fk::int8, Conv, fk::ChannelStatistics>.totals);
static_assert(test::compiles<WarpSpecializedEntry, Wide, fk::half, Conv>());
static_assert(WarpSpecializedEntry::has_kernel<fk::Plan<Conv>, fk::half, fk::half>);
static_assert(WarpSpecializedEntry::has_kernel<fk::Plan<Conv, fk::Pool<fk::Max, 2, 2>>, fk::half, fk::half>);
static_assert(
    !WarpSpecializedEntry::has_kernel<fk::Plan<Conv, fk::Store, fk::Pool<fk::Max, 2, 2>>, fk::half, fk::half>);

template <class T, class U, class... Ops>
std::string of_plan() {
    return sentence(WarpSpecializedEntry::unmet_by_plan<fk::Plan<Ops...>, T, U>());
}

}  // namespace

TEST_CASE("HIP: WarpSpecialized refuses the first condition that a problem does not meet, with its value") {
    ConvCase convolution = problem(2, 64, 14, 64, 3);
    CHECK(of(convolution).empty());
    convolution.in_bulk = false, convolution.x_channel_stride = 196, convolution.y_channel_stride = 98;
    CHECK(of(convolution) == "x's channel stride = 196 is not 1: pass x channels-last, or use Planes");
    convolution.stores_pool_taps = true;
    CHECK(of(convolution) == "x's channel stride = 196 is not 1: pass x channels-last");
    convolution.x_channel_stride = 1;
    CHECK(of(convolution) == "y's channel stride = 98 is not 1: pass y channels-last");
    convolution.stores_pool_taps = false;
    CHECK(of(convolution) == "y's channel stride = 98 is not 1: pass y channels-last, or use Planes");
    convolution.y_channel_stride = 1, convolution.product.groups = 8;
    CHECK(of(convolution).empty());
    CHECK(sentence(WarpSpecializedEntry::can_implement<Wide, fk::int8, fk::int8>(convolution)) ==
          "groups = 8 is not 1: use MatrixGemm");
    convolution.product.groups = 16;
    CHECK(of(convolution) == "C / groups = 4 is not a multiple of 8: use Halo, Grouped or MatrixGemm");
    convolution.product.groups = 8, convolution.y[1] = 96;
    CHECK(of(convolution) == "K / groups = 12 is not a multiple of 8: use Halo, Grouped or MatrixGemm");
    convolution.y[1] = 64, convolution.filter = fk::filter(3, 3).pad(17);
    CHECK(of(convolution) == "pad_before = 17 exceeds 16: use MatrixGemm");
    convolution.filter = fk::filter(3, 3).pad(1), convolution.totals = true;
    CHECK(of(convolution) == "groups of a TransposedConv or with ChannelStatistics: use Halo, Grouped or MatrixGemm");

    ConvCase phased = problem(2, 64, 14, 64, 3);
    phased.phases = 4;
    CHECK(of(phased).empty());
    CHECK(sentence(WarpSpecializedEntry::can_implement<Split<WarpSpecialized<64, 64, 2>>, fk::half, fk::half>(
              phased)) == "a TransposedConv with a stride has phases: use WarpSpecialized without Split");

    ConvCase pooled = problem(2, 64, 14, 64, 3);
    pooled.pools = true;
    CHECK(of(pooled).empty());
    CHECK(test::time_of<WarpSpecializedEntry, Wide>(pooled).is_finite());
    CHECK(sentence(WarpSpecializedEntry::can_implement<Split<WarpSpecialized<64, 64, 2>>, fk::half, fk::half>(
              pooled)) == "a Pool's windows have pixels of several CTAs: use WarpSpecialized without Split");
    pooled.filter = fk::filter(3, 3).pad(1).stride(5, 1);
    CHECK(of(pooled) == "stride_h, before a Pool = 5 exceeds 4: use MatrixGemm");
    CHECK_FALSE(test::time_of<WarpSpecializedEntry, Wide>(pooled).is_finite());
    pooled.filter = fk::filter(3, 1).pad(127, 0).dilation(127, 1).stride(3, 1);
    CHECK(of(pooled) == "(R - 1) * dilation_h + stride_h, before a Pool = 257 exceeds 255: use MatrixGemm");
}

TEST_CASE("HIP: WarpSpecialized's time grows with the batch, and has its tile's numbers") {
    CHECK(test::grows<WarpSpecializedEntry, Wide>(64, 56, 128, 3));
    using Narrow = WarpSpecialized<64, 64, 8, Roles::ping_pong>;
    CHECK(test::grows<WarpSpecializedEntry, Narrow>(64, 56, 64, 1));
    constexpr ScheduleFacts facts = numbers_of<WarpSpecializedEntry, Narrow>();
    CHECK((facts.m == 64 && facts.n == 64 && facts.stages == 8 && facts.ping_pong && facts.blocks == 1));
}

TEST_CASE("HIP: WarpSpecialized's time is longer if threads load its operands, and with narrower copies") {
    double last = 0;
    for (int const bytes : {0, 8, 4, 2}) {
        ConvCase convolution = problem(32, 120, 28, 120, 3);
        convolution.copied_bytes = bytes;
        double const time = test::time_of<WarpSpecializedEntry, Wide>(convolution).seconds;
        CHECK(time >= last);
        last = time;
        // stages that fill shared memory leave no room for the sources of the rows
        CHECK(test::time_of<WarpSpecializedEntry, WarpSpecialized<128, 128, 6>>(convolution).is_finite() ==
              (bytes == 0));
    }
}

TEST_CASE("HIP: WarpSpecialized refuses the first condition that a plan's type does not meet") {
    CHECK(of_plan<fk::half, fk::half, Conv, fk::Bias>().empty());
    CHECK(of_plan<fk::int8, fk::half, Conv, fk::Bias>().empty());
    CHECK(of_plan<fk::half, fk::half, fk::Gemm>().empty());
    CHECK(of_plan<fk::half, float, Conv>() == "y's type is not x's: use MatrixGemm");
    CHECK(of_plan<fk::int8, float, Conv>() == "y's type is neither x's nor of 16 bits: use NativeGemm");
    CHECK(of_plan<fk::half, fk::half, fk::BatchedGemm>() == "the plan has a BatchedGemm: use MatrixGemm");
    CHECK(of_plan<fk::half, fk::half, fk::TransposedConv<fk::filter(3, 3).stride(2)>>().empty());
    CHECK(of_plan<fk::half, fk::half, fk::TransposedConv<fk::filter(3, 3).stride(3)>>() ==
          "phases of the stride = 9 exceeds 4: use MatrixGemm");
    CHECK(of_plan<fk::half, fk::half, fk::TransposedConv<fk::filter(3, 3).stride(2)>, fk::ChannelStatistics>() ==
          "ChannelStatistics after a TransposedConv with a stride: use MatrixGemm");
    CHECK(of_plan<fk::int8, fk::half, fk::TransposedConv<fk::filter(3, 3)>>() ==
          "a TransposedConv of 8 bits: use NativeGemm");
    CHECK(of_plan<fk::half, fk::half, Conv, fk::ChannelStatistics>().empty());
}

TEST_CASE("HIP: tiles of 192 channels of WarpSpecialized are not selected beside an Amax") {
    ConvCase convolution = problem(32, 64, 56, 192, 3);
    auto const seconds = [&]<class Schedule>(Schedule) {
        return WarpSpecializedEntry::cost(WarpSpecializedEntry::facts<Schedule>, convolution, NvidiaTuning::costs,
                                          rates_of(Architecture::sm(90)))
            .seconds;
    };
    CHECK(seconds(WarpSpecialized<144, 192, 4>{}) < 1);
    convolution.maxima = true;
    CHECK(seconds(WarpSpecialized<144, 192, 4>{}) > 1);
    CHECK(seconds(Wide{}) < 1);
}
