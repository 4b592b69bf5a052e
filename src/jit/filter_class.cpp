// SPDX-License-Identifier: MIT
#include "filter_class.hpp"

#include "fusekit/backend/hip/mainloop/weight_gradient_params.hpp"

namespace fusekit::jit {

int filter_class(Filter<2> const& of) {
    if (of.group_count == 1) {
        if (fusekit::detail::is_single_pixels(of)) return 0;
        if (of.size[0] == 1 && of.size[1] == 1) return 1;
        return hip::detail::has_patches(of) ? patches : 2;
    }
    for (int i = first_grouped; i < other_filters; ++i) {
        Filter<2> const& one = filter_representatives[i];
        if (one.size == of.size && one.strides == of.strides && one.dilations == of.dilations) return i;
    }
    return other_filters;
}

}  // namespace fusekit::jit
