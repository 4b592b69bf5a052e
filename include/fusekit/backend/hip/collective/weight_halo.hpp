// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/collective/halo_stages.hpp"
#include "fusekit/backend/hip/integer.hpp"

namespace fusekit::hip {

/// The steps of an image in a gradient by the weights: a few rows of dy, as many in each step but the last, and the
/// rows of x that their windows see. A row of dy is as long as one of x. A stage has both, dy first; products read
/// whole 16s of pixels.
template <int Pixels>
struct WeightHalo : HaloShape<Pixels> {
    int steps;

    FUSEKIT_HD WeightHalo(int height, int width, Filter<2> const& filter)
        : HaloShape<Pixels>(height, width, filter), steps(static_cast<int>(detail::divide_up(height, this->rows))) {
        this->rows = static_cast<int>(detail::divide_up(height, steps));
    }
    FUSEKIT_HD constexpr int lines() const { return (this->rows * this->pitch + 15) / 16 * 16; }
    FUSEKIT_HD constexpr int dy_bytes() const { return (lines() * this->row_bytes + 1023) / 1024 * 1024; }
    FUSEKIT_HD constexpr int bytes() const { return dy_bytes() + this->stage_bytes(); }
    /// Stages that `held` bytes have room for, as many as have barriers.
    FUSEKIT_HD constexpr int stages(int held, int most) const { return held / bytes() < most ? held / bytes() : most; }
};

}  // namespace fusekit::hip
