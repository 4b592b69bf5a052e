// SPDX-License-Identifier: MIT
#include "fusekit/plan/pairwise.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

namespace fk = fusekit;

namespace {

std::string tree(std::int64_t end, std::int64_t block) {
    return fk::detail::pairwise(
        0, end, block,
        [](std::int64_t begin, std::int64_t last) {
            std::string leaf;
            for (; begin < last; ++begin) leaf += std::to_string(begin);
            return leaf;
        },
        [](std::string const& a, std::string const& b) { return "(" + a + " " + b + ")"; });
}

}  // namespace

TEST_CASE("pairwise totals merge full first halves") {
    CHECK(tree(0, 2) == "");
    CHECK(tree(2, 2) == "01");
    CHECK(tree(3, 2) == "(01 2)");
    CHECK(tree(8, 1) == "(((0 1) (2 3)) ((4 5) (6 7)))");
    CHECK(tree(7, 2) == "((01 23) (45 6))");
    CHECK(tree(5, 1) == "(((0 1) (2 3)) 4)");
}

TEST_CASE("each_row visits a range of elements row by row") {
    using Rows = std::vector<std::vector<std::int64_t>>;
    auto const rows = [](std::int64_t begin, std::int64_t end, std::int64_t columns) {
        Rows all;
        fk::detail::each_row(begin, end, columns, [&](std::int64_t row, std::int64_t first, std::int64_t last) {
            all.push_back({row, first, last});
        });
        return all;
    };
    CHECK(rows(0, 6, 3) == Rows{{0, 0, 3}, {1, 0, 3}});
    CHECK(rows(2, 8, 3) == Rows{{0, 2, 3}, {1, 0, 3}, {2, 0, 2}});
    CHECK(rows(4, 5, 3) == Rows{{1, 1, 2}});
    CHECK(rows(4, 4, 3).empty());
}
