// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "fusekit/backend/hip/runtime/platform.hpp"
#include "fusekit/ops/batch_norm/moments.hpp"

namespace fusekit::hip {

/// Merges the statistics of one channel over several tiles or CTAs, one after another. For all types of statistics
/// (Total) except Moments, for which MergedMoments has the same interface. The constructor ignores its argument, which
/// MergedMoments needs: the merger starts empty.
template <class Total>
class TotalMerger {
public:
    __device__ explicit TotalMerger(Total const&) {}

    __device__ void add(Total const& next) {
        all = count > 0 ? merge(all, next) : next;
        ++count;
    }
    __device__ friend TotalMerger merge(TotalMerger a, TotalMerger const& b) {
        if (b.count > 0) a.add(b.all);
        return a;
    }
    __device__ Total total() const { return all; }

private:
    Total all{};
    float count = 0;
};

template <class Total>
using MergerOf = std::conditional_t<std::is_same_v<Total, fusekit::detail::Moments<float>>,
                                    fusekit::detail::MergedMoments<float>, TotalMerger<Total>>;

}  // namespace fusekit::hip
