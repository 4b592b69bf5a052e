// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/schedule.hpp"
#include "fusekit/text.hpp"

namespace fusekit::hip {

enum class ScheduleKind : unsigned char {
    gemm,
    native_gemm,
    matrix_gemm,
    warp_specialized,
    halo,
    planes,
    stem,
    direct
};

/// The numbers of a schedule as a value, for what is decided or printed at run time. Numbers that its kind has not are
/// 0.
struct ScheduleFacts {
    ScheduleKind kind = ScheduleKind::gemm;
    bool splits = false;  ///< tiles are shared along GemmK
    bool ping_pong = false;
    int m = 0, n = 0,
        k = 0;  ///< of a tile; m is a part's places, or the threads of a Direct, or the warpgroups of a Stem
    int blocks = 1, stages = 0, parts = 0;

    FUSEKIT_H constexpr bool operator==(ScheduleFacts const&) const = default;

    /// As it is written: "WarpSpecialized<128, 128, 4, ping_pong>". `shared_by` is how many blocks share a tile.
    FUSEKIT_H Text name(int shared_by = 1) const {
        auto const list = [](auto... each) {
            Text all;
            ((all += (all.empty() ? "" : ", ") + Text::number(each)), ...);
            return all;
        };
        if (kind == ScheduleKind::halo) return "Halo<" + list(m) + ">";
        if (kind == ScheduleKind::stem) return "Stem<" + list(m) + ">";
        if (kind == ScheduleKind::direct) return "Direct<" + list(m) + ">";
        Text const whole = kind == ScheduleKind::gemm ? "Gemm<" + list(m, n, k, blocks) + ">"
                           : kind == ScheduleKind::warp_specialized
                               ? "WarpSpecialized<" + list(m, n, stages) + (ping_pong ? ", ping_pong" : "") +
                                     (blocks == 1 ? "" : ", " + Text::number(blocks)) + ">"
                           : kind == ScheduleKind::planes      ? "Planes<" + list(m, parts) + ">"
                           : kind == ScheduleKind::matrix_gemm ? "MatrixGemm<" + list(m, n, blocks) + ">"
                                                               : "NativeGemm<" + list(m, n, blocks, k) + ">";
        return splits ? "Split<" + whole + ", " + Text::number(shared_by) + ">" : whole;
    }
};

/// Those of a schedule's type.
template <class Schedule>
consteval ScheduleFacts facts_of() {
    ScheduleFacts facts;
    facts.blocks = Schedule::blocks;
    if constexpr (WarpSpecializedSchedule<Schedule>) {
        facts.kind = ScheduleKind::warp_specialized;
        facts.m = Schedule::tile_m, facts.n = Schedule::tile_n, facts.stages = Schedule::stages;
        facts.ping_pong = Schedule::ping_pong, facts.splits = SplitSchedule<Schedule>;
    } else if constexpr (HaloSchedule<Schedule>) {
        facts.kind = ScheduleKind::halo;
        facts.m = Schedule::pixels, facts.n = Schedule::channels;
    } else if constexpr (PlanesSchedule<Schedule>) {
        facts.kind = ScheduleKind::planes;
        facts.m = Schedule::pixels, facts.n = 64 * Schedule::consumers;
        facts.parts = WholeSchedule<Schedule>::parts, facts.splits = SplitSchedule<Schedule>;
    } else if constexpr (StemSchedule<Schedule>) {
        facts.kind = ScheduleKind::stem;
        facts.m = Schedule::consumers, facts.n = Schedule::channels;
    } else if constexpr (GemmSchedule<Schedule>) {
        facts.kind = MatrixSchedule<Schedule>   ? ScheduleKind::matrix_gemm
                     : NativeSchedule<Schedule> ? ScheduleKind::native_gemm
                                                : ScheduleKind::gemm;
        facts.m = Schedule::tile_m, facts.n = Schedule::tile_n, facts.k = Schedule::tile_k;
        facts.splits = SplitSchedule<Schedule>;
    } else {
        facts.kind = ScheduleKind::direct;
        facts.m = Schedule::threads;
    }
    return facts;
}

}  // namespace fusekit::hip
