// SPDX-License-Identifier: MIT
#pragma once

#include "any_geometry.hpp"
#include "fusekit/runtime/row_operator.hpp"
#include "words.hpp"

namespace fusekit::jit {

/// Type: plan of the host for a head, with Words in place of the operators after it.
template <Head head, Reads reads>
struct HostPlanOf;

#define FUSEKIT_HOST_PLANS(F)                                            \
    F(conv, channels, Conv<dynamic>, Of)                                 \
    F(conv, pixel_parameters, Conv<dynamic>, Of)                         \
    F(conv, tensors, Conv<dynamic>, Of)                                  \
    F(pooled_conv, channels, Conv<dynamic>, Of, Pool<Max, 2, 2>)         \
    F(pooled_conv, pixel_parameters, Conv<dynamic>, Of, Pool<Max, 2, 2>) \
    F(pooled_conv, tensors, Conv<dynamic>, Of, Pool<Max, 2, 2>)          \
    F(gemm, channels, Gemm, Of)                                          \
    F(gemm, tensors, Gemm, Of)                                           \
    F(none, nothing, Of)                                                 \
    F(none, channels, Of)                                                \
    F(none, tensors, Of)                                                 \
    F(pool, tensors, Of, AnyPool)                                        \
    F(global_average, tensors, Of, GlobalAverage)                        \
    F(layer_norm, tensors, LayerNorm, Of)                                \
    F(rms_norm, tensors, RmsNorm, Of)                                    \
    F(group_norm, tensors, GroupNorm, Of)                                \
    F(instance_norm, tensors, InstanceNorm, Of)                          \
    F(softmax, tensors, Softmax, Of)                                     \
    F(log_softmax, tensors, LogSoftmax, Of)                              \
    F(upsampling, tensors, AnyGather<true>, Of)                          \
    F(pixel_shuffle, tensors, AnyGather<false>, Of)

#define FUSEKIT_HOST_PLAN(head, reads, ...)                   \
    template <>                                               \
    struct HostPlanOf<Head::head, Reads::reads> {             \
        using Of = Words<Reads::reads>;                       \
        using Type = fusekit::detail::FusedPlan<__VA_ARGS__>; \
    };
FUSEKIT_HOST_PLANS(FUSEKIT_HOST_PLAN)
#undef FUSEKIT_HOST_PLAN

template <Head head, Reads reads>
using HostPlan = typename HostPlanOf<head, reads>::Type;

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
        case Head::layer_norm:
        case Head::rms_norm:
        case Head::softmax:
        case Head::log_softmax: return {2, 4};
        case Head::none:
        case Head::global_average:
        case Head::group_norm:
        case Head::instance_norm: return {3, 4};
        case Head::conv:
        case Head::pooled_conv:
        case Head::pool:
        case Head::upsampling:
        case Head::pixel_shuffle: break;
    }
    return {4, 4};
}

/// What a head's host plans distinguish of the memory that operators read.
constexpr Reads reads_of(Head head, Reads reads) {
    if (head == Head::none) return reads == Reads::pixel_parameters ? Reads::tensors : reads;
    if (!is_product(head)) return Reads::tensors;
    return reads == Reads::nothing ? Reads::channels : reads;
}

}  // namespace fusekit::jit

#define FUSEKIT_NAMED(head, reads, ...)                                                                         \
    template <>                                                                                                 \
    inline fusekit::Text fusekit::jit::HostPlan<fusekit::jit::Head::head, fusekit::jit::Reads::reads>::name() { \
        return jit::current_plan();                                                                             \
    }
FUSEKIT_HOST_PLANS(FUSEKIT_NAMED)
#undef FUSEKIT_NAMED
#undef FUSEKIT_HOST_PLANS

template <class Plan>
    requires(fusekit::jit::is_host_plan<Plan>)
struct fusekit::hip::CompiledLater<Plan> {
    static constexpr bool later = true;

    template <class Mainloop>
    static auto address() {
        using Element = typename jit::ElementOfParams<typename Mainloop::Params>::Type;
        constexpr bool waits = requires { Mainloop::waits_for_previous_kernel; };
        static jit::KernelEntry const entry{jit::text_of<Mainloop>(),
                                            jit::text_of<Plan>(),
                                            jit::text_of<Element>(),
                                            Mainloop::threads,
                                            sizeof(typename Mainloop::Params),
                                            sizeof(typename Plan::Epilogue::Args),
                                            dynamic_shared_bytes<Mainloop>,
                                            ReadsArgumentInPlace<Mainloop>,
                                            waits};
        return reinterpret_cast<void (*)(typename Mainloop::Params)>(reinterpret_cast<std::uintptr_t>(&entry));
    }
};
