// SPDX-License-Identifier: MIT
#include "fusekit/backend/host/tiling.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace fusekit::host;

TEST_CASE("tiles_per_item balances items over the threads, up to a maximum") {
    CHECK(tiles_per_item(100, 100, 1) == 100);
    CHECK(tiles_per_item(100, 100, 4) == 25);
    CHECK(tiles_per_item(100, 30, 1) == 25);   // 4 items of equal size
    CHECK(tiles_per_item(100, 30, 3) == 17);   // 6 items
    CHECK(tiles_per_item(1, 8, 16) == 1);
    for (std::int64_t tiles = 1; tiles < 60; ++tiles)
        for (std::int64_t most = 1; most < 20; ++most)
            for (int threads = 1; threads < 9; ++threads) {
                auto const taken = tiles_per_item(tiles, most, threads);
                REQUIRE((taken >= 1 && taken <= most));
            }
}

TEST_CASE("packed rows begin in different sets of the cache") {
    for (std::int64_t gemm_k = 1; gemm_k < 5000; ++gemm_k) {
        auto const stride = packed_row_stride(gemm_k);
        REQUIRE((stride >= gemm_k + 16 && stride % 16 == 0));
    }
    CHECK(apart_in_cache(packed_row_stride(512)));
    CHECK(apart_in_cache(packed_row_stride(4096)));
    CHECK(apart_in_cache(500));
    CHECK_FALSE(apart_in_cache(512));
    CHECK_FALSE(apart_in_cache(1024));
    CHECK(apart_in_cache(1040));
}
