// SPDX-License-Identifier: MIT
#pragma once

#include <fusekit/tensor/filter.hpp>

#include "tensor_descriptor.hpp"

namespace fusekit::compat {

/// Object of a miopenConvolutionDescriptor_t: geometry of a convolution with one to three spatial modes. Empty until
/// set().
struct ConvolutionDescriptor {
    static constexpr ObjectKind kind = ObjectKind::convolution;
    static constexpr char const* name = "a convolution descriptor";
    using Handle = miopenConvolutionDescriptor_t;
    static constexpr int max_modes = 3;

    miopenConvolutionMode_t mode = miopenConvolution;
    int space = 0;  ///< number of spatial modes; 0 until set()
    int pads[max_modes] = {}, strides[max_modes] = {}, dilations[max_modes] = {};
    int groups = 1;
    int attributes[2] = {};

    /// Sets the geometry. Throws Failure if an argument is invalid.
    void set(miopenConvolutionMode_t mode, int space, int const* pads, int const* strides, int const* dilations);

    /// Layout of the convolution's output: N, K, then the spatial extents for `input` and a window of `weights`. Throws
    /// Failure if the window exceeds the padded input.
    TensorDescriptor output(TensorDescriptor const& input, TensorDescriptor const& weights) const;

    /// The geometry as fusekit's Filter, with the rows and columns of `weights`. Throws Failure for transposed
    /// convolutions, and for one or three spatial modes, which Filter<2> cannot represent.
    Filter<2> filter(TensorDescriptor const& weights) const;
};

/// Returns the descriptor of a handle. Throws Failure if the handle is invalid or the descriptor was never set.
ConvolutionDescriptor const& get_set(miopenConvolutionDescriptor_t handle, char const* argument);

}  // namespace fusekit::compat
