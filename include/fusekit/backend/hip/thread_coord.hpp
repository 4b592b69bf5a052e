// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/maximum.hpp"
#include "fusekit/ops/operator.hpp"

namespace fusekit::hip {

/// OutputCoord for plans with an Amax: raise() updates a maximum of the calling thread (arch/maximum.hpp), and the
/// kernel merges the maxima of all threads when it ends.
struct ThreadCoord : OutputCoord {
    FUSEKIT_HD explicit ThreadCoord(OutputCoord const& at) : OutputCoord(at) {}

    template <int number>
    __device__ void raise(float*, float value) const {
        unsigned& own = maximum_of_thread<number>();
        unsigned const magnitude = detail::magnitude_bits(value);
        own = own < magnitude ? magnitude : own;
    }
};

}  // namespace fusekit::hip
