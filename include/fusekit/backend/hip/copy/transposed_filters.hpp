// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/arch/sm90a.hpp"

namespace fusekit::hip {

/// Issues the TMA load of a transposed convolution's filters of tap `tap` of w, for 64 channels of y from `first` on
/// and 64 of x from `channel` on (detail::encode_transposed_filters()).
template <class Maps, class Problem>
__device__ void load_transposed_filters(Maps const& maps, Problem const& conv, std::uint32_t to, std::uint32_t full,
                                        int tap, int first, int channel) {
    constexpr int box = 64;
    int const columns = conv.window_columns();
    if (!maps.has_rows_of_taps) ptx::tma_load(to, &maps.w, full, {first, tap % columns, tap / columns, channel});
    else
        ptx::tma_load(to, channel + box < conv.group_c() ? &maps.w : &maps.w_last, full,
                      {first + tap * conv.group_k(), 0, 0, channel});
}

}  // namespace fusekit::hip
