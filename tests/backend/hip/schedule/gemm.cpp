// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/schedule/gemm.hpp"

#include <catch2/catch_test_macros.hpp>

#include "backend/hip/schedule/problems.hpp"
#include "fusekit/backend/hip/schedule/native_gemm.hpp"

namespace fk = fusekit;
using namespace fk::hip;
using test::problem, test::time_of;

namespace {

using Conv = fk::Conv<fk::filter(3, 3)>;
using Large = Gemm<128, 64, 16, 3>;

static_assert(GemmEntry::describes<Large> && !GemmEntry::describes<NativeGemm<64, 64>>);
static_assert(GemmEntry::runs<fk::Plan<Conv>> && GemmEntry::runs<fk::Plan<fk::Gemm>>);
static_assert(!GemmEntry::runs<fk::Plan<fk::Bias>>);
// Every operator, type and layout; compile_fail/hip/schedules has tiles that do not compile.
static_assert(test::compiles<GemmEntry, Large, fk::int8, fk::Activation<fk::Relu>, Conv, fk::ChannelStatistics>());
static_assert(test::compiles<GemmEntry, Gemm<64, 64, 8>, float, fk::BatchedGemm>());
// Tiles: whole waves, whole columns, equal shares.
static_assert(!SimtShape{64, 16, 8}.has_whole_waves() && SimtShape{64, 64, 8}.has_whole_waves());
static_assert(!SimtShape{64, 32, 8}.has_whole_columns() && SimtShape{64, 64, 8}.has_whole_columns());
static_assert(!SimtShape{128, 128, 1}.has_equal_shares() && SimtShape{128, 128, 8}.has_equal_shares());
// Split-K multiplies float by float.
template <class T, class... Ops>
constexpr bool splits = GemmEntry::splits<Large, T, traits_of<fk::Plan<Ops...>, T>()>;
static_assert(splits<float, Conv> && !splits<fk::half, Conv>);
static_assert(!splits<float, fk::Conv<fk::filter(3, 3), fk::Weights<fk::int8>>>);

}  // namespace

TEST_CASE("HIP: Gemm implements every problem, and has its tile's numbers") {
    ConvCase of = problem(2, 3, 7, 5, 3);
    of.in_bulk = of.channels_last = of.on_matrix_units = false;
    CHECK_FALSE(GemmEntry::can_implement<Large, float, float>(of));
    constexpr ScheduleFacts facts = numbers_of<GemmEntry, Large>();
    CHECK((facts.m == 128 && facts.n == 64 && facts.k == 16 && facts.blocks == 3 && !facts.splits));
    CHECK(numbers_of<GemmEntry, Split<Large, 2>>().splits);
    CHECK(std::string(GemmEntry::written(facts).c_str()) == "Gemm<128, 64, 16, 3>");
}

TEST_CASE("HIP: Gemm's time grows with the problem, and is infinite where matrix units are requested") {
    CHECK(test::grows<GemmEntry, Large>(64, 56, 64, 3));
    ConvCase of = problem(8, 64, 56, 64, 3);
    double const seconds = time_of<GemmEntry, Large>(of).seconds;
    CHECK(time_of<GemmEntry, Large>(problem(8, 128, 56, 64, 3)).seconds > 1.8 * seconds);
    CHECK(time_of<GemmEntry, Large>(problem(8, 64, 56, 128, 3)).seconds > 1.2 * seconds);
    of.wants_matrix_units = true;
    CHECK_FALSE(time_of<GemmEntry, Large>(of).is_finite());
    of.product.n = min_matrix_channels - 1;
    CHECK(time_of<GemmEntry, Large>(of).is_finite());
}
