// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/plane_tiles.hpp"
#include "fusekit/backend/hip/schedule/matrix_gemm.hpp"
#include "fusekit/backend/hip/schedule/tma_operands.hpp"

namespace fusekit::hip {

/// Schedule of a Conv with stride and dilation 1 of NCHW tensors, 16 bits or float, on sm_90a's tensor cores. A CTA
/// computes a tile of 128 channels (64 for float) x Parts parts of y. A part is at most Pixels pixels: whole rows of
/// one image or, for 1x1 windows, any pixels of one image. With Pixels = 64 or 56, a part is a whole image of up to 8 x
/// 8 or 7 x 7 pixels. Float tensors may also be channels-last (NHWC).
///
/// Errors: a call with operands that do not meet a condition throws Error with the first such condition and its value.
template <int Pixels = 240, int Parts = 1>
struct Planes {
    static constexpr int pixels = Pixels, parts = Parts, consumers = 2;
    static constexpr int products = Pixels > 128 ? 2 : 1;  ///< MMA tiles that cover the pixels of one part of y
    static constexpr int threads = (consumers + 2) * 128, blocks = 1;
    FUSEKIT_H static constexpr int channels(int element_bytes) { return element_bytes == 4 ? 64 : 64 * consumers; }
    /// Bytes of SMEM for the stages of x with elements of `size` bytes.
    FUSEKIT_H static constexpr int x_bytes(int size) { return (size == 4 ? 189 : Pixels > 128 ? 141 : 152) * 1024; }
};

template <class Schedule>
concept PlanesSchedule = HasBlocks<Schedule> && requires {
    Schedule::pixels, Schedule::parts, Schedule::products, Schedule::consumers, Schedule::x_bytes;
};

/// A convolution with a Planes schedule, for the cost model: number of tiles of y, and of blocks of channels of x.
struct PlanesProduct {
    std::int64_t tiles, channel_blocks;
    int taps, channels;  ///< taps of a filter; channels of y per tile
    /// pixels: elements of a channel in one tile of x in SMEM, with the gaps between rows; columns: sum of N over the
    /// tile's MMAs
    int pixels, columns;
    int terms;  ///< MMAs per product of x and w: 6 for float (bf16x6.hpp), else 1
    int missing = 0;  ///< channels of the last block past the last one, if TMA loads their taps as zeros
};

/// Work of the busiest SM with Planes, for the cost model. For 1x1 windows transposing x takes longer than the MMAs, in
/// proportion to the number of pixels.
FUSEKIT_H constexpr Workload planes_workload(PlanesProduct const& of, int processors) {
    int const multiplied = of.taps == 1 ? of.pixels : of.taps * of.columns, channels_of_block = of.terms == 1 ? 64 : 32;
    constexpr double missing_channel = 750;  // cycles: four layers of 32 and 48 missing channels, H200
    auto const rounds = static_cast<double>(detail::divide_up(of.tiles, processors));
    return {.rounds = rounds,
            .steps = static_cast<double>(of.channel_blocks),
            .arithmetic = of.terms * wgmma_cycles(multiplied) * channels_of_block / 16 * of.channels / 64,
            .outputs = static_cast<double>(of.pixels * of.channels),
            .exchanges = rounds * missing_channel * of.missing};
}

/// Entry of Planes in the list of schedules (dispatch/list.hpp): its name, conditions and estimated time.
struct PlanesEntry : TmaEntry<PlanesEntry> {
    static constexpr char const* name = "Planes";

    template <class Schedule>
    static constexpr bool describes = PlanesSchedule<Schedule>;
    template <class Schedule, class T, PlanTraits plan>
    static constexpr bool splits = sizeof(T) == 2;

    template <class T>
    FUSEKIT_H static constexpr PlanConditions conditions(PlanTraits const& plan) {
        PlanConditions result = MatrixGemmEntry::conditions<T>(plan);
        result.prologue = !plan.prologue, result.pool = !plan.pools || (sizeof(T) == 2 && !plan.by_pixel && !plan.taps);
        result.totals = !plan.totals, result.by_pixel = !plan.by_pixel;
        return result;
    }
    /// conditions() of the schedules that compute planes of 16 bits alone, without a Pool.
    template <class T>
    FUSEKIT_H static constexpr PlanConditions conditions_of_16_bits(PlanTraits const& plan) {
        PlanConditions result = conditions<T>(plan);
        result.factors = result.factors && detail::is_16_bits<T>, result.pool = !plan.pools;
        return result;
    }
    template <class Schedule>
    struct CanImplement {
        template <class X, class BoundPlan>
        FUSEKIT_H static consteval bool accepts(void const*, BoundPlan const*) {
            using T = ElementOf<X>;
            constexpr PlanConditions plan = conditions<T>(traits_of<typename BoundPlan::Plan, T>());
            constexpr int pixels = Schedule::pixels;
            constexpr bool tile = pixels == 240 || pixels == 64 || pixels == 56;
            static_assert(plan.factors, "Planes: x and weights must both be half, bfloat16 or float");
            static_assert(plan.products, "Planes: Products<float> needs SIMT arithmetic: use Gemm");
            static_assert(plan.prologue, "Planes: no operator before the Conv: use MatrixGemm");
            static_assert(plan.pool,
                          "Planes: a Pool, not of MaxWithTaps, follows 16-bit products and operators that depend on "
                          "the channel alone: use "
                          "MatrixGemm");
            static_assert(plan.totals, "Planes: no ChannelStatistics in the plan: use MatrixGemm");
            static_assert(plan.by_pixel, "Planes: no operator reads or writes another tensor by pixel: use MatrixGemm");
            static_assert(tile, "Planes: Pixels must be 240, 64 or 56");
            return plan.met() && tile;
        }
    };

    /// Returns the first condition on the plan, with elements T and results U, that is not met. Precondition:
    /// conditions() has no false member. Extents are not checked.
    template <class Plan, class T, class U>
    FUSEKIT_H static consteval Unmet unmet_by_plan() {
        if (Unmet const unmet = unmet_by_types<Plan, T, U>()) return unmet;
        return detail::holds(!has_transposed_conv<Plan>, "a TransposedConv", "use MatrixGemm");
    }
    /// unmet_by_plan() of the schedules that compute planes and may compute a TransposedConv.
    template <class Plan, class T, class U>
    FUSEKIT_H static consteval Unmet unmet_by_types() {
        constexpr bool of_tf32 = std::is_same_v<PlanFactor<Plan, T>, tf32>, is_conv = requires { Plan::Head::space; };
        if (Unmet const unmet = detail::unmet_by_tma_loads<Plan>()) return unmet;
        return detail::first_unmet(
            detail::holds(std::is_same_v<T, U>, "y's type is not x's", "use MatrixGemm"),
            detail::holds(!of_tf32,
                          "x and weights are not both half or bfloat16, or float without Products<float> or <tf32>",
                          "use MatrixGemm"),
            detail::holds(is_conv, "the plan has a Gemm, not a Conv", "use WarpSpecialized"));
    }

    template <class Schedule, class T>
    FUSEKIT_H static constexpr PlaneTiles<Schedule::pixels, T> tiles_of(Index<4> const& x, Index<4> const& y,
                                                                        Filter<2> const& filter, bool channels_last,
                                                                        bool pools = false) {
        return {y[2], y[3], x[2], x[3], filter, y[0], channels_last, pools};
    }
    template <class Schedule, class T, class U = T>
    FUSEKIT_H static constexpr Unmet can_implement(ConvCase const& of) {
        char const* const fix = "use MatrixGemm";
        if (Unmet const unmet = detail::first_unmet(
                detail::holds(!SplitSchedule<Schedule> || !of.pools, "split-K before a Pool",
                              "use Planes or MatrixGemm"),
                detail::at_least("R * S, before a Pool", of.pools ? of.taps : 2, 2, fix),
                detail::at_most("2 Q + S, before a Pool", of.pools ? 2 * of.y[3] + of.filter.size[1] : 0,
                                Schedule::pixels, fix)))
            return unmet;
        return can_implement<WholeSchedule<Schedule>, T>(of.x, of.y, of.filter, of.planes, of.pools);
    }
    template <class Schedule, class T>
    FUSEKIT_H static constexpr Unmet can_implement(Index<4> const& x, Index<4> const& y, Filter<2> const& filter,
                                                   detail::PlanesOrder order, bool pools = false) {
        if (Unmet const unmet = unmet_by_extents(Schedule::pixels, x, y, filter, order)) return unmet;
        bool const channels_last = order == detail::PlanesOrder::channels_last;
        auto const tiles = tiles_of<Schedule, T>(x, y, filter, channels_last, pools);
        int const stages = tiles.plane_stages(Schedule::parts, Schedule::x_bytes(sizeof(T)), 1);
        return detail::first_unmet(
            detail::at_least("stages of x in shared memory", stages < 0 ? 0 : stages, 1, "use MatrixGemm"),
            detail::at_most("rows of x of a tile", channels_last ? tiles.rows_of_x() : 0, 256, "use MatrixGemm"),
            detail::at_most("columns of x of a tile", channels_last ? tiles.pitch : 0, 256, "use MatrixGemm"));
    }
    /// Number of tiles of y: sets of Parts parts (of at most `Pixels` pixels each) times blocks of channels of y.
    template <class Schedule, class T>
    FUSEKIT_H static constexpr std::int64_t count_tiles(Index<4> const& x, Index<4> const& y, Filter<2> const& filter,
                                                        bool channels_last, bool pools = false) {
        auto const tiles = tiles_of<Schedule, T>(x, y, filter, channels_last, pools);
        return detail::divide_up(std::int64_t{tiles.images} * tiles.of_image, Schedule::parts) *
               detail::divide_up(y[1], Schedule::channels(sizeof(T)));
    }

    template <class Schedule>
    static constexpr ScheduleFacts facts{
        .m = Schedule::pixels, .n = 64 * Schedule::consumers, .parts = Schedule::parts};
    FUSEKIT_H static Text written(ScheduleFacts const& of) { return "Planes<" + detail::list_of(of.m, of.parts) + ">"; }

    FUSEKIT_H static constexpr Estimate cost(ScheduleFacts const& schedule, ConvCase const& of, CostTable const& table,
                                             GpuRates const& rates) {
        bool const whole_filters = !of.contiguous_taps || (of.filter.size[0] == 3 && of.filter.size[1] == 3);
        if (!whole_filters || of.product.groups != 1 || of.product.n < min_matrix_channels) return {};
        PlanesProduct const whole = product_of(schedule, of);
        if (whole.tiles == 0) return {};
        bool const single = of.taps == 1, floats = whole.terms > 1,
                   channels_last = of.planes == detail::PlanesOrder::channels_last;
        auto const time = [&](PlanesProduct const& part, int processors, Costs const& costs) {
            return estimate(planes_workload(part, processors), costs, of.product.bytes, table, rates);
        };
        if (schedule.splits && of.pools) return {};
        if (!schedule.splits) {
            Costs const &pixels = channels_last ? table.float_pixels
                                  : floats      ? table.float_planes
                                                : table.planes,
                        &windows = channels_last ? table.float_pixels_taps
                                   : floats      ? table.float_planes_taps
                                                 : table.planes_taps;
            return time(whole, rates.processors, single ? pixels : windows);
        }
        // Split-K: the CTAs of a cluster compute one tile, each over at least one block of 64 channels of x.
        return detail::cluster_split_estimate(whole.channel_blocks, table, rates, [&](int split_k, int processors) {
            PlanesProduct part = whole;
            part.tiles *= split_k, part.channel_blocks = detail::divide_up(part.channel_blocks, split_k);
            return time(part, processors, single ? table.shared_planes : table.shared_planes_taps);
        });
    }

private:
    /// Returns the first condition on extents and filter, for parts of `pixels` pixels, that is not met.
    FUSEKIT_H static constexpr Unmet unmet_by_extents(int pixels, Index<4> const& x, Index<4> const& y,
                                                      Filter<2> const& filter, detail::PlanesOrder order) {
        bool const channels_last = order == detail::PlanesOrder::channels_last,
                   single = detail::is_single_pixels(filter);
        if (Unmet const unmet = detail::first_unmet(
                detail::holds(order != detail::PlanesOrder::none,
                              "x's or y's planes are not contiguous at multiples of 16 bytes",
                              "pass them dense, of planes of a multiple of 16 bytes"),
                detail::unmet_by_unit_steps(filter), detail::multiple_of("C", x[1], 8, "use MatrixGemm"),
                detail::at_most("Q", single ? 0 : y[3], pixels, "use MatrixGemm")))
            return unmet;
        for (int mode = 0; mode < 2; ++mode)
            if (Unmet const unmet =
                    detail::first_unmet(detail::at_least("pad_before", filter.pad_before[mode], 0, "use MatrixGemm"),
                                        detail::at_least("pad_after", filter.pad_after[mode], 0, "use MatrixGemm"),
                                        detail::at_most("taps of a mode", filter.size[mode], pixels, "use MatrixGemm")))
                return unmet;
        if (channels_last)
            if (Unmet const unmet = detail::at_most("pixels of y", y[0] * y[2] * y[3], 1 << 30, "use MatrixGemm"))
                return unmet;
        return {};
    }
    /// PlanesProduct of a schedule for the cost model; its `tiles` is 0 if the schedule cannot compute the convolution.
    template <class Schedule, class T>
    FUSEKIT_H static constexpr PlanesProduct product_with(ConvCase const& of) {
        if (can_implement<Schedule, T>(of)) return {};
        bool const channels_last = of.planes == detail::PlanesOrder::channels_last;
        auto const tiles = tiles_of<Schedule, T>(of.x, of.y, of.filter, channels_last, of.pools);
        constexpr bool floats = std::is_same_v<T, float>;
        // Tiles of several parts that are not whole images are excluded: transposing x for them is slow.
        if (Schedule::parts > 1 && !tiles.whole() && (floats || of.taps == 1)) return {};
        int columns = Schedule::parts * Schedule::pixels;
        if constexpr (floats && Schedule::pixels == 240) columns = 2 * tiles.columns_of_half();
        return {.tiles = count_tiles<Schedule, T>(of.x, of.y, of.filter, channels_last, of.pools),
                .channel_blocks = detail::divide_up(of.x[1], tiles.channels),
                .taps = of.taps,
                .channels = Schedule::channels(sizeof(T)),
                .pixels = Schedule::parts * tiles.pixels_of_y(),
                .columns = columns,
                .terms = floats ? 6 : 1,
                .missing = !floats && of.taps > 1 && of.contiguous_taps
                               ? static_cast<int>(detail::divide_up(of.x[1], tiles.channels) * tiles.channels - of.x[1])
                               : 0};
    }
    FUSEKIT_H static constexpr PlanesProduct product_of(ScheduleFacts const& schedule, ConvCase const& of) {
        bool const floats = of.type == DataType::float32;
        if (schedule.m == 64) return floats ? PlanesProduct{} : product_with<Planes<64, 2>, half>(of);
        if (schedule.m == 56) return floats ? product_with<Planes<56, 4>, float>(of) : PlanesProduct{};
        return floats ? product_with<Planes<240, 1>, float>(of) : product_with<Planes<240, 1>, half>(of);
    }
};

}  // namespace fusekit::hip
