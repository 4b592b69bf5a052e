// SPDX-License-Identifier: MIT
#include "fusekit/backend/host/gemm_panel.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <limits>
#include <vector>

using namespace fusekit::host;

namespace {

constexpr std::int64_t lengths[] = {1, 7, 0, 40}, gemm_k = 48, offset = 5, pitch = 64;

/// Rows of four ranges, each read from element `offset` on, and a panel.
template <class Acc>
struct Operands {
    std::vector<Acc> rows = std::vector<Acc>(static_cast<std::size_t>(tile_rows * 4 * pitch));
    std::vector<Acc> panel = std::vector<Acc>(static_cast<std::size_t>(gemm_k * panel_columns));
    KRange<Acc> ranges[4];

    Operands() {
        for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<Acc>(static_cast<int>(i * 31 % 17) - 8);
        for (std::size_t i = 0; i < panel.size(); ++i) panel[i] = static_cast<Acc>(static_cast<int>(i * 13 % 19) - 9);
        for (int range = 0; range < 4; ++range) {
            for (int row = 0; row < tile_rows; ++row)
                ranges[range].row[row] = &rows[static_cast<std::size_t>((row * 4 + range) * pitch)];
            ranges[range].length = lengths[range];
        }
    }

    BlockOperands<Acc> block(int first_row, bool skips_padding) const {
        Ahead const ahead{reinterpret_cast<char const*>(rows.data()), 24};
        return {ranges, 4, offset, panel.data(), skips_padding, ahead, first_row};
    }

    /// The sum of a row and a column over all ranges but number `skipped`.
    float expected(int row, int column, int columns, int skipped = -1) const {
        Acc sum = 0;
        std::int64_t k = 0;
        for (int range = 0; range < 4; ++range)
            for (std::int64_t i = 0; i < lengths[range]; ++i, ++k)
                if (range != skipped)
                    sum += ranges[range].row[row][offset + i] * panel[static_cast<std::size_t>(k * columns + column)];
        return static_cast<float>(sum);
    }
};

}  // namespace

TEMPLATE_TEST_CASE("the rows of a block times a panel of any vectors, from any first row on", "", float, std::int32_t) {
    Operands<TestType> const of;
    for (int vectors = 1; vectors <= panel_vectors; ++vectors)
        for (int first = 0; first < tile_rows; first += block_rows(vectors))
            for (int rows = 1; rows <= block_rows(vectors); ++rows) {
                PanelSums sums;
                for (auto& row : sums.value)
                    for (Vector& value : row) value = Vector{} + 12345.0f;
                multiply_panel(vectors, rows, of.block(first, true), sums);
                int wrong = 0;
                for (int row = first; row < first + rows; ++row)
                    for (int column = 0; column < vectors * lanes; ++column)
                        wrong += sums.value[row][column / lanes][column % lanes] !=
                                 of.expected(row, column, vectors * lanes);
                CAPTURE(vectors, first, rows);
                CHECK(wrong == 0);
            }
}

TEST_CASE("a block skips ranges of padding if it may, and multiplies them otherwise") {
    Operands<float> of;
    of.ranges[1].padding = true;
    for (int vectors = 1; vectors <= panel_vectors; ++vectors) {
        std::int64_t const columns = std::int64_t{vectors} * lanes;
        auto const panel = of.panel;
        for (std::int64_t i = 0; i < lengths[1] * columns; ++i)
            of.panel[static_cast<std::size_t>(lengths[0] * columns + i)] = std::numeric_limits<float>::quiet_NaN();
        int wrong = 0;
        for (bool const skips : {false, true}) {
            PanelSums sums;
            multiply_panel(vectors, block_rows(vectors), of.block(0, skips), sums);
            for (int row = 0; row < block_rows(vectors); ++row)
                for (int column = 0; column < columns; ++column) {
                    float const sum = sums.value[row][column / lanes][column % lanes];
                    wrong += skips ? sum != of.expected(row, column, static_cast<int>(columns), 1) : sum == sum;
                }
        }
        CAPTURE(vectors);
        CHECK(wrong == 0);
        of.panel = panel;
    }
}
