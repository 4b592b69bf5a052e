// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/tuning/select.hpp"

#include <catch2/catch_test_macros.hpp>
#include <vector>

namespace hip = fusekit::hip;

namespace {

using Large = hip::Gemm<128, 64, 16, 3>;
using Small = hip::Gemm<64, 64, 16, 6>;

/// TileM of the schedule that is chosen for m x n in one group.
int chosen(std::int64_t m, std::int64_t n, int processors = 132) {
    std::vector<int> tiles;
    hip::with_fastest(hip::Table<Large, Small>{}, m, n, 1, processors,
                      [&]<class Schedule>(Schedule) { tiles.push_back(Schedule::tile_m); });
    REQUIRE(tiles.size() == 1);
    return tiles[0];
}

}  // namespace

TEST_CASE("HIP: large products take large tiles, and small ones enough of them for all processors") {
    CHECK(chosen(64 * 3025, 256) == 128);  // thousands of tiles of either kind
    CHECK(chosen(64 * 3025, 64) == 128);
    CHECK(chosen(64 * 49, 2048) == 64);  // 800 large tiles are 6.06 a processor, which counts as 7
    CHECK(chosen(64 * 49, 512) ==
          128);  // two large tiles or three small: two waves a scheduler, of which large load less
}

TEST_CASE("HIP: the time of a product is that of the processor with the most tiles") {
    double const one = hip::gemm_time<Large>(128, 64, 1, 132);
    CHECK(hip::gemm_time<Large>(1, 1, 1, 132) == one);
    CHECK(hip::gemm_time<Large>(128 * 132, 64, 1, 132) == one);
    CHECK(hip::gemm_time<Large>(128, 64, 132, 132) == one);
    CHECK(hip::gemm_time<Large>(128 * 133, 64, 1, 132) > one);
    CHECK(hip::gemm_time<Large>(128 * 132, 64, 1, 66) > one);
}
