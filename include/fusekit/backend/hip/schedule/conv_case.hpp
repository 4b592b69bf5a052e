// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include "fusekit/backend/hip/stride_phases.hpp"
#include "fusekit/tensor/dtype.hpp"
#include "fusekit/tensor/filter.hpp"
#include "fusekit/tensor/layout.hpp"

namespace fusekit::hip {

/// GEMMs of a Conv or Gemm, for the cost model: `groups` products (m x gemm_k) times (gemm_k x n).
struct Product {
    std::int64_t m, n, groups, gemm_k;
    double bytes = 0;  ///< bytes of all tensors, each read or written once
};

/// Numbers of pixels and of filter taps of one phase of a strided TransposedConv (stride_phases.hpp).
struct PhaseWork {
    std::int64_t m = 0;
    int taps = 0;
};

namespace detail {

/// Memory order of x and y for a Planes schedule: `planes` (NCHW) or, for float alone, channels_last; `none` if it
/// supports neither.
enum class PlanesOrder { none, planes, channels_last };

}  // namespace detail

/// Extents, types and layout properties of a convolution, on which schedules depend: can_implement() and the estimated
/// time of every schedule are functions of a ConvCase.
struct ConvCase {
    Product product;
    DataType type;  ///< element type of x
    Index<4> x, y;  ///< extents; y is the mainloop's output, before a 2 x 2 pool
    Filter<2> filter;  ///< the filter over x, for two spatial modes; a single tap for volumes
    int taps;
    bool channels_last;  ///< true if y is channels-last; channels are then GemmK's fastest mode
    bool x_channels_last;
    bool in_bulk;  ///< true if x and y have channel stride 1 and there is one group of channels, as TMA loads require
    /// true if the pixels of a row of x are contiguous; true if the taps of a filter are contiguous
    bool rows_of_pixels, contiguous_taps;
    detail::PlanesOrder planes;  ///< memory order of x and y for a Planes schedule
    int terms;  ///< tensor-core products per product of elements, at the rate of half: 6 for bf16x6, else 1
    bool wants_matrix_units;  ///< true if the user requests tensor cores for floats (Products)
    bool on_matrix_units;  ///< true if the GPU has sm_90a's tensor cores and the program has code for them
    std::size_t workspace_bytes;
    bool prologue = false;  ///< true if operators precede the Conv or Gemm
    bool totals = false;  ///< true if the plan has statistics of each channel of y
    bool pools = false;  ///< true if the plan ends with a 2 x 2 pool
    bool stores_pool_taps = false;  ///< true if it is one of MaxWithTaps
    bool maxima = false;  ///< true if the epilogue has an Amax
    bool reads_image = false;  ///< true if the epilogue reads a tensor of y's shape
    bool transposed = false;
    int phases = 1;  ///< phases of a strided TransposedConv that have tiles of their own (stride_phases.hpp); else 1
    PhaseWork of_phases[max_tma_phases] = {};  ///< in order of decreasing taps; unset if there are more phases
    bool in_slabs = false;  ///< true if the batch has 2^30 or more pixels, which TMA kernels do not count
    std::int64_t x_channel_stride = 1, y_channel_stride = 1;  ///< in elements, for error messages
    /// set with in_bulk. aligned_pixels: TMA or threads can load x and the weights and store y, for these strides and
    /// addresses; stores_by_tma: TMA stores y
    bool aligned_pixels = true, stores_by_tma = true;
    bool tma_rows = true;  ///< true if TMA loads x and stores y in tiles of image rows, for any weights
    /// alignment in bytes (8, 4 or 2) of the pixels of x and the taps of the weights, if threads load both; 0 if TMA
    /// does
    int copied_bytes = 0;
    bool packs_taps = false;  ///< true if threads load x, and k-tiles have the channels of several taps
    Filter<2> spread = {{1, 1}, {},     {},
                        {1, 1}, {1, 1}, 1};  ///< of a TransposedConv with strides and two spatial modes: its of_y()
    bool dense_pixels = false;  ///< true if x and y are dense, with channels last, at multiples of 16 bytes
    bool dense_planes = false;  ///< true if the planes of x and of y are dense, in NCHW order, with images anywhere
    bool aligned_rows = true;  ///< with rows_of_pixels: true if rows of x start at multiples of 16 bytes
};

}  // namespace fusekit::hip
