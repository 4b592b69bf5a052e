// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include "fusekit/tensor/dtype.hpp"
#include "fusekit/tensor/filter.hpp"
#include "fusekit/tensor/layout.hpp"

namespace fusekit::hip {

/// GEMMs of a Conv or Gemm, for the cost model: `groups` products (m, gemm_k) x (gemm_k, n).
struct Product {
    std::int64_t m, n, groups, gemm_k;
    double bytes = 0;  ///< bytes of all tensors, each read or written once
};

namespace detail {

/// Memory order of x and y as a Planes schedule supports it: `planes` (NCHW), or, for float, also channels_last; `none`
/// if neither.
enum class PlanesOrder { none, planes, channels_last };

}  // namespace detail

/// A convolution as schedules see it: extents and properties of the layouts. can_implement() and the estimated time of
/// every schedule are functions of a ConvCase.
struct ConvCase {
    Product product;
    DataType type;  ///< element type of x
    Index<4> x, y;  ///< extents; y is the mainloop's output, before a 2 x 2 pool
    Filter<2> filter;  ///< the filter over x, for two spatial modes; otherwise a single tap
    int taps;
    bool channels_last;  ///< y is channels-last; GemmK then has channels fastest
    bool x_channels_last;
    bool in_bulk;  ///< x and y have channel stride 1, and there is one group of channels: necessary for TMA
    /// the pixels of a row of x are contiguous; the taps of a filter are contiguous
    bool rows_of_pixels, contiguous_taps;
    detail::PlanesOrder planes;  ///< order of x and y for Planes
    int terms;  ///< tensor-core products per product of elements, at the rate of half: 6 for bf16x6
    bool wants_matrix_units;  ///< the user requests tensor cores for floats
    bool on_matrix_units;  ///< the GPU has sm_90a's tensor cores, and the program has code for them
    std::size_t workspace_bytes;
    bool totals = false;  ///< statistics total each channel of y
    bool maxima = false;  ///< Amax in the epilogue
    bool transposed = false;
    bool in_slabs = false;  ///< more pixels than TMA kernels count in 30 bits
    std::int64_t x_channel_stride = 1, y_channel_stride = 1;  ///< in elements, for the text of refusals
};

}  // namespace fusekit::hip
