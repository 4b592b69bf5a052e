// SPDX-License-Identifier: MIT
#pragma once

#include "host_transposed.hpp"
// the host plans above come before their users
#include "host_code.hpp"

namespace fusekit::jit {

/// Host code of a TransposedConv of element type T; null if T is not built.
template <class T>
HostCode const* transposed_code_of(Spec const& spec) {
    HostCode const* found = nullptr;
    if constexpr (is_built<T>) {
        int const of_filter = transposed_class(spec.geometry.filter);
        auto const find = [&]<int number>(std::integral_constant<int, number>) {
            if (number != of_filter) return;
            found = spec.reads == Reads::tensors
                        ? &host_code_of_plan<HostTransposed<number, Reads::tensors>, T, T, Ranks{4, 4}>
                        : &host_code_of_plan<HostTransposed<number, Reads::channels>, T, T, Ranks{4, 4}>;
        };
        [&]<int... number>(std::integer_sequence<int, number...>) {
            (find(std::integral_constant<int, number>{}), ...);
        }(std::make_integer_sequence<int, transposed_classes>{});
    }
    return found;
}

}  // namespace fusekit::jit
