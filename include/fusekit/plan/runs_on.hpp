// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "fusekit/abi.hpp"

namespace fusekit::detail {

template <class... Ops>
struct FusedPlan;

/// True if Op is compiled for the processors of memory type Memory (host or GPU). A backend specialises it to refuse an
/// Op.
template <class Memory, class Op>
inline constexpr bool has_code_for = true;

/// False if an argument of type Given cannot be in memory of type Memory: a Tensor's type names its memory; a view may
/// point to any memory.
template <class Memory, class Given>
inline constexpr bool lies_in = true;
template <class Memory, class Given>
    requires requires { typename Given::Memory; }
inline constexpr bool lies_in<Memory, Given> = std::is_same_v<Memory, typename Given::Memory>;

template <class Memory, class Plan>
inline constexpr bool all_have_code_for = true;
template <class Memory, class... Ops>
inline constexpr bool all_have_code_for<Memory, FusedPlan<Ops...>> = (has_code_for<Memory, Ops> && ...);

/// Refuses a run on a device that cannot access the tensors' memory, or for which an operator is not compiled.
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
