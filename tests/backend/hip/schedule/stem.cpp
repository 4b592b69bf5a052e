// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/schedule/stem.hpp"

#include <catch2/catch_test_macros.hpp>

#include "backend/hip/schedule/problems.hpp"
#include "fusekit/fusekit.hpp"

namespace fk = fusekit;
using namespace fk::hip;
using test::problem, test::sentence;

namespace {

std::string of(ConvCase const& convolution) {
    return sentence(StemEntry::can_implement<Stem<>, fk::half, fk::half>(convolution));
}
using Conv = fk::Conv<fk::filter(7, 7).pad(3).stride(2)>;
template <class T, class... Ops>
constexpr PlanConditions with = test::conditions<StemEntry, T, Ops...>;

static_assert(with<fk::bfloat16, Conv, fk::Residual>.met() && !with<fk::int8, Conv>.factors &&
              !with<float, Conv>.factors);
static_assert(!with<fk::half, fk::Activation<fk::Relu>, Conv>.prologue);
static_assert(!with<fk::half, Conv, fk::Pool<fk::Max, 2, 2>>.pool &&
              !with<fk::half, Conv, fk::ChannelStatistics>.totals);
static_assert(test::compiles<StemEntry, Stem<>, fk::half, Conv>());
static_assert(StemEntry::has_kernel<fk::Plan<Conv>, fk::half, fk::half>);
static_assert(!StemEntry::has_kernel<fk::Plan<Conv, fk::ChannelStatistics>, fk::half, fk::half>);

template <class... Ops>
std::string of_plan() {
    return sentence(StemEntry::unmet_by_plan<fk::Plan<Ops...>, fk::half, fk::half>());
}

}  // namespace

TEST_CASE("HIP: Stem refuses the first condition that a problem does not meet, with its value") {
    CHECK(of(problem(2, 3, 224, 64, 7)).empty());
    CHECK(of(problem(2, 10, 32, 64, 3)).empty());
    CHECK(of(problem(2, 12, 32, 64, 3)) == "S * C = 36 exceeds 32: use WarpSpecialized");
    ConvCase other = problem(2, 3, 224, 64, 3);
    other.filter = fk::filter(17, 1).pad(8, 0);
    CHECK(of(other) == "R = 17 exceeds 16: use WarpSpecialized");
    other.filter = fk::filter(3, 3).stride(100);
    CHECK(of(other) == "the rows of x that a tile of 64 pixels reads exceed a stage: use WarpSpecialized");
    other.filter = fk::filter(3, 3).dilation(1, 2);
    CHECK(of(other) == "dilation_w = 2 is not 1: use WarpSpecialized");
    other.filter = fk::filter(3, 3).groups(3);
    CHECK(of(other) == "groups = 3 is not 1: use MatrixGemm");
    other.channels_last = false;
    CHECK(of(other) == "y is not channels-last: pass y channels-last");
    other.rows_of_pixels = false;
    CHECK(of(other) == "x's pixels are not contiguous in rows and channels: pass x channels-last and dense");
}

TEST_CASE("HIP: Stem's time grows with the batch, and is infinite where no tile fits") {
    CHECK(test::grows<StemEntry, Stem<>>(3, 112, 64, 7));
    CHECK_FALSE(test::time_of<StemEntry, Stem<>>(problem(2, 64, 56, 64, 3)).is_finite());
    ConvCase misaligned = problem(32, 3, 112, 64, 7);
    misaligned.aligned_rows = false;
    CHECK(test::time_of<StemEntry, Stem<>>(misaligned).seconds >
          test::time_of<StemEntry, Stem<>>(problem(32, 3, 112, 64, 7)).seconds);
    constexpr ScheduleFacts facts = numbers_of<StemEntry, Stem<2>>();
    CHECK((facts.m == 2 && facts.n == 64));
}

TEST_CASE("HIP: Stem refuses the first condition that a plan's type does not meet") {
    using PerActivation = fk::BatchNormInference<fk::PerActivation>;
    CHECK(of_plan<fk::Conv<fk::filter(7, 7)>, fk::Bias>().empty());
    CHECK(of_plan<fk::Conv<fk::filter(1, 1)>>() == "the filter has one tap, and so no halo: use WarpSpecialized");
    CHECK(of_plan<fk::Conv<fk::filter(3, 3)>, PerActivation>() ==
          "an operator has parameters per pixel: use WarpSpecialized");
    CHECK(of_plan<fk::TransposedConv<fk::filter(3, 3)>>() == "a TransposedConv: use WarpSpecialized");
}
