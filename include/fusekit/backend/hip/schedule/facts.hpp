// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/text.hpp"

namespace fusekit::hip {

/// A schedule of a kind is any type that has all of its numbers.
template <class Schedule>
concept HasBlocks = requires { Schedule::threads, Schedule::blocks; };

/// The place of a schedule in the registry (list.hpp, which names them).
enum class ScheduleKind : unsigned char;

/// The numbers of a schedule as a value, for what is decided or printed at run time. Numbers that its kind lacks are 0.
struct ScheduleFacts {
    ScheduleKind kind{};
    bool splits = false;  ///< several CTAs reduce one tile along GemmK
    bool ping_pong = false;
    int m = 0, n = 0, k = 0;  ///< of a tile; m is a part's pixels, or the threads of a Direct, or a Stem's warpgroups
    int blocks = 1, stages = 0, parts = 0;

    FUSEKIT_H constexpr bool operator==(ScheduleFacts const&) const = default;

    /// As it is written: "WarpSpecialized<128, 128, 4, ping_pong>". `shared_by` CTAs reduce a tile.
    FUSEKIT_H Text name(int shared_by = 1) const;
};

namespace detail {

/// "1, 2, 3".
FUSEKIT_H inline Text list_of(auto... each) {
    Text all;
    ((all += (all.empty() ? "" : ", ") + Text::number(each)), ...);
    return all;
}

}  // namespace detail

}  // namespace fusekit::hip
