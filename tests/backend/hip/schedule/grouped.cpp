// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/schedule/grouped.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "backend/hip/schedule/problems.hpp"
#include "fusekit/backend/hip/schedule/depthwise.hpp"
#include "fusekit/backend/hip/schedule/direct.hpp"
#include "fusekit/backend/hip/schedule/native_gemm.hpp"

namespace fk = fusekit;
using namespace fk::hip;

namespace {

using Conv = fk::Conv<fk::dynamic>;
using Relu = fk::Activation<fk::Relu>;
using Eight = fk::Conv<fk::filter(3, 3).groups(8)>;

static_assert(GroupedEntry::describes<Grouped<256>> && !GroupedEntry::describes<Depthwise<64>>);
static_assert(!DirectEntry::describes<Grouped<>> && !DepthwiseEntry::describes<Grouped<>>);
static_assert(test::compiles<GroupedEntry, Grouped<>, fk::half, Conv, fk::Residual, fk::Amax>());
static_assert(test::compiles<GroupedEntry, Grouped<256>, fk::bfloat16, Eight, Relu>());
static_assert(GroupedEntry::has_kernel<fk::Plan<Eight>, fk::half, float>);
static_assert(!GroupedEntry::has_kernel<fk::Plan<fk::Conv<fk::filter(3, 3)>>, fk::half, fk::half>);  // one group
static_assert(!GroupedEntry::has_kernel<fk::Plan<fk::Conv<fk::filter(3, 3, 3).groups(8)>>, fk::half, fk::half>);
static_assert(!GroupedEntry::has_kernel<fk::Plan<Eight>, float, float>);
static_assert(!GroupedEntry::has_kernel<fk::Plan<Eight>, fk::int8, fk::int8>);
static_assert(!GroupedEntry::has_kernel<fk::Plan<Conv, fk::ChannelStatistics>, fk::half, fk::half>);
static_assert(!GroupedEntry::has_kernel<fk::Plan<Relu, Conv>, fk::half, fk::half>);
static_assert(!GroupedEntry::has_kernel<fk::Plan<fk::BatchedGemm>, fk::half, fk::half>);
static_assert(!test::conditions<GroupedEntry, float, Conv>.factors);
static_assert(!test::conditions<GroupedEntry, fk::half, Relu, Conv>.prologue);
static_assert(!test::conditions<GroupedEntry, fk::half, Conv, fk::Pool<fk::Max, 2, 2>>.pool);
static_assert(!test::conditions<GroupedEntry, fk::half, Conv, fk::ChannelStatistics>.totals);
static_assert(!GroupedEntry::splits<Grouped<>, fk::half, traits_of<fk::Plan<Conv>, fk::half>()>);

ConvCase grouped(std::int64_t n, std::int64_t c, std::int64_t hw, std::int64_t k, int r, int groups) {
    ConvCase of = test::problem(n, c, hw, k, r);
    of.product = {n * hw * hw, k / groups, groups, c / groups * r * r,
                  2.0 * static_cast<double>(n * hw * hw * (c + k))};
    of.in_bulk = false;
    of.filter.group_count = groups;
    return of;
}
GroupedTile tile_of(ConvCase const& of) { return choose_grouped_tile(GroupedEntry::problem_of(of), 132).tile; }

}  // namespace

TEST_CASE("HIP: Grouped implements groups of even numbers of channels, at least 4") {
    auto const sentence = [](ConvCase const& of) {
        bool const is_finite = test::time_of<GroupedEntry, Grouped<>>(of).is_finite();
        auto const text = test::sentence(GroupedEntry::can_implement<Grouped<>, fk::half, fk::half>(of));
        CHECK(is_finite == text.empty());
        return text;
    };
    CHECK(sentence(grouped(2, 32, 14, 64, 3, 8)).empty());
    CHECK(sentence(grouped(2, 32, 14, 64, 3, 1)) == "groups = 1 is below 2: use MatrixGemm or NativeGemm");
    CHECK(sentence(grouped(2, 32, 14, 64, 3, 16)) == "C / groups = 2 is below 4: use Depthwise or Direct");
    CHECK(sentence(grouped(2, 40, 14, 64, 3, 8)) == "C / groups = 5 is not a multiple of 2: use NativeGemm");
    CHECK(sentence(grouped(2, 64, 14, 16, 3, 8)) == "K / groups = 2 is below 4: use Direct");
    CHECK(sentence(grouped(2, 64, 14, 72, 3, 8)) == "K / groups = 9 is not a multiple of 2: use NativeGemm");
    CHECK(sentence(grouped(2, 12, 14, 24, 3, 3)) == "C = 12 is not a multiple of 8: use NativeGemm");
    CHECK(sentence(grouped(2, 24, 14, 12, 3, 3)) == "K = 12 is not a multiple of 8: use NativeGemm");
    CHECK(sentence(grouped(2, 1024, 14, 1024, 3, 2)) ==
          "no tile of x and its filters fits 96 KB of shared memory: use NativeGemm");
    CHECK(sentence(grouped(2, 232, 14, 232, 3, 4)).empty());
    ConvCase planes = grouped(2, 32, 14, 32, 3, 4);
    double const contiguous = test::time_of<GroupedEntry, Grouped<>>(planes).seconds;
    planes.x_channel_stride = 196;
    CHECK(sentence(planes).empty());
    CHECK(test::time_of<GroupedEntry, Grouped<>>(planes).seconds > contiguous);
    constexpr ScheduleFacts facts = numbers_of<GroupedEntry, Grouped<256>>();
    CHECK((facts.m == 256 && facts.blocks == 1));
    CHECK(std::string(GroupedEntry::written(facts).c_str()) == "Grouped<256>");
}

TEST_CASE("HIP: Grouped's time grows with the batch, and is infinite on GPUs without mma.sync") {
    for (int const groups : {2, 8, 32})
        CHECK(test::grows<GroupedEntry, Grouped<>>(
            128, 56, 128, 3, [&](ConvCase& of) { of = grouped(of.x[0], 128, 56, 128, 3, groups); }));
    ConvCase const of = grouped(32, 128, 56, 128, 3, 32);
    for (auto const& where : {Architecture::sm(75), Architecture::gfx(0x90a)})
        CHECK_FALSE(GroupedEntry::cost(numbers_of<GroupedEntry, Grouped<>>(), of, NvidiaTuning::costs, rates_of(where))
                        .is_finite());
    CHECK(GroupedEntry::cost(numbers_of<GroupedEntry, Grouped<>>(), of, NvidiaTuning::costs,
                             rates_of(Architecture::sm(80)))
              .is_finite());
}

TEST_CASE("HIP: Grouped's times are those measured on an H200") {
    struct Layer {
        std::int64_t n, c, hw;
        int groups;
        double microseconds;  ///< of the chosen tile
    };
    for (auto const& [n, c, hw, groups, microseconds] : {Layer{32, 128, 56, 32, 19.8},
                                                         {32, 256, 28, 32, 11.7},
                                                         {32, 512, 14, 32, 9.9},
                                                         {32, 1024, 7, 32, 6.7},
                                                         {32, 784, 14, 49, 14.6},
                                                         {32, 784, 7, 49, 5.1},
                                                         {1, 128, 56, 32, 3.7},
                                                         {1, 256, 28, 32, 3.4},
                                                         {1, 512, 14, 32, 3.4},
                                                         {1, 1024, 7, 32, 4.3}}) {
        double const time = 1e6 * test::time_of<GroupedEntry, Grouped<>>(grouped(n, c, hw, c, 3, groups)).seconds;
        INFO(n << " " << c << " " << hw << " " << groups << ": " << time << " for " << microseconds);
        CHECK((time > 0.8 * microseconds && time < 1.25 * microseconds));
    }
}

TEST_CASE("HIP: tiles of Grouped fit the shared memory and cover whole groups") {
    for (std::int64_t const n : {1, 32})
        for (int const r : {1, 3, 5})
            for (auto const& [group_c, group_k] :
                 {std::pair{4, 4}, {4, 8}, {8, 4}, {12, 20}, {24, 24}, {40, 8}, {64, 64}}) {
                ConvCase of = grouped(n, 8 * group_c, 14, 8 * group_k, r, 8);
                GroupedTile const tile = tile_of(of);
                INFO(n << " " << r << " " << group_c << " " << group_k);
                CHECK((tile.rows > 0) == (r < 5 || group_c < 64));
                if (tile.rows == 0) continue;
                CHECK(tile.bytes() <= GroupedTile::max_shared_bytes);
                CHECK(tile.rows % GroupedTile::strip == 0);
                CHECK((tile.images == 1 || (tile.rows >= 14 && tile.columns == 14)));
                CHECK(tile.isolated == (group_c % 8 == 0 && group_k % 8 == 0));
                CHECK(8 * tile.channel_blocks >= group_c);
                CHECK(tile.halo_blocks >= tile.channel_blocks);
                CHECK(tile.pitch % 32 == 16);
                if (tile.isolated && group_k % 8 == 0) CHECK(8 * tile.channel_blocks == group_c);
            }
    GroupedTile const small = tile_of(grouped(32, 1024, 7, 1024, 3, 32));
    CHECK(small.images == 4);  // a warp has 16 columns of strips: an image of 7 x 7 has 14
    CHECK(tile_of(grouped(32, 128, 56, 128, 3, 32)).slides);
    CHECK(tile_of(grouped(32, 128, 56, 128, 3, 32)).loads == 4);
    CHECK(tile_of(grouped(32, 168, 28, 168, 3, 7)).share == 1);  // 24 filters a group
    CHECK(tile_of(grouped(32, 512, 14, 512, 3, 32)).share == 2);
    CHECK(tile_of(grouped(32, 1024, 7, 1024, 3, 32)).share == 4);
    CHECK_FALSE(tile_of(grouped(32, 512, 14, 512, 3, 32)).slides);
}
