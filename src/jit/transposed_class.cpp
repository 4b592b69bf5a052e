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
        if (grouped) return class_like(of, transposed_grouped, transposed_other_unstrided, false);
        if (fusekit::detail::is_single_pixels(of)) return 0;
        return longest > 1 && longest <= 15 ? 1 : transposed_other_unstrided;
    }
    if (longest > 15) return transposed_other;
    if (grouped) return class_like(of, transposed_strided_grouped, transposed_other, true);
    std::int64_t const phases = std::int64_t{of.strides[0]} * of.strides[1];
    for (int i = transposed_strided; i < transposed_strided_grouped; ++i) {
        PerMode<2> const& strides = transposed_representatives[i].strides;
        if (strides[0] * strides[1] == phases && of.dilations == PerMode<2>{1, 1}) return i;
    }
    return transposed_other;
}

}  // namespace fusekit::jit
