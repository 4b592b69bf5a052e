// SPDX-License-Identifier: MIT
#include "fusekit/backend/host/gemm.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <vector>

using namespace fusekit::host;

TEMPLATE_TEST_CASE("a register tile is the product of its rows and a panel, range by range", "", float, std::int32_t) {
    std::int64_t const lengths[] = {1, 7, 0, 40};
    std::int64_t const gemm_k = 48;
    std::vector<TestType> rows(static_cast<std::size_t>(tile_rows * 4 * 64)), panel(gemm_k * tile_columns);
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<TestType>(static_cast<int>(i * 31 % 17) - 8);
    for (std::size_t i = 0; i < panel.size(); ++i) panel[i] = static_cast<TestType>(static_cast<int>(i * 13 % 19) - 9);
    KRange<TestType> ranges[4];
    for (int range = 0; range < 4; ++range) {
        for (int row = 0; row < tile_rows; ++row)
            ranges[range].row[row] = &rows[static_cast<std::size_t>((row * 4 + range) * 64)];
        ranges[range].length = lengths[range];
        prefetch(ranges[range]);
    }
    TileAccumulators sums;
    gemm_tile(sums, ranges, 4, panel.data());
    int wrong = 0;
    for (int row = 0; row < tile_rows; ++row)
        for (int column = 0; column < tile_columns; ++column) {
            TestType expected = 0;
            std::int64_t k = 0;
            for (KRange<TestType> const& range : ranges)
                for (std::int64_t i = 0; i < range.length; ++i, ++k)
                    expected += range.row[row][i] * panel[static_cast<std::size_t>(k * tile_columns + column)];
            wrong += sums.value[row][column / lanes][column % lanes] != static_cast<float>(expected);
        }
    TileAccumulators half;
    gemm_half_tile(half, ranges, 4, panel.data());
    for (int row = 0; row < tile_rows; ++row)
        for (int column = 0; column < lanes; ++column)
            wrong += half.value[row][0][column] != sums.value[row][0][column];
    CHECK(wrong == 0);
}
