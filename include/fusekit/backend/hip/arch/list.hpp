// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>
#include <utility>

#include "fusekit/config.hpp"

namespace fusekit::hip {

/// List of types, such as architecture tags, the entries of the list of schedules, or the schedules of a tuning table.
template <class... Types>
struct List {
    static constexpr int size = sizeof...(Types);
};

namespace detail {

template <class... Lists>
struct Joined {
    using Type = List<>;
};
template <class... Left>
struct Joined<List<Left...>> {
    using Type = List<Left...>;
};
template <class... Left, class... Right, class... Rest>
struct Joined<List<Left...>, List<Right...>, Rest...> : Joined<List<Left..., Right...>, Rest...> {};
template <class... Lists>
using JoinedList = typename Joined<Lists...>::Type;

// Listed<index, Type> are the base classes of AllListed, so that one overload resolution finds the type at an index,
// instead of a recursion over classes.
template <int index, class Type>
struct Listed {};
template <class Indices, class List>
struct AllListed;
template <int... i, class... Types>
struct AllListed<std::integer_sequence<int, i...>, List<Types...>> : Listed<i, Types>... {};
template <int index, class Type>
FUSEKIT_H auto listed_at(Listed<index, Type> const*) -> std::type_identity<Type>;

template <class Type, class F>
FUSEKIT_H auto call_with(F const& f) {
    return f(Type{});
}

}  // namespace detail

/// The type at position `index`, from 0, of a List.
template <class List, int index>
using TypeAt = typename decltype(detail::listed_at<index>(
    static_cast<detail::AllListed<std::make_integer_sequence<int, List::size>, List> const*>(nullptr)))::type;

/// Calls f(Type{}) with the type at position `number` of a list, or at position 0 if `number` is negative, and returns
/// its result.
template <class First, class... Rest, class F>
FUSEKIT_H auto with_entry(List<First, Rest...>, int number, F const& f) {
    if constexpr (sizeof...(Rest) > 0) {
        using Call = decltype(f(First{})) (*)(F const&);
        static constexpr Call calls[] = {detail::call_with<First, F>, detail::call_with<Rest, F>...};
        return calls[number > 0 ? number : 0](f);
    } else {
        return f(First{});
    }
}

}  // namespace fusekit::hip
