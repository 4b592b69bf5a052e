// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/target.hpp"
#include "fusekit/backend/hip/depthwise_halo_tiles.hpp"
#include "fusekit/backend/hip/depthwise_plane_tiles.hpp"
#include "fusekit/backend/hip/depthwise_tiles.hpp"
#include "fusekit/backend/hip/schedule/entry.hpp"

namespace fusekit::hip {

/// Schedule of a depthwise convolution, or of its gradient by x: groups of one channel of x, with any number of filters
/// each. A thread computes several rows of y, a few channels and columns wide, by FMAs in float (int32 for int8). It
/// keeps the weights and the accumulators of incomplete rows of y in registers, and loads each row of x once.
///
/// Errors: a call with operands that do not meet a condition throws Error with the first such condition and its value.
template <int Threads = 128>
struct Depthwise {
    static constexpr int threads = Threads, blocks = 4, max_columns = 8;
};

template <class Schedule>
concept DepthwiseSchedule = HasBlocks<Schedule> && requires { Schedule::max_columns; };

using DefaultDepthwise = Depthwise<128>;

/// Entry of Depthwise in the list of schedules (dispatch/list.hpp): its name, conditions and estimated time.
struct DepthwiseEntry : ConvEntry {
    static constexpr char const* name = "Depthwise";

    template <class Schedule>
    static constexpr bool describes = DepthwiseSchedule<Schedule>;

    template <class T>
    FUSEKIT_H static constexpr PlanConditions conditions(PlanTraits const& plan) {
        return {.pool = !plan.pools, .totals = !plan.totals};
    }
    template <class Schedule>
    struct CanImplement {
        template <class X, class BoundPlan>
        FUSEKIT_H static consteval bool accepts(void const*, BoundPlan const*) {
            using Plan = typename BoundPlan::Plan;
            using T = ElementOf<X>;
            constexpr PlanConditions plan = conditions<T>(traits_of<Plan, T>());
            constexpr bool threads = Schedule::threads % 64 == 0 && Schedule::threads <= 128,
                           window = is_window<Plan, T>;
            static_assert(window,
                          "Depthwise: the plan must have a Conv or TransposedConv of signals or images whose filter "
                          "may have groups; a TransposedConv with strides also needs a filter without dilation, of at "
                          "most 9 x 9 and strides of at most 4");
            static_assert(plan.pool, "Depthwise: no Pool in the plan: use Direct");
            static_assert(plan.totals, "Depthwise: no ChannelStatistics in the plan: use Direct");
            constexpr bool registers = fits_registers<Plan>;
            static_assert(registers, "Depthwise: on AMD the epilogue must not depend on the pixel: use Direct");
            static_assert(threads, "Depthwise: a block must have 64 or 128 threads");
            return plan.met() && threads && window && registers;
        }
    };

    /// True if a plan's head is a Conv or TransposedConv of signals or images whose filter may have several groups of
    /// channels. A TransposedConv with a stride needs a SpreadWindow.
    template <class Plan, class T>
    FUSEKIT_H static consteval bool has_window() {
        if constexpr (!detail::has_head_of_images<Plan>()) return false;
        else if constexpr (!Plan::Head::may_be_grouped) return false;
        else return WindowsOf<typename Plan::Head, static_cast<int>(sizeof(T))>::size > 0;
    }
    template <class Plan, class T>
    static constexpr bool is_window = has_window<Plan, T>();
    /// False for epilogues on AMD that depend on the pixel: clang 19 keeps their coordinates and parameters of a row of
    /// pixels in scratch memory.
    template <class Plan>
    static constexpr bool fits_registers = !arch::is_targeted<arch::Amd> || !Plan::Epilogue::pixelwise;
    template <class Plan, class T, class U>
    static constexpr bool has_kernel =
        is_window<Plan, T> && conditions<T>(traits_of<Plan, T>()).met() && Element<U> && fits_registers<Plan>;

    template <class... Window>
    FUSEKIT_H static constexpr bool has_halo_window(List<Window...>) {
        return (false || ... || DepthwiseHaloShape<Window>::fits);
    }
    /// True if a plan has a kernel that reads x from SMEM, where cp.async stores a halo: of 16-bit elements on NVIDIA,
    /// without operators before the filter.
    template <class Plan, class T, class U>
    FUSEKIT_H static consteval bool has_halo_kernel() {
        if constexpr (!has_kernel<Plan, T, U> || arch::is_targeted<arch::Amd> || sizeof(T) != 2) return false;
        else
            return Plan::Prologue::size == 0 &&
                   has_halo_window(WindowsOf<typename Plan::Head, static_cast<int>(sizeof(T))>{});
    }
    template <class Plan, class T, class U>
    static constexpr bool has_halo = has_halo_kernel<Plan, T, U>();

    template <bool few_taps, class... Window>
    FUSEKIT_H static constexpr bool has_windows(List<Window...>) {
        return (false || ... || (has_few_taps<Window> == few_taps));
    }
    /// True if a plan has filter types with few taps (has_few_taps), or others.
    template <class Plan, class T, bool few_taps>
    static constexpr bool has_part =
        has_windows<few_taps>(WindowsOf<typename Plan::Head, static_cast<int>(sizeof(T))>{});
    template <bool few_taps, class... Window>
    FUSEKIT_H static constexpr bool has_unrolled_windows(List<Window...>) {
        return (false || ... || is_unrolled<Window, few_taps>);
    }
    /// True if a plan has an UnrolledWindow of few taps, or one of more.
    template <class Plan, class T, bool few_taps>
    static constexpr bool has_unrolled =
        has_unrolled_windows<few_taps>(WindowsOf<typename Plan::Head, static_cast<int>(sizeof(T))>{});
    /// True if a plan has a kernel that copies planes of NCHW tensors through SMEM, on NVIDIA.
    template <class Plan, class T, class U>
    FUSEKIT_H static consteval bool has_planes_kernel() {
        if constexpr (!has_kernel<Plan, T, U> || arch::is_targeted<arch::Amd> || sizeof(T) == 1) return false;
        else return has_unrolled<Plan, T, true> || has_unrolled<Plan, T, false>;
    }
    template <class Plan, class T, class U>
    static constexpr bool has_planes = has_planes_kernel<Plan, T, U>();

    template <class Schedule, class T, class U>
    FUSEKIT_H static constexpr Unmet can_implement(ConvCase const& of) {
        return detail::first_unmet(
            detail::at_least("groups", of.product.groups, 2, "use MatrixGemm or Gemm"),
            detail::equal("C / groups", of.product.groups > 0 ? of.x[1] / of.product.groups : 0, 1, "use Direct"));
    }
    template <class Schedule>
    static constexpr ScheduleFacts facts{.m = Schedule::threads};
    FUSEKIT_H static Text written(ScheduleFacts const& of) { return "Depthwise<" + detail::list_of(of.m) + ">"; }

    FUSEKIT_H static constexpr Estimate cost(ScheduleFacts const&, ConvCase const& of, CostTable const& table,
                                             GpuRates const& rates) {
        if (can_implement<DefaultDepthwise, float, float>(of)) return {};
        double const outputs = static_cast<double>(of.product.m * of.product.n * of.product.groups) / rates.processors;
        return estimate(Workload{.rounds = 1,
                                 .steps = static_cast<double>(of.taps) / of.phases,
                                 .arithmetic = outputs / rates.products,
                                 .outputs = outputs},
                        reads_halo(of, rates) ? table.depthwise_halo : table.depthwise, of.product.bytes, table, rates);
    }

private:
    /// True if a kernel is expected to read x from SMEM (has_halo).
    FUSEKIT_H static constexpr bool reads_halo(ConvCase const& of, GpuRates const& rates) {
        constexpr int largest = 7;
        return rates.architecture.maker() == Architecture::Maker::nvidia && size_of(of.type) == 2 && of.channels_last &&
               of.x_channels_last && of.x[1] == of.y[1] && of.x[1] % 2 == 0 && of.phases == 1 &&
               of.filter.size[0] <= largest && of.filter.size[1] <= largest &&
               (of.filter.strides[1] == 1 || of.taps > 9) && of.filter.dilations == PerMode<2>{1, 1};
    }
};

}  // namespace fusekit::hip
