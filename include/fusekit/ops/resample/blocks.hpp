// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/ops/operator.hpp"

namespace fusekit::detail {

/// value / divisor and value % divisor, for values of 0 or more; in 32 bits on a GPU, where an image has fewer than
/// 2^31 elements.
FUSEKIT_HD constexpr Extent quotient(Extent value, int divisor) {
    if constexpr (config::on_device)
        return static_cast<Extent>(static_cast<std::uint32_t>(value) / static_cast<std::uint32_t>(divisor));
    else return value / divisor;
}
FUSEKIT_HD constexpr Extent remainder(Extent value, int divisor) { return value - quotient(value, divisor) * divisor; }

/// Stores an error in `in` unless x is images.
FUSEKIT_H inline void check_images(Check const& in) {
    if (in.x.from.kind != CollapsedFrom::images) in.fail("", "x of images, N x C x H x W", to_string(in.x));
}

}  // namespace fusekit::detail
