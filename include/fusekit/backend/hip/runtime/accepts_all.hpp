// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>
#include <utility>

#include "fusekit/plan/structure.hpp"

namespace fusekit::hip {

namespace detail {

template <fusekit::detail::HeadKind kind>
struct PrepareHead;  // dispatch/prepare.hpp

}  // namespace detail

/// Base of devices for which the library selects the schedule. A call fails a static_assert with elements of double, or
/// for a plan whose head the umbrella does not include.
struct AcceptsAll {
    template <class X, class BoundPlan>
    FUSEKIT_H static consteval bool accepts(void const*, BoundPlan const*) {
        using T = std::remove_cvref_t<decltype(*std::declval<X const&>().const_view().data)>;
        constexpr bool on_gpu = !std::is_same_v<T, double>;
        static_assert(
            on_gpu, "double runs on the host only: a plan on a GPU takes float, half, bfloat16, int8 or 8-bit floats");
        constexpr bool is_included = requires { sizeof(detail::PrepareHead<BoundPlan::Plan::head_kind>); };
        static_assert(is_included, "fusekit/hip_conv.hpp is for plans with a Conv or Gemm: include <fusekit/hip.hpp>");
        return on_gpu && is_included;
    }
};

}  // namespace fusekit::hip
