// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "fusekit/abi.hpp"

namespace fusekit::detail {

template <class... Ops>
struct FusedPlan;

/// True if Op has code for the processors that access memory type Memory (host or GPU). A backend specialises it to
/// false for an Op that it cannot compile.
template <class Memory, class Op>
inline constexpr bool has_code_for = true;

/// False if Given is a tensor whose type names a memory type other than Memory. True for a view, which may point to any
/// memory.
template <class Memory, class Given>
inline constexpr bool may_be_in = true;
template <class Memory, class Given>
    requires requires { typename Given::Memory; }
inline constexpr bool may_be_in<Memory, Given> = std::is_same_v<Memory, typename Given::Memory>;

template <class Memory, class Plan>
inline constexpr bool all_have_code_for = true;
template <class Memory, class... Ops>
inline constexpr bool all_have_code_for<Memory, FusedPlan<Ops...>> = (has_code_for<Memory, Ops> && ...);

/// Static assertions that the device can access the tensors' memory and that every operator has code for the device.
template <class Plan, class Device, class... Given>
consteval bool runs_on() {
    using Memory = typename std::remove_cvref_t<Device>::Memory;
    constexpr bool reaches = (may_be_in<Memory, std::remove_cvref_t<Given>> && ...);
    static_assert(reaches, "x and y must be tensors of the kind of device that runs the plan, host or GPU; or views");
    constexpr bool has_code = all_have_code_for<Memory, Plan>;
    static_assert(has_code, "a GPU runs this plan, so its operators' functions must be declared FUSEKIT_HD");
    return reaches && has_code;
}

}  // namespace fusekit::detail
