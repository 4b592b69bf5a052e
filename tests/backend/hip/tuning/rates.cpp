// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/tuning/rates.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace fusekit::hip;

// bench/results/h200/resident_clusters.txt: what an H200's driver reports for 1 to 8 CTAs per cluster.
TEST_CASE("HIP: the number of resident clusters is within one of what an H200's driver reports") {
    constexpr int reported[3][8] = {
        {132, 66, 39, 30, 22, 17, 15, 15}, {264, 132, 79, 62, 47, 39, 32, 30}, {396, 198, 124, 92, 69, 62, 47, 45}};
    for (int blocks = 1; blocks <= 3; ++blocks)
        for (int cluster = 1; cluster <= 8; ++cluster) {
            CAPTURE(blocks, cluster);
            std::int64_t const found = resident_clusters(132, blocks, cluster),
                               expected = reported[blocks - 1][cluster - 1];
            if (cluster <= 2) CHECK(found == expected);
            CHECK((found - expected <= 1 && expected - found <= 1));
        }
    // GPUs of one GPC, and one whose SMs hold no whole cluster
    CHECK(resident_clusters(16, 1, 8) == 2);
    CHECK((resident_clusters(6, 1, 8) == 0 && resident_clusters(4, 1, 4) == 1));
}
