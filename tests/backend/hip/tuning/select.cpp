// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/tuning/select.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <string>
#include <type_traits>

#include "backend/hip/schedule/problems.hpp"
#include "fusekit/backend/hip/dispatch/candidates.hpp"

namespace hip = fusekit::hip;

namespace {

using namespace hip;

/// Rates of an H200 on which only products of half take time.
GpuRates rates(int processors = 132) {
    GpuRates result = rates_of(Architecture::sm(90));
    result.processors = processors, result.clock = 1e9, result.cache_bytes = 50, result.memory_bytes = 1e300,
    result.launch = 0;
    return result;
}

constexpr ScheduleFacts large = facts_of<Gemm<128, 64, 16, 3>>(), small = facts_of<Gemm<64, 64, 16, 6>>();

double gemm_cycles(ScheduleFacts const& schedule, Product const& of, int processors = 132) {
    Workload const workload = gemm_workload(schedule, of, processors, 128, CostTable().simt);
    return workload.rounds * workload.steps * workload.arithmetic;
}

/// TileM of the schedule chosen for m x n in one group.
int chosen(std::int64_t m, std::int64_t n) {
    Product const product{m, n, 1, 1};
    return gemm_cycles(large, product) <= gemm_cycles(small, product) ? 128 : 64;
}

}  // namespace

TEST_CASE("HIP: large products take large tiles, and small ones enough of them for all processors") {
    CHECK(chosen(64 * 3025, 256) == 128);  // thousands of tiles of either size
    CHECK(chosen(64 * 3025, 64) == 128);
    CHECK(chosen(64 * 49, 2048) == 64);  // 800 large tiles are 6.06 per processor, which counts as 7
    CHECK(chosen(64 * 49, 512) ==
          128);  // two large tiles or three small: two waves per scheduler either way; large ones load less
}

TEST_CASE("HIP: AMD's GPUs multiply int8 in tiles of 64 channels where y has no more") {
    auto const chosen = []<class... Schedules>(List<Schedules...>, std::int64_t m, std::int64_t n) {
        ScheduleFacts best{};
        double least = 1e300;
        for (ScheduleFacts const& each : {facts_of<Schedules>()...})
            if (double const cycles = gemm_cycles(each, {m, n, 1, 1}, 100); cycles < least) least = cycles, best = each;
        return best.m * 1000 + best.n;
    };
    GemmTable<AmdTuning, fusekit::int8> const table;
    CHECK(chosen(table, 64 * 200, 64) == 64064);
    CHECK(chosen(table, 64 * 100, 128) == 64128);
    CHECK(chosen(table, 64 * 3136, 256) == 128128);
}

TEST_CASE("HIP: a GEMM's estimated time is that of the busiest processor") {
    double const one = gemm_cycles(large, {128, 64, 1, 1});
    CHECK(gemm_cycles(large, {1, 1, 1, 1}) == one);
    CHECK(gemm_cycles(large, {128 * 132, 64, 1, 1}) == one);
    CHECK(gemm_cycles(large, {128, 64, 132, 1}) == one);
    CHECK(gemm_cycles(large, {128 * 133, 64, 1, 1}) > one);
    CHECK(gemm_cycles(large, {128 * 132, 64, 1, 1}, 66) > one);
    CHECK(gemm_cycles(large, {1, 1, 1, 7}) == 7 * one);
}

TEST_CASE("HIP: a workload's estimated time is its k-tiles plus overheads, or memory time") {
    CostTable table;
    table.memory_share = 1;
    GpuRates on = rates();
    on.memory_bytes = 1e9;  // one byte per cycle
    Costs const costs{.launch = 100, .round = 10, .output = 2, .step = 5, .min_step = 50, .arithmetic = 3};
    Workload const workload{.rounds = 4, .steps = 8, .arithmetic = 20, .cache_bytes = 50, .outputs = 7};
    auto const cycles = [&](Workload const& of, double bytes) {
        return std::lround(1e9 * estimate(of, costs, bytes, table, on).seconds);
    };
    CHECK(cycles(workload, 0) == 100 + 4 * (8 * 65 + 10 + 14));
    CHECK(estimate(workload, costs, 0, table, on).bound == Bound::arithmetic);
    Workload idle = workload;
    idle.arithmetic = 10;
    CHECK(cycles(idle, 0) == 100 + 4 * (8 * 50 + 10 + 14));
    CHECK(estimate(idle, costs, 0, table, on).bound == Bound::latency);
    Workload reading = workload;
    reading.cache_bytes = 66 * 50;
    CHECK(cycles(reading, 0) == 100 + 4 * (8 * 66 + 10 + 14));
    CHECK(estimate(reading, costs, 0, table, on).bound == Bound::cache);
    CHECK(std::abs(cycles(workload, 1e6) - 1000000) < 10);
    CHECK(estimate(workload, costs, 1e6, table, on).bound == Bound::memory);
    // If the times of the SMs and of memory are equal, their 4-norm is 2^(1/4) times one of them.
    CHECK(std::abs(static_cast<double>(cycles(workload, 2276)) - 2276 * 1.1892) < 8);
    on.launch = 1e-6;
    CHECK(cycles(workload, 0) == 1000 + 2276);
}

namespace {

/// Split-K factor of m x n x k on 132 processors.
int split_k(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t max_blocks = 1 << 20, double cycles = 1500) {
    static constexpr ScheduleFacts shared = facts_of<Split<Gemm<64, 64, 16, 6>>>();
    Product const product{m, n, 1, k};
    auto const time_of = [](Product const& part, double exchanges) {
        return Estimate{gemm_cycles(shared, part) + exchanges};
    };
    double const wide = gemm_cycles(large, product), narrow = gemm_cycles(small, product);
    Estimate const best = hip::detail::split_estimate(shared, 64, product, 3 * 132, max_blocks, cycles, 132, time_of);
    return best.seconds < wide && best.seconds < narrow ? best.split_k : 1;
}

}  // namespace

TEST_CASE("HIP: split-K is chosen if tiles leave processors idle and GemmK is long") {
    CHECK(split_k(49, 512, 4608) == 8);
    CHECK(split_k(784, 128, 1152) == 8);
    CHECK(split_k(196, 1024, 256) == 4);  // four ranges of 64 of GemmK
    CHECK(split_k(64 * 132, 192, 4608) == 2);  // three tiles per SM of this schedule, two of the larger one
    CHECK(split_k(64 * 132 + 1, 192, 4608) == 1);
    CHECK(split_k(49, 512, 64) == 1);
    CHECK(split_k(49, 512, 65) == 1);  // one index fewer does not pay for an exchange
    CHECK(split_k(49, 512, 128) == 2);
    CHECK(split_k(49, 512, 4608, 63) == 4);  // at most 63 CTAs: a factor of 8 needs 64 for 8 tiles
    CHECK(split_k(49, 512, 4608, 15) == 1);
}

TEST_CASE("HIP: split-K stops where exchanging accumulators costs more than it saves") {
    // A GemmK index takes 192 cycles: 64 for the products, half of that for loads, doubled with one wave per scheduler.
    double const whole = 64 * 3.0 * 512;
    CHECK(split_k(49, 512, 512, 1 << 20, 0) == 8);
    CHECK(split_k(49, 512, 512, 1 << 20, whole / 2 + 1) == 1);
    CHECK(split_k(49, 512, 512, 1 << 20, whole / 4 + 1) == 2);  // 2 -> 4 would save less than an exchange costs
    CHECK(split_k(49, 512, 512, 1 << 20, whole / 8 + 1) == 4);
    CHECK(split_k(3025, 64, 576) == 4);  // 48 tiles: a factor of 4 is two CTAs per SM, of 8 three
}

namespace {

constexpr int half_bytes = 2;

/// Channels-last convolution of half that an H200 may compute with TMA loads.
ConvCase bulk_case(std::int64_t n, std::int64_t c, std::int64_t hw, std::int64_t k, int r) {
    ConvCase of = test::problem(n, c, hw, k, r);
    of.product.bytes = static_cast<double>(half_bytes * n * hw * hw * (c + k));
    of.rows_of_pixels = false;
    return of;
}

/// Fastest schedule of a table on an H200.
template <class... Schedules>
std::string chosen_of(List<Schedules...> table, ConvCase const& of) {
    Ranking const ranking(table, of, NvidiaTuning::costs, rates_of(Architecture::sm(90)));
    return ranking.schedule(ranking.best()).name(ranking.time(ranking.best()).split_k).c_str();
}

using AllOfHalf =
    hip::detail::JoinedList<WarpSpecializedTable<NvidiaTuning, fusekit::half>,
                            List<DefaultBulkSplit<NvidiaTuning>, DefaultHalo<fusekit::half>>, MatrixTable<NvidiaTuning>,
                            List<DefaultMatrixSplit<NvidiaTuning>>, PlanesTable<NvidiaTuning, fusekit::half>,
                            PlanesSplitTable<NvidiaTuning, fusekit::half>>;
using AllOfFloat = hip::detail::JoinedList<PlanesTable<NvidiaTuning, float>, MatrixTable<NvidiaTuning, float>,
                                           List<DefaultSplit<NvidiaTuning>>, GemmTable<NvidiaTuning>>;

}  // namespace

TEST_CASE("HIP: matrix units: large GEMMs get balanced large tiles, small ones small tiles") {
    CHECK(chosen_of(AllOfHalf{}, bulk_case(64, 256, 14, 256, 3)) == "WarpSpecialized<192, 128, 4>");  // 132 tiles
    CHECK(chosen_of(AllOfHalf{}, bulk_case(64, 64, 55, 64, 3)) == "Halo<232>");  // reads x once for nine taps
    static constexpr ScheduleFacts wide = facts_of<WarpSpecialized<192, 128, 4>>(),
                                   ping_pong = facts_of<WarpSpecialized<128, 128, 4, Roles::ping_pong>>();
    auto const most = [](BulkProduct const& product) {
        return warp_specialized_workload(wide, product, 132, NvidiaTuning::costs.tma).rounds;
    };
    CHECK(most({1, 1, 9}) == 1);
    CHECK(most({192 * 132, 128, 9}) == 1);
    // One more tile costs a round; with ping-pong at least the table's fraction of one.
    TmaCosts tma = NvidiaTuning::costs.tma;
    tma.ping_pong_last_round = 0.675;
    CHECK(most({192 * 132 + 1, 128, 9}) == 2);
    CHECK(warp_specialized_workload(ping_pong, {128 * 132 + 1, 128, 9}, 132, tma).rounds ==
          Catch::Approx(1.675 + 0.325 / 132));
    CHECK(most({192 * 66, 128 * 8, 9}) == 4);
}

TEST_CASE("HIP: statistics: ping-pong, which overlaps the epilogue, is preferred") {
    ConvCase of = bulk_case(64, 256, 14, 1024, 1);
    CHECK(chosen_of(AllOfHalf{}, of) == "WarpSpecialized<192, 128, 4>");
    of.totals = true;
    CHECK(chosen_of(AllOfHalf{}, of) == "WarpSpecialized<96, 128, 5, ping_pong>");
}

TEST_CASE("HIP: statistics: tiles store their own totals if tile columns do not divide the warpgroups") {
    auto const more = [](ScheduleFacts const& schedule, std::int64_t channels) {
        ConvCase of = bulk_case(64, 256, 14, channels, 1);
        auto const round = [&] { return hip::detail::tma_costs(schedule, of, NvidiaTuning::costs, 132).round; };
        double const plain = round();
        of.totals = true;
        return round() - plain;
    };
    static constexpr ScheduleFacts one = facts_of<WarpSpecialized<192, 128, 4>>(),
                                   ping_pong = facts_of<WarpSpecialized<64, 64, 8, Roles::ping_pong>>();
    CHECK(more(one, 512) == 0);  // 4 columns, 132 CTAs
    CHECK(more(one, 1024) == NvidiaTuning::costs.totals.round);  // 8 columns
    CHECK(more(ping_pong, 512) == 0);  // 8 columns, 264 warpgroups
    CHECK(more(ping_pong, 1024) == NvidiaTuning::costs.totals_ping_pong.round);
}

TEST_CASE("HIP: narrow rows: a k-tile costs the time of its TMA loads") {
    auto const cycles = [](ScheduleFacts const& schedule, std::int64_t n) {
        return warp_specialized_workload(schedule, {192, n, 9, 1}, 132, NvidiaTuning::costs.tma).copies;
    };
    CHECK(cycles(facts_of<WarpSpecialized<192, 128, 4>>(), 64) == 5 * (192 + 64));
    CHECK(cycles(facts_of<WarpSpecialized<64, 128, 5, Roles::ping_pong>>(), 512) == 2.2 * 5 * (64 + 128));
}

TEST_CASE("HIP: taps of few channels are packed where TMA's loads of the last channels take longer") {
    constexpr auto packing = NvidiaTuning::costs.packing;
    CHECK(packing.saves(24, 9, 96));  // 4 k-tiles instead of 9
    CHECK(packing.saves(16, 9, 32));
    CHECK(packing.saves(24, 1, 144));  // rows of an odd number of packets
    CHECK_FALSE(packing.saves(64, 9, 64));
    CHECK_FALSE(packing.saves(96, 9, 96));
    CHECK_FALSE(packing.saves(144, 1, 24));
    CHECK_FALSE(packing.saves(16, 1, 16));
}

TEST_CASE("HIP: 64-byte rows: a k-tile has half of the MMAs and TMA loads of 2.8 cycles per row") {
    static constexpr ScheduleFacts narrow = facts_of<WarpSpecialized<192, 64, 8>>();
    auto const workload = [](std::int64_t n, int row_bytes) {
        return warp_specialized_workload(narrow, {192, n, 9, 0, false, row_bytes}, 132, NvidiaTuning::costs.tma);
    };
    CHECK(workload(64, 64).arithmetic * 2 == workload(64, 128).arithmetic);
    CHECK(workload(64, 64).cache_bytes * 2 == workload(64, 128).cache_bytes);
    CHECK(workload(64, 64).copies == 2.8 * (192 + 64));
    CHECK(workload(80, 64).copies == 2.8 * (192 + 64) + 48 * (4 + 1.0 / 8));  // 48 rows past the last filter
    CHECK(workload(64, 128).copies == 110 + 2.1 * 192);  // MMAs of one warpgroup
}

TEST_CASE("HIP: 8-bit elements: tiles of 64 channels are chosen for 64 channels") {
    auto const chosen = [](std::int64_t c, std::int64_t hw, std::int64_t k, int r) {
        ConvCase of = bulk_case(64, c, hw, k, r);
        of.type = fusekit::DataType::int8, of.product.bytes /= half_bytes;
        using Bytes = hip::detail::JoinedList<WarpSpecializedTable<NvidiaTuning, fusekit::int8>,
                                              List<DefaultHalo<fusekit::int8>>>;
        return chosen_of(Bytes{}, of);
    };
    CHECK(chosen(64, 55, 64, 3) == "Halo<240>");
    CHECK(chosen(64, 55, 64, 1) == "WarpSpecialized<256, 64, 8, ping_pong>");
    CHECK(chosen(64, 55, 256, 1) == "WarpSpecialized<256, 64, 8, ping_pong>");
    CHECK(chosen(128, 28, 512, 1) == "WarpSpecialized<128, 128, 4, ping_pong>");
    CHECK(chosen(128, 28, 128, 3) == "WarpSpecialized<128, 128, 4, ping_pong>");
    CHECK(chosen(512, 7, 512, 3) == "WarpSpecialized<96, 128, 5, ping_pong>");
}

TEST_CASE("HIP: Amax costs Halo more than other schedules if tiles are few") {
    using Bytes =
        hip::detail::JoinedList<WarpSpecializedTable<NvidiaTuning, fusekit::e4m3>, List<DefaultHalo<fusekit::e4m3>>>;
    auto const chosen = [](std::int64_t n, bool maxima) {
        ConvCase of = bulk_case(n, 64, 55, 64, 3);
        of.type = fusekit::DataType::float8_e4m3, of.product.bytes /= half_bytes, of.maxima = maxima;
        return chosen_of(Bytes{}, of);
    };
    CHECK(chosen(64, false) == "Halo<240>");
    CHECK(chosen(64, true) == "Halo<240>");
    CHECK(chosen(8, false) == "Halo<240>");
    CHECK(chosen(8, true) == "WarpSpecialized<192, 64, 8, ping_pong>");
}

TEST_CASE("HIP: few tiles with long GemmK are split over a cluster") {
    auto const chosen = [](std::int64_t n, std::int64_t c, std::int64_t hw, std::int64_t k, int r) {
        return chosen_of(AllOfHalf{}, bulk_case(n, c, hw, k, r));
    };
    CHECK(chosen(1, 512, 7, 512, 3) == "Split<WarpSpecialized<64, 64, 8>, 8>");
    CHECK(chosen(1, 2048, 7, 512, 1) == "Split<WarpSpecialized<64, 64, 8>, 8>");
    CHECK(chosen(2, 512, 7, 512, 3) == "Split<WarpSpecialized<64, 64, 8>, 4>");
    CHECK(chosen(1, 1024, 14, 256, 1) == "WarpSpecialized<64, 64, 8, ping_pong>");  // 3.3 us, with split-K 4.0
    CHECK(chosen(8, 512, 7, 512, 3) == "Split<WarpSpecialized<64, 64, 8>, 2>");  // 28 tiles
    CHECK(chosen(1, 480, 14, 64, 1) == "WarpSpecialized<64, 64, 8, ping_pong>");  // short sums
    CHECK(chosen(16, 512, 7, 512, 3).substr(0, 5) != "Split");  // many tiles
}

namespace {

/// Returns the convolution with NCHW tensors.
ConvCase in_planes(ConvCase of) {
    of.channels_last = of.in_bulk = false, of.planes = hip::detail::PlanesOrder::planes,
    of.contiguous_taps = of.taps > 1;
    of.x_channel_stride = of.x[2] * of.x[3], of.y_channel_stride = of.y[2] * of.y[3];
    return of;
}

/// Returns the convolution with floats.
ConvCase of_floats(ConvCase of) {
    of.type = fusekit::DataType::float32, of.product.bytes *= 2, of.terms = 6;
    return of;
}

}  // namespace

TEST_CASE("HIP: Planes is chosen where it is faster than loads through registers") {
    auto const planes = [](std::int64_t n, std::int64_t c, std::int64_t hw, std::int64_t k, int r) {
        return chosen_of(AllOfHalf{}, in_planes(bulk_case(n, c, hw, k, r)));
    };
    CHECK(planes(64, 256, 14, 256, 3) == "Planes<240, 1>");
    CHECK(planes(64, 1024, 14, 256, 1) == "Planes<240, 1>");
    CHECK(planes(64, 128, 28, 512, 1) == "Planes<240, 1>");
    CHECK(planes(64, 512, 7, 512, 3) == "Planes<64, 2>");
    CHECK(planes(64, 256, 55, 64, 1) == "Planes<240, 1>");
    CHECK(planes(64, 64, 55, 64, 1) == "MatrixGemm<128, 64, 2>");  // half of a tile's channels are out of bounds
    CHECK(planes(8, 512, 7, 512, 3) == "Split<Planes<64, 2>, 4>");
    CHECK(planes(8, 256, 14, 256, 3) == "Split<Planes<240, 1>, 4>");
    CHECK(planes(1, 512, 7, 512, 3) == "Split<Planes<64, 2>, 8>");
    CHECK(planes(1, 2048, 7, 512, 1) == "Split<MatrixGemm<64, 64, 4>, 8>");
    CHECK(planes(1, 64, 55, 64, 1) == "MatrixGemm<128, 64, 2>");
}

TEST_CASE("HIP: Planes cost: 1x1 windows count pixels, larger windows the MMA columns") {
    PlanesProduct const pixels{133, 4, 1, 128, 196, 240, 1}, windows{132, 4, 9, 64, 209, 224, 6};
    CHECK(planes_workload(pixels, 132).rounds == 2);
    CHECK(planes_workload(pixels, 132).arithmetic ==
          196 / 2 * 4 * 2);  // a 64 x n product takes n / 2 cycles for 16 channels
    CHECK(planes_workload(pixels, 132).outputs == 196 * 128);
    CHECK(planes_workload(windows, 132).rounds == 1);
    CHECK(planes_workload(windows, 132).arithmetic == 9 * 224 / 2 * 2 * 6);
}

TEST_CASE("HIP: Planes with two parts needs whole images for 1x1 windows, not for larger ones") {
    auto const time = [](std::int64_t hw, int r = 1) {
        return estimate_of(facts_of<Planes<64, 2>>(), in_planes(bulk_case(64, 256, hw, 256, r)), NvidiaTuning::costs,
                           rates_of(Architecture::sm(90)));
    };
    CHECK(time(8).is_finite());
    CHECK_FALSE(time(9).is_finite());
    CHECK(time(9, 3).is_finite());
}

TEST_CASE("HIP: floats with long GemmK are multiplied on matrix units") {
    using All = hip::detail::JoinedList<MatrixTable<NvidiaTuning, float>, List<DefaultSplit<NvidiaTuning>>,
                                        GemmTable<NvidiaTuning>>;
    auto const chosen = [](std::int64_t n, std::int64_t c, std::int64_t hw, std::int64_t k, int r) {
        return chosen_of(All{}, of_floats(bulk_case(n, c, hw, k, r)));
    };
    CHECK(chosen(64, 128, 28, 128, 3) == "MatrixGemm<128, 128, 1>");
    CHECK(chosen(64, 512, 28, 128, 1) == "MatrixGemm<128, 128, 1>");
    CHECK(chosen(64, 512, 7, 512, 3) == "MatrixGemm<128, 128, 1>");  // faster than split-K tiles
    CHECK(chosen(64, 64, 55, 64, 3) == "MatrixGemm<128, 64, 1>");
    CHECK(chosen(8, 128, 28, 128, 3) == "MatrixGemm<128, 64, 1>");  // 98 tiles; 128-channel tiles have 49
    CHECK(chosen(1, 512, 7, 512, 3) == "Split<Gemm<64, 64, 16, 4>, 8>");
}

TEST_CASE("HIP: Planes of floats is chosen where it is faster than other schedules") {
    auto const chosen = [](std::int64_t n, std::int64_t c, std::int64_t hw, std::int64_t k, int r) {
        return chosen_of(AllOfFloat{}, of_floats(in_planes(bulk_case(n, c, hw, k, r))));
    };
    CHECK(chosen(64, 256, 14, 256, 3) == "Planes<240, 1>");
    CHECK(chosen(64, 128, 28, 128, 3) == "Planes<240, 1>");
    CHECK(chosen(64, 64, 55, 64, 3) == "Planes<240, 1>");
    CHECK(chosen(64, 1024, 14, 256, 1) == "Planes<240, 1>");
    CHECK(chosen(64, 256, 55, 64, 1) == "Planes<240, 1>");
    CHECK(chosen(64, 64, 55, 256, 1) == "Planes<240, 1>");
    CHECK(chosen(64, 64, 55, 64, 1) == "Planes<240, 1>");
    CHECK(chosen(64, 128, 28, 512, 1) == "Planes<240, 1>");
    CHECK(chosen(64, 2048, 7, 512, 1) == "Planes<56, 4>");
    CHECK(chosen(64, 512, 7, 2048, 1) == "Planes<56, 4>");
    CHECK(chosen(64, 512, 7, 512, 3) == "Planes<56, 4>");
    CHECK(chosen(8, 256, 14, 1024, 1) == "Planes<240, 1>");
    CHECK(chosen(8, 128, 28, 128, 3) == "Planes<240, 1>");
    CHECK(chosen(1, 512, 7, 512, 3) == "Split<Gemm<64, 64, 16, 4>, 8>");
}

TEST_CASE("HIP: Planes of channels-last floats is chosen where it is faster than other schedules") {
    auto const chosen = [](std::int64_t n, std::int64_t c, std::int64_t hw, std::int64_t k, int r) {
        ConvCase of = of_floats(bulk_case(n, c, hw, k, r));
        of.planes = hip::detail::PlanesOrder::channels_last;
        return chosen_of(AllOfFloat{}, of);
    };
    CHECK(chosen(64, 2048, 7, 512, 1) == "Planes<240, 1>");
    CHECK(chosen(64, 512, 7, 512, 3) == "Planes<56, 4>");
    CHECK(chosen(64, 256, 14, 256, 3) == "Planes<240, 1>");
    CHECK(chosen(64, 64, 55, 64, 1) == "Planes<240, 1>");
    CHECK(chosen(1, 64, 55, 256, 1) == "Planes<240, 1>");
    CHECK(chosen(1, 512, 7, 512, 3) == "Split<Gemm<64, 64, 16, 4>, 8>");
}

TEST_CASE("HIP: a schedule that cannot implement a convolution has infinite time") {
    ConvCase of = bulk_case(64, 256, 14, 256, 3);
    auto const time = [&](ScheduleFacts const& schedule) {
        return estimate_of(schedule, of, NvidiaTuning::costs, rates_of(Architecture::sm(90)));
    };
    CHECK(time(facts_of<WarpSpecialized<192, 128, 4>>()).is_finite());
    of = bulk_case(64, 1024, 14, 256, 3);
    CHECK_FALSE(time(facts_of<DefaultHalo<fusekit::half>>()).is_finite());  // 1024 channels
    of = bulk_case(64, 256, 14, 256, 3);
    CHECK_FALSE(time(facts_of<DefaultStem>()).is_finite());
    CHECK_FALSE(time(facts_of<Planes<240, 1>>()).is_finite());
    of.on_matrix_units = false;
    CHECK_FALSE(time(facts_of<WarpSpecialized<192, 128, 4>>()).is_finite());
    CHECK_FALSE(time(facts_of<MatrixGemm<128, 64, 2>>()).is_finite());
    CHECK(time(facts_of<Gemm<64, 64, 16, 6>>()).is_finite());
}

namespace {

/// Number of convolutions that no schedule of a table can compute: few and many channels, with and without sm_90a's
/// matrix units, with and without layouts that TMA can load.
template <class... Schedules>
int left_without(List<Schedules...> table, fusekit::DataType type, int terms = 1) {
    int without = 0;
    for (std::int64_t const k : {1, 3, 20, 256})
        for (int const r : {1, 3})
            for (bool const in_bulk : {false, true}) {
                ConvCase of = bulk_case(2, 12, 7, k, r);
                of.type = type, of.terms = terms;
                of.in_bulk = of.channels_last = of.x_channels_last = in_bulk;
                auto const finds_none = [&](Architecture on, bool units) {
                    of.on_matrix_units = units;
                    return Ranking(table, of, NvidiaTuning::costs, rates_of(on)).best() < 0;
                };
                without += finds_none({}, false) + finds_none(Architecture::sm(75), false) +
                           finds_none(Architecture::sm(90), false) + finds_none(Architecture::sm(90), true);
            }
    return without;
}

}  // namespace

TEST_CASE("HIP: every element type has a schedule for every convolution") {
    using fusekit::DataType, hip::detail::JoinedList;
    using Float8 = JoinedList<WarpSpecializedTable<NvidiaTuning, fusekit::e4m3>,
                              GemmTable<NvidiaTuning, fusekit::e4m3, fusekit::e4m3>>;
    CHECK(left_without(JoinedList<AllOfHalf, GemmTable<NvidiaTuning, fusekit::half>>{}, DataType::float16) == 0);
    CHECK(left_without(JoinedList<AllOfHalf, GemmTable<NvidiaTuning, fusekit::half>>{}, DataType::bfloat16) == 0);
    CHECK(left_without(JoinedList<WarpSpecializedTable<NvidiaTuning, fusekit::int8>,
                                  GemmTable<NvidiaTuning, fusekit::int8, fusekit::int8>>{},
                       DataType::int8) == 0);
    CHECK(left_without(Float8{}, DataType::float8_e4m3) == 0);
    CHECK(left_without(Float8{}, DataType::float8_e5m2_fnuz) == 0);
    CHECK(left_without(JoinedList<MatrixTable<NvidiaTuning, float>, GemmTable<NvidiaTuning>>{}, DataType::float32, 6) ==
          0);
}

namespace {

namespace arch = hip::arch;
using hip::Architecture;

/// Tuning table of an architecture, with a number.
template <class Tag, int number>
struct Numbered {
    using Architecture = Tag;
    static constexpr int value = number;
};
using Amd = Numbered<arch::Amd, 0>;
using Gfx942 = Numbered<arch::Gfx942, 1>;
using Sm80 = Numbered<arch::Sm80, 2>;
using Sm90 = Numbered<arch::Sm90, 3>;

template <class Tunings>
int chosen_for(Architecture architecture) {
    return hip::with_tuning(Tunings{}, architecture, []<class Tuning>(Tuning) { return Tuning::value; });
}

template <class... Tags>
struct Compiling {
    template <class Tag>
    struct IsTargeted : std::bool_constant<(std::is_same_v<Tags, Tag> || ...)> {};
    using Type = typename hip::detail::CompiledFrom<IsTargeted, Amd, Gfx942, Sm80, Sm90>::Type;
};

}  // namespace

TEST_CASE("HIP: a GPU runs with the table of the nearest architecture that it extends") {
    using All = hip::List<Amd, Gfx942, Sm80, Sm90>;
    CHECK(chosen_for<All>(Architecture::gfx(0x90a)) == 0);
    CHECK(chosen_for<All>(Architecture::gfx(0x942)) == 1);
    CHECK(chosen_for<All>(Architecture::gfx(0x950)) == 1);
    CHECK(chosen_for<All>(Architecture::gfx(0x1100)) == 0);
    CHECK(chosen_for<All>(Architecture::sm(80)) == 2);
    CHECK(chosen_for<All>(Architecture::sm(89)) == 2);
    CHECK(chosen_for<All>(Architecture::sm(90)) == 3);
    CHECK(chosen_for<All>(Architecture::sm(100)) == 3);
    using Reversed = hip::List<Sm90, Sm80, Gfx942, Amd>;
    CHECK(chosen_for<Reversed>(Architecture::gfx(0x942)) == 1);
    CHECK(chosen_for<Reversed>(Architecture::sm(86)) == 2);
    CHECK(chosen_for<Reversed>(Architecture::sm(90)) == 3);
}

TEST_CASE("HIP: a GPU without a table uses the first compiled table") {
    CHECK(chosen_for<hip::List<Sm80, Sm90>>(Architecture::sm(75)) == 2);
    CHECK(chosen_for<hip::List<Sm90, Sm80>>(Architecture{}) == 3);
}

TEST_CASE("HIP: a program compiles the tables nearest to its targets") {
    static_assert(std::is_same_v<Compiling<arch::Sm90>::Type, hip::List<Sm90>>);
    static_assert(std::is_same_v<Compiling<arch::Sm86>::Type, hip::List<Sm80>>);
    static_assert(std::is_same_v<Compiling<arch::Sm86, arch::Sm89>::Type, hip::List<Sm80>>);
    static_assert(std::is_same_v<Compiling<arch::Sm80, arch::Sm90>::Type, hip::List<Sm80, Sm90>>);
    static_assert(std::is_same_v<Compiling<arch::Gfx942, arch::Gfx90a>::Type, hip::List<Amd, Gfx942>>);
    static_assert(std::is_same_v<Compiling<arch::Gfx950>::Type, hip::List<Gfx942>>);
    CHECK((std::is_same_v<hip::CompiledTunings, hip::List<hip::AmdTuning>> ||
           std::is_same_v<hip::CompiledTunings, hip::List<hip::NvidiaTuning>>));
}
