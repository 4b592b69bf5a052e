// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/schedule/cluster_reduction.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace fusekit::hip;

namespace {

using Forward = ClusterReduction<1>;
using Backward = ClusterReduction<2>;
using Narrow = ClusterReduction<1, 8>;

static_assert(Forward::few == 4 && Forward::many == 16 && Forward::widest == 2);
static_assert(Backward::few == 4 && Backward::many == 7);  // two inputs share the registers
static_assert(Narrow::few == 8 && Narrow::many == 8 && Narrow::widest == 4);

/// Checks that the clusters of a cut hold every packet of their segments once, in registers of their threads.
template <class Schedule>
void check(std::int64_t segments, std::int64_t columns, std::int64_t steps, unsigned max_cluster) {
    CAPTURE(segments, columns, steps, max_cluster);
    constexpr std::int64_t processors = 132;
    ClusterCut const cut = detail::cut_into_clusters<Schedule>(segments, columns, steps, max_cluster, processors);
    std::int64_t const most = std::int64_t{Schedule::threads} * Schedule::many * max_cluster;
    if (cut.width == 0) {  // refused: too long for the registers, or more CTAs than two rounds
        std::int64_t const least =
            (steps + Schedule::threads * Schedule::many - 1) / (Schedule::threads * Schedule::many);
        CHECK((steps * (columns > 0 ? Schedule::widest / 2 : 1) > most ||
               least * (columns > 0 ? columns : segments) > max_cluster_blocks_per_processor * processors / 2));
        return;
    }
    CHECK(cut.width <= (columns > 0 ? Schedule::widest : 1));
    CHECK((cut.cluster <= max_cluster && (cut.cluster & (cut.cluster - 1)) == 0));
    CHECK((cut.packets >= 1 && cut.packets <= Schedule::many));
    std::int64_t const held = std::int64_t{Schedule::threads} / cut.width * cut.cluster * cut.packets;
    CHECK(held >= steps);
    CHECK(held - steps < std::int64_t{Schedule::threads} / cut.width * cut.cluster);
}

}  // namespace

TEST_CASE("HIP: a cluster's threads hold all packets of a reduction's segment") {
    for (std::int64_t const steps : {1, 7, 255, 256, 1024, 1025, 4099, 32768, 70001})
        for (unsigned const max_cluster : {1u, 8u, 16u})
            for (std::int64_t const segments : {1, 3, 64, 2048}) {
                check<Forward>(segments, 0, steps, max_cluster);
                check<Backward>(segments, 0, steps, max_cluster);
                check<Forward>(1, segments, steps, max_cluster);
                check<Narrow>(1, segments, steps, max_cluster);
            }
}

TEST_CASE("HIP: a reduction takes few packets per thread where they suffice, and more CTAs where SMs would be idle") {
    auto const cut = [](std::int64_t segments, std::int64_t steps) {
        return detail::cut_into_clusters<Forward>(segments, 0, steps, 8, 132);
    };
    CHECK((cut(1000, 1024).cluster == 1 && cut(1000, 1024).packets == 4));
    CHECK((cut(16, 1024).cluster == 4 && cut(16, 1024).packets == 1));  // 128 of 132 SMs would be too many
    CHECK((cut(64, 8192).cluster == 8 && cut(64, 8192).packets == 4));
    CHECK((cut(64, 32768).cluster == 8 && cut(64, 32768).packets == 16));
    CHECK(cut(64, 32769).width == 0);
    CHECK(cut(67, 32768).width == 0);  // 536 CTAs of many packets
}
