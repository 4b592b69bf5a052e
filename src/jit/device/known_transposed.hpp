// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/ops/conv/transposed.hpp"

namespace fusekit::jit {

/// TransposedConv of filters that have no class of their own (transposed_class.hpp), in plans of the host. Kernels
/// have the code for every filter.
template <Filter<2> representative>
struct OtherTransposed : TransposedConv<representative> {
    static constexpr bool may_be_grouped = true, may_be_padded = true, may_be_single_pixels = true;
    static constexpr int longest = 1 << 30;
};

/// OtherTransposed with the plan's filter, in the kernel's plan: the kernel's parameters have one layout.
template <Filter<2> representative, Filter<2> known>
struct KnownTransposed : OtherTransposed<representative> {
    using Args = typename TransposedConv<representative>::Args;
    FUSEKIT_HD static constexpr auto geometry(Args const&) {
        return fusekit::detail::TransposedFilter<2, fusekit::detail::has_strides(representative)>(known);
    }
    FUSEKIT_HD static constexpr auto filters(Args const& args) {
        return fusekit::detail::TransposedShapes<2, 2>::exchanged(args.weights, known.group_count);
    }
};

}  // namespace fusekit::jit
