// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/schedule/planes.hpp"

#include <catch2/catch_test_macros.hpp>

#include "backend/hip/schedule/problems.hpp"
#include "fusekit/fusekit.hpp"

namespace fk = fusekit;
using namespace fk::hip;
using fk::hip::detail::PlanesOrder;
using test::problem, test::sentence;

namespace {

template <class Schedule = Planes<>, class T = fk::half>
std::string of(ConvCase convolution, PlanesOrder order = PlanesOrder::planes) {
    convolution.planes = order;
    return sentence(PlanesEntry::can_implement<Schedule, T>(convolution));
}
using Conv = fk::Conv<fk::filter(3, 3).pad(1)>;
template <class T, class... Ops>
constexpr PlanConditions with = test::conditions<PlanesEntry, T, Ops...>;

static_assert(with<fk::half, Conv, fk::Bias>.met() && with<float, Conv, fk::Bias>.met() &&
              !with<fk::int8, Conv>.factors);
static_assert(!with<float, fk::Conv<fk::filter(1, 1), fk::Products<float>>>.products);
static_assert(!with<fk::half, fk::Activation<fk::Relu>, Conv>.prologue);
static_assert(with<fk::half, Conv, fk::Bias, fk::Pool<fk::Max, 2, 2>>.met() &&
              !with<float, Conv, fk::Pool<fk::Max, 2, 2>>.pool &&
              !with<fk::half, Conv, fk::Store, fk::Pool<fk::Max, 2, 2>>.pool &&
              !with<fk::half, Conv, fk::Pool<fk::MaxWithTaps, 2, 2>>.pool &&
              !with<fk::half, Conv, fk::ChannelStatistics>.totals);
static_assert(!with<fk::half, Conv, fk::Residual>.by_pixel);
static_assert(test::compiles<PlanesEntry, Planes<56, 4>, float, Conv>());
static_assert(PlanesEntry::has_kernel<fk::Plan<Conv>, float, float>);
static_assert(!PlanesEntry::has_kernel<fk::Plan<Conv, fk::Residual>, float, float>);

template <class T, class... Ops>
std::string of_plan() {
    return sentence(PlanesEntry::unmet_by_plan<fk::Plan<Ops...>, T, T>());
}

}  // namespace

TEST_CASE("HIP: Planes refuses the first condition that a problem does not meet, with its value") {
    CHECK(of(problem(2, 64, 14, 64, 3)).empty());
    CHECK(of<Split<Planes<>, 2>>(problem(2, 64, 14, 64, 3)).empty());
    CHECK(of(problem(2, 64, 14, 64, 3), PlanesOrder::none) ==
          "x's or y's planes are not contiguous at multiples of 16 bytes: pass them dense, of planes of a multiple of "
          "16 bytes");
    CHECK(of(problem(2, 60, 14, 64, 3)) == "C = 60 is not a multiple of 8: use MatrixGemm");
    CHECK(of(problem(2, 64, 300, 64, 3)) == "Q = 300 exceeds 240: use MatrixGemm");
    CHECK(of(problem(2, 64, 300, 64, 1)).empty());  // 1x1 windows have no rows
    CHECK(of<Planes<56, 4>, float>(problem(2, 64, 57, 64, 3)) == "Q = 57 exceeds 56: use MatrixGemm");
    ConvCase cropped = problem(2, 64, 14, 64, 3);
    cropped.filter.pad_after[1] = -1;
    CHECK(of(cropped) == "pad_after = -1 is below 0: use MatrixGemm");
    cropped.filter = fk::filter(3, 3).stride(2);
    CHECK(of(cropped) == "stride_h = 2 is not 1: use MatrixGemm");
    cropped.filter = fk::filter(241, 1);
    CHECK(of(cropped) == "taps of a mode = 241 exceeds 240: use MatrixGemm");
    CHECK(of<Planes<>, float>(problem(1 << 20, 64, 32, 64, 1), PlanesOrder::channels_last).empty());
    CHECK(of<Planes<>, float>(problem(1 << 20, 64, 33, 64, 1), PlanesOrder::channels_last) ==
          "pixels of y = 1141899264 exceeds 1073741824: use MatrixGemm");
    ConvCase tall = problem(1, 64, 240, 64, 1);
    tall.filter = fk::filter(9, 1), tall.taps = 9;
    CHECK(of(tall) == "stages of x in shared memory = 0 is below 1: use MatrixGemm");
    ConvCase pooled = problem(2, 64, 56, 64, 3);
    pooled.pools = true;
    CHECK(of(pooled).empty());
    CHECK(of<Split<Planes<>, 2>>(pooled) == "split-K before a Pool: use Planes or MatrixGemm");
    pooled = problem(2, 64, 120, 64, 3), pooled.pools = true;
    CHECK(of(pooled) == "2 Q + S, before a Pool = 243 exceeds 240: use MatrixGemm");
    pooled = problem(2, 64, 14, 64, 1), pooled.pools = true;
    CHECK(of(pooled) == "R * S, before a Pool = 1 is below 2: use MatrixGemm");
}

TEST_CASE("HIP: Planes' time grows with the batch, and is infinite where it is never the fastest") {
    auto const in_planes = [](ConvCase& of) { of.planes = PlanesOrder::planes; };
    CHECK(test::grows<PlanesEntry, Planes<>>(64, 56, 128, 3, in_planes));
    ConvCase convolution = problem(8, 64, 14, 128, 5);
    in_planes(convolution);
    CHECK(test::time_of<PlanesEntry, Planes<>>(convolution).is_finite());
    convolution.contiguous_taps = true;  // KCRS filters are read whole if they are 3 x 3
    CHECK_FALSE(test::time_of<PlanesEntry, Planes<>>(convolution).is_finite());
    constexpr ScheduleFacts facts = numbers_of<PlanesEntry, Planes<64, 2>>();
    CHECK((facts.m == 64 && facts.n == 128 && facts.parts == 2 && !facts.splits));
}

TEST_CASE("HIP: Planes refuses the first condition that a plan's type does not meet") {
    CHECK(of_plan<fk::half, fk::Conv<fk::filter(1, 1)>, fk::Bias>().empty());
    CHECK(of_plan<float, fk::Conv<fk::filter(1, 1)>, fk::Bias>().empty());
    CHECK(of_plan<fk::half, fk::Gemm, fk::Bias>() == "the plan has a Gemm, not a Conv: use WarpSpecialized");
    CHECK(of_plan<float, fk::Conv<fk::filter(1, 1), fk::Products<fk::tf32>>>() ==
          "x and weights are not both half or bfloat16, or float without Products<float> or <tf32>: use MatrixGemm");
}
