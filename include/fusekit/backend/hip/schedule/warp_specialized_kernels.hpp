// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/schedule/conv_case.hpp"
#include "fusekit/backend/hip/schedule/facts.hpp"
#include "fusekit/backend/hip/schedule/split.hpp"

namespace fusekit::hip {

/// Kernels of a WarpSpecialized schedule for 16-bit elements; a launch selects one. plain: TMA loads x and the
/// weights and stores y, there is one group of channels, and the MMAs of all k-tiles are the same. general: without
/// these conditions; it skips k-blocks past a tap's last channel, and takes 2 to 10 % longer where there are none. For
/// 8-bit elements there is one kernel, which skips k-blocks.
enum class Kernels { both, plain, general };

/// WarpSpecialized schedule, also in Split, that compiles the kernels `which`. The library names it for tiles whose
/// general kernel is rarely faster than another tile's, and where it knows the layouts.
template <class Schedule, Kernels which>
struct WithKernels : Schedule {
    static constexpr Kernels kernels = which;
};

template <class Schedule, Kernels which>
inline constexpr int split_k_of<WithKernels<Schedule, which>> = split_k_of<Schedule>;

/// Kernels that a schedule's type names; both if it names none.
template <class Schedule>
FUSEKIT_H consteval Kernels kernels_of() {
    if constexpr (requires { Schedule::kernels; }) return Schedule::kernels;
    else return Kernels::both;
}

/// True if the general kernel has code for operands that are misaligned for TMA: four warps divide a tile's rows into
/// blocks of 8, and SMEM has room for the stages of 16-bit operands, the staged tile of y, and CopiedRows' data
/// (copy/copied_rows.hpp): per row a RowSource of 16 bytes, and 5 bytes of Tails per stage.
FUSEKIT_H constexpr bool fits_copied_rows(int m, int n, int stages, bool ping_pong) {
    int const tiles_of_y = ping_pong ? 2 : 1;
    return m % 32 == 0 && stages * (m + n) * 128 + tiles_of_y * m * n * 2 + (m + n) * (16 + 5 * stages) <= 224 * 1024;
}

namespace detail {

/// True if a plain kernel does not compute a convolution of 16-bit elements.
FUSEKIT_H constexpr bool needs_general(ConvCase const& of) {
    return size_of(of.type) == 2 && (of.product.groups > 1 || of.copied_bytes > 0 || !of.stores_by_tma);
}

/// True if the general kernel of 16-bit elements has fewer MMAs than the plain one: the last k-tile of a tap's
/// `channels` channels has k-blocks without channels, or one phase with cooperative roles has a warpgroup without any
/// of the `filters` channels of y. By skipping them, 64-55-55-64-3x3 with 192 x 128 takes 40 microseconds instead
/// of 50.
FUSEKIT_H constexpr bool skips_blocks(ScheduleFacts const& schedule, std::int64_t channels, std::int64_t filters,
                                      bool has_phases) {
    constexpr int of_tile = 64, of_block = 16, of_warpgroup = 64;
    std::int64_t const last = channels % of_tile, last_filters = filters % schedule.n;
    return (last > 0 && last <= of_tile - of_block) ||
           (!has_phases && !schedule.ping_pong && last_filters > 0 && last_filters <= schedule.n - of_warpgroup);
}

}  // namespace detail

}  // namespace fusekit::hip
