// SPDX-License-Identifier: MIT
#include "fusekit/tensor/region.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <limits>
#include <random>
#include <set>
#include <string>

#include "fusekit/tensor/check.hpp"

namespace fk = fusekit;

namespace {

template <int Rank>
fk::detail::Region region(std::uintptr_t first, fk::DataType type, fk::Layout<Rank> const& layout,
                          fk::Access access = fk::Access::written) {
    fk::Check check{};
    check.operator_name = check.plan = [] { return fk::Text(); };
    return check.region("", reinterpret_cast<void const*>(first), type, layout, access);
}

/// Every byte of a region of up to three modes, by definition.
std::set<std::uintptr_t> bytes_of(fk::detail::Region const& region) {
    std::set<std::uintptr_t> bytes;
    for (std::int64_t i = 0; i < region.extent[0]; ++i)
        for (std::int64_t j = 0; j < region.extent[1]; ++j)
            for (std::int64_t k = 0; k < region.extent[2]; ++k)
                for (int byte = 0; byte < fk::size_of(region.type); ++byte)
                    bytes.insert(region.first +
                                 static_cast<std::uintptr_t>(i * region.stride[0] + j * region.stride[1] +
                                                             k * region.stride[2] + byte));
    return bytes;
}

/// Channels [first, first + count) of an NHWC tensor of 64 channels.
fk::detail::Region channels_of(std::int64_t first, std::int64_t count) {
    auto layout = fk::nhwc(8, 56, 56, 64);
    layout.shape[1] = count;
    return region(4096 + static_cast<std::uintptr_t>(first) * 2, fk::DataType::float16, layout);
}

}  // namespace

TEST_CASE("strides are nested if each mode's stride exceeds the span of the smaller ones") {
    CHECK(fk::detail::is_nested(fk::nchw(2, 3, 4, 5)));
    CHECK(fk::detail::is_nested(fk::nhwc(2, 4, 5, 3)));
    CHECK(fk::detail::is_nested(fk::Layout<4>{{{2, 3, 4, 5}}, {{1000, 100, 10, 2}}}));
    CHECK(fk::detail::is_nested(fk::Layout<2>{{{1, 5}}, {{0, 1}}}));  // one element need not step
    CHECK(fk::detail::is_nested(fk::Layout<2>{{{1, 1}}, {{0, 0}}}));
    CHECK(fk::detail::is_nested(fk::Layout<3>{{{2, 0, 5}}, {{0, 0, 0}}}));
    CHECK_FALSE(fk::detail::is_nested(fk::Layout<2>{{{2, 5}}, {{4, 1}}}));
    CHECK_FALSE(fk::detail::is_nested(fk::Layout<2>{{{2, 5}}, {{0, 1}}}));
    CHECK(fk::detail::is_nested(fk::Layout<2>{{{2, 5}}, {{5, -1}}}));
    CHECK(fk::detail::is_nested(fk::Layout<2>{{{2, 5}}, {{-5, -1}}}));
    CHECK(fk::detail::is_nested(fk::Layout<2>{{{2, 5}}, {{std::numeric_limits<std::int64_t>::min(), 1}}}));
    CHECK_FALSE(fk::detail::is_nested(fk::Layout<2>{{{2, 5}}, {{-4, 1}}}));
    CHECK_FALSE(fk::detail::is_nested(fk::Layout<2>{{{2, 5}}, {{1, -1}}}));
    CHECK_FALSE(fk::detail::is_nested(fk::Layout<2>{{{3, 2}}, {{2, 3}}}));  // 0 2 4 and 3 5 7 interleave
    CHECK(fk::detail::is_nested(fk::Layout<2>{{{2, 5}}, {{5, 1}}}));
}

TEST_CASE("a region has the bytes of its elements, of strides of either sign") {
    std::minstd_rand draw(1);
    auto const below = [&](int bound) { return static_cast<int>(draw() % static_cast<unsigned>(bound)); };
    int shared = 0, apart = 0;
    for (int round = 0; round < 20000; ++round) {
        fk::detail::Region both[2];
        for (fk::detail::Region& one : both) {
            fk::Layout<3> layout{};
            for (int mode = 0; mode < 3; ++mode)
                layout.shape[mode] = below(20) == 0 ? 0 : 1 + below(4), layout.stride[mode] = below(41) - 20;
            auto const type = below(2) ? fk::DataType::float32 : fk::DataType::float16;
            one = region(static_cast<std::uintptr_t>(1000 + below(150)), type, layout);
            auto const bytes = bytes_of(one);
            if (bytes.empty()) {
                REQUIRE((one.begin == 0 && one.end == 0));
                continue;
            }
            REQUIRE(one.begin == *bytes.begin());
            REQUIRE(one.end == *bytes.rbegin() + 1);
        }
        auto const a = bytes_of(both[0]), b = bytes_of(both[1]);
        bool const meet = std::any_of(a.begin(), a.end(), [&](std::uintptr_t byte) { return b.count(byte) > 0; });
        REQUIRE(fk::detail::share_memory(both[0], both[1]) == meet);
        REQUIRE(fk::detail::share_memory(both[1], both[0]) == meet);
        ++(meet ? shared : apart);
    }
    CHECK(shared > 1000);
    CHECK(apart > 1000);
}

TEST_CASE("slices of one tensor share no memory, though their ranges of addresses overlap") {
    CHECK_FALSE(fk::detail::share_memory(channels_of(0, 32), channels_of(32, 32)));
    CHECK_FALSE(fk::detail::share_memory(channels_of(63, 1), channels_of(0, 63)));
    CHECK(fk::detail::share_memory(channels_of(0, 33), channels_of(32, 32)));
    CHECK(fk::detail::share_memory(channels_of(5, 1), channels_of(0, 64)));
    auto even = fk::nchw(8, 64, 56, 28);
    for (int mode = 0; mode < 4; ++mode) even.stride[mode] *= 2;
    auto const columns = [&](std::uintptr_t first) { return region(4096 + 4 * first, fk::DataType::float32, even); };
    CHECK_FALSE(fk::detail::share_memory(columns(0), columns(1)));
    CHECK(fk::detail::share_memory(columns(0), columns(2)));
    CHECK_FALSE(fk::detail::share_memory(columns(0), columns(8 * 64 * 56 * 56)));
}

TEST_CASE("regions count as overlapping if the search takes too long") {
    fk::Layout<5> tangled{{{97, 97, 97, 97, 97}}, {{2, 6, 10, 14, 22}}};
    CHECK(fk::detail::share_memory(region(4096, fk::DataType::int8, tangled),
                                   region(4097 + 2000, fk::DataType::int8, tangled)));
}

TEST_CASE("reads of the same memory do not conflict") {
    auto const layout = fk::nchw(1, 2, 3, 4);
    auto const with = [&](fk::Access access) { return region(4096, fk::DataType::float32, layout, access); };
    CHECK_FALSE(fk::detail::in_conflict(with(fk::Access::read), with(fk::Access::read_in_place)));
    CHECK(fk::detail::in_conflict(with(fk::Access::read), with(fk::Access::written)));
    CHECK(fk::detail::in_conflict(with(fk::Access::written), with(fk::Access::written)));
}
