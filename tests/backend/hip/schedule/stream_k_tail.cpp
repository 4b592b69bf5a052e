// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/schedule/stream_k_tail.hpp"

#include <catch2/catch_test_macros.hpp>

#include "backend/hip/schedule/problems.hpp"
#include "fusekit/backend/hip/schedule/warp_specialized.hpp"
#include "fusekit/fusekit.hpp"

namespace fk = fusekit;
using namespace fk::hip;

namespace {

constexpr IdleInClusters idle = NvidiaTuning::costs.idle;
constexpr int processors = 132;

constexpr bool is(TailSplit const& tail, int splits, std::int64_t blocks, std::int64_t whole) {
    return tail.splits == splits && (splits == 1 || (tail.blocks == blocks && tail.whole == whole));
}
constexpr TailSplit divided(std::int64_t tiles, std::int64_t steps, int splits) {
    return {tiles, steps, splits, processors, idle};
}

static_assert(is(divided(198, 48, 2), 2, 132, 1), "66 tiles, each by 2 of 132 CTAs");
static_assert(is(divided(199, 48, 2), 1, 0, 0) && is(divided(132, 48, 2), 1, 0, 0) && is(divided(264, 48, 2), 1, 0, 0));
static_assert(is(divided(133, 2, 2), 2, 132, 1) && is(divided(133, 1, 2), 1, 0, 0));
static_assert(is(divided(66, 48, 2), 2, 132, 0) && is(divided(5, 48, 2), 2, 10, 0));
// clusters of 4 run on 120 of 132 SMs
static_assert(is(divided(30, 48, 4), 4, 120, 0) && is(divided(31, 48, 4), 1, 0, 0));
static_assert(is(divided(3, 4, 4), 4, 12, 0) && is(divided(3, 3, 4), 1, 0, 0));
static_assert(is(divided(121, 48, 4), 1, 0, 0) && is(divided(120, 48, 4), 1, 0, 0), "a single round alone");
static_assert(is(divided(198, 48, 1), 1, 0, 0) && is(divided(198, 48, 3), 1, 0, 0) && is(divided(140, 48, 8), 1, 0, 0));
static_assert(is({5, 9, 2, 3, idle}, 2, 2, 2), "an odd number of SMs");
static_assert(is({5, 9, 2, 1, idle}, 1, 0, 0) && is({5, 9, 4, 132, {}}, 1, 0, 0), "no SM can run a cluster");

static_assert(fits_stream_k_tail(192, 128, 4, false, 1) && fits_stream_k_tail(128, 128, 5, false, 1));
static_assert(!fits_stream_k_tail(192, 128, 2, false, 1), "the stages have no room for the accumulators");
static_assert(!fits_stream_k_tail(128, 128, 4, true, 1) && !fits_stream_k_tail(64, 64, 4, false, 1) &&
              !fits_stream_k_tail(64, 128, 4, false, 2));
static_assert(!fits_stream_k_tail(144, 128, 5, false, 1) && !fits_stream_k_tail(128, 192, 4, false, 1));

template <class T, class... Ops>
constexpr bool has_tail = has_stream_k_tail<fk::Plan<Ops...>, T>;
using Conv = fk::Conv<fk::filter(3, 3).pad(1)>;
static_assert(has_tail<fk::half, Conv> && has_tail<fk::e4m3, Conv> && has_tail<fk::bfloat16, fk::Gemm, fk::Bias>);
static_assert(!has_tail<fk::int8, Conv> && !has_tail<fk::half, Conv, fk::ChannelStatistics>);
static_assert(!has_tail<fk::half, Conv, fk::Amax>);

using Wide = WarpSpecialized<192, 128, 4>;

/// Estimate for a matrix product of `rows` rows of half on an H200.
Estimate time_of(std::int64_t rows, std::int64_t channels, std::int64_t filters) {
    return test::time_of<WarpSpecializedEntry, Wide>(test::problem(rows, channels, 1, filters, 1));
}

}  // namespace

TEST_CASE("HIP: a stream-K tail halves the estimated time of a last round that is at most half full") {
    Estimate const tail = time_of(32 * 197, 3072, 768), full = time_of(44 * 192, 3072, 768);
    CHECK(tail.split_k == 2);  // 198 tiles on 132 SMs
    CHECK(full.split_k == 1);  // 264 tiles
    CHECK((tail.seconds > 0.74 * full.seconds && tail.seconds < 0.84 * full.seconds));
    CHECK(time_of(34 * 192, 3072, 768).split_k == 1);  // 204 tiles
    CHECK(time_of(25 * 192, 3072, 768).split_k == 2);  // 150 tiles
    CHECK(time_of(22 * 192, 3072, 768).split_k == 1);  // 132 tiles
}

TEST_CASE("HIP: a stream-K tail is selected for long k-loops, also in a single round") {
    CHECK(time_of(32 * 197, 64, 768).split_k == 1);
    CHECK(time_of(32 * 197, 512, 768).split_k == 1);
    CHECK(time_of(32 * 197, 2048, 768).split_k == 2);
    CHECK(time_of(11 * 192, 3072, 768).split_k == 2);  // 66 tiles
    CHECK(time_of(12 * 192, 3072, 768).split_k == 1);  // 72 tiles
    CHECK(time_of(5 * 192, 3072, 768).split_k == 4);  // 30 tiles
    CHECK(time_of(5 * 192, 256, 768).split_k == 1);
}

TEST_CASE("HIP: a stream-K tail needs operands that TMA loads, float accumulators and no statistics") {
    auto const splits = [](auto const& change) {
        ConvCase of = test::problem(32 * 197, 3072, 1, 768, 1);
        change(of);
        return test::time_of<WarpSpecializedEntry, Wide>(of).split_k;
    };
    CHECK(splits([](ConvCase&) {}) == 2);
    CHECK(splits([](ConvCase& of) { of.type = fk::DataType::float8_e4m3; }) == 2);
    CHECK(splits([](ConvCase& of) { of.copied_bytes = 8; }) == 1);
    CHECK(splits([](ConvCase& of) { of.totals = true; }) == 1);
    CHECK(splits([](ConvCase& of) { of.maxima = true; }) == 1);
    CHECK(splits([](ConvCase& of) { of.type = fk::DataType::int8; }) == 1);
    ConvCase const of = test::problem(32 * 197, 3072, 1, 768, 1);
    CHECK(test::time_of<WarpSpecializedEntry, WarpSpecialized<128, 128, 4, Roles::ping_pong>>(of).split_k == 1);
    CHECK(test::time_of<WarpSpecializedEntry, WarpSpecialized<128, 128, 5>>(of).split_k == 2);  // 300 tiles
}
