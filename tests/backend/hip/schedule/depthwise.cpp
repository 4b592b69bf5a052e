// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/schedule/depthwise.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "backend/hip/schedule/problems.hpp"
#include "fusekit/backend/hip/schedule/direct.hpp"

namespace fk = fusekit;
using namespace fk::hip;

namespace {

using Conv = fk::Conv<fk::dynamic>;
using Relu = fk::Activation<fk::Relu>;
using Grouped = fk::Conv<fk::filter(3, 3).groups(8)>;

static_assert(DepthwiseEntry::describes<Depthwise<64>> && !DepthwiseEntry::describes<Direct<64>>);
static_assert(!DirectEntry::describes<Depthwise<64>>);
constexpr bool on_amd = fk::hip::arch::is_targeted<fk::hip::arch::Amd>;
static_assert(
    test::compiles<DepthwiseEntry, Depthwise<>, fk::e4m3, Relu, Conv,
                   std::conditional_t<on_amd, fk::Bias, fk::Residual>, std::conditional_t<on_amd, Relu, fk::Amax>>());
static_assert(DepthwiseEntry::has_kernel<fk::Plan<Grouped>, fk::int8, float>);
static_assert(!DepthwiseEntry::has_kernel<fk::Plan<fk::Conv<fk::filter(3, 3)>>, fk::half, fk::half>);  // one group
static_assert(!DepthwiseEntry::has_kernel<fk::Plan<fk::Conv<fk::filter(3, 3, 3).groups(8)>>, fk::half, fk::half>);
static_assert(!DepthwiseEntry::has_kernel<fk::Plan<Conv, fk::ChannelStatistics>, fk::half, fk::half>);
static_assert(!DepthwiseEntry::has_kernel<fk::Plan<fk::BatchedGemm>, fk::half, fk::half>);
template <class Head>
constexpr bool has_kernel = DepthwiseEntry::has_kernel<fk::Plan<Head>, fk::half, fk::half>;
static_assert(has_kernel<fk::TransposedConv<fk::filter(3, 3).dilation(2).groups(8)>>);
static_assert(has_kernel<fk::TransposedConv<fk::filter(3, 3).stride(2).groups(8)>>);
static_assert(!has_kernel<fk::TransposedConv<fk::filter(3, 3).stride(2).dilation(2).groups(8)>>);
static_assert(!has_kernel<fk::TransposedConv<fk::filter(9, 9).stride(2).groups(8)>>);
static_assert(!has_kernel<fk::TransposedConv<fk::filter(3, 3)>>);  // one group
static_assert(!DepthwiseEntry::splits<Depthwise<>, float, traits_of<fk::Plan<Conv>, float>()>);

template <int R, int S, int StrideH, int StrideW, fk::detail::Axis fast>
using HalfShape = DepthwiseShape<UnrolledWindow<R, S, StrideH, StrideW>, 2, fast>;
using fk::detail::Axis;
static_assert(HalfShape<3, 3, 1, 1, Axis::channel>::channels == 2 &&
              HalfShape<3, 3, 1, 1, Axis::channel>::columns == (on_amd ? 4 : 7));
static_assert(HalfShape<3, 3, 2, 2, Axis::channel>::channels == 2 &&
              HalfShape<3, 3, 2, 2, Axis::channel>::columns == 4);
static_assert(HalfShape<7, 7, 1, 1, Axis::channel>::channels == 1 &&
              HalfShape<7, 7, 1, 1, Axis::channel>::columns == 4);
static_assert(HalfShape<3, 3, 1, 1, Axis::pixel>::channels == 1 && HalfShape<3, 3, 1, 1, Axis::pixel>::columns == 8);
static_assert(has_few_taps<UnrolledWindow<3, 3, 2, 2>> && !has_few_taps<UnrolledWindow<5, 5, 1, 1>> &&
              !has_few_taps<AnyWindow>);
static_assert(DepthwiseEntry::has_part<fk::Plan<Grouped>, fk::half, true> &&
              !DepthwiseEntry::has_part<fk::Plan<Grouped>, fk::half, false>);
static_assert(WindowsOf<Conv, 2>::size == (on_amd ? 3 : 6) && WindowsOf<Grouped, 2>::size == 1);
static_assert(std::is_same_v<WindowsOf<fk::Conv<fk::filter(3, 3).dilation(2).groups(8)>, 2>, List<AnyWindow>>);
static_assert(std::is_same_v<WindowsOf<fk::Conv<fk::filter(9, 9).groups(8)>, 2>, List<AnyWindow>>);

ConvCase depthwise(std::int64_t n, std::int64_t c, std::int64_t hw, int r) {
    ConvCase of = test::problem(n, c, hw, c, r);
    of.product = {n * hw * hw, 1, c, r * r, 4.0 * static_cast<double>(n * hw * hw * c)};
    of.filter.group_count = static_cast<int>(c);
    return of;
}

}  // namespace

TEST_CASE("HIP: Depthwise implements groups of one channel, and has its threads as its number") {
    ConvCase of = depthwise(2, 24, 14, 3);
    CHECK_FALSE(DepthwiseEntry::can_implement<Depthwise<>, float, float>(of));
    of.channels_last = of.x_channels_last = of.in_bulk = of.on_matrix_units = false, of.in_slabs = true;
    CHECK_FALSE(DepthwiseEntry::can_implement<Depthwise<>, float, float>(of));
    of.x[1] = 48;
    CHECK(test::sentence(DepthwiseEntry::can_implement<Depthwise<>, float, float>(of)) ==
          "C / groups = 2 is not 1: use Direct");
    CHECK_FALSE(test::time_of<DepthwiseEntry, Depthwise<>>(of).is_finite());
    of = test::problem(2, 1, 14, 8, 3);
    CHECK(test::sentence(DepthwiseEntry::can_implement<Depthwise<>, float, float>(of)) ==
          "groups = 1 is below 2: use MatrixGemm or Gemm");
    constexpr ScheduleFacts facts = numbers_of<DepthwiseEntry, Depthwise<64>>();
    CHECK((facts.m == 64 && facts.blocks == 4));
    CHECK(std::string(DepthwiseEntry::written(facts).c_str()) == "Depthwise<64>");
}

TEST_CASE("HIP: Depthwise's time grows with the batch and is below Direct's") {
    double before = 0;
    for (std::int64_t n = 1; n <= 256; n *= 2)
        for (int const r : {3, 5, 7}) {
            ConvCase const of = depthwise(n, 144, 56, r);
            double const seconds = test::time_of<DepthwiseEntry, Depthwise<>>(of).seconds;
            CHECK(seconds < test::time_of<DirectEntry, Direct<>>(of).seconds);
            if (r != 3) continue;
            CHECK(seconds > before);
            before = seconds;
        }
}

TEST_CASE("HIP: the rows of a Depthwise thread balance waves and halo rows") {
    std::int64_t const resident = 132 * 512;
    CHECK(DepthwiseTiles::best_rows(56, 32 * 72 * 8, resident, 3, 1) == 19);  // one wave
    CHECK(DepthwiseTiles::best_rows(14, 288 * 2, resident, 3, 1) == 1);  // too few threads for taller tiles
    CHECK(DepthwiseTiles::best_rows(1, 1 << 20, resident, 1, 1) == 1);
    CHECK(DepthwiseTiles::best_rows(4096, 1 << 20, resident, 3, 1) == 64);
    CHECK(DepthwiseTiles::few_rows(56, 3, 1) == 8);
    CHECK(DepthwiseTiles::few_rows(28, 3, 1) == 7);
    CHECK(DepthwiseTiles::few_rows(3, 3, 2) == 3);
    CHECK(DepthwiseTiles::few_rows(0, 3, 1) == 1);
}
