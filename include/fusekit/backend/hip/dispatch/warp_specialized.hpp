// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/dispatch/launcher.hpp"
#include "fusekit/backend/hip/dispatch/split.hpp"
#include "fusekit/backend/hip/mainloop/phased_warp_specialized.hpp"
#include "fusekit/backend/hip/mainloop/split_warp_specialized.hpp"
#include "fusekit/backend/hip/schedule/warp_specialized.hpp"
#include "fusekit/backend/hip/tuning/nvidia.hpp"

namespace fusekit::hip::detail {

/// Type: schedule of the mainloops' type: without WithKernels, and for Split<Schedule, Factor> the same for every
/// Factor.
template <class Schedule>
struct TileOf {
    using Type = Schedule;
};
template <class Schedule, Kernels which>
struct TileOf<WithKernels<Schedule, which>> {
    using Type = Schedule;
};
template <SplitSchedule Schedule>
struct TileOf<Schedule> {
    using Type = Split<typename TileOf<typename Schedule::Whole>::Type>;
};

/// Type: mainloop of a schedule with TMA loads.
template <class Tile, class Plan, Element T, OutputElement U, bool plain>
struct BulkMainloop {
    using Type = std::conditional_t<has_phases<Plan>(), PhasedWarpSpecializedGemm<Plan, Tile, T, U, plain>,
                                    WarpSpecializedGemm<Plan, Tile, T, U, plain>>;
};
template <SplitSchedule Tile, class Plan, Element T, OutputElement U, bool plain>
struct BulkMainloop<Tile, Plan, T, U, plain> {
    using Type = SplitWarpSpecializedGemm<Plan, Tile, T, U, plain>;
};

/// The kernels of a schedule for a plan (Kernels). At least one exists; the function of the other is null.
template <class Params>
struct BulkKernels {
    Kernel<Params> plain = {}, general = {};

    FUSEKIT_H bool has_general() const { return general.function != nullptr; }
    /// `prefers_general`: true if a launch selects the general kernel where both exist.
    FUSEKIT_H Kernel<Params> const& select(bool prefers_general) const {
        return plain.function && !(prefers_general && has_general()) ? plain : general;
    }
};

template <class Schedule, class Plan, Element T, OutputElement U>
FUSEKIT_H BulkKernels<ConvParams<Plan, T, U>> bulk_kernels() {
    using Tile = typename TileOf<Schedule>::Type;
    constexpr bool bits_16 = sizeof(T) == 2;
    BulkKernels<ConvParams<Plan, T, U>> result;
    if constexpr (bits_16 && kernels_of<Schedule>() != Kernels::general)
        result.plain = kernel_of<Plan, typename BulkMainloop<Tile, Plan, T, U, true>::Type>();
    if constexpr (!bits_16 || kernels_of<Schedule>() != Kernels::plain)
        result.general = kernel_of<Plan, typename BulkMainloop<Tile, Plan, T, U, false>::Type>();
    return result;
}

/// Returns the launch of persistent CTAs for `tiles` tiles, with a stream-K tail if tail.splits > 1.
template <class Plan, Element T, OutputElement U>
FUSEKIT_H Maybe<Launch<ConvParams<Plan, T, U>>> launch_tiles(Gpu const& gpu, ScheduleFacts const& schedule,
                                                             Kernel<ConvParams<Plan, T, U>> const& kernel,
                                                             ConvParams<Plan, T, U> const& params, std::int64_t tiles,
                                                             TailSplit const& tail, bool multicasts = false) {
    if (tail.splits > 1)
        return *prepare_launch(gpu, kernel, params, tail.blocks, LaunchMode::clusters, 0,
                               static_cast<unsigned>(tail.splits));
    std::int64_t const most = std::int64_t{gpu.processors()} * schedule.blocks;
    // Consecutive CTAs read the same tile of x or w. In a cluster of two they run on the same GPC (group of SMs): on an
    // H100 a launch then takes 0.96 to 1.0 of the time. With fewer tiles than SMs, clusters of two take up to a fifth
    // more.
    bool const in_pairs = launches_clusters(gpu) && most % 2 == 0 && (tiles >= most || multicasts);
    return *prepare_launch(gpu, kernel, params, tiles < most ? tiles : most,
                           in_pairs ? LaunchMode::clusters : LaunchMode::plain,
                           Plan::totals_tiles ? GridShares::workspace_bytes : 0, in_pairs ? 2 : 1);
}

/// Returns an unmet condition if threads cannot store a pool's taps by the number of their pixel.
template <class Plan>
FUSEKIT_H Unmet unmet_by_tap_stores([[maybe_unused]] typename Plan::Epilogue::Args const& arguments) {
    if constexpr (Plan::pools)
        if constexpr (Plan::Pool::writes_taps) {
            Layout<4> const& taps = get<Plan::Epilogue::size - 1>(arguments).taps.layout;
            return first_unmet(
                equal("the channel stride of the taps", taps.stride[1], 1, "pass them channels-last"),
                holds(pixel_stride(taps) > 0, "no single stride leads from each pixel of the taps to the next",
                      "pass them dense"));
        }
    return {};
}

/// Returns the launch of an sm_90a kernel. Empty, with `unmet` as the first unmet condition, if the program, the GPU or
/// an operand's layout does not support it.
template <class Plan, Element T, OutputElement U>
[[gnu::cold]] FUSEKIT_H Maybe<Launch<ConvParams<Plan, T, U>>> launch_bulk_kernel(
    Gpu const& gpu, ScheduleFacts const& schedule, BulkKernels<ConvParams<Plan, T, U>> const& kernels,
    ConvOperands<Plan, T, U> const& operands, [[maybe_unused]] int split_k, Unmet& unmet) {
    constexpr bool is_transposed = has_transposed_conv<Plan>;
    ConvParams<Plan, T, U> params{operands.bound, operands.x, operands.y};
    auto const w = typed<typename Plan::Head::template WeightElement<T>>(Plan::Head::filters(params.bound.head));
    Filter<2> const filter = window_filter(operands.filter);
    int groups = 1;
    if constexpr (ConvParams<Plan, T, U>::may_have_groups) groups = operands.filter.group_count;
    Unmet const by_stores = unmet_by_tile_stores(params.y, false);
    params.maps.stores_y = !by_stores;
    Unmet by_loads = unmet_by_loads<U, T const, T const>(params.x, is_transposed ? transposed(w, 0, 1) : w);
    if constexpr (copies_rows<Plan, T, U>) {
        bool const fits = kernels.has_general() && groups == 1 &&
                          fits_copied_rows(schedule.m, schedule.n, schedule.stages, schedule.ping_pong);
        if (by_loads && fits) params.maps.copied_bytes = copied_bytes(params.x, w);
        else params.maps.packs_taps = fits && !schedule.splits && packs_taps(params.x, w);
        if (params.maps.copied_bytes > 0) by_loads = {};
        // The threads' addresses include those of taps in the padding; a single row or column may have any stride.
        if (params.maps.copies_x())
            for (int const mode : {2, 3})
                if (params.x.layout.shape[mode] == 1) params.x.layout.stride[mode] = 0;
    }
    bool const needs_general = groups > 1 || !params.maps.stores_y || params.maps.copies_x(),
               has_fewer_blocks =
                   skips_blocks(schedule, params.x.layout.shape[1] / groups, params.y.layout.shape[1], false);
    bool const is_general = needs_general || has_fewer_blocks;
    unmet = first_unmet(
        unmet_by_code(gpu, kernels.select(is_general)),
        holds(!schedule.splits || launches_clusters(gpu), "this program has code for GPUs without clusters",
              "compile for sm_90a alone"),
        by_loads, stores_by_threads<Plan, T, U> && kernels.has_general() ? unmet_by_thread_stores(params.y) : by_stores,
        holds(groups == 1 || kernels.has_general(), "the schedule's kernel is for one group of channels",
              "name it without WithKernels"),
        params.maps.copies_x() ? Unmet{}
        : Plan::pools          ? unmet_by_pool(filter, groups > 1)
                               : unmet_by_im2col(filter, groups > 1),
        unmet_by_read(operands, unmet_by_pixels), unmet_by_tap_stores<Plan>(params.bound.epilogue));
    if (unmet) return {};
    Index<4> const& of_y = operands.output;
    std::int64_t const pixels = of_y[0] * of_y[2] * of_y[3];
    // statistics read all rows of a tile, which are zero past y's last pixel
    int const loaded = Plan::totals_tiles || pixels >= schedule.m ? schedule.m : static_cast<int>(pixels);
    // with a Pool a box of x has the windows of even rows of pixels, or those below them: half a tile
    constexpr int boxes = Plan::pools ? 2 : 1, pixels_of_result = Plan::pools ? 4 : 1;
    std::int64_t const columns = groups * divide_up(of_y[1] / groups, schedule.n),
                       tiles = divide_up(pixels, schedule.m) * columns;
    TailSplit tail;
    if constexpr (has_stream_k_tail<Plan, T>)
        if (groups == 1 && launches_clusters(gpu) && !params.maps.copies_x() &&
            fits_stream_k_tail(schedule.m, schedule.n, schedule.stages, schedule.ping_pong, schedule.blocks)) {
            constexpr std::int64_t tile_k = 128 / sizeof(T);
            std::int64_t const steps =
                w.layout.shape[2] * w.layout.shape[3] * divide_up(params.x.layout.shape[1], tile_k);
            tail = {tiles, steps, split_k, gpu.processors(), NvidiaTuning::costs.idle};
            params.split_k.count = static_cast<unsigned>(tail.splits);
            params.split_k.whole = static_cast<unsigned>(tail.whole * tail.blocks);
        }
    if constexpr (copies_rows<Plan, T, U>)
        if (kernels.has_general() && launches_clusters(gpu) && groups == 1 && !params.maps.copies_x() &&
            !schedule.splits && tail.splits == 1 && fits_multicast(schedule.m, schedule.n, schedule.ping_pong))
            params.maps.multicast = MulticastCase{schedule.m,
                                                  schedule.n,
                                                  pixels,
                                                  of_y[1],
                                                  params.x.layout.shape[1],
                                                  w.layout.shape[2] * w.layout.shape[3],
                                                  gpu.processors(),
                                                  is_general}
                                        .operand();
    bool const multicasts = params.maps.multicast != Multicast::none;
    auto const& kernel = kernels.select(is_general || multicasts);
    if (multicasts && (unmet = unmet_by_code(gpu, kernel))) return {};
    bool const encoded = encode_maps(gpu, unmet, [&] {
        Filter<2> const of_box = filter.stride(boxes * filter.strides[0], filter.strides[1]);
        return encode(params.maps, params.x, w, params.y, of_box, schedule.n, is_transposed, loaded / boxes,
                      schedule.splits ? 8 : schedule.m / pixels_of_result, groups) &&
               encode_read(params, [&](TensorMap& map, auto const& z) {
                   return encode_pixels(map, z, 64, static_cast<std::uint32_t>(schedule.m));
               });
    });
    if (!encoded) return {};
    params.maps.rows_of_x *= boxes;
    if constexpr (can_split<Plan, T>)
        if (schedule.splits) {
            params.split_k.count = static_cast<unsigned>(split_k);
            return *prepare_split_k(gpu, kernel, params, schedule, tiles);
        }
    std::int64_t const launched = launched_rows(divide_up(pixels, schedule.m), params.maps.multicast) * columns;
    return launch_tiles(gpu, schedule, kernel, params, launched, tail, multicasts);
}

/// Returns the launch of the one sm_90a kernel that computes all phases of a strided TransposedConv. Empty, with
/// `unmet` as the first unmet condition, if the program, the GPU or an operand's layout does not support it.
template <class Plan, Element T, OutputElement U>
[[gnu::cold]] FUSEKIT_H Maybe<Launch<ConvParams<Plan, T, U>>> launch_phases(
    Gpu const& gpu, ScheduleFacts const& schedule, BulkKernels<ConvParams<Plan, T, U>> const& kernels,
    ConvOperands<Plan, T, U> const& operands, Unmet& unmet) {
    ConvParams<Plan, T, U> params{operands.bound, operands.x, operands.y};
    TensorView<T const> const w = typed<T>(Plan::Head::filters(params.bound.head));
    auto& maps = params.maps;
    set_phases<ConvPhases<typename Plan::Head>>(maps, params.x.layout.shape, params.y.layout.shape, schedule.m,
                                                divide_up(params.y.layout.shape[1], schedule.n));
    bool const has_fewer_blocks = skips_blocks(schedule, params.x.layout.shape[1], params.y.layout.shape[1], true);
    auto const& kernel = kernels.select(has_fewer_blocks);
    unmet = first_unmet(unmet_by_code(gpu, kernel),
                        unmet_by_layouts<T const, T const, U>(params.x, transposed(w, 0, 1), params.y),
                        unmet_by_phases(maps), unmet_by_read(operands, unmet_by_tma));
    if (unmet) return {};
    bool const encoded = encode_maps(gpu, unmet, [&] {
        return encode_phases(maps, params.x, w, params.y, schedule.m) &&
               encode_read(params, [&](auto& to, auto const& z) {
                   bool all = true;
                   for (int i = 0; i < params.phases; ++i)
                       all = all && encode_pixels_of_phase(to[i], z, maps.phases[i], schedule.m);
                   return all;
               });
    });
    if (!encoded) return {};
    return launch_tiles(gpu, schedule, kernel, params, maps.phases[params.phases - 1].end_tile, {});
}

/// Returns the number of CTAs per tile of the stream-K tail that the cost model selects; 1 without a tail.
template <class Plan, Element T, OutputElement U>
FUSEKIT_H int choose_tail(Gpu const& gpu, ScheduleFacts const& schedule, ConvOperands<Plan, T, U> const& operands) {
    return WarpSpecializedEntry::cost(schedule, case_of(operands, true, 0), NvidiaTuning::costs, rates_of(gpu)).split_k;
}

template <>
struct Launcher<WarpSpecializedEntry> {
    template <class Schedule, class Plan, Element T, OutputElement U>
    [[gnu::cold]] FUSEKIT_H static Maybe<Launch<ConvParams<Plan, T, U>>> launch(
        Gpu const& gpu, ConvOperands<Plan, T, U> const& operands, int split_k, Unmet& unmet) {
        constexpr ScheduleFacts facts = numbers_of<WarpSpecializedEntry, Schedule>();
        if constexpr ((has_phases<Plan>() || Plan::pools) && SplitSchedule<Schedule>) {
            return {};  // an unmet condition of can_implement()
        } else {
            auto const kernels = bulk_kernels<Schedule, Plan, T, U>();
            if constexpr (has_stream_k_tail<Plan, T> &&
                          fits_stream_k_tail(facts.m, facts.n, facts.stages, facts.ping_pong, facts.blocks))
                if (split_k == 0) split_k = choose_tail(gpu, facts, operands);
            if constexpr (has_phases<Plan>()) return launch_phases(gpu, facts, kernels, operands, unmet);
            else return launch_bulk_kernel(gpu, facts, kernels, operands, split_k, unmet);
        }
    }
};

}  // namespace fusekit::hip::detail
