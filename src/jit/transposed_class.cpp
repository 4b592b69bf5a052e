// SPDX-License-Identifier: MIT
#include "transposed_class.hpp"

namespace fusekit::jit {

namespace {

/// Class, from `first` to `end` - 1, whose representative has the filter's size, strides, dilations and, if `padded`,
/// left padding; `end` if none has.
int class_like(Filter<2> const& of, int first, int end, bool padded) {
    for (; first < end; ++first) {
        Filter<2> const& one = transposed_representatives[first];
        if (one.size == of.size && one.strides == of.strides && one.dilations == of.dilations &&
            (!padded || one.pad_before[1] == of.pad_before[1]))
            break;
    }
    return first;
}

}  // namespace

int transposed_class(Filter<2> const& of) {
    int const longest = of.size[0] > of.size[1] ? of.size[0] : of.size[1];
    bool const strided = of.strides[0] > 1 || of.strides[1] > 1, grouped = of.group_count > 1;
    if (!strided) {
        if (grouped) return class_like(of, transposed_grouped, transposed_other_grouped, false);
        if (longest == 1) return fusekit::detail::is_single_pixels(of) ? 0 : 1;
        return longest <= 15 ? 2 : longest == 16 ? 3 : 4;
    }
    if (longest > 15) return transposed_other;
    if (grouped) return class_like(of, transposed_strided_grouped, transposed_other, true);
    bool const dilated = !(of.dilations == PerMode<2>{1, 1});
    std::int64_t const phases = std::int64_t{of.strides[0]} * of.strides[1];
    for (int i = transposed_strided; i < transposed_strided_grouped; ++i) {
        Filter<2> const& one = transposed_representatives[i];
        if (one.strides[0] * one.strides[1] == phases && (one.dilations[0] > 1) == dilated) return i;
    }
    return transposed_other;
}

}  // namespace fusekit::jit
