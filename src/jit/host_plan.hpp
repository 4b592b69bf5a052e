// SPDX-License-Identifier: MIT
#pragma once

#include "any_geometry.hpp"
#include "fusekit/runtime/row_operator.hpp"
#include "words.hpp"

namespace fusekit::jit {

/// Type: plan of the host for a head, with Words in place of the operators after it and, if there are any, before it.
template <Head head, Reads reads, bool has_before>
struct HostPlanOf;

#define FUSEKIT_HOST_PLANS(F)                                                      \
    F(conv, channels, false, Conv<dynamic>, After)                                 \
    F(conv, pixel_parameters, false, Conv<dynamic>, After)                         \
    F(conv, tensors, false, Conv<dynamic>, After)                                  \
    F(pooled_conv, channels, false, Conv<dynamic>, After, Pool<Max, 2, 2>)         \
    F(pooled_conv, pixel_parameters, false, Conv<dynamic>, After, Pool<Max, 2, 2>) \
    F(pooled_conv, tensors, false, Conv<dynamic>, After, Pool<Max, 2, 2>)          \
    F(gemm, channels, false, Gemm, After)                                          \
    F(gemm, tensors, false, Gemm, After)                                           \
    F(batched_gemm, channels, false, BatchedGemm, After)                           \
    F(batched_gemm, tensors, false, BatchedGemm, After)                            \
    F(none, nothing, false, After)                                                 \
    F(none, channels, false, After)                                                \
    F(none, tensors, false, After)                                                 \
    F(pool, tensors, false, After, AnyPool)                                        \
    F(global_average, tensors, false, After, GlobalAverage)                        \
    F(layer_norm, tensors, false, LayerNorm, After)                                \
    F(layer_norm, tensors, true, Before, LayerNorm, After)                         \
    F(rms_norm, tensors, false, RmsNorm, After)                                    \
    F(rms_norm, tensors, true, Before, RmsNorm, After)                             \
    F(group_norm, tensors, false, GroupNorm, After)                                \
    F(group_norm, tensors, true, Before, GroupNorm, After)                         \
    F(instance_norm, tensors, false, InstanceNorm, After)                          \
    F(instance_norm, tensors, true, Before, InstanceNorm, After)                   \
    F(softmax, tensors, false, Softmax, After)                                     \
    F(softmax, tensors, true, Before, Softmax, After)                              \
    F(log_softmax, tensors, false, LogSoftmax, After)                              \
    F(log_softmax, tensors, true, Before, LogSoftmax, After)                       \
    F(upsampling, tensors, false, AnyGather<true>, After)                          \
    F(pixel_shuffle, tensors, false, AnyGather<false>, After)                      \
    F(spatial_norm, tensors, false, BatchNormTraining<Spatial>, After)             \
    F(activation_norm, tensors, false, BatchNormTraining<PerActivation>, After)

#define FUSEKIT_HOST_PLAN(head, reads, has_before, ...)       \
    template <>                                               \
    struct HostPlanOf<Head::head, Reads::reads, has_before> { \
        using Before = Words<Reads::tensors, true>;           \
        using After = Words<Reads::reads>;                    \
        using Type = fusekit::detail::FusedPlan<__VA_ARGS__>; \
    };
FUSEKIT_HOST_PLANS(FUSEKIT_HOST_PLAN)
#undef FUSEKIT_HOST_PLAN

template <Head head, Reads reads, bool has_before = false>
using HostPlan = typename HostPlanOf<head, reads, has_before>::Type;

template <class Plan>
inline constexpr bool is_host_plan = false;
template <class... Ops>
inline constexpr bool is_host_plan<fusekit::detail::FusedPlan<Ops...>> = (is_words<Ops> || ...);

/// Modes that x of a head may have: `least` to `most`.
struct Ranks {
    int least, most;
};
constexpr Ranks ranks_of(Head head) {
    switch (head) {
        case Head::gemm:
        case Head::batched_gemm:
        case Head::layer_norm:
        case Head::rms_norm:
        case Head::softmax:
        case Head::log_softmax: return {2, 4};
        case Head::none:
        case Head::global_average:
        case Head::group_norm:
        case Head::instance_norm:
        case Head::spatial_norm:
        case Head::activation_norm:
        case Head::spatial_norm_gradient:
        case Head::activation_norm_gradient:
        case Head::spatial_inference_gradient:
        case Head::activation_inference_gradient:
        case Head::activation_gradient: return {3, 4};
        case Head::conv:
        case Head::pooled_conv:
        case Head::transposed_conv:
        case Head::pool:
        case Head::upsampling:
        case Head::pixel_shuffle:
        case Head::weight_gradient: break;
    }
    return {4, 4};
}

/// Reads that the host plans of a head distinguish.
constexpr Reads reads_of(Head head, Reads reads) {
    if (head == Head::none) return reads == Reads::pixel_parameters ? Reads::tensors : reads;
    if (!is_product(head)) return Reads::tensors;
    return reads == Reads::nothing ? Reads::channels : reads;
}

}  // namespace fusekit::jit

#define FUSEKIT_NAMED(head, reads, has_before, ...)                                                    \
    template <>                                                                                        \
    inline fusekit::Text                                                                               \
    fusekit::jit::HostPlan<fusekit::jit::Head::head, fusekit::jit::Reads::reads, has_before>::name() { \
        return jit::current_plan();                                                                    \
    }
FUSEKIT_HOST_PLANS(FUSEKIT_NAMED)
#undef FUSEKIT_NAMED
#undef FUSEKIT_HOST_PLANS

template <class ThePlan>
    requires(fusekit::jit::is_host_plan<ThePlan>)
struct fusekit::hip::CompiledLater<ThePlan> {
    static constexpr bool later = true;

    template <class Mainloop>
    static auto address() {
        using Element = typename jit::ElementOfParams<typename Mainloop::Params>::Type;
        constexpr bool waits = requires { Mainloop::waits_for_previous_kernel; };
        static jit::KernelEntry const entry{jit::text_of<Mainloop>(),
                                            jit::text_of<ThePlan>(),
                                            jit::text_of<Element>(),
                                            Mainloop::threads,
                                            sizeof(typename Mainloop::Params),
                                            sizeof(typename ThePlan::Epilogue::Args),
                                            dynamic_shared_bytes<Mainloop>,
                                            ReadsArgumentInPlace<Mainloop>,
                                            waits};
        return reinterpret_cast<void (*)(typename Mainloop::Params)>(reinterpret_cast<std::uintptr_t>(&entry));
    }
};
