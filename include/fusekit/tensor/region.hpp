// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/tensor/dtype.hpp"
#include "fusekit/tensor/layout.hpp"
#include "fusekit/text.hpp"

namespace fusekit {

/// Order in which a run accesses the elements of an argument.
enum class Access {
    read,           ///< any element, at any time
    read_in_place,  ///< each element only for the same element of the output, before that is written
    written,
};

namespace detail {

/// Memory of one argument: elements of `type` at the addresses `first` + sum over modes of index * stride. Without
/// elements, `begin` and `end` are 0, so that the region overlaps no other.
struct Region {
    static constexpr int max_modes = 5;

    std::uintptr_t begin = 0, end = 0;  ///< address of the lowest byte, and of the one after the highest
    std::uintptr_t first = 0;  ///< address of the element with index 0 in every mode
    Access access = Access::read;
    DataType type = DataType::float32;
    int rank = 0;
    std::int64_t extent[max_modes] = {};
    std::int64_t stride[max_modes] = {};  ///< in bytes, may be negative
    Text (*operator_name)() = nullptr;
    char const* argument = "";
};

/// One mode of a region in add_up_to(): `size` is its stride in bytes, and 0 to `most` such steps lead from one element
/// of the region to another.
struct Steps {
    std::uint64_t size, most;
};

/// True if distance = sum of n[i] * steps[i].size for some integers 0 <= n[i] <= steps[i].most, or if the search needs
/// more than `tries` attempts. Precondition: steps are sorted by decreasing size. In nested layouts (is_nested) the sum
/// of all smaller steps is less than a step, so one or two values of each n[i] are tried.
[[gnu::cold, gnu::noinline]] FUSEKIT_H inline bool add_up_to(Steps const* steps, int count, std::uint64_t distance,
                                                             int& tries) {
    if (distance == 0) return true;
    if (count == 0) return false;
    if (--tries < 0) return true;
    std::uint64_t rest = 0;
    for (int i = 1; i < count; ++i) rest += steps[i].size * steps[i].most;
    std::uint64_t const size = steps->size, fewest = distance > rest ? (distance - rest + size - 1) / size : 0;
    std::uint64_t const most = distance / size < steps->most ? distance / size : steps->most;
    for (std::uint64_t n = fewest; n <= most; ++n)
        if (add_up_to(steps + 1, count - 1, distance - n * size, tries)) return true;
    return false;
}

/// True if regions with overlapping address ranges have a byte in common: steps up from a's lowest byte and down from
/// b's highest byte add up to the distance between the two bytes.
[[gnu::cold, gnu::noinline]] FUSEKIT_H inline bool share_a_byte(Region const& a, Region const& b) {
    constexpr int most = 2 * Region::max_modes + 1;
    Steps steps[most] = {};
    int count = 0;
    auto const add = [&](std::uint64_t size, std::uint64_t number) {
        int at = 0;
        while (at < count && steps[at].size > size) ++at;
        if (at < count && steps[at].size == size) {
            steps[at].most += number;
            return;
        }
        for (int i = count++; i > at; --i) steps[i] = steps[i - 1];
        steps[at] = {size, number};
    };
    for (Region const* region : {&a, &b}) {
        for (int mode = 0; mode < region->rank; ++mode) {
            std::int64_t const stride = region->stride[mode];
            if (region->extent[mode] > 1 && stride != 0)
                add(static_cast<std::uint64_t>(stride < 0 ? -stride : stride),
                    static_cast<std::uint64_t>(region->extent[mode] - 1));
        }
        add(1, static_cast<std::uint64_t>(size_of(region->type) - 1));
    }
    int tries = 1000;
    return add_up_to(steps, count, b.end - 1 - a.begin, tries);
}

/// True if two regions have a byte in common. Interleaved views, such as channel slices of one NHWC tensor, have none.
FUSEKIT_H inline bool share_memory(Region const& a, Region const& b) {
    return a.begin < b.end && b.begin < a.end && share_a_byte(a, b);
}

/// True if two regions consist of the same elements in the same order of modes.
FUSEKIT_H inline bool same_elements(Region const& a, Region const& b) {
    if (a.first != b.first || a.type != b.type || a.rank != b.rank) return false;
    for (int mode = 0; mode < a.rank; ++mode)
        if (a.extent[mode] != b.extent[mode] || (a.extent[mode] > 1 && a.stride[mode] != b.stride[mode])) return false;
    return true;
}

/// True if two regions have a byte in common and the run writes one of the regions, so that no run may use both.
FUSEKIT_H inline bool in_conflict(Region const& a, Region const& b) {
    return (a.access == Access::written || b.access == Access::written) && share_memory(a, b);
}

/// True if each mode's stride, of either sign, exceeds the distance from the first to the last element along all modes
/// with smaller strides: then no two elements overlap. Sufficient, not necessary: some interleaved layouts without
/// overlap are not nested.
template <int Rank>
FUSEKIT_H bool is_nested(Layout<Rank> layout) {
    if (has_no_elements(layout.shape)) return true;
    std::uint64_t reach = 0;
    for (int round = 0; round < Rank; ++round) {
        int smallest = -1;
        std::uint64_t least = 0;
        for (int mode = 0; mode < Rank; ++mode) {
            std::int64_t const stride = layout.stride[mode];
            auto const step = stride < 0 ? -static_cast<std::uint64_t>(stride) : static_cast<std::uint64_t>(stride);
            if (layout.shape[mode] > 1 && (smallest < 0 || step < least)) smallest = mode, least = step;
        }
        if (smallest < 0) return true;
        if (least <= reach) return false;
        reach += static_cast<std::uint64_t>(layout.shape[smallest] - 1) * least;
        layout.shape[smallest] = 1;
    }
    return true;
}

/// Text of is_nested()'s condition in error messages.
inline constexpr char const* nested_strides =
    "strides that each exceed the reach of all smaller ones, in either direction";

}  // namespace detail

}  // namespace fusekit
