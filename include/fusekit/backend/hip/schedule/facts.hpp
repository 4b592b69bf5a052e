// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/text.hpp"

namespace fusekit::hip {

/// Types with the members `threads` (per CTA) and `blocks` (CTAs per SM), which every schedule has.
template <class Schedule>
concept HasBlocks = requires { Schedule::threads, Schedule::blocks; };

/// Index of a schedule in the list of schedules (dispatch/list.hpp).
enum class ScheduleKind : unsigned char;

/// Template arguments of a schedule's type as a run-time value, for selection and messages. Members that this kind of
/// schedule does not have are 0.
struct ScheduleFacts {
    ScheduleKind kind{};
    bool splits = false;  ///< true if several CTAs reduce one tile along GemmK
    bool ping_pong = false;
    /// extents of the CTA's tile; for Planes m is the pixels of a part, for Direct the threads, for Stem the warpgroups
    int m = 0, n = 0, k = 0;
    int blocks = 1, stages = 0, parts = 0;

    FUSEKIT_H constexpr bool operator==(ScheduleFacts const&) const = default;

    /// Name of the schedule for messages: "WarpSpecialized<128, 128, 4, ping_pong>". `shared_by`: number of CTAs that
    /// reduce a tile.
    FUSEKIT_H Text name(int shared_by = 1) const;
};

namespace detail {

/// Text of numbers: "1, 2, 3".
FUSEKIT_H inline Text list_of(auto... each) {
    Text all;
    ((all += (all.empty() ? "" : ", ") + Text::number(each)), ...);
    return all;
}

}  // namespace detail

}  // namespace fusekit::hip
