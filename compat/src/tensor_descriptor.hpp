// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <fusekit/tensor/dtype.hpp>
#include <fusekit/tensor/layout.hpp>

#include "object_table.hpp"

namespace fusekit::compat {

/// Extents and strides, in elements, of one to five modes, in the order N, C, then space. Unset until set.
struct TensorDescriptor {
    static constexpr ObjectKind kind = ObjectKind::tensor;
    static constexpr char const* name = "a tensor descriptor";
    using Handle = miopenTensorDescriptor_t;
    static constexpr int max_modes = 5;

    miopenDataType_t type = miopenFloat;
    int rank = 0;  ///< 0 until set
    std::int64_t extents[max_modes] = {}, strides[max_modes] = {};

    /// Mode of stride 1 in a packed tensor: the last one, the channels (1) or the images (0).
    enum class Innermost { last, channels, images };

    /// Makes a packed tensor. Throws Failure for negative extents, more than 2^56 elements, and an invalid type or
    /// rank.
    static TensorDescriptor packed(miopenDataType_t type, int rank, std::int64_t const* extents,
                                   Innermost innermost = Innermost::last);
    /// Descriptor with the given strides, otherwise as packed(). Throws Failure if one is negative; 0 is a broadcast.
    static TensorDescriptor strided(miopenDataType_t type, int rank, std::int64_t const* extents,
                                    std::int64_t const* strides);

    /// Number of elements; 0 if an extent is 0.
    std::int64_t size() const;
    /// Bytes from the first to one past the last element; 0 without elements.
    std::size_t bytes() const;

    /// True if channels are the fastest mode; unspecified for a single channel.
    bool channels_last() const;

    /// True if every extent is 1 or the extent of `whole`.
    bool broadcasts_to(TensorDescriptor const& whole) const;
    /// Tensor with the extents of `whole`: broadcast modes have stride 0. Precondition: broadcasts_to(whole).
    TensorDescriptor broadcast_to(TensorDescriptor const& whole) const;
    /// True if every extent but the channels' is 1.
    bool is_per_channel() const;

    /// Formats extents: "8 x 64 x 56 x 56".
    Text shape() const { return list(extents); }
    Text steps() const { return list(strides); }

    bool has_shape_of(TensorDescriptor const& other) const;
    /// True for equal type, extents and strides; strides of modes of one element are ignored.
    bool operator==(TensorDescriptor const& other) const;

private:
    Text list(std::int64_t const* numbers) const;
};

/// Name of a type: "float" and so on. Throws Failure if it is no type of MIOpen's.
Text name_of(miopenDataType_t type);

/// Descriptor of a handle. Throws Failure if it is not set.
TensorDescriptor const& get_set(miopenTensorDescriptor_t handle, char const* argument);

/// Layout of batch norm's parameters for x. Throws Failure if it is no mode of MIOpen's.
TensorDescriptor batch_norm_parameters(TensorDescriptor const& x, miopenBatchNormMode_t mode);

/// fusekit's element type. Throws Failure if there is none.
DataType element_type(miopenDataType_t type, char const* argument);

/// fusekit's layout of four modes. Throws Failure if the descriptor has another rank.
Layout<4> image_layout(TensorDescriptor const& tensor, char const* argument);

}  // namespace fusekit::compat
