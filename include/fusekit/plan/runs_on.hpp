// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "fusekit/abi.hpp"

namespace fusekit::detail {

template <class... Ops>
struct FusedPlan;

/// Whether an operator is compiled for the processors that compute in Memory. A backend says where it is not.
template <class Memory, class Op>
inline constexpr bool has_code_for = true;

/// Whether what a plan is given lies in Memory, as far as types can tell: a tensor knows, a view does not.
template <class Memory, class Given>
inline constexpr bool lies_in = true;
template <class Memory, class Given>
    requires requires { typename Given::Memory; }
inline constexpr bool lies_in<Memory, Given> = std::is_same_v<Memory, typename Given::Memory>;

template <class Memory, class Plan>
inline constexpr bool all_have_code_for = true;
template <class Memory, class... Ops>
inline constexpr bool all_have_code_for<Memory, FusedPlan<Ops...>> = (has_code_for<Memory, Ops> && ...);

/// Refuses, in a sentence, a run on a device that cannot read or write the tensors, or has no code for the operators.
template <class Plan, class Device, class... Given>
consteval bool runs_on() {
    using Memory = typename std::remove_cvref_t<Device>::Memory;
    constexpr bool reaches = (lies_in<Memory, std::remove_cvref_t<Given>> && ...);
    static_assert(reaches, "x and y must be tensors of the kind of device that runs the plan, host or GPU; or views");
    constexpr bool has_code = all_have_code_for<Memory, Plan>;
    static_assert(has_code, "a GPU runs this plan, so its operators' functions must be declared FUSEKIT_HD");
    return reaches && has_code;
}

}  // namespace fusekit::detail
