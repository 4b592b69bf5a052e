// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>
#include <utility>

#include "fusekit/config.hpp"

namespace fusekit::detail {

template <int Nth, class T>
struct Leaf {
    T value;
};

template <class Sequence, class... Ts>
struct KernelTupleOf;
template <int... Nth, class... Ts>
struct KernelTupleOf<std::integer_sequence<int, Nth...>, Ts...> : Leaf<Nth, Ts>... {};

/// Tuple of Ts as a trivially copyable aggregate, which a kernel may have as an argument; std::tuple is not trivially
/// copyable.
template <class... Ts>
using KernelTuple = KernelTupleOf<std::make_integer_sequence<int, sizeof...(Ts)>, Ts...>;

template <int Nth, class T>
FUSEKIT_HD constexpr T& get(Leaf<Nth, T>& leaf) {
    return leaf.value;
}
template <int Nth, class T>
FUSEKIT_HD constexpr T const& get(Leaf<Nth, T> const& leaf) {
    return leaf.value;
}

/// Type at index Nth, from 0, of the list Ts.
template <int Nth, class... Ts>
using TypeAt = typename std::remove_cvref_t<decltype(get<Nth>(
    std::declval<KernelTuple<std::type_identity<Ts>...> const&>()))>::type;

/// Returns the one argument of type Op::Args among `given`, in any position. Without such an argument, or with two, a
/// static_assert fails.
template <class Op, class... Given>
FUSEKIT_H constexpr typename Op::Args const& argument_of(Given const&... given) {
    constexpr int count = (0 + ... + std::is_same_v<Given, typename Op::Args>);
    constexpr bool present = count > 0, once = count < 2;
    static_assert(present, "bind_by_type: this operator (Op) of the plan is given no arguments: pass its Op::Args");
    static_assert(once, "bind_by_type: this operator (Op) of the plan is given arguments twice");
    typename Op::Args const* found = nullptr;
    (
        [&] {
            if constexpr (std::is_same_v<Given, typename Op::Args>) found = &given;
        }(),
        ...);
    return *found;
}

/// Fails a static_assert if Given is not the Args of an operator in Ops, the operators of the plan.
template <class Given, class... Ops>
consteval bool belongs_to_plan() {
    constexpr bool belongs = (std::is_same_v<Given, typename Ops::Args> || ...);
    static_assert(belongs, "bind_by_type: this argument (Given) is the Args of no operator of the plan (Ops)");
    return belongs;
}

}  // namespace fusekit::detail
