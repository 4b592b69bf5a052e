// SPDX-License-Identifier: MIT
#pragma once

namespace fusekit::hip {

/// A schedule of a kind is any type that has all of its numbers.
template <class Schedule>
concept HasBlocks = requires { Schedule::threads, Schedule::blocks; };
template <class Schedule>
concept WarpSpecializedSchedule = HasBlocks<Schedule> && requires {
    Schedule::tile_m, Schedule::tile_n, Schedule::stages, Schedule::consumers, Schedule::products, Schedule::ping_pong,
        Schedule::shared_bytes(2);
};
template <class Schedule>
concept HaloSchedule = HasBlocks<Schedule> && requires {
    Schedule::pixels, Schedule::channels, Schedule::most_taps, Schedule::most_stages, Schedule::halo_bytes,
        Schedule::consumers;
};
template <class Schedule>
concept PlanesSchedule = HasBlocks<Schedule> && requires {
    Schedule::pixels, Schedule::parts, Schedule::products, Schedule::consumers, Schedule::x_bytes;
};
template <class Schedule>
concept StemSchedule = HasBlocks<Schedule> && requires {
    Schedule::pixels, Schedule::channels, Schedule::most_panels, Schedule::stage_bytes, Schedule::consumers;
};
template <class Schedule>
concept GemmSchedule = HasBlocks<Schedule> && !WarpSpecializedSchedule<Schedule> &&
                       requires { Schedule::tile_m, Schedule::tile_n, Schedule::tile_k; };
template <class Schedule>
concept MatrixSchedule = GemmSchedule<Schedule> && requires { requires Schedule::on_matrix_units; };
template <class Schedule>
concept NativeSchedule = GemmSchedule<Schedule> && requires { requires Schedule::is_native; };
template <class Schedule>
concept SplitSchedule =
    (GemmSchedule<Schedule> || WarpSpecializedSchedule<Schedule> || PlanesSchedule<Schedule>) && requires {
        typename Schedule::Whole;
        Schedule::piece_k;
    };
template <class Schedule>
concept DirectSchedule = HasBlocks<Schedule> && requires { Schedule::outputs; };
template <class Schedule>
concept ElementwiseSchedule = HasBlocks<Schedule> && requires {
    Schedule::bytes, Schedule::iterations, Schedule::unroll, Schedule::tile_iterations;
};
template <class Schedule>
concept ReductionSchedule =
    HasBlocks<Schedule> && requires { Schedule::bytes, Schedule::unroll, Schedule::merges_blocks; };

namespace detail {

template <class Schedule>
struct WholeOf {
    using Type = Schedule;
};
template <SplitSchedule Schedule>
struct WholeOf<Schedule> {
    using Type = typename Schedule::Whole;
};

}  // namespace detail

/// The schedule whose tiles a Split shares; of others, the schedule.
template <class Schedule>
using WholeSchedule = typename detail::WholeOf<Schedule>::Type;

}  // namespace fusekit::hip
