// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/schedule/warp_specialized_workload.hpp"

#include <catch2/catch_test_macros.hpp>

#include "backend/hip/schedule/problems.hpp"

using namespace fusekit::hip;

namespace {

constexpr ScheduleFacts schedule{.m = 128, .n = 128, .stages = 4};
/// Costs of which a test sets those it measures.
constexpr TmaCosts no_costs{.products = 1, .shared_memory = 0};

Workload work(BulkProduct const& of, TmaCosts const& costs = no_costs, int processors = 132) {
    return warp_specialized_workload(schedule, of, processors, costs);
}

}  // namespace

TEST_CASE("HIP: a k-tile of 128 x 128 takes the cycles of its MMAs and reads its operands from L2") {
    Workload const one = work({.m = 132 * 128, .n = 128, .steps = 9});
    CHECK((one.rounds == 1 && one.steps == 9 && one.outputs == 128 * 128));
    CHECK(one.arithmetic == 2 * 4 * 64);  // two blocks of 64 channels, four k-blocks, 64 cycles each
    CHECK(one.cache_bytes == 256 * 128);
    CHECK(one.copies == 0);
    CHECK(work({.m = 132 * 128 + 1, .n = 128, .steps = 9}).rounds == 2);
    CHECK(work({.m = 132 * 128, .n = 129, .steps = 9}).rounds == 2);
    CHECK(work({.m = 66 * 128, .n = 128, .steps = 9}).cache_bytes == one.cache_bytes / 2);  // half of the SMs read
    CHECK(work({.m = 16 * 128, .n = 64, .steps = 9, .groups = 8}).rounds == 1);
    CHECK(work({.m = 17 * 128, .n = 64, .steps = 9, .groups = 8}).rounds == 2);
}

TEST_CASE("HIP: the time of a k-tile is that of its slowest part") {
    TmaCosts costs = no_costs;
    costs.shared_memory = 4;  // reading 64 + 128 rows takes 192 cycles, the MMAs 64
    CHECK(work({.m = 128, .n = 128, .steps = 1}, costs).arithmetic == 2 * 4 * 192);
    costs = no_costs, costs.chain = 100, costs.chain_row = 1;
    CHECK(work({.m = 128, .n = 128, .steps = 1}, costs).copies == 228);
    costs.narrow_row = 2, costs.odd_row = 3;  // of 256 rows
    CHECK(work({.m = 128, .n = 128, .steps = 1, .narrow = 0.5}, costs).copies == 256);
    CHECK(work({.m = 128, .n = 128, .steps = 1, .narrow = 1, .odd_packets = true}, costs).copies == 768);
    // rows of odd packets in whole k-tiles, too: 132 SMs, half of them, and with half of an operand from another CTA
    costs.misaligned_row = 4, costs.least_misaligned_row = 3;
    BulkProduct misaligned{.m = 132 * 128, .n = 128, .steps = 2, .narrow = 0.5, .odd_packets = true};
    CHECK(work(misaligned, costs).copies == 4 * 256);
    misaligned.multicast = Multicast::x;
    CHECK(work(misaligned, costs).copies == 4 * 192);
    misaligned.multicast = Multicast::none, misaligned.m = 66 * 128;
    CHECK(work(misaligned, costs).copies == 3 * 256);
    costs.clipped_odd_row = 5, misaligned.last_packets = 3;  // which half of the k-tiles have
    CHECK(work(misaligned, costs).copies == 4 * 256);
    misaligned.last_packets = 1;
    CHECK(work(misaligned, costs).copies == 3 * 256);
}

TEST_CASE("HIP: rows past the last filter take time only if TMA loads them") {
    TmaCosts costs = no_costs;
    costs.row_beyond = 1, costs.processors_beyond = 1e9;
    auto const copies = [&](BulkProduct const& of) { return work(of, costs).copies; };
    CHECK(copies({.m = 128, .n = 256, .steps = 1}) == 0);
    CHECK(copies({.m = 128, .n = 130, .steps = 1}) > 125);
    CHECK(copies({.m = 128, .n = 130, .steps = 1, .pads_columns = false}) == 0);
    CHECK(copies({.m = 128, .n = 100, .steps = 1}) == 0);  // one column of tiles, whose boxes end with the last filter
}
