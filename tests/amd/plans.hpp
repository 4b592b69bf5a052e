// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/hip.hpp"
#include "support/catalogue.hpp"
#include "support/letters.hpp"

/// Plans whose kernels are compiled for AMD GPUs, named by letters as in tests: plans_matrix.cpp has plans that
/// multiply half, bfloat16 or int8 with each target's matrix instructions, and some of float, which a few targets have;
/// plans_forms.cpp has all other forms. A plan whose operators include another's also represents that one: it needs at
/// least its registers. One kernel contains every activation of the catalogue.
namespace amd {

namespace fk = fusekit;

using C = fk::Conv<fk::dynamic>;
using C1 = fk::Conv<fk::filter(1, 1)>;
using C3 = fk::Conv<fk::filter(3, 3).pad(1)>;
using C7 = fk::Conv<fk::filter(7, 7).pad(3).stride(2)>;
using Signal = fk::Conv<fk::filter(3).pad(1)>;
using Volume = fk::Conv<fk::filter(3, 3, 3).pad(1)>;
using GroupedVolume = fk::Conv<fk::filter(3, 3, 3).pad(1).groups(2)>;
using Grouped = fk::Conv<fk::filter(3, 3).pad(1).groups(2)>;
using Depthwise = fk::Conv<fk::filter(3, 3).pad(1).groups(32)>;
using W3 = fk::ConvWeightGradient<fk::filter(3, 3).pad(1)>;
using W3Stride2 = fk::ConvWeightGradient<fk::filter(3, 3).pad(1).stride(2)>;
using DepthwiseW3 = fk::ConvWeightGradient<fk::filter(3, 3).pad(1).groups(32)>;
using X3 = fk::TransposedConv<fk::filter(3, 3).pad(1)>;
using DepthwiseX3 = fk::TransposedConv<fk::filter(3, 3).pad(1).stride(2).groups(32)>;
using namespace test::letters;
using Statistics = fk::ChannelStatistics;
using MaxPool = fk::Pool<fk::Max, 2, 2>;
using AveragePool = fk::Pool<fk::Average, 2, 2>;
using MaxWindows = fk::Pool<fk::Max, fk::filter(3, 3).stride(2).pad(1)>;
using AverageWindows = fk::Pool<fk::Average, fk::filter(9, 9).pad(4)>;
using PaddedWindows = fk::Pool<fk::AverageWithPadding, fk::filter(3, 3).stride(2).pad(1), fk::ceil_mode>;
using TappedWindows = fk::Pool<fk::MaxWithTaps, fk::filter(3, 3).stride(2).pad(1)>;
using AverageGradient = fk::PoolGradient<fk::AverageWithPadding, fk::filter(3, 3).pad(1)>;
using TappedGradient = fk::PoolGradient<fk::MaxWithTaps, fk::filter(3, 3).stride(2).pad(1)>;
using BG = fk::BatchedGemm;
using fk::Plan;

/// Sum of activations.
template <class Modes>
struct SumOf;
template <class... Modes>
struct SumOf<std::tuple<Modes...>> {
    struct Args {
        fk::detail::KernelTuple<typename Modes::Args...> each;
    };
    template <class V>
    FUSEKIT_HD static V apply(V x, Args const& args) {
        return [&]<int... I>(std::integer_sequence<int, I...>) {
            return (V{} + ... + Modes::apply(x, fk::detail::get<I>(args.each)));
        }(std::make_integer_sequence<int, sizeof...(Modes)>{});
    }
};
/// Sum of all activations of the catalogue.
struct EveryActivation : SumOf<test::catalogue::Modes> {};

/// Plan that Backward runs for a plan.
template <class... Ops>
using Back = typename fk::Backward<fk::detail::FusedPlan<Ops...>>::Plan;

/// Instantiates every kernel that a run of these plans on tensors of T may choose. Never called.
template <class T, class... Plans>
struct Kernels {
    static void choose(fk::hip::Device& device, fk::detail::ImageView<T const> const& x,
                       fk::detail::ImageView<T> const& y, fk::BoundPlan<Plans> const&... bound) {
        (device.run(bound, x, y), ...);
    }
};

/// Instantiates the kernels of one schedule; with AMD_EVERY_PLAN, every kernel that a run may choose. Never called.
template <class Schedule, class T, class... Plans>
struct KernelsWith {
    static void choose(fk::hip::Device& device, fk::detail::ImageView<T const> const& x,
                       fk::detail::ImageView<T> const& y, fk::BoundPlan<Plans> const&... bound) {
#ifdef AMD_EVERY_PLAN
        (device.run(bound, x, y), ...);
#else
        (device.template with<Schedule>().run(bound, x, y), ...);
#endif
    }
};
using Small = fk::hip::NativeGemm<64, 64, 6>;
using Large = fk::hip::NativeGemm<128, 128, 2>;

}  // namespace amd
