// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>
#include <utility>

#include "fusekit/config.hpp"

namespace fusekit::hip {

/// Base of devices for which the library selects the schedule. A call with elements of double fails a static_assert.
struct AcceptsAll {
    template <class X, class BoundPlan>
    FUSEKIT_H static consteval bool accepts(void const*, BoundPlan const*) {
        using T = std::remove_cvref_t<decltype(*std::declval<X const&>().const_view().data)>;
        constexpr bool on_gpu = !std::is_same_v<T, double>;
        static_assert(
            on_gpu, "double runs on the host only: a plan on a GPU takes float, half, bfloat16, int8 or 8-bit floats");
        return on_gpu;
    }
};

}  // namespace fusekit::hip
