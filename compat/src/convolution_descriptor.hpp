// SPDX-License-Identifier: MIT
#pragma once

#include <fusekit/tensor/filter.hpp>

#include "tensor_descriptor.hpp"

namespace fusekit::compat {

/// How a convolution's window moves, in one to three modes of space. None until it is set.
struct ConvolutionDescriptor {
    static constexpr ObjectKind kind = ObjectKind::convolution;
    static constexpr char const* name = "a convolution descriptor";
    using Handle = miopenConvolutionDescriptor_t;
    static constexpr int most_modes = 3;

    miopenConvolutionMode_t mode = miopenConvolution;
    int space = 0;  ///< modes of space; 0 until it is set
    int pads[most_modes] = {}, strides[most_modes] = {}, dilations[most_modes] = {};
    int groups = 1;
    int attributes[2] = {};

    /// Throws Failure.
    void set(miopenConvolutionMode_t mode, int space, int const* pads, int const* strides, int const* dilations);

    /// N, K, then the extents of space that a window of the weights' makes of the input's; Failure where it does not
    /// fit.
    TensorDescriptor output(TensorDescriptor const& input, TensorDescriptor const& weights) const;

    /// As the library has it, of the weights' rows and columns. Failure where it has none: it is transposed, or of one
    /// or three modes.
    Filter<2> filter(TensorDescriptor const& weights) const;
};

/// The descriptor of a handle, which has been set.
ConvolutionDescriptor const& get_set(miopenConvolutionDescriptor_t handle, char const* argument);

}  // namespace fusekit::compat
