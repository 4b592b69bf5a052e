// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/text.hpp"

namespace fusekit::hip {

/// A type is a schedule of a kind if it has all numbers of the kind.
template <class Schedule>
concept HasBlocks = requires { Schedule::threads, Schedule::blocks; };

/// Index of a schedule in the registry (list.hpp, which names the kinds).
enum class ScheduleKind : unsigned char;

/// Numbers of a schedule as a value, for run-time decisions and messages. Numbers that its kind lacks are 0.
struct ScheduleFacts {
    ScheduleKind kind{};
    bool splits = false;  ///< several CTAs reduce one tile along GemmK
    bool ping_pong = false;
    int m = 0, n = 0, k = 0;  ///< of a tile; m is a part's pixels for Planes, the threads of a Direct, or a Stem's
                              ///< warpgroups
    int blocks = 1, stages = 0, parts = 0;

    FUSEKIT_H constexpr bool operator==(ScheduleFacts const&) const = default;

    /// Formats the schedule: "WarpSpecialized<128, 128, 4, ping_pong>". `shared_by` CTAs reduce a tile.
    FUSEKIT_H Text name(int shared_by = 1) const;
};

namespace detail {

/// Formats numbers as "1, 2, 3".
FUSEKIT_H inline Text list_of(auto... each) {
    Text all;
    ((all += (all.empty() ? "" : ", ") + Text::number(each)), ...);
    return all;
}

}  // namespace detail

}  // namespace fusekit::hip
