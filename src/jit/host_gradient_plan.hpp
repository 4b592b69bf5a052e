// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/plan/backward.hpp"
#include "host_plan.hpp"

/// Host plans of gradients of plans without a Conv or Gemm. The activation is runtime::AnyActivation, in whose place
/// the unit has jit::KnownActivation (device/known_gradient.hpp). Reads::tensors: with a residual before it.
#define FUSEKIT_GRADIENT_PLANS(F)                                                                                  \
    F(spatial_norm_gradient, nothing, BatchNormTraining<Spatial>, runtime::AnyActivation)                          \
    F(spatial_norm_gradient, tensors, BatchNormTraining<Spatial>, Residual, runtime::AnyActivation)                \
    F(activation_norm_gradient, nothing, BatchNormTraining<PerActivation>, runtime::AnyActivation)                 \
    F(activation_norm_gradient, tensors, BatchNormTraining<PerActivation>, Residual, runtime::AnyActivation)       \
    F(spatial_inference_gradient, nothing, BatchNormInference<Spatial>, runtime::AnyActivation)                    \
    F(spatial_inference_gradient, tensors, BatchNormInference<Spatial>, Residual, runtime::AnyActivation)          \
    F(activation_inference_gradient, nothing, BatchNormInference<PerActivation>, runtime::AnyActivation)           \
    F(activation_inference_gradient, tensors, BatchNormInference<PerActivation>, Residual, runtime::AnyActivation) \
    F(activation_gradient, nothing, runtime::AnyActivation)                                                        \
    F(activation_gradient, tensors, Residual, runtime::AnyActivation)

namespace fusekit::jit {

#define FUSEKIT_GRADIENT_PLAN(head, reads, ...)                                            \
    template <>                                                                            \
    struct HostPlanOf<Head::head, Reads::reads, false> {                                   \
        using Type = fusekit::detail::BackwardOf<fusekit::detail::FusedPlan<__VA_ARGS__>>; \
    };
FUSEKIT_GRADIENT_PLANS(FUSEKIT_GRADIENT_PLAN)
#undef FUSEKIT_GRADIENT_PLAN

template <class... Ops>
inline constexpr bool is_host_plan<fusekit::detail::FusedPlan<fusekit::detail::Gradient<Ops...>>> =
    (std::is_same_v<Ops, runtime::AnyActivation> || ...);

}  // namespace fusekit::jit

#define FUSEKIT_NAMED(head, reads, ...)                                                                               \
    template <>                                                                                                       \
    inline fusekit::Text fusekit::jit::HostPlan<fusekit::jit::Head::head, fusekit::jit::Reads::reads>::Plan::name() { \
        return jit::current_plan();                                                                                   \
    }
FUSEKIT_GRADIENT_PLANS(FUSEKIT_NAMED)
#undef FUSEKIT_NAMED
#undef FUSEKIT_GRADIENT_PLANS
