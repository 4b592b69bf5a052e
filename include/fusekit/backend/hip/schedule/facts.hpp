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
    int blocks = 1;  ///< CTAs per SM
    int stages = 0;
    int parts = 0;  ///< Planes: parts of images in a tile; GatheredPlanes: consumer warpgroups that also gather
    /// WarpSpecialized: true without the general kernel (Kernels::plain). Not part of a name, and not compared: tables
    /// of measured schedules do not store it.
    bool is_plain = false;

    FUSEKIT_H constexpr bool operator==(ScheduleFacts const& of) const {
        return kind == of.kind && splits == of.splits && ping_pong == of.ping_pong && m == of.m && n == of.n &&
               k == of.k && blocks == of.blocks && stages == of.stages && parts == of.parts;
    }

    /// Name of the schedule for messages: "WarpSpecialized<128, 128, 4, ping_pong>". `split_k`: CTAs per tile, of the
    /// last round's tiles if the schedule is WarpSpecialized.
    FUSEKIT_H Text name(int split_k = 1) const;
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
