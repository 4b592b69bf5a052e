// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include "fusekit/tensor/dtype.hpp"
#include "fusekit/tensor/filter.hpp"
#include "fusekit/tensor/layout.hpp"

namespace fusekit::hip {

/// Implicit GEMM of a Conv or Gemm: `groups` products of m x n with gemm_k products per accumulator.
struct Product {
    std::int64_t m, n, groups, gemm_k;
    double bytes = 0;  ///< of all tensors, each read or written once
};

namespace detail {

/// Layout of x and y for a Planes schedule: NCHW; for float channels-last too.
enum class PlanesOrder { none, planes, channels_last };

}  // namespace detail

/// Problem of a schedule: a convolution's extents and its operands' layouts. can_implement() and the cost of every
/// schedule are functions of it.
struct ConvCase {
    Product product;
    DataType type;  ///< of x
    Index<4> x, y;  ///< y of the mainloop: larger than the tensor if a plan pools
    Filter<2> filter;  ///< over the windows of x if space is rows and columns; else of a single tap
    int taps;
    bool channels_last;  ///< of y: GemmK runs over channels first
    bool x_channels_last;
    bool in_bulk;  ///< x and y have channel stride 1, and there is one group
    bool rows_of_pixels, taps_neighbour;  ///< of x; of the weights
    detail::PlanesOrder planes;  ///< of x and y
    int terms;  ///< matrix-unit products per product, at the rate of half
    bool wants_matrix_units;  ///< the user requests matrix units for floats
    bool on_matrix_units;  ///< the GPU has sm_90a's matrix units, and the program has code for them
    std::size_t workspace_bytes;
    bool totals = false;  ///< of each channel of y, for statistics
    bool maxima = false;  ///< Amax in the epilogue
    bool transposed = false;
    bool in_slabs = false;  ///< more pixels than TMA kernels count
    std::int64_t x_channel_stride = 1, y_channel_stride = 1;  ///< in elements, for refusals
};

}  // namespace fusekit::hip
