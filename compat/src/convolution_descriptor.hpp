// SPDX-License-Identifier: MIT
#pragma once

#include <fusekit/tensor/filter.hpp>

#include "tensor_descriptor.hpp"

namespace fusekit::compat {

/// Geometry of a convolution with one to three spatial modes. Unset until set.
struct ConvolutionDescriptor {
    static constexpr ObjectKind kind = ObjectKind::convolution;
    static constexpr char const* name = "a convolution descriptor";
    using Handle = miopenConvolutionDescriptor_t;
    static constexpr int max_modes = 3;

    miopenConvolutionMode_t mode = miopenConvolution;
    int space = 0;  ///< number of spatial modes; 0 until set
    int pads[max_modes] = {}, strides[max_modes] = {}, dilations[max_modes] = {};
    int groups = 1;
    int attributes[2] = {};

    /// Throws Failure.
    void set(miopenConvolutionMode_t mode, int space, int const* pads, int const* strides, int const* dilations);

    /// Output shape: N, K, then the spatial extents for the input and the weights' window. Throws Failure if the window
    /// does not fit.
    TensorDescriptor output(TensorDescriptor const& input, TensorDescriptor const& weights) const;

    /// Geometry as fusekit's Filter, with the weights' rows and columns. Throws Failure for transposed convolutions and
    /// for one or three spatial modes, which Filter<2> cannot express.
    Filter<2> filter(TensorDescriptor const& weights) const;
};

/// Descriptor of a handle. Throws Failure if it is not set.
ConvolutionDescriptor const& get_set(miopenConvolutionDescriptor_t handle, char const* argument);

}  // namespace fusekit::compat
