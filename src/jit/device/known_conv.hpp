// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "fusekit/backend/hip/schedule/depthwise.hpp"
#include "fusekit/ops/conv.hpp"

namespace fusekit::jit {

/// Conv<dynamic> whose filter is a constant of the unit: Args, and so the kernel's parameters, are those of
/// Conv<dynamic>, and a depthwise kernel has the code of one window alone.
template <Filter<2> known>
struct KnownConv : Conv<dynamic> {
    static constexpr Filter<2> known_filter = known;
    FUSEKIT_HD static constexpr Filter<2> geometry(Args const&) { return known; }
};

/// Type: list of the first of Windows that accepts the filter, which code of the host selects too.
template <Filter<2> filter, class Windows>
struct FirstAccepting;
template <Filter<2> filter, class First, class... Rest>
struct FirstAccepting<filter, hip::List<First, Rest...>>
    : std::conditional_t<First::accepts(filter), std::type_identity<hip::List<First>>,
                         FirstAccepting<filter, hip::List<Rest...>>> {};
template <Filter<2> filter>
struct FirstAccepting<filter, hip::List<>> : std::type_identity<hip::List<>> {};

}  // namespace fusekit::jit

template <class Head, int bytes>
    requires requires { Head::known_filter; }
struct fusekit::hip::detail::DepthwiseWindows<Head, bytes> {
    using Type =
        typename jit::FirstAccepting<Head::known_filter, typename DepthwiseWindows<Conv<dynamic>, bytes>::Type>::type;
};
